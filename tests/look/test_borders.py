"""Borders between materials on a common skin."""

import numpy as np
import pytest

from spume.look.surface.borders import cut_at_borders
from spume.look.triangle_mesh import TriangleMesh


def sheet(count: int, lift: float = 0.0) -> TriangleMesh:
    """A flat lattice of triangles, closed by a second one below so that every edge has two sides."""
    u = np.linspace(0.0, 1.0, count)
    x, y = np.meshgrid(u, u, indexing="ij")
    top = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, lift)])
    index = np.arange(count * count).reshape(count, count)
    a, b, c, d = (index[:-1, :-1].ravel(), index[1:, :-1].ravel(), index[1:, 1:].ravel(), index[:-1, 1:].ravel())
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)])
    below = faces[:, ::-1] + len(top)
    vertices = np.concatenate([top, top - [0, 0, 0.1]])
    return TriangleMesh(vertices, np.concatenate([faces, below]).astype(np.int32), np.zeros_like(vertices))


def area(vertices: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


@pytest.mark.parametrize("slope", [0.0, 0.4])
def test_a_straight_border_is_straight_though_the_triangles_are_not(slope: float) -> None:
    """The border between two materials, jagged by up to a triangle before, is within a quarter of an edge of a line."""
    mesh = sheet(41)
    edge = 1.0 / 40
    place = mesh.vertices[:, 0] + slope * (mesh.vertices[:, 1] - 0.5) - 0.5
    kinds = np.where(place > 0.003, 3, 1)
    triangles, kind, (vertices,) = cut_at_borders(mesh.triangles, kinds, [mesh.vertices])
    assert set(np.unique(kind)) == {1, 3}
    assert area(vertices, triangles) == pytest.approx(area(mesh.vertices, mesh.triangles), rel=1e-9)
    new = vertices[len(mesh.vertices) :]
    inner = np.abs(new[:, 1] - 0.5) < 0.35
    off = (new[:, 0] + slope * (new[:, 1] - 0.5) - 0.5)[inner] / np.sqrt(1 + slope**2)
    assert np.ptp(off) < 0.75 * edge
    assert np.abs(np.mean(off)) < edge


def test_every_triangle_has_one_kind_and_values_are_interpolated() -> None:
    mesh = sheet(21)
    kinds = np.where(np.hypot(*(mesh.vertices[:, :2] - 0.5).T) < 0.3, 0, 1)
    triangles, kind, (vertices, value) = cut_at_borders(
        mesh.triangles, kinds, [mesh.vertices, mesh.vertices[:, :1].copy()]
    )
    np.testing.assert_allclose(value[:, 0], vertices[:, 0], atol=1e-12)
    # the smoothing spreads a border by σ² = 3.2 edges², which moves one of radius R = 6 edges by (σ/R)⁴ R = 0.05;
    # vertices know it to half an edge, evened out along the circle
    radius = np.sqrt(area(vertices, triangles[kind == 0]) / 2 / np.pi)
    assert radius == pytest.approx(0.3, abs=0.3 * 0.05)


def test_one_kind_is_left_alone() -> None:
    mesh = sheet(5)
    triangles, kind, (vertices,) = cut_at_borders(mesh.triangles, np.full(len(mesh.vertices), 2), [mesh.vertices])
    assert triangles is mesh.triangles
    assert vertices is mesh.vertices
    assert (kind == 2).all()
