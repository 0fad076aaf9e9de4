"""The page of results, docs/validation/index.md, and the results it is written from."""

import json
from collections.abc import Sequence
from pathlib import Path

from validation.case import Case, Outcome

RESULTS = "results.json"

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


def read_results(folder: Path) -> dict[str, Outcome]:
    """Outcomes of earlier runs, by case."""
    file = folder / RESULTS
    if not file.exists():
        return {}
    return {name: Outcome.of(tables) for name, tables in json.loads(file.read_text(encoding="utf-8")).items()}


def write_page(folder: Path, cases: Sequence[Case], found: dict[str, Outcome]) -> Path:
    """Write the page, with earlier outcomes for cases that were not run now."""
    folder.mkdir(parents=True, exist_ok=True)
    outcomes = read_results(folder) | found
    known = {case.name: outcomes[case.name] for case in cases if case.name in outcomes}
    tables = {name: outcome.tables() for name, outcome in known.items()}
    (folder / RESULTS).write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
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
        lines.append(f"| [{case.title}](#{_anchor(case.title)}) | {len(checks)} | {sum(c.passed for c in checks)} |")
    return "\n".join([*lines, ""])


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -")
    return kept.replace(" ", "-")


def _section(case: Case, outcome: Outcome) -> str:
    lines = [f"## {case.title}", "", case.explanation, ""]
    lines += ["| quantity | ours | theirs | error | tolerance | passed |", "| --- | --- | --- | --- | --- | --- |"]
    for c in outcome.checks:
        passed = "yes" if c.passed else "**no**"
        lines.append(f"| {c.quantity} | {c.ours} | {c.theirs} | {c.error} | {c.tolerance} | {passed} |")
    lines.append("")
    for note in outcome.notes:
        lines += [note, ""]
    for name, caption in outcome.figures:
        lines += [f"![{caption}]({name})", "", f"*{caption}*", ""]
    return "\n".join(lines)
