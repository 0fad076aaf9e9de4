"""Skins of points: closed meshes around them by splashsurf, level sets of their smoothed density as in [Yue15].

Lengths follow the spacing of the points: the kernel reaches twice as far, the mesh is half as coarse. The level at
which the skin of a lattice holds the volume of its points is about 0.55 with this kernel; see
`tests/look/test_surface.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.look.extras import require

Quality = Literal["fine", "preview"]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class SkinSettings:
    """How a skin is made. Lengths are in units of half the distance between points."""

    kernel: float
    """smoothing length; the kernel reaches twice as far"""
    cube: float
    """edge of the cubes the surface is marched through"""
    level: float
    """the smoothed density at the skin, 1 inside"""
    smoothing: int
    """sweeps of Laplacian smoothing"""


SETTINGS: dict[str, SkinSettings] = {
    "fine": SkinSettings(kernel=2.0, cube=1.0, level=0.55, smoothing=5),
    "preview": SkinSettings(kernel=2.2, cube=1.9, level=0.55, smoothing=2),
}
VOID = 30
"""Cavities inside a skin that hold fewer points than this are gaps between points, and are filled."""


class Skin(NamedTuple):
    """A closed mesh around points."""

    vertices: Floats
    """[m], shape (v, 3)"""
    triangles: NDArray[np.int32]
    """shape (t, 3), counter-clockwise seen from outside"""
    normals: Floats
    """outward unit vectors, shape (v, 3)"""
    fields: dict[str, Floats]
    """fields of the points carried to the vertices, (v,) or (v, k)"""


def point_radius(spacing: float, volumes: NDArray[Any]) -> float:
    """Half the distance between points [m]: half of `spacing`, or more where their volumes at rest are those of sparser
    points."""
    typical = float(np.median(volumes)) ** (1 / 3) if len(volumes) else 0.0
    return max(spacing, typical) / 2


def skin(
    x: NDArray[Any], radius: float, quality: Quality = "fine", fields: Mapping[str, NDArray[Any]] | None = None
) -> Skin:
    """The skin of points at `x` [m], shape (n, 3), that are about twice `radius` [m] apart."""
    splashsurf = require("pysplashsurf", "making surfaces")
    wanted = dict(fields or {})
    if len(x) == 0:
        carried = {name: _rows(*values.shape[1:]) for name, values in wanted.items()}
        return Skin(_rows(3), np.empty((0, 3), np.int32), _rows(3), carried)
    settings = SETTINGS[quality]
    middle = 0.5 * (x.min(axis=0) + x.max(axis=0))
    # Single precision about the middle of the points: half the time, and errors far below the size of a cube.
    local = np.ascontiguousarray(x - middle, dtype=np.float32)
    made, _ = splashsurf.reconstruction_pipeline(
        local,
        attributes_to_interpolate={name: np.asarray(v, dtype=np.float32) for name, v in wanted.items()} or None,
        particle_radius=radius,
        smoothing_length=settings.kernel,
        cube_size=settings.cube,
        iso_surface_threshold=settings.level,
        subdomain_grid=True,
        mesh_cleanup=quality == "fine",
        mesh_smoothing_iters=settings.smoothing,
        mesh_smoothing_weights=quality == "fine",
        compute_normals=True,
    )
    carried = {name: np.asarray(values, dtype=np.float32) for name, values in made.point_attributes.items()}
    normals = carried.pop("normals")
    # A vertex whose triangles have no area has no normal; any direction does for so small a thing.
    normals[~np.isfinite(normals).all(axis=1)] = (0.0, 1.0, 0.0)
    vertices = np.asarray(made.mesh.vertices, dtype=np.float64) + middle
    triangles = np.asarray(made.mesh.triangles).astype(np.int32)
    whole = Skin(vertices.astype(np.float32), triangles, normals, {name: carried[name] for name in wanted})
    return without_voids(whole, VOID * (2 * radius) ** 3)


def _rows(*shape: int) -> Floats:
    return np.empty((0, *shape), np.float32)


def enclosed_volume(vertices: NDArray[Any], triangles: NDArray[Any]) -> float:
    """The volume inside a closed mesh [m³], by Gauss' theorem."""
    return float(_shares(vertices, triangles).sum())


def _shares(vertices: NDArray[Any], triangles: NDArray[Any]) -> NDArray[np.float64]:
    """Signed volume of the tetrahedron between each triangle and a point amid the vertices."""
    if len(triangles) == 0:
        return np.zeros(0)
    local = np.asarray(vertices, dtype=np.float64)
    local = local - local.mean(axis=0)
    a, b, c = (local[triangles[:, k]] for k in range(3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0


def is_watertight(triangles: NDArray[Any]) -> bool:
    """Whether every edge belongs to two triangles that run along it in opposite directions."""
    edges = np.concatenate([triangles[:, (0, 1)], triangles[:, (1, 2)], triangles[:, (2, 0)]]).astype(np.int64)
    if len(edges) == 0:
        return True
    base = int(edges.max()) + 1
    forward = np.sort(edges[:, 0] * base + edges[:, 1])
    backward = np.sort(edges[:, 1] * base + edges[:, 0])
    return bool((forward[1:] != forward[:-1]).all() and np.array_equal(forward, backward))


def without_voids(whole: Skin, largest: float) -> Skin:
    """The skin without its cavities up to a volume of `largest` [m³]: closed parts whose normals point inwards."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    t, count = whole.triangles, len(whole.vertices)
    if count == 0:
        return whole
    ends = np.concatenate([t[:, 0], t[:, 1]]), np.concatenate([t[:, 1], t[:, 2]])
    graph = coo_array((np.ones(len(ends[0]), np.int8), ends), (count, count))
    parts, part = connected_components(graph, directed=False)
    volumes = np.bincount(part[t[:, 0]], weights=_shares(whole.vertices, t), minlength=parts)
    kept = ~((volumes < 0) & (volumes > -largest))[part]
    if kept.all():
        return whole
    new = np.cumsum(kept, dtype=np.int32) - 1
    fields = {name: values[kept] for name, values in whole.fields.items()}
    return Skin(whole.vertices[kept], new[t[kept[t[:, 0]]]], whole.normals[kept], fields)
