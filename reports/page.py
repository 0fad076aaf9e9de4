"""Parts of pages in Markdown."""

from reports.case import Outcome


def anchor(title: str) -> str:
    """The link to a heading on the same page."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")


def checks_table(outcome: Outcome) -> list[str]:
    """Lines of the table of checks."""
    lines = ["| quantity | ours | theirs | error | tolerance | passed |", "| --- | --- | --- | --- | --- | --- |"]
    for c in outcome.checks:
        passed = "yes" if c.passed else "**no**"
        lines.append(f"| {c.quantity} | {c.ours} | {c.theirs} | {c.error} | {c.tolerance} | {passed} |")
    return [*lines, ""]


def pictures(outcome: Outcome) -> list[str]:
    """Lines with the pictures and their captions."""
    return [line for name, text in outcome.figures for line in (f"![{text}]({name})", "", f"*{text}*", "")]
