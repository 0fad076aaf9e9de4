"""Reading of tables from text files exported by rheometers and spreadsheets.

Such files are separated by commas, semicolons or tabs, in UTF-8, UTF-16 or Windows-1252, with decimal points or commas.
A preamble of any length may precede the header and a row of units may follow it; a file may contain several intervals,
each with its own header.
"""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from spume.errors import SceneError

Cells = list[str]
SEPARATORS = "\t;,"
DECIMAL_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+([eE][+-]?\d+)?")


@dataclass
class Table:
    """The rows below one header."""

    header: Cells
    line: int
    """Line number of the header, from 1; that of the first row if there is no header."""
    separator: str
    units: Cells = field(default_factory=list)
    """Row of units below the header; empty if there is none."""
    rows: list[tuple[int, Cells]] = field(default_factory=list)
    """Line number and cells of each measurement."""


def read_lines(file: Path) -> list[tuple[int, str]]:
    """Lines of a text file that are neither empty nor comments (#), with their numbers."""
    try:
        contents = file.read_bytes()
    except OSError as error:
        raise SceneError(f"'{file}' cannot be read: {error.strerror}") from None
    lines = enumerate(_decoded(contents, file).splitlines(), 1)
    return [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("#")]


def _decoded(contents: bytes, file: Path) -> str:
    wide = contents[:2] in (b"\xff\xfe", b"\xfe\xff")
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp1252"):
        try:
            text = contents.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise SceneError(f"'{file}' is not a text file; it should be CSV, as exported by rheometers and spreadsheets")


def find_tables(
    lines: list[tuple[int, str]],
    is_header: Callable[[Cells], bool],
    is_unit: Callable[[str], bool],
    where: Callable[[int], str],
) -> list[Table]:
    """Tables of a file; if `is_header` accepts no line, one table whose header is the first line."""
    separator = next(
        (mark for _, line in lines for mark in SEPARATORS if is_header(split(line, mark, ""))),
        next((mark for mark in SEPARATORS if mark in lines[0][1]), ","),
    )
    rows = [(number, split(line, separator, where(number))) for number, line in lines]
    if not any(is_header(cells) for _, cells in rows):
        (number, cells), *below = rows
        return [Table(cells, number, separator, rows=below)]
    tables: list[Table] = []
    open_table = False
    for number, cells in rows:
        if is_header(cells):
            tables.append(Table(cells, number, separator))
            open_table = True
        elif not open_table:
            continue
        elif not tables[-1].rows and not tables[-1].units and _is_unit_row(cells, separator, is_unit):
            tables[-1].units = cells
        elif is_label(cells, separator):
            open_table = False
        else:
            tables[-1].rows.append((number, cells))
    return tables


def split(line: str, separator: str, where: str) -> Cells:
    """Cells of a line."""
    try:
        return next(csv.reader([line], delimiter=separator))
    except csv.Error as error:
        if not where:
            return []
        raise SceneError(f"{where}: {error}; it should be a row of numbers") from None


def to_number(cell: str, separator: str) -> float | None:
    """Number in a cell, with a decimal point or, if cells are not separated by commas, a decimal comma."""
    text = cell.strip()
    if separator != "," and DECIMAL_COMMA.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None


def is_label(cells: Cells, separator: str) -> bool:
    """Whether a row is a label between two intervals, such as "Result:" or "[step]"."""
    filled = [cell.strip() for cell in cells if cell.strip()]
    first = filled[0] if filled else ""
    return to_number(first, separator) is None and (len(filled) == 1 < len(cells) or first.endswith((":", "]")))


def _is_unit_row(cells: Cells, separator: str, is_unit: Callable[[str], bool]) -> bool:
    filled = [cell.strip() for cell in cells if cell.strip()]
    return any(is_unit(cell) for cell in filled) and all(to_number(cell, separator) is None for cell in filled)
