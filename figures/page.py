"""The pages of figures, one per paper, and the index."""

import re
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
SHOWN = (
    "A difference between variants counts as shown if it is three times the spread over seeds or resolutions (over the "
    "pairs where variants start from the same states); else the claim is *not shown*. Drafts are marked: state and "
    "preset say so."
)
NOT_RUN = "not run yet"

Outcomes = Mapping[str, Mapping[str, Outcome]]
"""Outcomes by figure and preset."""


def finest(outcomes: Mapping[str, Outcome]) -> str | None:
    """The finest preset of which there is an outcome."""
    return next((preset for preset in reversed(PRESETS) if preset in outcomes), None)


def state(figure: Figure, outcomes: Outcomes) -> str:
    """One word, or a few, on whether the claim holds."""
    preset = finest(outcomes.get(figure.name, {}))
    if preset is None:
        return NOT_RUN
    checks = outcomes[figure.name][preset].checks
    failed = sum(not check.passed and not check.undecided for check in checks)
    undecided = sum(not check.passed and check.undecided for check in checks)
    if failed or undecided:
        texts = [f"{failed} of {len(checks)} claims do not hold"] if failed else []
        texts += [f"{undecided} of {len(checks)} not shown"] if undecided else []
        return ", ".join(texts + ["in draft"] * (preset == "draft"))
    return "holds" if preset != "draft" else "holds in draft only"


def write_pages(folder: Path, figures: Sequence[Figure], outcomes: Outcomes) -> None:
    """Write the page of every paper, and the index."""
    folder.mkdir(parents=True, exist_ok=True)
    index = ["# Figures of the papers", "", WRITTEN, "", SHOWN, ""]
    index += ["| paper | figures | claims hold | some do not | not run yet |"]
    index += ["| --- | --- | --- | --- | --- |"]
    for paper, title in PAPERS.items():
        own = [figure for figure in figures if figure.paper == paper]
        states = [state(figure, outcomes) for figure in own]
        hold, missing = sum(text.startswith("holds") for text in states), states.count(NOT_RUN)
        page, counts = f"{paper.lower()}.md", (len(own), hold, len(own) - hold - missing, missing)
        index.append(f"| [{title}]({page}) [{paper}] | {' | '.join(map(str, counts))} |")
        (folder / page).write_text("\n".join(_page(paper, title, own, outcomes)), encoding="utf-8")
    (folder / "parameters.md").write_text(printed.page(), encoding="utf-8")
    index += ["", "[Parameters](parameters.md): what the papers print and what the scenes use, and why they differ."]
    index += ["", "```{toctree}", ":hidden:", "", *map(str.lower, PAPERS), "parameters", "```", ""]
    (folder / "index.md").write_text("\n".join(index), encoding="utf-8")


def _order(name: str) -> tuple[str, int]:
    """Figures by number, then tables by number, of names such as yue15-6 and yue15-table-2."""
    return re.sub(r"\d+$", "", name), int(name.rpartition("-")[2])


def _page(paper: str, title: str, figures: Sequence[Figure], outcomes: Outcomes) -> list[str]:
    lines = [f"# {title}", "", f"The figures of [{paper}], as spume shows them. {WRITTEN}", "", SHOWN, ""]
    lines += ["| figure | state | why | preset | processor time |", "| --- | --- | --- | --- | --- |"]
    rows: dict[str, str] = {}
    for figure in figures:
        preset, found = finest(outcomes.get(figure.name, {})), state(figure, outcomes)
        spent = f"{outcomes[figure.name][preset].seconds:.0f} s" if preset else ""
        why = "" if found.startswith("holds") or found == NOT_RUN else figure.cause
        link = f"[{figure.title}](#{anchor(figure.title)})"
        rows[figure.name] = f"| {link} | {found} | {why} | {preset or ''} | {spent} |"
    lines += [*(rows[name] for name in sorted(rows, key=_order)), ""]
    for figure in sorted(figures, key=lambda figure: _order(figure.name)):
        lines += _section(figure, outcomes)
    return lines


def _section(figure: Figure, outcomes: Outcomes) -> list[str]:
    preset = finest(outcomes.get(figure.name, {}))
    lines = [f"## {figure.title}", ""]
    if preset is None:
        return [*lines, "Not run yet.", "", f"The caption claims: {figure.explanation}", ""]
    outcome = outcomes[figure.name][preset]
    for word, undecided in (("Does not hold", False), ("Not shown", True)):
        failed = [c.quantity for c in outcome.checks if not c.passed and c.undecided == undecided]
        if failed:
            lines += [f"**{word}:** {'; '.join(failed)}.", ""]
    if not outcome.holds and figure.cause:
        lines += [f"Cause: {figure.cause}", ""]
    lines += pictures(outcome)
    lines += [f"The caption claims: {figure.explanation}", "", *checks_table(outcome), figure.finding, ""]
    for note in outcome.notes:
        lines += [note, ""]
    command = f"python -m figures {figure.name}"
    return [*lines, f"`{command if figure.presets == ('paper',) else f'{command} --preset {preset}'}`", ""]
