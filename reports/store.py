"""Outcomes of cases on disk."""

import json
from collections.abc import Mapping
from pathlib import Path

from reports.case import Outcome
from spume.whole_files import whole_file

RESULTS = "results.json"


def read_results(folder: Path) -> dict[str, Outcome]:
    """Outcomes of earlier runs, by case."""
    file = folder / RESULTS
    if not file.exists():
        return {}
    return {name: Outcome.of(tables) for name, tables in json.loads(file.read_text(encoding="utf-8")).items()}


def write_results(folder: Path, outcomes: Mapping[str, Outcome]) -> None:
    """Write the outcomes of all cases."""
    tables = {name: outcome.tables() for name, outcome in outcomes.items()}
    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / RESULTS) as part:
        part.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
