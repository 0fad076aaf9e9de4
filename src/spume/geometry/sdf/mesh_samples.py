"""Triangle meshes as shapes: read, checked, and sampled to a grid of signed distances.

Distances to the triangles are exact at the samples; the generalised winding number [Jacobson13] decides what is inside.
Between samples the distance is interpolated, so the surface is the mesh smoothed at the scale of the sample spacing.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import MissingExtra, SceneError

FORMATS = (".obj", ".ply", ".stl")
SAMPLES_ALONG = 64
"""Default number of sample spacings along the largest extent."""
SAMPLE_LIMIT = 30_000_000
MARGIN = 2
"""Layers of samples around the mesh."""
DOUBT = 0.2
"""How far from a whole number the winding number of an open mesh may be, away from its surface."""


@dataclass(frozen=True)
class Samples:
    """Signed distances on a regular grid, in metres."""

    lower: NDArray[np.float64]
    """Place of the first sample [m]."""
    spacing: float
    values: NDArray[np.float64]
    """Shape (nx, ny, nz)."""
    factor: float
    """Multiplies the values so that the interpolated distance is 1-Lipschitz, and so never an overestimate."""


def load_mesh(file: str, scale: float, resolution: float | None, folder: Path | None) -> Samples:
    """The mesh in `file`, lengths multiplied by `scale`, sampled every `resolution` [m]."""
    path = (folder or Path()) / file
    if path.suffix.lower() not in FORMATS:
        raise SceneError(f"the mesh file '{file}' is not an OBJ, PLY or STL file")
    try:
        stamp = path.stat().st_mtime_ns
    except OSError:
        raise SceneError(f"the mesh file '{path}' does not exist") from None
    return _load(path.resolve(), stamp, scale, resolution)


@lru_cache(maxsize=32)
def _load(path: Path, stamp: int, scale: float, resolution: float | None) -> Samples:
    vertices, faces, watertight = _read(path)
    samples = _sample(scale * vertices, faces, watertight, resolution, path)
    samples.values.setflags(write=False)
    return samples


def _extra(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        name = {"igl": "libigl"}.get(package, package)
        raise MissingExtra("geometry", name, "a mesh shape") from None


def _read(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int64], bool]:
    trimesh = _extra("trimesh")
    try:
        mesh = trimesh.load(path, force="mesh", process=True)
    except Exception as error:  # trimesh lets through whatever the reader of a format raises
        raise SceneError(f"the mesh file '{path}' cannot be read: {error}") from None
    if len(getattr(mesh, "faces", ())) == 0:
        raise SceneError(f"the mesh file '{path}' holds no triangles")
    vertices, faces = np.array(mesh.vertices, dtype=np.float64), np.array(mesh.faces, dtype=np.int64)
    if not np.isfinite(vertices).all():
        raise SceneError(f"the mesh file '{path}' has vertices that are not numbers")
    return vertices, faces, bool(mesh.is_watertight)


def _sample(
    vertices: NDArray[np.float64], faces: NDArray[np.int64], watertight: bool, resolution: float | None, path: Path
) -> Samples:
    igl = _extra("igl")
    lower, upper = vertices.min(axis=0), vertices.max(axis=0)
    spacing = resolution or float((upper - lower).max()) / SAMPLES_ALONG
    counts = np.ceil((upper - lower) / spacing).astype(np.int64) + 2 * MARGIN + 1
    if math.prod(counts.tolist()) > SAMPLE_LIMIT:
        raise SceneError(
            f"the mesh '{path.name}' at a resolution of {spacing:g} m needs {math.prod(counts.tolist()):,} samples, "
            f"and {SAMPLE_LIMIT:,} is the most; raise its 'resolution'"
        )
    # The samples are centred on the mesh, so that a symmetric mesh stays symmetric.
    first = 0.5 * (lower + upper) - 0.5 * spacing * (counts - 1)
    axes = [first[k] + spacing * np.arange(counts[k]) for k in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    distance = np.sqrt(igl.point_mesh_squared_distance(points, vertices, faces)[0])
    winding = igl.fast_winding_number(vertices, faces, points)
    if winding.min() < -0.5 and winding.max() < 0.5:
        winding = -winding  # the triangles are numbered clockwise throughout: the mesh is inside out
    if not watertight:
        _check_decisive(winding[distance > spacing], path)
    inside = (winding > 0.5).reshape(counts)
    values = np.where(inside, -1.0, 1.0) * distance.reshape(counts)
    if not watertight:
        values = _close_gaps(values, spacing)
    if not inside.any():
        raise SceneError(f"the mesh '{path.name}' has no inside at a resolution of {spacing:g} m: lower 'resolution'")
    values = _flattened(values, spacing)
    steepest = float(_slopes(values, spacing).max())
    return Samples(first, spacing, np.ascontiguousarray(values), 1.0 / max(1.0, steepest))


def _check_decisive(winding: NDArray[np.float64], path: Path) -> None:
    """Accept an open mesh only if its winding numbers are close to integers, that is, if its gaps are narrow."""
    doubt = np.abs(winding - np.round(winding))
    if doubt.max(initial=0.0) > DOUBT:
        raise SceneError(
            f"the mesh '{path.name}' is not watertight, and winding numbers cannot tell its inside "
            f"({100 * float((doubt > DOUBT).mean()):.2g} % of the places around it are in doubt): close its holes"
        )


def _close_gaps(values: NDArray[np.float64], spacing: float) -> NDArray[np.float64]:
    """Close narrow gaps, where no triangle separates inside from outside: the distances of two neighbouring samples,
    one inside and one outside, add up to at most one spacing."""
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
    """Interpolated across a kink, such as the centre of a ball, a distance is too steep, by up to √3. If there are
    kinks only at some depth b and more, the distance is kept up to b and grows by 1/√3 of it from there: so it need not
    be scaled down near the surface."""
    size = np.abs(values)
    steep = _slopes(values, spacing) > 1.1
    b = float(size[steep].min(initial=math.inf)) - math.sqrt(3.0) * spacing
    return np.copysign(np.where(size > b, b + (size - b) / math.sqrt(3.0), size), values) if b > 0.0 else values


def _slopes(values: NDArray[np.float64], spacing: float) -> NDArray[np.float64]:
    """The largest gradient of the trilinear interpolant in the cells around each sample; it occurs at a sample."""
    squared = np.zeros_like(values)
    for axis in range(3):
        steps = np.abs(np.diff(values, axis=axis)) / spacing
        nothing = np.zeros_like(np.take(steps, [0], axis=axis))
        before = np.concatenate([nothing, steps], axis=axis)
        after = np.concatenate([steps, nothing], axis=axis)
        squared += np.maximum(before, after) ** 2
    return np.sqrt(squared)
