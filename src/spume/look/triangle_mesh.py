"""Triangle meshes as they are drawn and exported."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from spume.geometry.mesh_files.mesh_file import Texture
from spume.look.finish import Finish

Floats = NDArray[np.float64]


class Cover(NamedTuple):
    """What some triangles of a mesh are covered with."""

    name: str
    finish: Finish
    texture: Texture | None = None
    """multiplies the colour of `finish` at the texture coordinates"""


class TriangleMesh(NamedTuple):
    """Triangles with normals. Where normals or texture coordinates differ between the triangles around a place, the
    place has several vertices; `own` tells which of them are one."""

    vertices: Floats
    triangles: NDArray[np.int32]
    normals: Floats
    uv: Floats | None = None
    """texture coordinates (n, 2), v upwards"""
    colors: Floats | None = None
    """linear RGB of the vertices (n, 3); None if the colour is that of the cover"""
    own: NDArray[np.int32] | None = None
    """(n,): vertex of the imported mesh that each vertex belongs to; None for meshes made from shapes"""
    covers: tuple[Cover, ...] = ()
    """each once; empty: the whole mesh has the finish of its obstacle"""
    cover: NDArray[np.int32] | None = None
    """(t,): index of the cover of each triangle; None without covers"""

    def parts(self, name: str, finish: Finish) -> list[tuple[Cover, NDArray[np.int32]]]:
        """The triangles of each cover; for a mesh without covers, all of them with the given name and finish."""
        if self.cover is None:
            return [(Cover(name, finish), self.triangles)]
        listed = [(each, self.triangles[self.cover == k]) for k, each in enumerate(self.covers)]
        return [(each, triangles) for each, triangles in listed if len(triangles)]

    def welded(self) -> tuple[Floats, NDArray[np.int32]]:
        """Vertices and triangles of the imported mesh: places that were split are one vertex again, in its order."""
        if self.own is None:
            return self.vertices, self.triangles
        places = np.zeros((int(self.own.max(initial=-1)) + 1, 3))
        places[self.own] = self.vertices
        return places, self.own[self.triangles]


def distinct(covers: list[Cover], index: NDArray[Any]) -> tuple[tuple[Cover, ...], NDArray[np.int32]]:
    """The covers without repetitions, and the index of each triangle's cover among them."""
    found = list(dict.fromkeys(covers))
    place = np.array([found.index(each) for each in covers], dtype=np.int32)
    return tuple(found), place[index]


def joined(meshes: list[TriangleMesh], name: str, finish: Finish) -> TriangleMesh:
    """Several meshes as one; those without covers get one with this name and finish if others have covers."""
    if len(meshes) == 1:
        return meshes[0]
    first = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    made = TriangleMesh(
        np.concatenate([mesh.vertices for mesh in meshes]),
        np.concatenate([mesh.triangles + start for mesh, start in zip(meshes, first)]).astype(np.int32),
        np.concatenate([mesh.normals for mesh in meshes]),
    )
    if all(mesh.own is None for mesh in meshes):
        return made
    owns, count = [], 0
    for mesh in meshes:
        own = np.arange(len(mesh.vertices), dtype=np.int32) if mesh.own is None else mesh.own
        owns.append(own + count)
        count += int(own.max(initial=-1)) + 1
    made = made._replace(own=np.concatenate(owns).astype(np.int32))
    if any(mesh.uv is not None for mesh in meshes):
        made = made._replace(uv=np.concatenate([_or(mesh.uv, np.zeros((len(mesh.vertices), 2))) for mesh in meshes]))
    if any(mesh.colors is not None for mesh in meshes):
        plain = np.array(finish.color)
        made = made._replace(
            colors=np.concatenate([_or(mesh.colors, np.tile(plain, (len(mesh.vertices), 1))) for mesh in meshes])
        )
    if all(mesh.cover is None for mesh in meshes):
        return made
    covers: list[Cover] = []
    index = []
    for mesh in meshes:
        own_cover = np.zeros(len(mesh.triangles), np.int32) if mesh.cover is None else mesh.cover
        index.append(own_cover + len(covers))
        covers += mesh.covers or (Cover(name, finish),)
    covered, cover = distinct(covers, np.concatenate(index))
    return made._replace(covers=covered, cover=cover)


