"""Finishing of the mesh of a skin: volume-preserving smoothing, filling of cavities, correction of the volumes of
bodies."""

from typing import NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
Triangles = NDArray[np.int32]
SHRINK, GROW = 0.6, -0.6186
"""The two steps of a sweep of [Taubin95], which preserve waves of the mesh longer than about twenty edges."""
FEWEST_SWEEPS = 2
"""Number of sweeps that include every vertex."""
VERTICES_PER_SWEEP = 30
"""Number of vertices of a part of the mesh for which it gets one more smoothing sweep."""
FLAT = (0.90, 0.97)
"""Length of the mean of normals around a vertex up to which it is not evened, and from which it is fully."""
CLOSE = 5e-4
"""Accepted relative error of the volume of a body."""
LARGEST_SHIFT = 0.6
"""Largest displacement of a vertex to correct volumes, in point spacings: a skin with a larger error has points closer
together or farther apart than their volumes imply."""


class Parts(NamedTuple):
    """The connected parts of a mesh."""

    number: int
    of_vertex: NDArray[np.int64]
    volumes: Floats
    """signed [m³]: that of a cavity is negative"""


def smoothed(vertices: Floats, triangles: Triangles, sweeps: int, free: Floats | None = None) -> Floats:
    """Vertices after `sweeps` double steps, one that shrinks and one that grows the mesh.

    Small parts, whose own shape is a short wave, and vertices that are not `free` (from 0 to 1) are included only in
    the first sweeps, so that two meshes with a common interface keep it.
    """
    part, count = _part_numbers(len(vertices), triangles)
    most = np.maximum(FEWEST_SWEEPS, np.bincount(part, minlength=count) / VERTICES_PER_SWEEP)[part]
    if free is not None:
        most = np.minimum(most, FEWEST_SWEEPS + free * sweeps)
    first, neighbours = _neighbour_lists(len(vertices), triangles)
    here, there = vertices.copy(), np.empty_like(vertices)
    for sweep in range(sweeps):
        for factor in (SHRINK, GROW):
            _towards_mean(here, first, neighbours, np.where(sweep < most, factor, 0.0), there)
            here, there = there, here
    return here


