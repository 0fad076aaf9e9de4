"""Checks of frames that were read from disk: their checksums are good, but somebody else may have written them."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError
from spume.fields import Field, Population

OWN_LENGTH = {"mesh": "triangles", "lines": "lines"}
"""The field of a kind of population that has another length than the others."""


def check_metadata(about: Mapping[str, Any], path: Path) -> None:
    """Raise CacheError if a frame does not say its number, time and diagnostics."""
    number, time = about.get("frame"), about.get("time")
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise malformed(path, f"the number of its frame is {number!r:.40}")
    if not isinstance(time, int | float) or isinstance(time, bool) or not math.isfinite(time):
        raise malformed(path, f"its time is {time!r:.40}")
    if not isinstance(about.get("diagnostics"), dict):
        raise malformed(path, "it has no table of diagnostics")


def check_shapes(declared: Population, shapes: Mapping[str, tuple[int, ...]], path: Path) -> None:
    """Raise CacheError if the arrays of a population, by field, do not have the declared shapes and one length."""
    lengths: dict[str, int] = {}
    for field in declared.fields:
        if field.name not in shapes:
            continue
        length, *shape = shapes[field.name] or (-1,)
        if length < 0 or tuple(shape) != field.shape:
            wanted = "×".join(("n", *map(str, field.shape)))
            found = "×".join(map(str, shapes[field.name])) or "a number"
            raise malformed(path, f"{declared.name}/{field.name} has the shape {found}; it should be {wanted}")
        if field.name != OWN_LENGTH.get(declared.kind):
            lengths[field.name] = length
    if declared.kind != "table" and len(set(lengths.values())) > 1:
        raise malformed(path, f"the arrays of '{declared.name}' have different lengths")
    needed = {"x", OWN_LENGTH.get(declared.kind, "x")} if declared.kind != "table" else set()
    if missing := needed - shapes.keys():
        raise malformed(path, f"'{declared.name}' has no {' and no '.join(sorted(missing))}")


def check_kind(field: Field, values: NDArray[Any], path: Path) -> None:
    """Raise CacheError if the values of a field are of another kind than declared, such as integers for numbers."""
    kinds = "iub" if np.dtype(field.dtype).kind in "iub" else "f"
    if values.dtype.kind not in kinds:
        raise malformed(path, f"{field.name} has values of type {values.dtype}; they should be {field.dtype}")


def check_indices(kind: str, field: str, values: NDArray[Any], count: int, path: Path) -> None:
    """Raise CacheError if triangles or lines refer to vertices that do not exist."""
    if field != OWN_LENGTH.get(kind):
        return
    least, most = (0, count - 1) if kind == "mesh" else (0, count)
    wrong = values.dtype.kind not in "iu" or (values.size and (values.min() < least or values.max() > most))
    if kind == "lines" and not wrong:
        wrong = len(values) < 1 or values[0] != 0 or values[-1] != count or bool((np.diff(values) <= 0).any())
    if wrong:
        raise malformed(path, f"its {field} refer to points that do not exist")


def malformed(path: Path, what: str) -> CacheError:
    """The error of a frame."""
    return CacheError(f"'{path}' is malformed: {what}")