def _or(values: Floats | None, otherwise: Floats) -> Floats:
    return otherwise if values is None else values


def split_at_edges(vertices: Floats, triangles: NDArray[Any], angle: float) -> TriangleMesh:
    """The mesh with a vertex for each smooth side of it: triangles that meet at an edge by more than `angle` [degrees]
    share no vertex there, so that their normals differ."""
    origin, split, _ = split_corners(vertices, triangles, angle)
    return TriangleMesh(vertices[origin], split, vertex_normals(vertices[origin], split))


def split_corners(
    vertices: Floats,
    triangles: NDArray[Any],
    angle: float,
    normals: Floats | None = None,
    uv: Floats | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """New vertices, one for each side of a place: the old vertex of each, the triangles, and one corner (an index into
    the flattened triangles) of each.

    Sides differ by their normals (t, 3, 3), or without normals where triangles meet by more than `angle` [degrees], and
    by their texture coordinates (t, 3, 2).
    """
    sides = triangles.ravel().astype(np.int64) if normals is not None else _smooth_sides(vertices, triangles, angle)
    keys = [sides[:, None].astype(np.float64)]
    keys += [each.reshape(triangles.size, -1) for each in (normals, uv) if each is not None]
    if len(keys) == 1:
        count = int(sides.max(initial=-1)) + 1
        corner = np.empty(count, np.int64)
        corner[sides] = np.arange(triangles.size)
        new = sides
    else:
        _, corner, new = np.unique(np.hstack(keys) + 0.0, axis=0, return_index=True, return_inverse=True)
    return triangles.ravel()[corner].astype(np.int64), new.reshape(-1, 3).astype(np.int32), corner


def _smooth_sides(vertices: Floats, triangles: NDArray[Any], angle: float) -> NDArray[np.int64]:
    """A number for each corner, the same for corners that share a vertex on the same side of all sharp edges."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    length = np.linalg.norm(across, axis=1)
    unit = across / np.where(length > 0, length, 1.0)[:, None]
    # each edge of each triangle: its lower vertex, its higher one, and the corners of the triangle that stand there
    corner = np.arange(triangles.size).reshape(-1, 3)
    start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    at_start, at_end = corner.ravel(), np.roll(corner, -1, axis=1).ravel()
    swap = start > end
    low, high = np.where(swap, end, start), np.where(swap, start, end)
    at_low, at_high = np.where(swap, at_end, at_start), np.where(swap, at_start, at_end)
    order = np.lexsort((high, low))
    one, two = order[:-1], order[1:]
    shared = (low[one] == low[two]) & (high[one] == high[two])
    one, two = one[shared], two[shared]
    cosine = np.einsum("ij,ij->i", unit[one // 3], unit[two // 3])
    flat = (length[one // 3] == 0) | (length[two // 3] == 0)  # a triangle without area has no normal to differ by
    one, two = (each[(cosine > np.cos(np.radians(angle))) | flat] for each in (one, two))
    rows, columns = np.concatenate([at_low[one], at_high[one]]), np.concatenate([at_low[two], at_high[two]])
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(triangles.size, triangles.size))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def vertex_normals(vertices: Floats, triangles: NDArray[Any]) -> Floats:
    """Unit normals of a mesh at its vertices, averaged over the triangles around each by their areas."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    total = np.zeros_like(vertices)
    for k in range(3):
        np.add.at(total, triangles[:, k], across)
    length = np.linalg.norm(total, axis=1, keepdims=True)
    # A vertex without triangles has no normal; any direction does for what is not seen.
    return np.where(length > 0, total / np.where(length > 0, length, 1.0), np.array([0.0, 1.0, 0.0]))


def placed(mesh: TriangleMesh, R: Floats, p: Floats) -> TriangleMesh:
    """The mesh after a motion."""
    return mesh._replace(vertices=mesh.vertices @ R.T + p, normals=mesh.normals @ R.T)
