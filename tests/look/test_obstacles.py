"""Obstacles as meshes."""

import numpy as np
import pytest

from spume.frames.poses import ObstaclePoses
from spume.look.obstacles import solid_mesh, solids
from spume.look.surface.skin import enclosed_volume
from spume.scene.common import Scene

UP = np.array([0.0, 1.0, 0.0])


def scene_with(shape, **changes):
    return Scene(
        title="obstacle", method="mpm", duration=1.0, grid={"cell": 0.01},
        body=[{"material": "soft rubber", "shape": {"sphere": {"center": [0.0, 0.5, 0.0], "radius": 0.05}}}],
        obstacle=[{"name": "it", "shape": shape, "contact": "slip"} | changes],
    )  # fmt: skip


NEAR, FAR = np.full(3, -0.1), np.full(3, 0.1)


def test_a_bounded_obstacle_is_drawn_whole_and_a_very_wide_one_in_part():
    (head,) = solids(scene_with({"sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.2}}), NEAR, FAR, UP)
    assert (head.lower < -0.2).all()
    assert (head.upper > 0.2).all()
    (slab,) = solids(scene_with({"box": {"center": [0.0, 0.0, 0.0], "size": [9.0, 0.1, 9.0]}}), NEAR, FAR, UP)
    assert slab.upper[0] - slab.lower[0] < 1.0


def test_a_moving_half_space_keeps_its_face():
    plate = {"half_space": {"point": [0.0, 0.4, 0.0], "normal": [0.0, 1.0, 0.0]}}
    motion = {"velocity": {"linear": [0.0, -1.0, 0.0]}}
    (solid,) = solids(scene_with(plate, motion=motion), NEAR, FAR, UP)
    assert solid.upper[1] >= 0.4


def test_small_pieces_of_a_wide_obstacle_keep_their_shape():
    # Each pin is meshed with 72 samples along its length, so 14 across: a polygon of about 36 sides through points on
    # the circle holds 1 − (2π/36)²/6 = 99.5 % of its area; the board as one piece would have two samples a pin.
    pin = {"cylinder": {"center": [-0.45, 0.0, 0.0], "radius": 0.01, "height": 0.1, "axis": [0.0, 0.0, 1.0]}}
    pins = {"repeat": {"shape": pin, "count": [10, 2, 1], "spacing": [0.1, 0.2, 0.0]}}
    (board,) = solids(scene_with(pins), np.array([-0.6, -0.3, -0.2]), np.array([0.6, 0.6, 0.2]), UP)
    mesh = solid_mesh(board)
    assert len(board.parts) == 20
    assert enclosed_volume(mesh.vertices, mesh.triangles) == pytest.approx(20 * np.pi * 0.01**2 * 0.1, rel=0.02)


@pytest.mark.parametrize("normal", [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
def test_the_faces_of_a_cut_off_wall_look_outwards(normal):
    wall = {"half_space": {"point": [0.0, 0.0, 0.0], "normal": normal}}
    (solid,) = solids(scene_with(wall), NEAR, FAR, UP)
    mesh = solid_mesh(solid)
    front = np.abs(mesh.vertices @ normal) < 1e-6
    assert front.sum() > 100
    assert np.mean(mesh.normals[front] @ normal) > 0.9
    assert enclosed_volume(mesh.vertices, mesh.triangles) > 0


def test_a_cut_off_wall_takes_light_only_where_it_is_shown():
    wall = {"half_space": {"point": [0.0, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}}
    (solid,) = solids(scene_with(wall), NEAR, FAR, UP)
    at_rest = ObstaclePoses(np.eye(3)[None], *np.zeros((3, 1, 3)))
    points = np.array([[-0.01, 0.0, 0.0], [0.01, 0.0, 0.0], [-5.0, 0.0, 0.0]])
    within, ahead, far_behind = solid.distances(points, at_rest)
    assert within < 0 < min(ahead, far_behind)
