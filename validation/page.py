"""The page of results, docs/validation/index.md."""

from collections.abc import Sequence
from pathlib import Path

from reports.case import Case, Outcome
from reports.page import anchor, checks_table, pictures
from reports.store import read_results, write_results

HEAD = """# Validation

Comparison of spume ("ours") with closed forms and published figures ("theirs"). Written by `make validate`; do not
edit. Tolerances were set before the runs and are never adapted to results. Keys like [Yue15] are resolved in
`REFERENCES.bib`.
"""

ELSEWHERE = """## Checked by the tests

Cases that take only seconds are tests, run by `make test`: free fall, rigid motion and collisions, the vibrating bar,
the frictional incline and the standing column (`tests/verification`), the order of convergence (`tests/convergence`),
conservation and coverage of resampling (`tests/resampling`), the dry foam (`tests/dryfoam`), sand in triaxial
compression and plane strain, its return map and volume correction (`tests/materials`), water at rest in a column, the
drag between two blocks, and seepage (`tests/mixture`).
"""


def write_page(folder: Path, cases: Sequence[Case], found: dict[str, Outcome]) -> Path:
    """Write the page, with earlier outcomes for cases that were not run now."""
    folder.mkdir(parents=True, exist_ok=True)
    outcomes = read_results(folder) | found
    known = {case.name: outcomes[case.name] for case in cases if case.name in outcomes}
    write_results(folder, known)
    sections = [_section(case, known[case.name]) for case in cases if case.name in known]
    page = folder / "index.md"
    page.write_text("\n".join([HEAD, _summary(cases, known), *sections, ELSEWHERE]), encoding="utf-8")
    return page


def _summary(cases: Sequence[Case], known: dict[str, Outcome]) -> str:
    lines = ["| case | checks | passed |", "| --- | --- | --- |"]
    for case in cases:
        if case.name not in known:
            lines.append(f"| {case.title} | not run yet | |")
            continue
        checks = known[case.name].checks
        lines.append(f"| [{case.title}](#{anchor(case.title)}) | {len(checks)} | {sum(c.passed for c in checks)} |")
    return "\n".join([*lines, ""])


def _section(case: Case, outcome: Outcome) -> str:
    lines = [f"## {case.title}", "", case.explanation, "", *checks_table(outcome)]
    for note in outcome.notes:
        lines += [note, ""]
    return "\n".join([*lines, *pictures(outcome)])
