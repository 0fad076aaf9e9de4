"""Declared fields: what a point carries, and what becomes of it when points are inserted or merged.

Checkpoints, frames, resampling, export and the viewer work from these declarations alone, so a new law needs no
change in any of them.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Resample = Literal["share", "average", "average-unit-determinant", "average-keep-determinant", "nearest", "new"]
"""What happens to a field when points are inserted or merged:

share                     conserved: a new point takes its part from its neighbours, merged points add up (mass, volume)
average                   mass-weighted average (velocity)
average-unit-determinant  average, then scaled to determinant one (the normalised strain of [Yue15])
average-keep-determinant  average, then scaled to the averaged determinant (the deformation gradient of [Yue15])
nearest                   taken from the nearest point (material, body)
new                       a new point gets a new number, merged points keep that of the heavier one (id)
"""


@dataclass(frozen=True)
class Field:
    """One quantity every point carries."""

    name: str
    shape: tuple[int, ...] = ()
    """Shape per point; (6,) is a symmetric tensor (xx, yy, zz, xy, xz, yz), (3, 3) a full one."""
    initial: float | tuple[float, ...] = 0.0
    """Value of a new point, flattened in row-major order when a tuple."""
    unit: str = "1"
    resample: Resample = "average"
    dtype: str = "float64"
    description: str = ""
    in_frames: bool = True
    """Whether finished frames hold it (a checkpoint holds every field)."""

    def renamed(self, name: str) -> "Field":
        """The same field under another name."""
        return self if name == self.name else replace(self, name=name)

    def allocate(self, count: int) -> NDArray[Any]:
        """`count` points at the initial value."""
        values = np.empty((count, *self.shape), dtype=self.dtype)
        initial = np.asarray(self.initial, dtype=self.dtype)
        values[...] = initial.reshape(self.shape) if initial.ndim else initial
        return values


IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
SYMMETRIC_IDENTITY = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)


def merge_declarations(groups: Iterable[Iterable[Field]]) -> tuple[Field, ...]:
    """All fields of `groups`, each name once. Two different declarations of one name are a programming error."""
    merged: dict[str, Field] = {}
    for group in groups:
        for field in group:
            if merged.setdefault(field.name, field) != field:
                raise ValueError(f"field '{field.name}' is declared twice, differently")
    return tuple(merged.values())
