"""The table of a sweep: a row for each run, with its parameters, its state and what was measured."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spume.consent import NotTrusted
from spume.csv_files import write_csv
from spume.errors import SceneError, SpumeError
from spume.frames.measurements import REDUCTIONS
from spume.frames.reader import Run, open_run
from spume.frames.tables import AXES, columns
from spume.suggestions import did_you_mean
from spume.sweeps.jobs import state_of
from spume.sweeps.plan import Plan
from spume.user_files import failing_line, run_python_file
from spume.whole_files import whole_file

Measure = str | Callable[[Run], Any]
"""The name of a measurement of the scene, a diagnostic such as "volume:last", or a function of the run that returns a
number or a dict of numbers."""
Table = dict[str, list[Any]]
COLUMNS = ("run", "status", "frames", "seconds")
"""Columns of every table, beside parameters and measurements."""
FILE_AND_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<function>\w+)")


class FunctionFailed(SpumeError):
    """A user's function raised an error, or returned something that does not fit into the table."""


def measure_run(run: Run, measures: Sequence[Measure]) -> tuple[dict[str, Any], list[str]]:
    """Measurements of one run by name (components of vectors are "name.x"), and a sentence for each function that
    failed."""
    found: dict[str, Any] = {}
    failed: list[str] = []
    for measure in measures:
        if not callable(measure):
            found |= _named(run, measure)
            continue
        try:
            found |= _of_function(run, measure)
        except FunctionFailed as error:
            failed.append(str(error))
    return found, failed


def _of_function(run: Run, function: Callable[[Run], Any]) -> dict[str, Any]:
    """What a user's function measures, by name."""
    name = getattr(function, "__name__", "measure")
    try:
        value = function(run)
    except (Exception, SystemExit) as error:  # the user's code may raise anything
        raise FunctionFailed(f"{name} failed{_place(error, function)}: {type(error).__name__}: {error}") from error
    values = dict(value) if isinstance(value, Mapping) else {name: value}
    numbers = {str(key): each.item() if isinstance(each, np.generic) else each for key, each in values.items()}
    for key, number in numbers.items():
        if key in COLUMNS:
            raise FunctionFailed(f"{name} returned a value named '{key}', which is a column of every table")
        if number is not None and not isinstance(number, int | float | str):
            raise FunctionFailed(f"{name} returned {number!r:.60}, which is not a number")
    return numbers


def _place(error: BaseException, function: Callable[[Run], Any]) -> str:
    """The line of the function's file at which an error arose."""
    code = getattr(function, "__code__", None)
    return "" if code is None else failing_line(error, Path(code.co_filename))


def _named(run: Run, name: str) -> dict[str, Any]:
    series = run.measurements
    if name in series:
        value = series[name].value
        if isinstance(value, list):
            return {f"{name}.{axis}": part for axis, part in zip(AXES, value)}
        return {name: value}
    key, _, reduction = name.rpartition(":")
    key, reduction = (key, reduction) if reduction in REDUCTIONS and key else (name, "last")
    table = columns(run)
    if key not in table:
        raise SceneError(f"--measure {name}: there is no such measurement: {did_you_mean(key, [*series, *table])}")
    known = table[key][~np.isnan(table[key])]
    return {name: float(REDUCTIONS[reduction](known)) if len(known) else None}


def is_function_of_file(text: str) -> bool:
    """Whether a measure is meant as "FILE.py:NAME"."""
    return FILE_AND_FUNCTION.fullmatch(text) is not None


def check_function_of_file(text: str) -> None:
    """Refuse what is not "FILE.py:NAME"."""
    if not is_function_of_file(text):
        raise SceneError(f"--function {text}: it should be FILE.py:NAME, a function that takes a run")


def whole_path(text: str) -> str:
    """ "FILE.py:NAME" with the whole path of the file."""
    file, _, name = text.rpartition(":")
    return f"{Path(file).resolve()}:{name}"


def load_function(text: str, trust: bool = True) -> Callable[[Run], Any]:
    """The function of "FILE.py:NAME", whose code is run; without `trust` only if the user has run it before."""
    check_function_of_file(text)
    match = FILE_AND_FUNCTION.fullmatch(text)
    assert match is not None
    file = Path(match["file"])
    try:
        module = run_python_file(file, trust)
    except NotTrusted:
        raise
    except SceneError as error:
        raise SceneError(f"--function {text}: {error}") from error
    found = getattr(module, match["function"], None)
    if not callable(found):
        raise SceneError(f"--function {text}: '{file}' has no function '{match['function']}'")
    chosen: Callable[[Run], Any] = found
    return chosen


def make_table(
    folder: Path, plan: Plan, measures: Sequence[Measure], failures: Mapping[str, str], seconds: Mapping[str, float]
) -> Table:
    """The table of all runs as they are on disk; `failures` and `seconds` of this call by the folders of runs."""
    rows: list[dict[str, Any]] = []
    for planned in plan.runs:
        place = folder / planned.folder
        status, frames = state_of(place)
        row: dict[str, Any] = {"run": planned.number, **planned.parameters, "status": status, "frames": frames}
        if planned.folder in failures:
            row["status"] = f"failed: {failures[planned.folder]}"
        elif status == "complete":
            try:
                measured, failed = measure_run(open_run(place), measures)
                row |= measured
                row["status"] = "; ".join([status] if not failed else [f"not measured: {failed[0]}", *failed[1:]])
            except SceneError:
                raise
            except SpumeError as error:
                row["status"] = f"damaged: {error}"
        row["seconds"] = seconds.get(planned.folder)
        rows.append(row)
    names = [name for name in dict.fromkeys(key for row in rows for key in row) if name != "seconds"]
    return {name: [row.get(name) for row in rows] for name in (*names, "seconds")}


def write_table(folder: Path, table: Table) -> list[Path]:
    """Write table.csv, and table.parquet where pyarrow is installed; returns their files."""
    text = {name: [_cell(value) for value in values] for name, values in table.items()}
    files = [folder / "table.csv"]
    write_csv(files[0], text)
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return files
    files.append(folder / "table.parquet")
    with whole_file(files[1]) as partial:
        parquet.write_table(pyarrow.table({name: _column(values) for name, values in table.items()}), partial)
    return files


def _column(values: list[Any]) -> list[Any]:
    """Values of one type, as Parquet wants them: numbers stay numbers, everything else becomes text."""
    known = [value for value in values if value is not None]
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        whole = all(isinstance(value, int) for value in known)
        return values if whole else [None if value is None else float(value) for value in values]
    return [None if value is None else str(_cell(value)) for value in values]


def _cell(value: object) -> object:
    return str(value) if isinstance(value, list | tuple | dict | bool) else value
