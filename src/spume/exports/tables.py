"""CSV: the diagnostics and measurements of all frames in one table, and each log of the run in another."""

from pathlib import Path

from spume.csv_files import write_csv
from spume.frames.logs import log_populations, log_table
from spume.frames.reader import Run
from spume.frames.tables import columns


def write_tables(run: Run, numbers: list[int], folder: Path) -> list[Path]:
    """Write frames.csv, with the numbers of each frame, and a file for each log; returns the files."""
    tables = {"frames": {name: values[numbers] for name, values in columns(run).items()}}
    tables |= {log.name: log_table(run, log) for log in log_populations(run)}
    for name, table in tables.items():
        write_csv(folder / f"{name}.csv", table, make_folder=True)
    return [folder / f"{name}.csv" for name in tables]
