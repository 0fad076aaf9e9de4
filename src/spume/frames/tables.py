"""The diagnostics of a run as a table: a row for each frame, a column for each number."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spume.extras import require

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


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def to_pandas(run: "Run") -> "pandas.DataFrame":
    """See `Run.to_pandas`."""
    require("pandas", "a table of the diagnostics")
    import pandas

    table = columns(run)
    times = table.pop("time")
    return pandas.DataFrame(table, index=pandas.Index(times, name="time"))


def to_xarray(run: "Run") -> "xarray.Dataset":
    """See `Run.to_xarray`."""
    require("xarray", "a data set of the diagnostics")
    import xarray

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
