"""Textures as colours of vertices, for renderers that know colours of vertices only."""

import numpy as np
from numpy.typing import NDArray

from spume.geometry.mesh_files.colors import pixels, sampled
from spume.look.finish import Finish
from spume.look.triangle_mesh import TriangleMesh

Floats = NDArray[np.float64]
MOST_TRIANGLES = 150_000
"""Into which the textured triangles of a mesh are divided, unless it has more itself."""


def painted(mesh: TriangleMesh, name: str, finish: Finish) -> list[tuple[TriangleMesh, Finish]]:
    """The mesh in parts of one finish; textured parts are divided until colours of vertices show the texture."""
    if mesh.cover is None:
        return [(mesh, finish)]
    found = []
    for cover, triangles in mesh.parts(name, finish):
        used, new = np.unique(triangles, return_inverse=True)
        part = TriangleMesh(
            mesh.vertices[used],
            new.reshape(-1, 3).astype(np.int32),
            mesh.normals[used],
            None if mesh.uv is None else mesh.uv[used],
            None if mesh.colors is None else mesh.colors[used],
        )
        if cover.texture is not None and part.uv is not None:
            picture = pixels(cover.texture)
            part = _divided(part, picture.shape)
            assert part.uv is not None
            part = part._replace(colors=sampled(picture, part.uv) * np.array(cover.finish.color))
        found.append((part, cover.finish))
    return found


def _divided(mesh: TriangleMesh, shape: tuple[int, ...]) -> TriangleMesh:
    """The mesh with each triangle divided into k² equal ones, k by its size in pixels of the texture, coarser where
    that would make too many."""
    assert mesh.uv is not None
    corners = mesh.uv[mesh.triangles] * [shape[1], shape[0]]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    count = np.clip(np.ceil(np.where(np.isfinite(edges), edges, 1.0)), 1, 256).astype(np.int64)
    if (count**2).sum() > MOST_TRIANGLES:
        share = np.sqrt(max(MOST_TRIANGLES - len(count), 0) / float((count**2).sum()))
        count = np.maximum(1, (count * share).astype(np.int64))
    parts: list[tuple[Floats, ...]] = []
    faces, start = [], 0
    for k in np.unique(count):
        weights, small = _division(int(k))
        chosen = mesh.triangles[count == k]
        made = [
            np.einsum("wc,tcd->twd", weights, values[chosen]).reshape(-1, values.shape[1])
            for values in (mesh.vertices, mesh.normals, mesh.uv)
        ]
        faces.append((small[None] + start + len(weights) * np.arange(len(chosen))[:, None, None]).reshape(-1, 3))
        parts.append(tuple(made))
        start += len(made[0])
    vertices, normals, uv = (np.concatenate(each) for each in zip(*parts))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    return TriangleMesh(vertices, np.concatenate(faces).astype(np.int32), normals, uv)


def _division(k: int) -> tuple[Floats, NDArray[np.int64]]:
    """Barycentric weights of the vertices of a triangle divided into k² parts, and the triangles."""
    place = {(i, j): n for n, (i, j) in enumerate((i, j) for i in range(k + 1) for j in range(k + 1 - i))}
    weights = np.array([((k - i - j) / k, i / k, j / k) for i, j in place])
    small = []
    for i, j in place:
        if i + j < k:
            small.append((place[i, j], place[i + 1, j], place[i, j + 1]))
        if i + j < k - 1:
            small.append((place[i + 1, j], place[i + 1, j + 1], place[i, j + 1]))
    return weights, np.array(small, dtype=np.int64)
