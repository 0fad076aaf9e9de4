"""Meshes and points that are drawn, as arrays that kernels read."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.look.finish import Finish

Floats = NDArray[np.float64]
ROUGHNESS, SUBSURFACE, METALLIC, TRANSPARENCY, KIND, RED, GREEN, BLUE = range(8)
"""Columns of the table of finishes."""
AS_GIVEN, LIT, PLAIN = 0.0, 1.0, 2.0
"""Kinds of finishes: colours that are light already, lit surfaces, and lit ones whose colours are to be read."""


class ShadedMesh(NamedTuple):
    """A mesh, or points, to be drawn."""

    vertices: Floats
    triangles: NDArray[np.int32]
    """empty for points"""
    light: Floats
    """linear RGB of each vertex: its reflectance if there is a finish, else its light towards the camera"""
    point_size: float = 0.0
    """diameter of points [m]"""
    opacity: float = 1.0
    """opacity of a mesh without a finish; below 1 it is transparent"""
    normals: Floats | None = None
    """outward unit vectors, needed with a finish"""
    finish: Finish | None = None
    is_plain: bool = False
    """whether its colours are to be read, so that shading is weak"""
    sizes: Floats | None = None
    """diameter of each point [m], where they differ"""

    @property
    def is_clear(self) -> bool:
        """Whether what is behind it shows through."""
        if len(self.triangles) == 0 or self.is_plain:
            return False
        return self.opacity < 1.0 if self.finish is None else self.finish.transparency > 0.0


class Soup(NamedTuple):
    """All triangles, or all points, as one mesh."""

    x: Floats
    normals: Floats
    colors: Floats
    triangles: NDArray[np.int32]
    part: NDArray[np.int32]
    """of each triangle, or of each point"""
    finishes: Floats
    """a row for each part"""
    radius: Floats


def soup_of(parts: list[ShadedMesh]) -> Soup:
    """Parts that are all meshes, or all points, as one."""
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    by_triangle = any(len(part.triangles) for part in parts)
    counts = [len(part.triangles) if by_triangle else len(part.vertices) for part in parts]
    none = np.empty((0, 3))

    def stacked(arrays: list[Floats]) -> Floats:
        return np.ascontiguousarray(np.concatenate([none, *arrays]), dtype=np.float64)

    triangles = [part.triangles + start for part, start in zip(parts, first)]
    return Soup(
        stacked([part.vertices for part in parts]),
        stacked([np.zeros_like(part.vertices) if part.normals is None else part.normals for part in parts]),
        stacked([part.light for part in parts]),
        np.concatenate([np.empty((0, 3), np.int32), *triangles]).astype(np.int32),
        np.repeat(np.arange(len(parts), dtype=np.int32), counts),
        np.array([finish_row(part.finish, part.is_plain) for part in parts] or [finish_row(None, False)]),
        np.concatenate([np.empty(0), *(0.5 * _sizes(part) for part in parts)]),
    )


def _sizes(part: ShadedMesh) -> Floats:
    return np.full(len(part.vertices), part.point_size) if part.sizes is None else part.sizes


def finish_row(finish: Finish | None, is_plain: bool) -> list[float]:
    """The row of a finish in the table; None for colours that are light already."""
    if finish is None:
        return [1.0, 0.0, 0.0, 0.0, AS_GIVEN, 1.0, 1.0, 1.0]
    kind = PLAIN if is_plain else LIT
    return [finish.roughness, finish.subsurface, finish.metallic, finish.transparency, kind, *finish.color]
