"""CSV files: columns of equal length, in one way for all tables."""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.terminal import printable
from spume.whole_files import whole_file


def write_csv(file: Path, table: Mapping[str, Sequence[Any] | NDArray[Any]], *, make_folder: bool = False) -> None:
    """Write columns of equal length; unknown numbers are empty cells, and numbers have all their digits."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(table)
    for row in zip(*table.values(), strict=True):
        writer.writerow([_cell(value) for value in row])
    contents = printable(text.getvalue()).encode()
    with whole_file(file, len(contents), make_folder=make_folder) as partial:
        partial.write_bytes(contents)


def _cell(value: object) -> object:
    if isinstance(value, np.generic):
        return _cell(value.item())
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return repr(value) if isinstance(value, float) else value
