"""The diagnostics of a run as a table: a row for each frame, a column for each number."""

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from spume.errors import MissingExtra
from spume.runs.storage import write_atomically

if TYPE_CHECKING:
    import pandas
    import xarray

    from spume.frames.reader import Run

AXES = "xyz"


def columns(run: "Run") -> dict[str, NDArray[np.float64]]:
    """The numbers of every frame by name, NaN where a frame does not report one. Components of vectors are "name.x",
    entries of tables "name.key"; lists of varying length are omitted. Measurements have their own names."""
    raw = [{key: value for key, value in entry.items() if key != "measured"} for entry in run.diagnostics]
    rows = [flat(entry) for entry in raw]
    names = dict.fromkeys(name for row in rows for name in row)
    table = {name: np.array([row.get(name, np.nan) for row in rows], dtype=float) for name in names}
    for series in run.measurements.values():
        if series.values.ndim == 1:
            table[series.name] = series.values
        else:
            table |= {f"{series.name}.{axis}": part for axis, part in zip(AXES, series.values.T)}
    return table


def flat(entry: dict[str, Any]) -> dict[str, float]:
    """The numbers of one frame by name.

    >>> flat({"time": 0.5, "momentum": [1.0, 2.0], "seconds": {"grid": 3.0}, "note": "none"})
    {'time': 0.5, 'momentum.x': 1.0, 'momentum.y': 2.0, 'seconds.grid': 3.0}
    """
    numbers: dict[str, float] = {}
    for key, value in entry.items():
        if isinstance(value, dict):
            numbers |= {f"{key}.{inner}": number for inner, number in flat(value).items()}
        elif isinstance(value, list) and 2 <= len(value) <= 3 and all(_is_number(each) for each in value):
            numbers |= {f"{key}.{axis}": float(each) for axis, each in zip(AXES, value)}
        elif _is_number(value):
            numbers[key] = value
    return numbers


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def to_pandas(run: "Run") -> "pandas.DataFrame":
    """See `Run.to_pandas`."""
    try:
        import pandas
    except ImportError:
        raise MissingExtra("tables", "pandas", "a table of the diagnostics") from None
    table = columns(run)
    times = table.pop("time")
    return pandas.DataFrame(table, index=pandas.Index(times, name="time"))


def to_xarray(run: "Run") -> "xarray.Dataset":
    """See `Run.to_xarray`."""
    try:
        import xarray
    except ImportError:
        raise MissingExtra("tables", "xarray", "a data set of the diagnostics") from None
    table = columns(run)
    times = table.pop("time")
    variables: dict[str, Any] = {}
    for name, values in table.items():
        stem, _, axis = name.rpartition(".")
        parts = [table[each] for each in (f"{stem}.{letter}" for letter in AXES) if each in table]
        if axis in AXES and axis and len(parts) > 1:
            # vectors of the plane and of space do not share a dimension
            space = "component" if len(parts) == 3 else "component_2d"
            variables[stem] = (("time", space), np.stack(parts, axis=1))
        else:
            variables[name] = (("time",), values)
    sizes = {dimensions[1]: values.shape[1] for dimensions, values in variables.values() if len(dimensions) == 2}
    places = {space: list(AXES[:size]) for space, size in sizes.items()}
    about = {"title": run.title, "scene": run.name, "method": run.method, "spume": run.version}
    return xarray.Dataset(variables, coords={"time": ("time", times, {"units": "s"}), **places}, attrs=about)


def write_csv(file: Path, table: dict[str, Any]) -> None:
    """Write columns of equal length as CSV; unknown numbers are empty cells."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(table)
    for row in zip(*table.values()):
        writer.writerow([_cell(value) for value in row])
    contents = text.getvalue().encode()

    def write(stream: BinaryIO) -> None:
        stream.write(contents)

    write_atomically(file, write, len(contents))


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if isinstance(value, np.generic):
        return _cell(value.item())
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return repr(value) if isinstance(value, float) else value
