"""CSV: the diagnostics of all frames in one table, and each log of the run in another."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spume.frames.logs import log_populations, log_table
from spume.frames.reader import Run
from spume.look.atomic import whole_file


def write_tables(run: Run, numbers: list[int], folder: Path) -> list[Path]:
    """Write frames.csv, with the diagnostics that are single numbers, and a file for each log; returns the files."""
    entries = [run.diagnostics[number] for number in numbers]
    names = list(
        dict.fromkeys(
            name
            for entry in entries
            for name, value in entry.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        )
    )
    files = [_write(folder / "frames.csv", names, [[entry.get(name, "") for name in names] for entry in entries])]
    for log in log_populations(run):
        table = log_table(run, log)
        rows = list(zip(*(values.tolist() for values in table.values()), strict=True))
        files.append(_write(folder / f"{log.name}.csv", list(table), rows))
    return files


def _write(file: Path, names: list[str], rows: Sequence[Sequence[Any]]) -> Path:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    with whole_file(file) as unfinished:
        unfinished.write_text(text.getvalue(), encoding="utf-8")
    return file
