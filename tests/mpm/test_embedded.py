"""Embedded surfaces: what they enclose, how they travel, what frames and checkpoints hold of them."""

import numpy as np
import pytest

from spume import Scene
from spume.errors import SpumeError
from spume.geometry.shapes.primitives import Box, Sphere
from spume.geometry.surface_mesh import surface_mesh
from spume.mpm.method import MaterialPointMethod

VELOCITY = np.array([1.0, -2.0, 0.5])


def enclosed(x, triangles):
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def ball(**body):
    scene = Scene(
        title="ball", method="mpm", dimension=3, duration=1.0, gravity=[0.0, 0.0, 0.0],
        grid={"cell": 0.1, "spline": "quadratic"}, time={"dt": 1e-3},
        material={"m": {"law": "neo-hookean", "density": 1.0, "bulk_modulus": 1e3, "shear_modulus": 1e3}},
        body=[{"name": "ball", "material": "m", "velocity": VELOCITY.tolist(), "surface": "embedded",
               "shape": {"sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.3}}} | body],
    )  # fmt: skip
    return MaterialPointMethod(scene)


def test_the_mesh_of_a_sphere_is_closed_and_encloses_its_volume():
    """Tangent planes of crossings up to half a diagonal l = √3/2 spacing away meet at most l²/(2 r) outside."""
    x, triangles = surface_mesh(Sphere(center=(0.1, 0.2, 0.3), radius=0.5), 0.05)
    assert np.linalg.norm(x - [0.1, 0.2, 0.3], axis=1) == pytest.approx(0.5, abs=0.75 * 0.05**2 / (2 * 0.5))
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
    assert enclosed(x, triangles) == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=0.01)


def test_the_mesh_of_a_box_has_its_corners_and_its_volume():
    x, triangles = surface_mesh(Box(center=(0.0, 0.0, 0.0), size=(1.0, 0.6, 0.4)), 0.05)
    assert enclosed(x, triangles) == pytest.approx(1.0 * 0.6 * 0.4, rel=1e-6)
    assert np.linalg.norm(x - [0.5, 0.3, 0.2], axis=1).min() < 1e-6


def test_vertices_translate_with_their_body():
    method = ball()
    (surface,) = method.state.surfaces
    before = surface.x.copy()
    for _ in range(5):
        method.step(1e-3)
    assert surface.x == pytest.approx(before + 5e-3 * VELOCITY, abs=1e-12)


def test_vertices_rotate_with_their_body():
    """A quarter turn in small steps of a stiff ball: every vertex stays as far from the axis as it was.

    The regularisation of the fit loses 1e-4 of the way from the mean of the nodes, of at most a cell, and an Euler step
    gains ½ (ω Δt)² of the radius."""
    method = ball(velocity=[0.0, 0.0, 0.0], spin=[0.0, 0.0, 10.0])
    (surface,) = method.state.surfaces
    before = surface.x.copy()
    steps = 157
    for _ in range(steps):
        method.step(1e-3)
    radius = np.linalg.norm(before[:, :2], axis=1)
    gained = steps * 0.5 * (10.0 * 1e-3) ** 2
    assert np.linalg.norm(surface.x[:, :2], axis=1) == pytest.approx(radius, rel=gained + 0.02, abs=2e-3)
    far = radius > 0.2
    turned = np.arctan2(surface.x[far, 1], surface.x[far, 0]) - np.arctan2(before[far, 1], before[far, 0])
    assert np.mod(turned, 2 * np.pi) == pytest.approx(np.pi / 2, abs=0.05)


def test_a_frame_holds_the_mesh_and_a_checkpoint_restores_it():
    method = ball()
    method.step(1e-3)
    _, mesh = method.declarations()
    assert (mesh.name, mesh.kind) == ("surface of ball", "mesh")
    assert set(method.frame()[mesh.name]) == {field.name for field in mesh.fields}
    arrays, values = method.checkpoint()
    arrays = {name: a.copy() for name, a in arrays.items()}
    other = ball()
    other.restore(arrays, values)
    method.step(1e-3)
    other.step(1e-3)
    assert other.state.surfaces[0].x.tobytes() == method.state.surfaces[0].x.tobytes()


def test_a_surface_in_the_plane_is_refused():
    with pytest.raises(SpumeError, match="embedded surfaces need a 3D scene"):
        Scene(
            title="disc", method="mpm", dimension=2, duration=1.0, grid={"cell": 0.1},
            body=[{"material": "soft rubber", "surface": "embedded",
                   "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.3}}}],
        )  # fmt: skip
