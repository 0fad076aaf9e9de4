"""Reading of measured curves from CSV files: flow curves, frequency sweeps and relaxation curves."""

import csv
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError

NAMES = {
    "rate": ("rate", "shear_rate", "strain_rate", "shear rate", "γ̇"),
    "stress": ("stress", "shear_stress", "shear stress", "τ"),
    "frequency": ("frequency", "angular_frequency", "angular frequency", "omega", "ω"),
    "storage modulus": ("storage_modulus", "storage modulus", "g'"),
    "loss modulus": ("loss_modulus", "loss modulus", 'g"', "g''"),
    "time": ("time", "t"),
    "relaxation modulus": ("relaxation_modulus", "relaxation modulus", "modulus", "g"),
}
UNITS = {
    "rate": ("1/s", "s^-1", "s-1", "s⁻¹"),
    "stress": ("Pa",),
    "frequency": ("rad/s",),
    "storage modulus": ("Pa",),
    "loss modulus": ("Pa",),
    "time": ("s",),
    "relaxation modulus": ("Pa",),
}
KINDS = {
    "flow curve": ("rate", "stress"),
    "frequency sweep": ("frequency", "storage modulus", "loss modulus"),
    "relaxation curve": ("time", "relaxation modulus"),
}
"""The columns of each kind of measurement; the first one tells them apart."""
HEADING = re.compile(r"\s*(?P<name>[^\[(]*?)\s*(?:[\[(]\s*(?P<unit>[^\])]*?)\s*[\])])?\s*")


@dataclass(frozen=True)
class FlowCurve:
    """A measured flow curve."""

    rates: NDArray[np.float64]
    """shear rates [1/s]"""
    stresses: NDArray[np.float64]
    """shear stresses [Pa]"""
    lines: tuple[int, ...]
    """line of the file each measurement stands on"""


@dataclass(frozen=True)
class Measured:
    """A measured curve of any kind."""

    kind: str
    """one of KINDS"""
    columns: dict[str, NDArray[np.float64]]
    """by the names of KINDS, in SI units"""
    lines: tuple[int, ...]
    """line of the file each measurement stands on"""


def read_flow_curve(file: Path) -> FlowCurve:
    """The flow curve of a CSV file, see `read_measured`."""
    found = read_measured(file, "flow curve")
    return FlowCurve(found.columns["rate"], found.columns["stress"], found.lines)


def read_measured(file: Path, kind: str | None = None) -> Measured:
    """The measurements of a CSV file, separated by commas, semicolons or tabs; lines beginning with # are remarks.

    Its first line names the columns, perhaps with the unit in brackets: rate and stress; frequency, storage_modulus and
    loss_modulus; or time and relaxation_modulus. Unless `kind` is given, they tell what was measured.
    """
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SceneError(f"'{file}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise SceneError(f"'{file}' is not a text file; it should be CSV in UTF-8") from None
    lines = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        raise SceneError(f"'{file}' is empty; it should have the columns rate [1/s] and stress [Pa]")
    separator = next((mark for mark in "\t;," if mark in lines[0][1]), ",")
    rows = [(number, _row(line, separator, f"'{file}', line {number}")) for number, line in lines]
    kind = kind or _kind(rows[0][1])
    wanted = KINDS[kind]
    columns = _columns(rows[0][1], wanted, f"'{file}', line {rows[0][0]}")
    numbers = [
        [_number(row, columns[key], key, f"'{file}', line {number}") for key in wanted] for number, row in rows[1:]
    ]
    if not numbers:
        raise SceneError(f"'{file}' has a header and no measurements below it")
    return Measured(kind, dict(zip(wanted, np.array(numbers).T)), tuple(number for number, _ in rows[1:]))


def _row(line: str, separator: str, where: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator))
    except csv.Error as error:
        raise SceneError(f"{where}: {error}; it should be a row of numbers") from None


def _name(heading: str) -> str:
    match = HEADING.fullmatch(heading)
    return match["name"].lower() if match else heading.strip().lower()


def _kind(header: list[str]) -> str:
    """What was measured, by the first column of KINDS that is there; a flow curve if none is."""
    names = {_name(heading) for heading in header}
    return next((kind for kind, (first, *_) in KINDS.items() if names & set(NAMES[first])), "flow curve")


def _columns(header: list[str], wanted: tuple[str, ...], where: str) -> dict[str, int]:
    """Which column holds each of the `wanted` quantities."""
    found: dict[str, int] = {}
    for position, heading in enumerate(header):
        match = HEADING.fullmatch(heading)
        name = _name(heading)
        for key in wanted:
            if name not in NAMES[key]:
                continue
            if key in found:
                raise SceneError(f"{where}: two columns hold the {key}: '{header[found[key]]}' and '{heading}'")
            unit = match["unit"] if match else None
            if unit and unit not in UNITS[key]:
                raise SceneError(f"{where}: the {key} is in '{unit}': it should be in {UNITS[key][0]}")
            found[key] = position
    for key in wanted:
        names = NAMES[key]
        if key not in found:
            shown = ", ".join(cell.strip() for cell in header)
            raise SceneError(f"{where}: no column is called {names[0]} or {names[1]}; the header is: {shown}")
    return found


def _number(row: list[str], column: int, key: str, where: str) -> float:
    if column >= len(row):
        raise SceneError(f"{where}: it has {len(row)} columns, and the {key} should be in column {column + 1}")
    cell = row[column].strip()
    try:
        value = float(cell)
    except ValueError:
        raise SceneError(f"{where}: the {key} is '{cell}', which is not a number") from None
    if not (math.isfinite(value) and (value > 0.0 or (key == "time" and value == 0.0))):
        raise SceneError(f"{where}: the {key} is {cell}: it should be positive and finite")
    return value
