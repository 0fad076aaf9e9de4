"""Embedded surfaces as they are drawn: edges that are sharp at the start are shaded as sharp in every frame.

Normals averaged over the sides of an edge depend on the areas of the triangles there. Along a curved rim these vary,
because the rim crosses the lattice of the mesh, and the shading looks like steps.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.frames.populations import PopulationArrays
from spume.frames.quantities import spatial
from spume.frames.reader import Run
from spume.look.own_meshes import EDGE_ANGLE
from spume.look.triangle_mesh import split_corners, vertex_normals


class SharpMesh(NamedTuple):
    """A mesh whose vertices are split at sharp edges."""

    origin: NDArray[np.int64]
    """the vertex of the frame that each vertex is (n,)"""
    vertices: NDArray[np.float64]
    triangles: NDArray[np.int32]
    normals: NDArray[np.float64]


class _Start(NamedTuple):
    """The mesh in the first frame that has it."""

    vertices: int
    """their number"""
    triangles: NDArray[np.int32]
    origin: NDArray[np.int64]
    split: NDArray[np.int32]


def sharp_mesh(run: Run, mesh: PopulationArrays) -> SharpMesh:
    """The mesh of a frame, split at edges where triangles meet by more than EDGE_ANGLE.

    An embedded surface, whose triangles are those of the start or some of them, is split as at the start of the run;
    a mesh that gets other vertices or triangles, such as the bubbles of a dry foam, as it is in this frame.
    """
    x, triangles = spatial(mesh["x"]), np.asarray(mesh["triangles"], np.int32)
    if len(triangles) == 0:
        return SharpMesh(np.arange(len(x)), x, triangles, vertex_normals(x, triangles))
    start = _start(run, mesh.declared.name)
    places = _places(start.triangles, triangles) if start is not None and start.vertices == len(x) else None
    if start is None or places is None:
        start, places = _split(x, triangles), np.arange(len(triangles))
    split = start.split[places]
    return SharpMesh(start.origin, x[start.origin], split, vertex_normals(x[start.origin], split))


@lru_cache(maxsize=16)
def _start(run: Run, name: str) -> _Start | None:
    """The mesh in the first frame that has it; None if it appears after the last frame, in a run that goes on."""
    for frame in run:
        if name in frame.populations and len(frame[name]["triangles"]):
            return _split(spatial(frame[name]["x"]), np.asarray(frame[name]["triangles"], np.int32))
    return None


def _split(x: NDArray[np.float64], triangles: NDArray[np.int32]) -> _Start:
    origin, split, _ = split_corners(x, triangles, EDGE_ANGLE)
    return _Start(len(x), triangles, origin, split)


def _places(all_triangles: NDArray[np.int32], some: NDArray[np.int32]) -> NDArray[np.intp] | None:
    """The rows of `all_triangles` that are those of `some`; None if some of them are not there."""
    if np.array_equal(all_triangles, some):
        return np.arange(len(some))
    count = len(all_triangles)
    _, first, number = np.unique(np.concatenate([all_triangles, some]), axis=0, return_index=True, return_inverse=True)
    places = first[number.ravel()[count:]]
    return places if (places < count).all() else None
