"""Skins of points: closed meshes that enclose the volume of their points, level sets of the filled fraction of space.

Lengths follow the spacing of the points. See `spume.look.surface.field` for the kernel, which keeps the volume of thin
ropes and sheets; the volume that a body still lacks at its edges and corners is corrected by moving its whole surface
slightly.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.look.surface.crumbs import DROPS, Crumbs, with_drops, without_crumbs
from spume.look.surface.field import SIDE, Blocks, at_points, cover, pack, volume_fraction
from spume.look.surface.finishing import (
    evened,
    signed_volumes,
    smoothed,
    unit_normals,
    with_volumes,
    without_cavities,
)
from spume.look.surface.marching import surface_of
from spume.numerics.jit import compiled

Quality = Literal["fine", "preview"]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class SkinSettings:
    """Parameters of a skin. Lengths are in point spacings."""

    kernel: float
    """radius of the kernels"""
    cube: float
    """edge of the cubes of marching cubes"""
    sweeps: int
    """of smoothing"""
    even: int
    """steps that remove ripples where the surface is nearly flat"""


SETTINGS: dict[str, SkinSettings] = {
    "fine": SkinSettings(kernel=2.8, cube=0.5, sweeps=57, even=60),
    "preview": SkinSettings(kernel=2.8, cube=1.0, sweeps=2, even=8),
}
LEVEL = 0.5
"""Filled fraction of space at the surface."""
WIDEST = 1.6
"""Largest factor by which the kernels of points with larger volumes are wider; they must not extend beyond the next
block."""
VOID = 30
"""Cavities with a volume of fewer points than this are gaps between points, and are filled."""
EVENED = (0.4, 1.4)
"""Limits of the factor that normalises volumes by the local density of points."""
COARSE = 1.0
"""Spacing of the nodes on which that density is computed, in point spacings."""
LONELY = (0.3, 0.5)
"""Fractions of space filled around a point at which its kernel is narrow, and as wide as all others."""
SHARP = 1.6
"""Radius of a narrow kernel, in cube roots of the point's volume: a lone point becomes a drop of its own volume."""
DEEP = 0.97
"""Values at vertices are taken from points around which less than this fraction of space is filled."""
NEIGHBOURS = 8
"""Number of points whose values are averaged at a vertex."""


class Skin(NamedTuple):
    """A closed mesh around points."""

    vertices: Floats
    """[m], shape (v, 3)"""
    triangles: NDArray[np.int32]
    """shape (t, 3), counter-clockwise seen from outside"""
    normals: Floats
    """outward unit vectors, shape (v, 3)"""
    fields: dict[str, Floats]
    """fields of the points, interpolated to the vertices, (v,) or (v, k)"""


def point_radius(spacing: float, volumes: NDArray[Any]) -> float:
    """Half the distance between points [m]: half of `spacing`, or more if their rest volumes imply a larger spacing."""
    typical = float(np.median(volumes)) ** (1 / 3) if len(volumes) else 0.0
    return max(spacing, typical) / 2


