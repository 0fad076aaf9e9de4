"""The pages of figures, one per paper, and the index."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reports.case import Outcome
from reports.page import anchor, checks_table, pictures

from figures import printed
from figures.figure import PRESETS, Figure

PAPERS = {
    "Yue15": "Continuum foam",
    "Gerszewski09": "Point-based solids",
    "Tampubolon17": "Porous sand and water",
    "Fang19": "Silly rubber",
    "DryFoam": "Dry foam",
}
"""Titles of the pages."""
WRITTEN = "Written by `make figures`; do not edit. Tolerances are chosen before the runs and never adapted to results."

Outcomes = Mapping[str, Mapping[str, Outcome]]
"""Outcomes by figure and preset."""


def finest(outcomes: Mapping[str, Outcome]) -> str | None:
    """The finest preset of which there is an outcome."""
    return next((preset for preset in reversed(PRESETS) if preset in outcomes), None)


def state(figure: Figure, outcomes: Outcomes) -> str:
    """One word, or a few, on whether the claim holds."""
    preset = finest(outcomes.get(figure.name, {}))
    if preset is None:
        return "not run yet"
    outcome = outcomes[figure.name][preset]
    failed = sum(not check.passed for check in outcome.checks)
    if failed:
        return f"{failed} of {len(outcome.checks)} claims do not hold"
    return "holds" if preset != "draft" or figure.preset("medium") != "medium" else "holds in draft only"


def write_pages(folder: Path, figures: Sequence[Figure], outcomes: Outcomes) -> None:
    """Write the page of every paper that has figures, and the index."""
    folder.mkdir(parents=True, exist_ok=True)
    index = ["# Figures of the papers", "", WRITTEN, ""]
    index += ["| paper | figures | claims hold | do not hold | not run yet |", "| --- | --- | --- | --- | --- |"]
    for paper, title in PAPERS.items():
        own = [figure for figure in figures if figure.paper == paper]
        if not own:
            continue
        states = [state(figure, outcomes) for figure in own]
        hold, missing = sum(text.startswith("holds") for text in states), states.count("not run yet")
        page = f"{paper.lower()}.md"
        index.append(f"| [{title}]({page}) [{paper}] | {len(own)} | {hold} | {len(own) - hold - missing} | {missing} |")
        (folder / page).write_text("\n".join(_page(paper, title, own, outcomes)), encoding="utf-8")
    (folder / "parameters.md").write_text(printed.page(), encoding="utf-8")
    index += ["", "[Parameters](parameters.md): what the papers print and what the scenes use, and why they differ."]
    listed = [*(f"{figure.paper.lower()}" for figure in figures), "parameters"]
    index += ["", "```{toctree}", ":hidden:", "", *dict.fromkeys(listed), "```", ""]
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")


def _page(paper: str, title: str, figures: Sequence[Figure], outcomes: Outcomes) -> list[str]:
    lines = [f"# {title}", "", f"The figures of [{paper}], as spume shows them. {WRITTEN}", ""]
    lines += ["| figure | state | preset | processor time |", "| --- | --- | --- | --- |"]
    for figure in figures:
        preset = finest(outcomes.get(figure.name, {}))
        spent = f"{outcomes[figure.name][preset].seconds:.0f} s" if preset else ""
        lines.append(
            f"| [{figure.title}](#{anchor(figure.title)}) | {state(figure, outcomes)} | {preset or ''} | {spent} |"
        )
    lines.append("")
    for figure in figures:
        lines += _section(figure, outcomes)
    return lines


def _section(figure: Figure, outcomes: Outcomes) -> list[str]:
    preset = finest(outcomes.get(figure.name, {}))
    lines = [f"## {figure.title}", ""]
    if preset is None:
        return [*lines, "Not run yet.", "", f"The caption claims: {figure.explanation}", ""]
    outcome = outcomes[figure.name][preset]
    if not outcome.holds:
        failed = "; ".join(check.quantity for check in outcome.checks if not check.passed)
        lines += [f"**Does not hold:** {failed}.", ""]
    lines += pictures(outcome)
    lines += [f"The caption claims: {figure.explanation}", "", *checks_table(outcome), figure.finding, ""]
    for note in outcome.notes:
        lines += [note, ""]
    command = f"python -m figures {figure.name}"
    return [*lines, f"`{command if figure.presets == ('paper',) else f'{command} --preset {preset}'}`", ""]
