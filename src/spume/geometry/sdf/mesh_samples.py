"""Triangle meshes as shapes: checking, and sampling as signed distances on a grid.

Distances to the triangles are exact at the samples; the sign comes from the generalised winding number [Jacobson13].
Between samples the distance is interpolated, so the surface is the mesh smoothed at the scale of the sample spacing.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.extras import require
from spume.geometry.mesh_files.reading import check_mesh_file, read_mesh_file

SAMPLES_ALONG = 64
"""Default number of sample spacings along the largest extent."""
SAMPLE_LIMIT = 30_000_000
SAMPLES_ACROSS = 6
"""Default number of sample spacings along the smallest extent, if DEFAULT_LIMIT allows."""
DEFAULT_LIMIT = 1_500_000
SIZES = (1e-9, 1e9)
"""Smallest and largest size of a mesh [m]."""
MARGIN = 2
"""Layers of samples around the mesh."""
ON_SURFACE = 1e-3
"""Distance from the surface, in spacings, below which the winding number of a sample says nothing."""
DOUBT = 0.2
"""Largest distance of an open mesh's winding number from an integer, away from its surface."""


@dataclass(frozen=True)
class Samples:
    """Signed distances on a regular grid, in metres."""

    lower: NDArray[np.float64]
    """Position of the first sample [m]."""
    spacing: float
    values: NDArray[np.float64]
    """Shape (nx, ny, nz)."""
    factor: float
    """Factor that makes the interpolated distance 1-Lipschitz, hence never an overestimate."""
    volume: float | None
    """Volume enclosed by the triangles [m³]; None if they have gaps or overlap."""
    centroid: NDArray[np.float64]
    """Centroid of that volume [m]; the middle of the samples if there is none."""


def load_mesh(file: str, scale: float, resolution: float | None, folder: Path | None) -> Samples:
    """Load the mesh in `file`, multiply lengths by `scale`, and sample it every `resolution` [m]."""
    return _load(*check_mesh_file(file, folder), scale, resolution)


@lru_cache(maxsize=32)
def _load(path: Path, stamp: int, scale: float, resolution: float | None) -> Samples:
    mesh = read_mesh_file(str(path))
    vertices, faces = _merged(mesh.vertices, mesh.triangles)
    samples = _sample(scale * vertices, faces, is_closed(faces), resolution, path)
    samples.values.setflags(write=False)
    return samples