def evened(vertices: Floats, triangles: Triangles, steps: int, free: Floats | None = None) -> Floats:
    """Vertices without ripples that are much shorter than the curvature: smoothed where normals differ little over the
    reach of the smoothing, so that edges, tips and thin parts stay as they are.

    Smoothing D of n steps moves a surface inwards by σ²κ/2. 2D − D² does so only at the order of (σκ)⁴.
    """
    first, neighbours = _neighbour_lists(len(vertices), triangles)
    every = np.ones(len(vertices))
    directions = _diffused(unit_normals(vertices, triangles), first, neighbours, every, steps // 2)
    alike = np.sqrt(np.einsum("ij,ij->i", directions, directions))
    low, high = FLAT
    part = np.clip((alike - low) / (high - low), 0.0, 1.0)
    part = part * part * (3.0 - 2.0 * part)
    if free is not None:
        part = part * (free >= 1.0)
    once = _diffused(vertices, first, neighbours, part, steps)
    return 2.0 * once - _diffused(once, first, neighbours, part, steps)


def diffused(triangles: Triangles, values: Floats, steps: int) -> Floats:
    """Values of vertices (n,) after steps of smoothing over a mesh."""
    first, neighbours = _neighbour_lists(len(values), triangles)
    rows = np.repeat(np.asarray(values, np.float64)[:, None], 3, axis=1)
    return _diffused(rows, first, neighbours, np.ones(len(values)), steps)[:, 0]


def _diffused(
    values: Floats, first: NDArray[np.int64], neighbours: NDArray[np.int32], part: Floats, steps: int
) -> Floats:
    here, there = np.ascontiguousarray(values), np.empty_like(values)
    if steps == 0:
        return here
    here = here.copy()
    for _ in range(steps):
        _towards_mean(here, first, neighbours, 0.6 * part, there)
        here, there = there, here
    return here


@compiled(parallel=True)
def _towards_mean(values, first, neighbours, factors, moved):
    """Move each row of values by its factor towards the mean of its neighbours."""
    for v in prange(len(values)):
        f = factors[v]
        if f == 0.0:
            moved[v, 0], moved[v, 1], moved[v, 2] = values[v, 0], values[v, 1], values[v, 2]
            continue
        sx, sy, sz = 0.0, 0.0, 0.0
        for n in range(first[v], first[v + 1]):
            other = neighbours[n]
            sx += values[other, 0]
            sy += values[other, 1]
            sz += values[other, 2]
        share = f / (first[v + 1] - first[v])
        moved[v, 0] = (1.0 - f) * values[v, 0] + share * sx
        moved[v, 1] = (1.0 - f) * values[v, 1] + share * sy
        moved[v, 2] = (1.0 - f) * values[v, 2] + share * sz


@compiled
def _neighbour_lists(count, triangles):
    """Neighbours of each vertex, in one array, and the start of each list."""
    first = np.zeros(count + 1, np.int64)
    for t in range(len(triangles)):  # a closed mesh contains every edge once in each direction
        for k in range(3):
            first[triangles[t, k] + 1] += 1
    for v in range(count):
        first[v + 1] += first[v]
    place = first[:-1].copy()
    neighbours = np.empty(first[-1], np.int32)
    for t in range(len(triangles)):
        for k in range(3):
            a = triangles[t, k]
            neighbours[place[a]] = triangles[t, (k + 1) % 3]
            place[a] += 1
    return first, neighbours


@compiled
def vertex_areas(vertices, triangles):
    """Gradient of the enclosed volume with respect to each vertex [m²], shape (v, 3): a third of the outward area
    vectors of its triangles."""
    areas = np.zeros_like(vertices)
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = vertices[j, 0] - vertices[i, 0], vertices[j, 1] - vertices[i, 1], vertices[j, 2] - vertices[i, 2]
        bx, by, bz = vertices[k, 0] - vertices[i, 0], vertices[k, 1] - vertices[i, 1], vertices[k, 2] - vertices[i, 2]
        nx, ny, nz = (ay * bz - az * by) / 6.0, (az * bx - ax * bz) / 6.0, (ax * by - ay * bx) / 6.0
        for v in (i, j, k):
            areas[v, 0] += nx
            areas[v, 1] += ny
            areas[v, 2] += nz
    return areas


@compiled
def signed_volumes(vertices, triangles, part, count):
    """Signed volume of each of `count` parts of a mesh [m³]: the sum of the tetrahedra between its triangles and the
    first vertex of the mesh."""
    volumes = np.zeros(count)
    for t in range(len(triangles)):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = vertices[i, 0] - vertices[0, 0], vertices[i, 1] - vertices[0, 1], vertices[i, 2] - vertices[0, 2]
        bx, by, bz = vertices[j, 0] - vertices[0, 0], vertices[j, 1] - vertices[0, 1], vertices[j, 2] - vertices[0, 2]
        cx, cy, cz = vertices[k, 0] - vertices[0, 0], vertices[k, 1] - vertices[0, 1], vertices[k, 2] - vertices[0, 2]
        determinant = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        volumes[part[i]] += determinant / 6.0
    return volumes


@compiled
def _part_numbers(count, triangles):
    """Part of each vertex, numbered in the order of their first vertices, and the number of parts."""
    root = np.arange(count)
    for t in range(len(triangles)):
        for k in range(2):
            a, b = triangles[t, 0], triangles[t, k + 1]
            while root[a] != a:
                root[a] = root[root[a]]
                a = root[a]
            while root[b] != b:
                root[b] = root[root[b]]
                b = root[b]
            if a < b:
                root[b] = a
            else:
                root[a] = b
    part = np.empty(count, np.int64)
    parts = 0
    for v in range(count):
        a = v
        while root[a] != a:
            a = root[a]
        if a == v:
            part[v] = parts
            parts += 1
        else:
            part[v] = part[a]
    return part, parts


def unit_normals(vertices: Floats, triangles: Triangles) -> Floats:
    """Outward unit vectors at the vertices."""
    areas: Floats = vertex_areas(vertices, triangles)
    length = np.sqrt(np.einsum("ij,ij->i", areas, areas))
    # a vertex whose triangles have no area has no normal: use an arbitrary direction
    areas[length == 0] = (0.0, 1.0, 0.0)
    length[length == 0] = 1.0
    return areas / length[:, None]


def connected_parts(vertices: Floats, triangles: Triangles) -> Parts:
    """Find the connected parts of a mesh."""
    part, count = _part_numbers(len(vertices), triangles)
    return Parts(count, part, signed_volumes(vertices, triangles, part, count))


def without_cavities(vertices: Floats, triangles: Triangles, largest: float) -> tuple[Floats, Triangles]:
    """Mesh without cavities of up to `largest` [m³]: closed parts whose normals point inwards."""
    parts = connected_parts(vertices, triangles)
    return with_vertices(vertices, triangles, ~((parts.volumes < 0) & (parts.volumes > -largest))[parts.of_vertex])


def with_vertices(vertices: Floats, triangles: Triangles, kept: NDArray[np.bool_]) -> tuple[Floats, Triangles]:
    """The parts of the mesh that have these vertices."""
    if kept.all():
        return vertices, triangles
    new = np.cumsum(kept, dtype=np.int32) - 1
    return vertices[kept], new[triangles[kept[triangles[:, 0]]]]


def with_volumes(
    vertices: Floats, triangles: Triangles, x: Floats, volumes: Floats, spacing: float, free: Floats | None = None
) -> Floats:
    """Vertices moved along their normals so that each body encloses the volume of its points.

    x, volumes: positions [m] and volumes [m³] of the points, which belong to the part with the nearest vertex.
    free: mobility of each vertex, from 0 to 1; None: 1.
    """
    from scipy.spatial import cKDTree

    parts = connected_parts(vertices, triangles)
    body = _bodies(parts, vertices)
    if body.max() == 0:
        wanted = np.array([volumes.sum()])
    else:
        nearest = cKDTree(vertices).query(x, workers=-1)[1]
        wanted = np.bincount(body[parts.of_vertex[nearest]], weights=volumes, minlength=body.max() + 1)
    freedom = np.ones(len(vertices)) if free is None else free
    own = body[parts.of_vertex]
    shift = np.zeros(len(wanted))
    moved = vertices
    for _ in range(6):  # Newton's method: the derivative of the volume with respect to the shift is the area
        held = signed_volumes(moved, triangles, own, len(wanted))
        done = np.abs(wanted - held) <= CLOSE * wanted
        if done.all():
            break
        areas = vertex_areas(moved, triangles)
        length = np.sqrt(np.einsum("ij,ij->i", areas, areas))
        area = np.bincount(own, weights=freedom * length, minlength=len(wanted))
        step = np.where(done | (area == 0), 0.0, (wanted - held) / np.where(area > 0, area, 1.0))
        step = np.clip(shift + step, -LARGEST_SHIFT * spacing, LARGEST_SHIFT * spacing) - shift
        shift += step
        normals = areas / np.where(length > 0, length, 1.0)[:, None]
        moved = moved + (freedom * step[own])[:, None] * normals
    return moved


def _bodies(parts: Parts, vertices: Floats) -> NDArray[np.int64]:
    """Number of the body of each part; cavities belong to the body around them."""
    from scipy.spatial import cKDTree

    outer = np.flatnonzero(parts.volumes >= 0)
    body = np.zeros(parts.number, np.int64)
    body[outer] = np.arange(len(outer))
    cavities = np.flatnonzero(parts.volumes < 0)
    if len(cavities) and len(outer) > 1:
        _, sample = np.unique(parts.of_vertex, return_index=True)
        shell = np.flatnonzero(parts.volumes[parts.of_vertex] >= 0)
        nearest = cKDTree(vertices[shell]).query(vertices[sample[cavities]])[1]
        body[cavities] = body[parts.of_vertex[shell[nearest]]]
    return body
