"""Dry foams for the path tracer: walls along the films, and a camera that sees the whole foam."""

import numpy as np
import pytest

from spume.dryfoam.foam import Foam
from spume.look.blender.dry_foam import framing, walls


def test_walls_follow_the_films_with_their_thickness_and_height() -> None:
    network = Foam.voronoi(12, "free", 1).network
    vertices, triangles, normals = walls(network, 0.1, 0.4)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, rtol=1e-12)
    assert vertices[:, 2].min() == 0.0
    assert vertices[:, 2].max() == pytest.approx(0.4)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    across = np.cross(b - a, c - a)
    outward = normals[triangles].mean(axis=1)
    assert (np.einsum("ij,ij->i", across, outward) > 0).all(), "a triangle faces inwards"


@pytest.mark.parametrize("aspect", [0.5, 1.0, 16 / 9])
def test_all_corners_are_in_the_picture(aspect: float) -> None:
    lower, upper = np.array([-1.0, 2.0, 0.0]), np.array([3.0, 4.0, 0.0])
    view = framing(lower, upper, aspect)
    back = (view.position - view.target) / np.linalg.norm(view.position - view.target)
    right = np.cross(view.up, back) / np.linalg.norm(np.cross(view.up, back))
    half = np.tan(np.radians(view.angle / 2))
    for x in (lower[0], upper[0]):
        for y in (lower[1], upper[1]):
            ray = np.array([x, y, 0.0]) - view.position
            depth = -ray @ back
            assert depth > 0
            assert abs(ray @ right) <= half * aspect * depth
            assert abs(ray @ np.cross(back, right)) <= half * depth
