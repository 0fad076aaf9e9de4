"""Occupied volume on a coarse lattice: how much of the sky large shapes hide, and directions outwards from points."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.frames.poses import ObstaclePoses
from spume.look.obstacles import Solid
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
VOXELS = 56
"""Number of voxels along the longest side of the lit region."""
NEAR_BLUR, FAR_BLUR = 1.0, 2.5
"""Widths of the blurred lattices [voxels]: for directions, and for the sky."""
AHEAD = 0.5
"""Distance from the surface at which the lattice is sampled [voxels]."""
STRENGTH = 1.3
"""Part of the sky that matter at the surface hides, relative to the part of its surroundings that it fills."""
ON_A_PLANE = 0.5 * math.erfc(AHEAD / (math.sqrt(2.0) * FAR_BLUR))
"""Value of the blurred lattice at that distance from a plane; any excess hides the sky."""


class Occupancy(NamedTuple):
    """Filled fraction of each voxel."""

    origin: Floats
    """middle of the first voxel [m]"""
    voxel: float
    """edge of a voxel [m]"""
    near: NDArray[np.float32]
    far: NDArray[np.float32]


def occupancy(
    x: Floats,
    volume: Floats,
    solids: list[Solid],
    poses: ObstaclePoses,
    box: tuple[Floats, Floats],
    ground: tuple[Floats, float] | None,
) -> Occupancy:
    """Occupancy lattice of points at `x` [m] with `volume` [m³] and of obstacles, inside `box`.

    `ground`: normal of the ground and its height along the normal [m]."""
    from scipy.ndimage import gaussian_filter

    lower, upper = box
    voxel = float(np.max(upper - lower)) / VOXELS
    pad = 7
    origin = lower - pad * voxel
    count = np.ceil((upper - lower) / voxel).astype(int) + 2 * pad + 1
    filled = np.zeros(count)
    index = np.floor((x - origin) / voxel + 0.5).astype(int)
    inside = ((index >= 0) & (index < count)).all(axis=1)
    flat = np.ravel_multi_index(tuple(index[inside].T), tuple(count))
    filled += np.bincount(flat, weights=volume[inside], minlength=filled.size).reshape(count) / voxel**3
    axes = [origin[k] + voxel * np.arange(count[k]) for k in range(3)]
    centers = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    for solid in solids:
        filled += _inside(solid.distances(centers, poses), voxel).reshape(count)
    if ground is not None:
        filled += _inside(centers @ ground[0] - ground[1], voxel).reshape(count)
    cut = np.minimum(filled, 1.0).astype(np.float32)
    near, far = (gaussian_filter(cut, width, mode="nearest") for width in (NEAR_BLUR, FAR_BLUR))
    return Occupancy(origin, voxel, near, far)


def _inside(distance: Floats, voxel: float) -> Floats:
    return np.clip(0.5 - distance / voxel, 0.0, 1.0)


def outward(x: Floats, around: Occupancy, up: Floats) -> Floats:
    """Outward unit normals at points, shape (n, 3): the direction of fastest decrease of matter; `up` deep inside."""
    place = (x - around.origin) / around.voxel
    slope = np.empty_like(place)
    ahead, behind = np.empty(len(x)), np.empty(len(x))
    for axis in range(3):
        step = np.eye(3)[axis]
        _look_up(around.near, place + step, ahead)
        _look_up(around.near, place - step, behind)
        slope[:, axis] = behind - ahead
    length = np.linalg.norm(slope, axis=1, keepdims=True)
    return np.where(length > 1e-3, slope / np.maximum(length, 1e-3), up)


def openness(x: Floats, normals: Floats, around: Occupancy) -> Floats:
    """`open_at` for places with normals, shape (n, 3)."""
    held = np.empty(len(x))
    _look_up(around.far, (x - around.origin) / around.voxel + AHEAD * normals, held)
    return np.asarray(np.clip(1.0 - STRENGTH * (held - ON_A_PLANE) / (1.0 - ON_A_PLANE), 0.1, 1.0))


@compiled
def open_at(far, origin, voxel, px, py, pz, nx, ny, nz):
    """Approximate fraction of the sky visible from a place with a normal: 1 on a plane, less in a hollow."""
    x = (px - origin[0]) / voxel + AHEAD * nx
    y = (py - origin[1]) / voxel + AHEAD * ny
    z = (pz - origin[2]) / voxel + AHEAD * nz
    held = _trilinear(far, x, y, z)
    return min(max(1.0 - STRENGTH * (held - ON_A_PLANE) / (1.0 - ON_A_PLANE), 0.1), 1.0)


@compiled
def _trilinear(lattice, x, y, z):
    nx, ny, nz = lattice.shape
    x, y, z = min(max(x, 0.0), nx - 1.001), min(max(y, 0.0), ny - 1.001), min(max(z, 0.0), nz - 1.001)
    i, j, k = int(x), int(y), int(z)
    u, v, w = x - i, y - j, z - k
    a = (lattice[i, j, k] * (1 - w) + lattice[i, j, k + 1] * w) * (1 - v)
    b = (lattice[i, j + 1, k] * (1 - w) + lattice[i, j + 1, k + 1] * w) * v
    c = (lattice[i + 1, j, k] * (1 - w) + lattice[i + 1, j, k + 1] * w) * (1 - v)
    d = (lattice[i + 1, j + 1, k] * (1 - w) + lattice[i + 1, j + 1, k + 1] * w) * v
    return (a + b) * (1 - u) + (c + d) * u


@compiled
def _look_up(lattice, places, out):
    for p in range(len(places)):
        out[p] = _trilinear(lattice, places[p, 0], places[p, 1], places[p, 2])
