"""Closed triangle mesh of a shape, by dual contouring of its distance [Ju02], or the triangles of a mesh itself.

Every lattice cube that the surface passes through gets one vertex, at the least-squares intersection of the tangent
planes where its edges cross the surface, so corners and edges of the shape stay sharp. Every lattice edge that crosses
the surface joins the vertices of the four cubes around it.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.mesh_files.mesh_file import turned_out
from spume.geometry.mesh_files.reading import read_mesh_file
from spume.geometry.sdf.compiler import ShapeProgram, compile_shape
from spume.geometry.sdf.evaluation import distances, distances_and_gradients
from spume.geometry.shapes import TriangleMesh
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.parts import own_mesh_of
from spume.geometry.shapes.placement import Placement

MOST_SAMPLES = 20_000_000
"""Largest number of sampled distances; they take 8 bytes each, their positions 24."""
FLAT = 0.1
"""A vertex is not moved in directions in which the normals vary less than this, relative to the largest variation."""

Floats = NDArray[np.float64]


def surface_mesh(shape: Any, spacing: float, folder: Path = Path()) -> tuple[Floats, NDArray[np.int32]]:
    """Vertices [m] (n, 3) and triangles (m, 3) of the surface of a 3D `shape`; triangles have a size of about `spacing`
    [m].

    Triangles are counter-clockwise seen from outside. A mesh shape returns its own triangles, also if it is displaced,
    rotated or scaled.
    """
    if (own := own_mesh_of(shape)) is not None:
        return _own_triangles(*own, folder)
    program = compile_shape(shape, 3, folder)
    lower, upper = bounds(shape, 3)
    size = upper - lower
    count = np.ceil(np.where(np.isfinite(size), size, 1e9) / spacing).astype(np.int64) + 4
    if np.prod(count.astype(float)) > MOST_SAMPLES:
        raise SceneError(
            f"a surface with triangles of {spacing:.3g} m is too fine for a shape of this size: use larger cells, or "
            "a mesh file"
        )
    origin = lower - 1.63 * spacing  # avoids samples on the faces of a box, which have no sign
    index = np.stack(np.meshgrid(*(np.arange(n) for n in count), indexing="ij"), axis=-1).reshape(-1, 3)
    samples = origin + spacing * index
    inside = (distances(program, samples) < 0.0).reshape(count)
    vertices, quads = contour(program, inside, origin, spacing)
    if len(vertices) == 0:
        raise SceneError(f"the shape has no surface at triangles of {spacing:.3g} m: it is too thin, or empty")
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return vertices, triangles.astype(np.int32)


def contour(
    program: ShapeProgram, inside: NDArray[np.bool_], origin: Floats, spacing: float
) -> tuple[Floats, NDArray[np.int64]]:
    """Vertices and quadrilaterals, counter-clockwise seen from outside, of the surface between lattice points inside of
    a shape and those outside; the first one is at `origin` [m]. All at the rim of the lattice must be outside."""
    shape = np.array(inside.shape)
    crossings, normals, cells = [], [], []
    for axis in range(3):
        near = np.moveaxis(inside, axis, 0)
        change = np.moveaxis(near[1:] != near[:-1], 0, axis)
        start = np.argwhere(change)
        x = _crossing(program, origin + spacing * start, axis, spacing)
        crossings.append(x)
        normals.append(distances_and_gradients(program, x)[1])
        # the four cubes around an edge, counter-clockwise seen against its axis
        one, two = np.eye(3, dtype=np.int64)[[(axis + 1) % 3, (axis + 2) % 3]]
        around = start[:, None] - np.array([0 * one, one, one + two, two])
        outwards = inside[tuple(start.T)]
        around[~outwards] = around[~outwards][:, ::-1]
        cells.append(np.ravel_multi_index(tuple(np.moveaxis(around, -1, 0)), tuple(shape)))
    quads = np.concatenate(cells)
    if len(quads) == 0:
        return np.empty((0, 3)), quads
    used, place = np.unique(quads, return_inverse=True)
    place = place.reshape(quads.shape)
    x, n = np.concatenate(crossings), np.concatenate(normals)
    vertices = _meeting_points(len(used), place, x, n)
    corner = origin + spacing * np.stack(np.unravel_index(used, tuple(shape)), axis=1)
    return np.clip(vertices, corner, corner + spacing), place


def _crossing(program: ShapeProgram, start: Floats, axis: int, spacing: float) -> Floats:
    """Positions where the edges from `start` along `axis` cross the surface, by bisection."""
    low, high = np.zeros(len(start)), np.full(len(start), spacing)
    first = distances(program, start) < 0.0
    step = np.eye(3)[axis]
    for _ in range(30):
        middle = 0.5 * (low + high)
        same = (distances(program, start + middle[:, None] * step) < 0.0) == first
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.asarray(start + (0.5 * (low + high))[:, None] * step)


def _meeting_points(count: int, place: NDArray[np.int64], x: Floats, n: Floats) -> Floats:
    """For each cube, the least-squares point of the tangent planes n·(p − x) = 0 of its crossings, near their mean."""
    number, mean = np.zeros(count), np.zeros((count, 3))
    for k in range(4):
        np.add.at(number, place[:, k], 1.0)
        np.add.at(mean, place[:, k], x)
    mean /= number[:, None]
    A, b = np.zeros((count, 3, 3)), np.zeros((count, 3))
    outer = n[:, :, None] * n[:, None, :]
    for k in range(4):
        np.add.at(A, place[:, k], outer)
        np.add.at(b, place[:, k], n * np.einsum("ij,ij->i", n, x - mean[place[:, k]])[:, None])
    values, vectors = np.linalg.eigh(A)
    steep = values > FLAT * values[:, -1:]
    along = np.einsum("nij,ni->nj", vectors, b)
    along = np.where(steep, along / np.where(steep, values, 1.0), 0.0)
    return np.asarray(mean + np.einsum("nij,nj->ni", vectors, along))


def _own_triangles(shape: TriangleMesh, placement: Placement, folder: Path) -> tuple[Floats, NDArray[np.int32]]:
    mesh = turned_out(read_mesh_file(shape.file, folder))
    return placement.points(mesh.vertices * shape.scale), mesh.triangles.astype(np.int32)
