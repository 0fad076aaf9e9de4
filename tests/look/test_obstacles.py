"""Obstacles as meshes."""

import numpy as np
import pytest

pytest.importorskip("pyvista")

from spume.look.obstacles import solid_mesh, solids
from spume.look.surface import enclosed_volume
from spume.scene.common import Scene

UP = np.array([0.0, 1.0, 0.0])


def board_of_pins():
    pin = {"cylinder": {"center": [-0.45, 0.0, 0.0], "radius": 0.01, "height": 0.1, "axis": [0.0, 0.0, 1.0]}}
    pins = {"repeat": {"shape": pin, "count": [10, 2, 1], "spacing": [0.1, 0.2, 0.0]}}
    return Scene(
        title="pins", method="mpm", duration=1.0, grid={"cell": 0.01},
        body=[{"material": "soft rubber", "shape": {"sphere": {"center": [0.0, 0.5, 0.0], "radius": 0.05}}}],
        obstacle=[{"name": "pins", "shape": pins, "contact": "slip"}],
    )  # fmt: skip


def test_small_pieces_of_a_wide_obstacle_keep_their_shape():
    # Each pin is meshed with 72 samples along its length, so 14 across: a polygon of about 36 sides through points on
    # the circle holds 1 − (2π/36)²/6 = 99.5 % of its area; the board as one piece would have two samples a pin.
    (board,) = solids(board_of_pins(), np.array([-0.6, -0.3, -0.2]), np.array([0.6, 0.6, 0.2]), UP)
    mesh = solid_mesh(board)
    assert len(board.parts) == 20
    assert enclosed_volume(mesh.vertices, mesh.triangles) == pytest.approx(20 * np.pi * 0.01**2 * 0.1, rel=0.02)
