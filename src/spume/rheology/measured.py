"""Measured curves from instrument files: flow curves, frequency sweeps, relaxation and creep, in SI units."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.rheology.instrument_files import Cells, Table, find_tables, is_label, read_lines, split, to_number

PASCAL = {"Pa": 1.0, "kPa": 1e3, "MPa": 1e6, "mPa": 1e-3, "N/m²": 1.0, "N/m2": 1.0, "dyn/cm²": 0.1, "dyn/cm2": 0.1}
PER_SECOND = {"1/s": 1.0, "s^-1": 1.0, "s-1": 1.0, "s⁻¹": 1.0, "1/min": 1 / 60, "min^-1": 1 / 60}


class Quantity(NamedTuple):
    """Quantity of a column."""

    names: tuple[str, ...]
    """Its names in headers, in lower case, with spaces instead of underscores."""
    units: dict[str, float]
    """Factor to SI by unit, written without spaces and dots; the first is the SI unit."""
    assumed: bool = True
    """Whether a column without a unit is in the SI unit."""


QUANTITIES = {
    "rate": Quantity(("rate", "shear rate", "strain rate", "shearrate", "γ̇", "ɣ̇", "gamma dot"), PER_SECOND),
    "stress": Quantity(("stress", "shear stress", "shearstress", "τ", "tau"), PASCAL),
    "viscosity": Quantity(
        ("viscosity", "shear viscosity", "apparent viscosity", "η", "eta"),
        {"Pas": 1.0, "mPas": 1e-3, "kPas": 1e3, "cP": 1e-3, "P": 0.1},
    ),
    "frequency": Quantity(
        ("frequency", "freq", "f"),
        {"rad/s": 1.0, "Hz": 2 * math.pi, "mHz": 2e-3 * math.pi, "1/s": 2 * math.pi, "s^-1": 2 * math.pi},
        assumed=False,
    ),
    "angular frequency": Quantity(
        ("angular frequency", "ang frequency", "omega", "ω"), {"rad/s": 1.0, "1/s": 1.0, "s^-1": 1.0, "s-1": 1.0}
    ),
    "storage modulus": Quantity(("storage modulus", "g'", "g′"), PASCAL),
    "loss modulus": Quantity(("loss modulus", 'g"', "g''", "g″"), PASCAL),
    "time": Quantity(("time", "t", "step time"), {"s": 1.0, "ms": 1e-3, "min": 60.0, "h": 3600.0}),
    "relaxation modulus": Quantity(("relaxation modulus", "modulus", "g", "g(t)"), PASCAL),
    "creep compliance": Quantity(
        ("creep compliance", "compliance", "j", "j(t)"),
        {"1/Pa": 1.0, "Pa^-1": 1.0, "1/kPa": 1e-3, "1/MPa": 1e-6, "Pa-1": 1.0, "Pa⁻¹": 1.0},
    ),
    "strain": Quantity(("strain", "shear strain", "γ", "gamma"), {"1": 1.0, "%": 0.01, "-": 1.0}),
}
KINDS = {
    "flow curve": ("rate", "stress"),
    "frequency sweep": ("frequency", "storage modulus", "loss modulus"),
    "relaxation curve": ("time", "relaxation modulus"),
    "creep curve": ("time", "creep compliance"),
}
"""The columns of each kind of measurement."""
INSTEAD = {"stress": "viscosity", "frequency": "angular frequency"}
"""Columns from which another is computed; an angular frequency is preferred to one in hertz."""
STEPS = {"relaxation curve": "strain", "creep curve": "stress"}
"""What was applied at once and then kept constant; its column may be missing."""
CONSTANT = 0.1
"""Relative range of the values that count as kept constant."""
HEADING = re.compile(r"\s*(?P<name>.*?)\s*(?:[\[(]\s*(?P<unit>[^\])]*?)\s*[\])]|\s+in\s+(?P<plain>\S.*?))?\s*")


@dataclass(frozen=True)
class FlowCurve:
    """A measured flow curve."""

    rates: NDArray[np.float64]
    """shear rates [1/s]"""
    stresses: NDArray[np.float64]
    """shear stresses [Pa]"""
    lines: tuple[int, ...]
    """line number of each measurement in the file"""


@dataclass(frozen=True)
class Measured:
    """A measured curve of any kind."""

    kind: str
    """one of KINDS"""
    columns: dict[str, NDArray[np.float64]]
    """by the names of KINDS, in SI units"""
    lines: tuple[int, ...]
    """line number of each measurement in the file"""
    step: float | None = None
    """strain of a relaxation curve [1] or stress of a creep curve [Pa], if the file contains it"""
    units: dict[str, str] = field(default_factory=dict)
    """units of the columns in the file; "" if it names none and SI units are assumed"""


def read_flow_curve(file: Path) -> FlowCurve:
    """Read a flow curve from a CSV file, see `read_measured`."""
    found = read_measured(file, "flow curve")
    return FlowCurve(found.columns["rate"], found.columns["stress"], found.lines)


def read_measured(
    file: Path,
    kind: str | None = None,
    columns: str | None = None,
    interval: str | None = None,
    unit: str | None = None,
) -> Measured:
    """Read measurements from a CSV file or a rheometer export; see `instrument_files` for the formats.

    The header names the columns: rate and stress, or viscosity instead of stress; frequency, storage_modulus and
    loss_modulus; time and relaxation_modulus, with or without the strain; or time and creep_compliance, with or
    without the stress. Units follow the names, as in "frequency [Hz]" or "frequency_hz", or are in the row below.
    Columns without a unit are in SI units, except a frequency, which must be said to be in Hz or rad/s. Unless `kind`
    is given, the columns determine the kind of measurement.

    columns: contents of the columns of a file without a header: "rate,viscosity [mPa s],-".
    interval: number of the interval, from 1, or "all", for a file with several.
    unit: unit of a column "frequency" that names none: "Hz" or "rad/s".
    """
    lines = read_lines(file)
    if not lines:
        raise SceneError(f"'{file}' is empty; it should have the columns rate [1/s] and stress [Pa]")

    def where(line: int) -> str:
        return f"'{file}', line {line}"

    if columns is not None:
        tables = [_without_header(lines, columns, file)]
    else:
        tables = find_tables(lines, _is_header, _is_unit, where)
        if all(to_number(cell, tables[0].separator) is not None for cell in tables[0].header):
            raise SceneError(f"'{file}' has no header: say what its columns hold, as in --columns rate,stress")
    curves = [_curve(table, kind, where, unit) for table in tables if table.rows]
    if not curves:
        raise SceneError(f"'{file}' has a header but no measurements below it")
    return _chosen(curves, interval, file)


def _chosen(curves: list[Measured], interval: str | None, file: Path) -> Measured:
    """Curve of an interval, or all curves of one kind joined into one."""
    listed = "; ".join(f"{k}: {each.kind} of {len(each.lines)} points" for k, each in enumerate(curves, 1))
    if interval is None and len(curves) > 1:
        raise SceneError(f"'{file}' holds {len(curves)} intervals ({listed}): choose one, or all, as in --interval 2")
    if interval in (None, "1"):
        return curves[0]
    if interval == "all":
        alike = [each for each in curves if each.kind == curves[0].kind]
        names = KINDS[curves[0].kind]
        joined = {name: np.concatenate([each.columns[name] for each in alike]) for name in names}
        lines = tuple(line for each in alike for line in each.lines)
        return Measured(curves[0].kind, joined, lines, _common_step(alike, file), curves[0].units)
    if interval is None or not interval.isdigit() or not 1 <= int(interval) <= len(curves):
        raise SceneError(f"--interval {interval}: '{file}' has {listed}; give one of these numbers, or all")
    return curves[int(interval) - 1]


def _common_step(curves: list[Measured], file: Path) -> float | None:
    steps = [each.step for each in curves]
    if len(set(steps)) > 1:
        what = STEPS[curves[0].kind]
        raise SceneError(f"the intervals of '{file}' differ in their {what}: choose one of them, as in --interval 2")
    return steps[0]


def _without_header(lines: list[tuple[int, str]], columns: str, file: Path) -> Table:
    header = split(columns, ",", "--columns")
    if unknown := [cell for cell in header if cell.strip() not in ("-", "") and _quantity(cell) is None]:
        known = ", ".join(QUANTITIES)
        raise SceneError(f"--columns {columns}: '{unknown[0].strip()}' is none of {known}, or - for one to leave out")
    separator = next((mark for mark in "\t;," if mark in lines[-1][1]), ",")
    rows = [(number, split(line, separator, f"'{file}', line {number}")) for number, line in lines]
    numbers = [row for row in rows if not is_label(row[1], separator) and to_number(row[1][0], separator) is not None]
    return Table(header, rows[0][0], separator, rows=numbers)


def _plain(unit: str) -> str:
    """Unit without brackets, spaces and dots."""
    return re.sub(r"[\s·⋅*.\[\]()]", "", unit)


def _parts(heading: str) -> tuple[str, str]:
    """Name and unit of a heading such as "Shear rate [1/s]", "G' (Pa)", "τ in Pa" or "frequency_hz"."""
    match = HEADING.fullmatch(heading)
    if match is None:
        return heading.strip().lower(), ""
    words = re.sub(r"[\s_.]+", " ", match["name"]).strip().split(" ")
    name, unit = " ".join(words).lower(), match["unit"] or match["plain"] or ""
    if unit or _named(name):
        return name, unit
    for k in range(1, len(words)):
        first = " ".join(words[:k]).lower()
        if (key := _named(first)) and (unit := _unit_in_name("".join(words[k:]), QUANTITIES[key].units)):
            return first, unit
    return name, ""


def _named(name: str) -> str | None:
    """Quantity of this name."""
    return next((key for key, quantity in QUANTITIES.items() if name in quantity.names), None)


def _unit_in_name(text: str, units: dict[str, float]) -> str:
    """The unit that is part of a column's name, such as kPa, hz or rad_s; "" if it is none, or may be two, as mpa."""
    if _plain(text) in units:
        return _plain(text)
    plain = text.replace("/", "").lower()
    alike = [unit for unit in units if unit.replace("/", "").lower() == plain]
    return alike[0] if len(alike) == 1 else ""