def _merged(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    first, triangles = merged_corners(vertices, faces)
    return vertices[first], triangles


def merged_corners(
    vertices: NDArray[np.float64], faces: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Merge vertices that are equal up to rounding in single precision, which STL repeats for each triangle, and omit
    triangles that become degenerate: the indices of the vertices that stay, and triangles of these."""
    corners = vertices[faces].reshape(-1, 3)
    lower = corners.min(axis=0)
    with np.errstate(all="ignore"):
        size = float((corners - lower).max())
        keys = np.round((corners - lower) / size * 1e7) if 0.0 < size < math.inf else corners - lower
    _, first, number = np.unique(keys + 0.0, axis=0, return_index=True, return_inverse=True)
    triangles = number.reshape(-1, 3)
    a, b, c = triangles.T
    kept = triangles[(a != b) & (b != c) & (c != a)]
    return faces.reshape(-1)[first], kept if len(kept) else triangles


def is_closed(faces: NDArray[np.int64]) -> bool:
    """Whether every edge of a triangle is also an edge of another triangle, in the opposite direction."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    forward, count = np.unique(edges, axis=0, return_counts=True)
    backward = np.unique(edges[:, ::-1], axis=0)
    return bool((count == 1).all()) and np.array_equal(forward, backward)


class Lattice(NamedTuple):
    """A regular grid of places around a mesh."""

    first: NDArray[np.float64]
    """place of the first sample [m]"""
    spacing: float
    counts: NDArray[np.int64]

    def points(self) -> NDArray[np.float64]:
        """All places [m], shape (n, 3)."""
        axes = [self.first[k] + self.spacing * np.arange(self.counts[k]) for k in range(3)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


class SignedDistances(NamedTuple):
    """Signed distances of a mesh at the points of a lattice."""

    values: NDArray[np.float64]
    """shape of the lattice [m]"""
    factor: float
    """factor that makes the interpolated distance 1-Lipschitz"""
    is_simple: bool
    """whether the triangles enclose one volume without gaps or overlaps"""
    nearest: NDArray[np.int64]
    """triangle nearest to each point of the lattice, (n,)"""
    place: NDArray[np.float64]
    """nearest place on it [m], (n, 3)"""


def _sample(
    vertices: NDArray[np.float64], faces: NDArray[np.int64], watertight: bool, resolution: float | None, path: Path
) -> Samples:
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    lattice = lattice_around(vertices, resolution, path)
    found = signed_distances(vertices, faces, watertight, lattice, path)
    volume, centroid = _enclosed(vertices, faces) if found.is_simple else (None, 0.5 * (lower + upper))
    return Samples(lattice.first, lattice.spacing, found.values, found.factor, volume, centroid)


def lattice_around(vertices: NDArray[np.float64], resolution: float | None, path: Path) -> Lattice:
    """A lattice around places (n, 3) [m], centred on them, so that a symmetric mesh stays symmetric."""
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    _check_size(vertices, path)
    spacing = resolution or _default_spacing(upper - lower)
    needed = math.prod((float(length) / spacing + 2 * MARGIN + 1) for length in upper - lower)
    if needed > SAMPLE_LIMIT:
        raise SceneError(
            f"the mesh '{path.name}' at a resolution of {spacing:g} m needs {needed:.3g} samples, "
            f"and {SAMPLE_LIMIT:,} is the most; raise its 'resolution'"
        )
    counts = np.ceil((upper - lower) / spacing).astype(np.int64) + 2 * MARGIN + 1
    return Lattice(0.5 * (lower + upper) - 0.5 * spacing * (counts - 1), spacing, counts)


def signed_distances(
    vertices: NDArray[np.float64], faces: NDArray[np.int64], watertight: bool, lattice: Lattice, path: Path
) -> SignedDistances:
    """Signed distances of the triangles from the points of a lattice around them."""
    igl = require("igl", "a mesh shape")
    spacing, counts = lattice.spacing, lattice.counts
    points = lattice.points()
    squared, nearest, place = igl.point_mesh_squared_distance(points, vertices, faces)
    distance = np.sqrt(squared)
    winding = igl.fast_winding_number(vertices, faces, points)
    away = winding[distance > ON_SURFACE * spacing]  # on a face it is one half, rounded to either side
    if away.min() < -0.5 and away.max() < 0.5:
        winding, away = -winding, -away  # all triangles are clockwise: the mesh is inside out
    if not watertight:
        _check_decisive(winding[distance > spacing], path)
    inside = (winding > 0.5).reshape(counts)
    values = np.where(inside, -1.0, 1.0) * distance.reshape(counts)
    if not watertight:
        values = _close_gaps(values, spacing)
    if not inside.any():
        raise SceneError(f"the mesh '{path.name}' has no inside at a resolution of {spacing:g} m: lower 'resolution'")
    values = np.ascontiguousarray(_flattened(values, spacing))
    steepest = float(_slopes(values, spacing).max())
    is_simple = watertight and away.min() > -0.5 and away.max() < 1.5
    return SignedDistances(values, 1.0 / max(1.0, steepest), is_simple, nearest.astype(np.int64), place)


def _check_size(vertices: NDArray[np.float64], path: Path) -> None:
    """Check the size, because squares and products of distances could overflow or underflow."""
    size = float((vertices.max(axis=0) - vertices.min(axis=0)).max())
    if size == 0.0:
        raise SceneError(f"the mesh '{path.name}' has all its vertices in one place")
    largest = max(float(np.abs(vertices).max()), size)
    if not (size >= SIZES[0] and largest <= SIZES[1]):
        raise SceneError(
            f"the mesh '{path.name}' is {size:.3g} m large and reaches {largest:.3g} m from the origin, and it should "
            f"be between {SIZES[0]:g} m and {SIZES[1]:g} m: give it another 'scale'"
        )


def _default_spacing(size: NDArray[np.float64]) -> float:
    """1/64 of the largest extent; finer for a thin mesh, which needs some samples across its thickness, but with at
    most DEFAULT_LIMIT samples."""
    spacing = float(size.max()) / SAMPLES_ALONG
    thin = float(size.min()) / SAMPLES_ACROSS
    while spacing > thin and math.prod(size / (0.8 * spacing) + 2 * MARGIN + 1) < DEFAULT_LIMIT:
        spacing = max(0.8 * spacing, thin)
    return spacing


def _enclosed(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> tuple[float, NDArray[np.float64]]:
    """Volume inside a closed surface and its centroid, from the divergence theorem: tetrahedra from a common corner to
    the triangles have the volumes a · (b × c) / 6 and the centroids (a + b + c) / 4."""
    middle = vertices.mean(axis=0)
    a, b, c = np.moveaxis((vertices - middle)[faces], 1, 0)
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    volume = float(volumes.sum())
    return abs(volume), middle + volumes @ (a + b + c) / (4.0 * volume)


def _check_decisive(winding: NDArray[np.float64], path: Path) -> None:
    """Accept an open mesh only if its winding numbers are close to integers, that is, if its gaps are narrow."""
    doubt = np.abs(winding - np.round(winding))
    if doubt.max(initial=0.0) > DOUBT:
        raise SceneError(
            f"the mesh '{path.name}' is not watertight, and winding numbers cannot tell its inside "
            f"({100 * float((doubt > DOUBT).mean()):.2g} % of the places around it are in doubt): close its holes"
        )


def _close_gaps(values: NDArray[np.float64], spacing: float) -> NDArray[np.float64]:
    """Close narrow gaps, where no triangle separates inside from outside, by limiting the sum of the distances of two
    neighbouring samples, one inside and one outside, to one spacing."""
    share = np.ones_like(values)
    for axis in range(3):
        first = [slice(None)] * 3
        second = [slice(None)] * 3
        first[axis], second[axis] = slice(None, -1), slice(1, None)
        a, b = values[tuple(first)], values[tuple(second)]
        apart = np.abs(a) + np.abs(b)
        part = np.where((a < 0) != (b < 0), spacing / np.maximum(apart, spacing), 1.0)
        for side in (tuple(first), tuple(second)):
            share[side] = np.minimum(share[side], part)
    return share * values


def _flattened(values: NDArray[np.float64], spacing: float) -> NDArray[np.float64]:
    """Flatten distances far from the surface. Across a kink, such as the centre of a ball, an interpolated distance is
    too steep by up to √3. If there are kinks only beyond some depth b, the distance is kept up to b and its growth
    beyond is multiplied by 1/√3, so that it need not be scaled down near the surface."""
    size = np.abs(values)
    steep = _slopes(values, spacing) > 1.1
    b = float(size[steep].min(initial=math.inf)) - math.sqrt(3.0) * spacing
    return np.copysign(np.where(size > b, b + (size - b) / math.sqrt(3.0), size), values) if b > 0.0 else values


def _slopes(values: NDArray[np.float64], spacing: float) -> NDArray[np.float64]:
    """Largest gradient of the trilinear interpolant in the cells around each sample; it occurs at a sample."""
    squared = np.zeros_like(values)
    for axis in range(3):
        steps = np.abs(np.diff(values, axis=axis)) / spacing
        nothing = np.zeros_like(np.take(steps, [0], axis=axis))
        before = np.concatenate([nothing, steps], axis=axis)
        after = np.concatenate([steps, nothing], axis=axis)
        squared += np.maximum(before, after) ** 2
    return np.sqrt(squared)
