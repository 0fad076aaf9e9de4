"""A closed triangle mesh of a shape: the zero level of its distance, or the triangles of a mesh itself."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import MissingExtra, SceneError
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances, distances_and_gradients
from spume.geometry.shapes import TriangleMesh
from spume.geometry.shapes.extent import bounds

MOST_SAMPLES = 50_000_000
"""Distances that are sampled at most; they take 8 bytes each."""


def surface_mesh(shape: Any, spacing: float, folder: Path = Path()) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Vertices [m] (n, 3) and triangles (m, 3) of the surface of a `shape` in space; triangles of about `spacing` [m].

    Triangles turn counter-clockwise seen from outside. A mesh file gives its own triangles.
    """
    if isinstance(shape, TriangleMesh):
        return _own_triangles(shape, folder)
    try:
        import igl
    except ImportError:
        raise MissingExtra("geometry", "libigl", "an embedded surface") from None
    program = compile_shape(shape, 3, folder)
    lower, upper = bounds(shape, 3)
    count = np.ceil((upper - lower) / spacing).astype(np.int64) + 5
    if not np.isfinite(upper - lower).all() or np.prod(count.astype(float)) > MOST_SAMPLES:
        raise SceneError(
            f"a surface with triangles of {spacing:.3g} m cannot be embedded in a shape of {upper - lower} m: "
            "use larger cells, or a mesh file"
        )
    origin = lower - 2.0 * spacing
    axes = [origin[k] + spacing * np.arange(count[k]) for k in range(3)]
    # igl counts x fastest
    z, y, x = np.meshgrid(axes[2], axes[1], axes[0], indexing="ij")
    samples = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    found = igl.marching_cubes(distances(program, samples), samples, int(count[0]), int(count[1]), int(count[2]), 0.0)
    vertices, triangles = np.asarray(found[0], np.float64), np.asarray(found[1], np.int32)
    if len(vertices) == 0:
        raise SceneError(f"the shape has no surface at triangles of {spacing:.3g} m: it is too thin, or empty")
    for _ in range(2):  # marching cubes interpolates; steps along the gradient reach the surface
        distance, gradient = distances_and_gradients(program, vertices)
        near = np.abs(distance) < spacing
        vertices = vertices - np.where(near, distance, 0.0)[:, None] * gradient
    return vertices, _outward(vertices, triangles)


def _outward(vertices: NDArray[np.float64], triangles: NDArray[np.int32]) -> NDArray[np.int32]:
    """The triangles, turned around where they enclose a negative volume."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    enclosed = float(np.einsum("ij,ij->", a, np.cross(b, c)))
    return np.ascontiguousarray(triangles[:, ::-1] if enclosed < 0 else triangles)


def _own_triangles(shape: TriangleMesh, folder: Path) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    try:
        import trimesh
    except ImportError:
        raise MissingExtra("geometry", "trimesh", "a mesh as a shape") from None
    mesh: Any = trimesh.load(folder / shape.file, force="mesh")
    vertices = np.asarray(mesh.vertices, np.float64) * shape.scale
    return vertices, _outward(vertices, np.asarray(mesh.faces, np.int32))