def _quantity(heading: str) -> str | None:
    """Quantity of a column, from its heading."""
    return _named(_parts(heading)[0]) or _named(heading.strip().lower())  # "g(t)" has no unit t


def kind_of(header: Cells) -> str | None:
    """The kind of measurement whose columns a row names; None if it names none."""
    return _kind_of({key for cell in header if (key := _quantity(cell))})


def _is_header(cells: Cells) -> bool:
    return kind_of(cells) is not None


def _is_unit(cell: str) -> bool:
    return any(_plain(cell) in quantity.units for quantity in QUANTITIES.values())


def _kind_of(found: set[str]) -> str | None:
    """Kind of measurement whose columns are all present."""
    found = found | {key for key, other in INSTEAD.items() if other in found}
    return next((kind for kind, wanted in KINDS.items() if set(wanted) <= found), None)


def _curve(table: Table, kind: str | None, where: Callable[[int], str], unit: str | None) -> Measured:
    """Measurements of a table in SI units."""
    keys = [_quantity(cell) for cell in table.header]
    found = {key for key in keys if key}
    # if no kind is complete, the message is about the kind whose first column is present
    kind = (
        kind
        or _kind_of(found)
        or next((name for name, (first, *_) in KINDS.items() if {first, INSTEAD.get(first)} & found), "flow curve")
    )
    values, units = {}, {}
    for key in KINDS[kind]:
        read = _source(key, found)
        column = _column(read, keys, table, where(table.line))
        named, factor = _unit(read, column, table, where(table.line), unit)
        values[key] = factor * np.array([_number(cells, column, read, table, where(n)) for n, cells in table.rows])
        units[read] = named
        if read == "viscosity":
            values[key] *= values["rate"]
    step = _step(STEPS[kind], keys, table, where) if STEPS.get(kind) in found else None
    return Measured(kind, values, tuple(line for line, _ in table.rows), step, units)


