"""Declarations of the fields of points, and of populations.

Checkpoints, frames, resampling, export and the viewer use only these declarations, so a new law or method needs no
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
    """One quantity of every point."""

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
    """Whether frames contain it (a checkpoint contains every field)."""

    def renamed(self, name: str) -> "Field":
        """The same field under another name."""
        return self if name == self.name else replace(self, name=name)

    def allocate(self, count: int) -> NDArray[Any]:
        """`count` points at the initial value."""
        values = np.empty((count, *self.shape), dtype=self.dtype)
        initial = np.asarray(self.initial, dtype=self.dtype)
        values[...] = initial.reshape(self.shape) if initial.ndim else initial
        return values


PopulationKind = Literal["points", "mesh", "lines", "table"]
"""What the members of a population are:

points  points in space or in the plane, at `x` [m]
mesh    vertices of triangles, at `x` [m]; the field `triangles`, shape (t, 3), contains the indices of their vertices
        and is the only field with another length
lines   points along curves, at `x` [m]; the field `lines`, shape (m + 1,), contains the first point of each curve,
        then the number of points, and has another length
table   things that are no points (films and bubbles of a dry foam, poses of obstacles); a table with the field `time`
        lists events since the previous frame
"""


@dataclass(frozen=True)
class Population:
    """A set of points, vertices or other things with the same fields."""

    name: str
    """Name in frames: a field is stored as "name/field"."""
    fields: tuple[Field, ...]
    kind: PopulationKind = "points"
    spacing: float | None = None
    """Distance between neighbouring points of connected material [m], if defined; it sets the sizes of drawn points."""

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if "/" in self.name or any("/" in name for name in names):
            raise ValueError(f"population '{self.name}': names of populations and fields hold no '/'")
        needed = {"points": ("x",), "mesh": ("x", "triangles"), "lines": ("x", "lines"), "table": ()}[self.kind]
        if missing := [name for name in needed if name not in names]:
            raise ValueError(f"population '{self.name}' is of the kind '{self.kind}' and lacks {', '.join(missing)}")

    @property
    def dimension(self) -> int | None:
        """Number of components of a position; None if there are no positions."""
        return next((field.shape[0] for field in self.fields if field.name == "x" and self.kind != "table"), None)


VOLUME_RATIO = Field("J", (), 1.0, "1", "average", description="volume ratio")
"""Ratio of a point's volume to its rest volume, for readers of frames."""

PAINT = Field("paint", (4,), 0.0, "1", "average", description="colour of its own: linear RGB times coverage, coverage")
"""Colour that a point carries from the mesh of its body; where coverage is less than one, the rest is that of its
material."""

IDENTITY = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
SYMMETRIC_IDENTITY = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)

OBSTACLE_POSES = Population(
    "obstacles",
    (
        Field("rotation", (3, 3), IDENTITY, "1", description="world = rotation · own + position"),
        Field("position", (3,), 0.0, "m", description="place of the origin of the obstacle's own frame"),
        Field("velocity", (3,), 0.0, "m/s", description="velocity of that origin"),
        Field("angular_velocity", (3,), 0.0, "rad/s", description="angular velocity"),
    ),
    "table",
)
"""Poses of the obstacles of the scene, in its order; frames of scenes without obstacles have none."""


def obstacle_vertices(number: int) -> Population:
    """The vertices of an obstacle that deforms, in its own frame and in the order of its files."""
    fields = (
        Field("x", (3,), 0.0, "m", description="position"),
        Field("v", (3,), 0.0, "m/s", description="velocity of the deformation"),
    )
    return Population(f"vertices of obstacle {number}", fields, "table")


def merge_declarations(groups: Iterable[Iterable[Field]]) -> tuple[Field, ...]:
    """All fields of `groups`, each name once. Two different declarations of one name are a programming error."""
    merged: dict[str, Field] = {}
    for group in groups:
        for field in group:
            if merged.setdefault(field.name, field) != field:
                raise ValueError(f"field '{field.name}' is declared twice, differently")
    return tuple(merged.values())
