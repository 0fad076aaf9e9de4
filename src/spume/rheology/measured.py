"""Reading of measured flow curves: a CSV file with a column of shear rates and one of shear stresses."""

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
}
UNITS = {"rate": ("1/s", "s^-1", "s-1", "s⁻¹"), "stress": ("Pa",)}
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


def read_flow_curve(file: Path) -> FlowCurve:
    """The measurements of a CSV file, separated by commas, semicolons or tabs; lines beginning with # are remarks.

    Its first line names the columns: rate or shear_rate, stress or shear_stress, perhaps with the unit in brackets.
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
    columns = _columns(rows[0][1], f"'{file}', line {rows[0][0]}")
    numbers = [
        [_number(row, columns[key], key, f"'{file}', line {number}") for key in ("rate", "stress")]
        for number, row in rows[1:]
    ]
    if not numbers:
        raise SceneError(f"'{file}' has a header and no measurements below it")
    rates, stresses = np.array(numbers).T
    return FlowCurve(rates, stresses, tuple(number for number, _ in rows[1:]))


def _row(line: str, separator: str, where: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator))
    except csv.Error as error:
        raise SceneError(f"{where}: {error}; it should be a row of numbers") from None


def _columns(header: list[str], where: str) -> dict[str, int]:
    """Which column holds the rates and which the stresses."""
    found: dict[str, int] = {}
    for position, heading in enumerate(header):
        match = HEADING.fullmatch(heading)
        name = match["name"].lower() if match else heading.strip().lower()
        for key, names in NAMES.items():
            if name not in names:
                continue
            if key in found:
                raise SceneError(f"{where}: two columns hold the {key}: '{header[found[key]]}' and '{heading}'")
            unit = match["unit"] if match else None
            if unit and unit not in UNITS[key]:
                raise SceneError(f"{where}: the {key} is in '{unit}': it should be in {UNITS[key][0]}")
            found[key] = position
    for key, names in NAMES.items():
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
    if not (value > 0.0 and math.isfinite(value)):
        raise SceneError(f"{where}: the {key} is {cell}: it should be positive and finite")
    return value
