"""What is done to the mesh of a skin: smoothing that keeps volume, cavities filled, volumes of bodies set right."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
Triangles = NDArray[np.int32]
SHRINK, GROW = 0.5, -0.53
"""The two steps of a sweep of [Taubin95]: waves of the mesh longer than about twelve edges keep their height."""
CLOSE = 5e-4
"""Part of its volume by which a body may still miss it."""
LARGEST_SHIFT = 0.6
"""By which part of the distance between points a vertex may be moved to set volumes right: a skin that misses by more
has points crowded closer, or spread wider, than their volumes say."""


class Parts(NamedTuple):
    """The connected parts of a mesh."""

    number: int
    of_vertex: NDArray[np.int64]
    volumes: Floats
    """signed [m³]: that of a cavity is negative"""


def smoothed(vertices: Floats, triangles: Triangles, sweeps: int) -> Floats:
    """The vertices after `sweeps` double steps, one that shrinks and one that grows."""
    moved = vertices.copy()
    for _ in range(sweeps):
        for factor in (SHRINK, GROW):
            _towards_neighbours(moved, triangles, factor)
    return moved


@compiled
def _towards_neighbours(vertices, triangles, factor):
    """Move each vertex by `factor` of the way to the mean of its neighbours."""
    sums = np.zeros_like(vertices)
    number = np.zeros(len(vertices))
    for t in range(len(triangles)):  # a closed mesh has every edge once in each direction
        for k in range(3):
            a, b = triangles[t, k], triangles[t, (k + 1) % 3]
            number[a] += 1.0
            for c in range(3):
                sums[a, c] += vertices[b, c]
    for v in range(len(vertices)):
        for c in range(3):
            vertices[v, c] += factor * (sums[v, c] / number[v] - vertices[v, c])


@compiled
def vertex_areas(vertices, triangles):
    """Gradient of the enclosed volume by each vertex [m²], shape (v, 3): a third of the areas around it, outward."""
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
    """Signed volume of each of `count` parts of a mesh [m³]: the sum over its triangles of the tetrahedra between them
    and the first vertex of all."""
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
    """The part of each vertex, numbered by their first vertices, and how many there are."""
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
    # a vertex whose triangles have no area has no normal; any direction does for so small a thing
    areas[length == 0] = (0.0, 1.0, 0.0)
    length[length == 0] = 1.0
    return areas / length[:, None]


def connected_parts(vertices: Floats, triangles: Triangles) -> Parts:
    """The parts of a mesh that hang together."""
    part, count = _part_numbers(len(vertices), triangles)
    return Parts(count, part, signed_volumes(vertices, triangles, part, count))


def without_cavities(vertices: Floats, triangles: Triangles, largest: float) -> tuple[Floats, Triangles]:
    """The mesh without its cavities of up to `largest` [m³]: closed parts whose normals point inwards."""
    parts = connected_parts(vertices, triangles)
    kept = ~((parts.volumes < 0) & (parts.volumes > -largest))[parts.of_vertex]
    if kept.all():
        return vertices, triangles
    new = np.cumsum(kept, dtype=np.int32) - 1
    return vertices[kept], new[triangles[kept[triangles[:, 0]]]]


def with_volumes(
    vertices: Floats, triangles: Triangles, x: Floats, volumes: Floats, spacing: float, free: Floats | None = None
) -> Floats:
    """The vertices moved along their normals so that each body holds the volume of its points.

    x, volumes: places [m] and volumes [m³] of the points, which belong to the part whose vertex is nearest.
    free: how far each vertex may follow, from 0 to 1; all the way if None.
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
    for _ in range(6):  # Newton's method: the derivative of the volume by the shift is the area
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
    """A number for each part: that of its body, to which cavities belong, too."""
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