def _source(key: str, found: set[str]) -> str:
    """The column from which a quantity is read."""
    other = INSTEAD.get(key)
    return other if other in found and (key not in found or key == "frequency") else key


def _step(key: str, keys: list[str | None], table: Table, where: Callable[[int], str]) -> float:
    """The value of a column that is constant."""
    column = _column(key, keys, table, where(table.line))
    _, factor = _unit(key, column, table, where(table.line))
    values = np.array([_number(cells, column, key, table, where(line)) for line, cells in table.rows]) * factor
    middle = float(np.median(values))
    if np.ptp(values) > CONSTANT * middle:
        raise SceneError(
            f"{where(table.line)}: the {key} goes from {values.min():g} to {values.max():g}: it should be constant "
            "after the step; leave out the rows of the step itself"
        )
    return middle


def _column(key: str, keys: list[str | None], table: Table, where: str) -> int:
    places = [position for position, each in enumerate(keys) if each == key]
    if len(places) > 1:
        one, two = (table.header[place] for place in places[:2])
        raise SceneError(f"{where}: two columns hold the {key}: '{one}' and '{two}'")
    if not places:
        names = [name.replace(" ", "_") for name in QUANTITIES[key].names]
        shown = ", ".join(cell.strip() for cell in table.header)
        raise SceneError(f"{where}: no column is called {names[0]} or {names[1]}; the header is: {shown}")
    return places[0]


def _unit(key: str, column: int, table: Table, where: str, told: str | None = None) -> tuple[str, float]:
    """Unit of a column in the file and its factor to SI; `told` is that of a column which must name one."""
    below = table.units[column] if column < len(table.units) else ""
    heading = table.header[column]
    own = "" if heading.strip().lower().endswith("(t)") else _parts(heading)[1]
    unit = _plain(own or below)
    units = QUANTITIES[key].units
    if not unit and not QUANTITIES[key].assumed:
        if told is None:
            raise SceneError(
                f"{where}: the column '{heading.strip()}' has no unit, and hertz and rad/s differ by 2π: write "
                f"'{key} [Hz]' or 'angular frequency [rad/s]' in the header, or give --unit Hz or --unit rad/s"
            )
        if told not in units:
            raise SceneError(f"--unit {told}: the {key} should be in Hz or rad/s")
        unit = told
    if not unit:
        return "", next(iter(units.values()))
    if unit not in units:
        raise SceneError(f"{where}: the {key} is in '{unit}': it should be in {', '.join(list(units)[:4])}")
    return unit, units[unit]


def _number(cells: Cells, column: int, key: str, table: Table, where: str) -> float:
    if column >= len(cells):
        raise SceneError(f"{where}: it has {len(cells)} columns, and the {key} should be in column {column + 1}")
    cell = cells[column].strip()
    value = to_number(cell, table.separator)
    if value is None:
        raise SceneError(f"{where}: the {key} is '{cell}', which is not a number")
    if not (math.isfinite(value) and (value > 0.0 or (key == "time" and value == 0.0))):
        raise SceneError(f"{where}: the {key} is {cell}: it should be positive and finite")
    return value
