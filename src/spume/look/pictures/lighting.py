"""Soft light on surfaces, computed at their vertices: the sky, dimmed in creases, and a large lamp with soft shadows.

Occlusion is computed from a coarse lattice of occupied volume. This needs no graphics card, is cheap, and looks the
same on every machine.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.frames.poses import ObstaclePoses
from spume.look.finish import Finish
from spume.look.obstacles import Solid
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
VOXELS = 88
"""Number of voxels along the longest side of the lit region."""
SKY, BOUNCE, LAMP, FILL = 0.54, 0.44, 0.38, 0.14
"""Light from above, from below, from the lamp, from the camera; a white surface in full light is nearly white."""
BLURS = ((1.5, 1.5, 0.5), (4.0, 4.0, 0.5))
"""Width of each blurred lattice, distance from the surface at which it is sampled [voxels], and its weight."""
DENSITY = 0.8
"""Optical depth of a completely filled voxel."""


class Blurred(NamedTuple):
    """Filled fraction of each voxel, blurred slightly and strongly."""

    near: NDArray[np.float32]
    far: NDArray[np.float32]


class Occupancy(NamedTuple):
    """Filled fraction of each voxel."""

    origin: Floats
    """middle of the first voxel [m]"""
    voxel: float
    """edge of a voxel [m]"""
    filled: Blurred
    """for hiding the sky: everything"""
    shading: Blurred
    """for casting shadows: everything except the ground"""


class Lamp(NamedTuple):
    """A distant lamp with parallel light."""

    direction: Floats
    """unit vector towards the lamp"""
    up: Floats
    eye: Floats
    """position of the camera [m], for highlights"""


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
    lower, upper = box
    voxel = float(np.max(upper - lower)) / VOXELS
    pad = 14
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
    shading = _blurred(filled)
    if ground is None:
        return Occupancy(origin, voxel, shading, shading)
    soil = _inside(centers @ ground[0] - ground[1], voxel).reshape(count)
    return Occupancy(origin, voxel, _blurred(filled + soil), shading)


def _blurred(filled: Floats) -> Blurred:
    from scipy.ndimage import gaussian_filter

    cut = np.minimum(filled, 1.0).astype(np.float32)
    near, far = (gaussian_filter(cut, width, mode="nearest") for width, _, _ in BLURS)
    return Blurred(near, far)


def _inside(distance: Floats, voxel: float) -> Floats:
    return np.clip(0.5 - distance / voxel, 0.0, 1.0)


def lit(
    vertices: Floats, normals: Floats, colors: Floats, finish: Finish, around: Occupancy, lamp: Lamp
) -> NDArray[np.float64]:
    """Light from vertices to the camera, linear RGB, shape (n, 3), for their `colors` in linear RGB."""
    softness = 0.6 * finish.subsurface
    open_sky = _openness(vertices, normals, around)
    start = vertices + 2.0 * around.voxel * normals
    through = _lamp_light(around.shading, (start - around.origin) / around.voxel, lamp.direction)
    height = 0.5 + 0.5 * normals @ lamp.up
    # Light that scatters through a foam brightens its creases and shadows, more so for softer materials.
    open_sky = open_sky + 0.5 * softness * (1.0 - open_sky)
    ambient = (BOUNCE + (SKY - BOUNCE) * height) * open_sky
    facing = np.clip((normals @ lamp.direction + softness) / (1.0 + softness), 0.0, None)
    direct = LAMP * facing * (through + 0.4 * softness * (1.0 - through))
    towards = lamp.eye - vertices
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    fill = FILL * np.clip(np.einsum("ij,ij->i", normals, towards), 0.0, None) * open_sky
    shaded = colors * (ambient + direct + fill)[:, None]
    gloss = 1.0 - finish.roughness
    if gloss > 0:
        half = towards + lamp.direction
        half /= np.linalg.norm(half, axis=1, keepdims=True)
        # Blinn's exponent for the width of a microfacet lobe, about 2/α² with α = roughness²; the lamp is not small
        exponent = min(2.0 / max(finish.roughness, 0.3) ** 4, 120.0)
        shine = np.clip(np.einsum("ij,ij->i", normals, half), 0.0, None) ** exponent
        tint = (1.0 - finish.metallic) + finish.metallic * np.array(finish.color)
        shaded += (0.55 * gloss**2 * shine * through)[:, None] * tint
    return np.asarray(shaded)


def outward(x: Floats, around: Occupancy, up: Floats) -> Floats:
    """Outward unit normals at points, shape (n, 3): the direction of fastest decrease of matter; `up` deep inside."""
    place = (x - around.origin) / around.voxel
    slope = np.empty_like(place)
    ahead, behind = np.empty(len(x)), np.empty(len(x))
    for axis in range(3):
        step = np.eye(3)[axis]
        _look_up(around.filled.near, place + step, ahead)
        _look_up(around.filled.near, place - step, behind)
        slope[:, axis] = behind - ahead
    length = np.linalg.norm(slope, axis=1, keepdims=True)
    return np.where(length > 1e-3, slope / np.maximum(length, 1e-3), up)


def _openness(vertices: Floats, normals: Floats, around: Occupancy) -> Floats:
    """Approximate fraction of the sky visible from each vertex: 1 on a plane, less in a crease.

    At a distance d from a plane the blurred lattice has the value erfc(d / (√2 σ)) / 2; any excess hides the sky.
    """
    seen = np.zeros(len(vertices))
    for lattice, (width, distance, weight) in zip(around.filled, BLURS):
        place = (vertices - around.origin) / around.voxel + distance * normals
        plane = 0.5 * math.erfc(distance / (math.sqrt(2.0) * width))
        held = np.empty(len(vertices))
        _look_up(lattice, place, held)
        seen += weight * np.clip(1.0 - 1.6 * (held - plane) / (1.0 - plane), 0.0, 1.0)
    return seen


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


@compiled
def _leaves(x, dx, n):
    """Whether a ray at x, outside of 0 to n − 1, never returns."""
    return (x < 0.0 and dx <= 0.0) or (x >= n - 1 and dx >= 0.0)


@compiled
def _march(near, far, places, dx, dy, dz, reach, density, out):
    nx, ny, nz = near.shape
    for p in range(len(places)):
        x, y, z = places[p, 0], places[p, 1], places[p, 2]
        depth = 0.0
        for step in range(reach):
            inside = 0.0 <= x < nx - 1 and 0.0 <= y < ny - 1 and 0.0 <= z < nz - 1
            if not inside:
                if _leaves(x, dx, nx) or _leaves(y, dy, ny) or _leaves(z, dz, nz):
                    break
            else:
                # Soft shadows: with distance from the occluder, the more strongly blurred lattice is used.
                s = min(step / 18.0, 1.0) ** 2
                depth += (1 - s) * _trilinear(near, x, y, z) + s * _trilinear(far, x, y, z)
                if density * depth > 6.0:
                    break
            x, y, z = x + dx, y + dy, z + dz
        out[p] = math.exp(-density * depth)


def _lamp_light(shading: Blurred, places: Floats, direction: Floats) -> Floats:
    """Fraction of the lamp's light that reaches the given places [voxels]."""
    out = np.empty(len(places))
    reach = int(1.8 * max(shading.near.shape))
    _march(shading.near, shading.far, places, direction[0], direction[1], direction[2], reach, DENSITY, out)
    return out