def skin(
    x: NDArray[Any],
    radius: float,
    quality: Quality = "fine",
    fields: Mapping[str, NDArray[Any]] | None = None,
    volumes: NDArray[Any] | None = None,
    kinds: NDArray[Any] | None = None,
    kind: int | None = None,
    crumbs: Crumbs = DROPS,
) -> Skin:
    """Skin of points at `x` [m], shape (n, 3), that are about twice `radius` [m] apart.

    crumbs: what becomes of small parts of the skin of all kinds.
    volumes: of the points [m³]; None: those of a cubic lattice.
    kinds, kind: make the skin of the points of one kind only, which meets those of the other kinds without gaps.
    """
    wanted = dict(fields or {})
    if len(x) == 0 or (kinds is not None and not (kinds == kind).any()):
        carried = {name: _rows(*values.shape[1:]) for name, values in wanted.items()}
        return Skin(_rows(3), np.empty((0, 3), np.int32), _rows(3), carried)
    settings, spacing = SETTINGS[quality], 2.0 * radius
    points = np.ascontiguousarray(x, dtype=np.float64)
    filled = np.full(len(x), spacing**3) if volumes is None else np.asarray(volumes, dtype=np.float64)
    reach = settings.kernel * np.clip(np.cbrt(filled), spacing, WIDEST * spacing)
    blocks = cover(points, reach, settings.cube * spacing)
    density = _density(points, filled, reach, COARSE * spacing)
    # otherwise crowded points would cause bumps and sparse ones dents
    shown = filled * np.clip(1.0 / np.maximum(density, 1e-3), *EVENED)
    whole = volume_fraction(blocks, points, shown, reach)
    low, high = LONELY
    sharper = np.clip((high - at_points(blocks, whole, points)) / (high - low), 0.0, 1.0)
    narrow = np.clip(SHARP * np.cbrt(filled), 0.1 * spacing, reach)

    def fraction(chosen: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Fraction of space filled by the chosen points."""
        wide = volume_fraction(blocks, points, chosen * shown * (1.0 - sharper), reach)
        return wide + volume_fraction(blocks, points, chosen * filled * sharper, narrow)

    if sharper.any():
        lone = sharper > 0.0
        whole += volume_fraction(blocks, points, np.where(lone, filled * sharper, 0.0), narrow)
        whole -= volume_fraction(blocks, points, np.where(lone, shown * sharper, 0.0), reach)
    members = np.ones(len(x), bool) if kinds is None else np.asarray(kinds == kind)
    inside = whole - np.float32(LEVEL)
    if kinds is not None:
        own = fraction(members)
        for each in np.setdiff1d(kinds, [kind]):
            inside = np.minimum(inside, np.float32(0.5) * (own - fraction(np.asarray(kinds == each))))
    vertices, triangles = surface_of(blocks, inside)
    seen = members
    if len(triangles):
        vertices, triangles = without_cavities(vertices, triangles, VOID * spacing**3)
        if kinds is None:
            vertices, triangles, seen = without_crumbs(vertices, triangles, crumbs, spacing, points)
            vertices = with_drops(vertices, triangles, crumbs, spacing)
    if len(triangles):
        free = None if kinds is None else _freedom(blocks, whole, vertices)
        vertices = smoothed(vertices, triangles, settings.sweeps, free)
        vertices = evened(vertices, triangles, settings.even, free)
        vertices = with_volumes(vertices, triangles, points[seen], filled[seen], spacing, free)
    values = {name: np.asarray(v)[members] if kinds is not None else np.asarray(v) for name, v in wanted.items()}
    near = density[members] < DEEP
    if not near.any():
        near[:] = True
    outer = {name: array[near] for name, array in values.items()}
    carried = at_vertices(vertices, points[members][near], outer, 2.0 * spacing)
    normals = unit_normals(vertices, triangles)
    return Skin(vertices.astype(np.float32), triangles, normals.astype(np.float32), carried)


def _density(
    x: NDArray[np.float64], filled: NDArray[np.float64], reach: NDArray[np.float64], size: float
) -> NDArray[np.float64]:
    """Fraction of space filled around each point: about 1 inside, 0.8 below a flat surface, less in thin parts."""
    blocks = cover(x, reach, size)
    return at_points(blocks, volume_fraction(blocks, x, filled, reach), x)


def _freedom(blocks: Blocks, whole: NDArray[np.float32], vertices: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 for vertices at the free surface, 0 for those inside, between two kinds."""
    return np.asarray(np.clip((0.85 - _at_nodes(blocks, whole, vertices)) / 0.25, 0.0, 1.0))


def _at_nodes(blocks: Blocks, whole: NDArray[np.float32], places: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fraction of space filled at the nodes nearest to `places`."""
    node = np.rint(places / blocks.size).astype(np.int64)
    home = node // SIDE
    block = blocks.find(pack(home))
    i, j, k = (node - home * SIDE).T
    return np.where(block >= 0, whole[block, i, j, k], 0.0)


def at_vertices(
    vertices: NDArray[np.float64], x: NDArray[np.float64], values: Mapping[str, NDArray[Any]], reach: float
) -> dict[str, Floats]:
    """Means of the values of the points nearest to each vertex, weighted by their distance."""
    from scipy.spatial import cKDTree

    if not values:
        return {}
    if len(vertices) == 0:
        return {name: _rows(*array.shape[1:]) for name, array in values.items()}
    found_at = cKDTree(x).query(vertices, k=min(NEIGHBOURS, len(x)), workers=-1)
    distance, nearest = (np.asarray(each).reshape(len(vertices), -1) for each in found_at)
    # beyond the reach only the nearest point is used
    limit = np.maximum(reach, distance[:, :1] * (1.0 + 1e-6) + 1e-300)
    weights = (1.0 - np.minimum(distance / limit, 1.0) ** 2) ** 3
    weights /= weights.sum(axis=1, keepdims=True)
    found = {}
    for name, array in values.items():
        flat = np.ascontiguousarray(array, dtype=np.float64).reshape(len(x), -1)
        found[name] = _means(nearest, weights, flat).reshape(len(vertices), *array.shape[1:])
    return found


@compiled(parallel=True)
def _means(nearest, weights, values):
    means = np.zeros((len(nearest), values.shape[1]), np.float32)
    for v in prange(len(nearest)):
        for c in range(values.shape[1]):
            total = 0.0
            for n in range(nearest.shape[1]):
                total += weights[v, n] * values[nearest[v, n], c]
            means[v, c] = total
    return means


def _rows(*shape: int) -> Floats:
    return np.empty((0, *shape), np.float32)


def enclosed_volume(vertices: NDArray[Any], triangles: NDArray[Any]) -> float:
    """Volume inside a closed mesh [m³], by Gauss' theorem."""
    if len(triangles) == 0:
        return 0.0
    places, faces = np.ascontiguousarray(vertices, np.float64), np.ascontiguousarray(triangles, np.int32)
    return float(signed_volumes(places, faces, np.zeros(len(places), np.int64), 1)[0])


def is_watertight(triangles: NDArray[Any]) -> bool:
    """Whether every edge belongs to two triangles that run along it in opposite directions."""
    edges = np.concatenate([triangles[:, (0, 1)], triangles[:, (1, 2)], triangles[:, (2, 0)]]).astype(np.int64)
    if len(edges) == 0:
        return True
    base = int(edges.max()) + 1
    forward = np.sort(edges[:, 0] * base + edges[:, 1])
    backward = np.sort(edges[:, 1] * base + edges[:, 0])
    return bool((forward[1:] != forward[:-1]).all() and np.array_equal(forward, backward))
