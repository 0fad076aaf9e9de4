"""Embedded surfaces: what they enclose, how they travel, what frames and checkpoints hold of them."""

import numpy as np
import pytest
from pydantic import TypeAdapter

from spume import Scene
from spume.errors import SpumeError
from spume.foam.plain import MaterialPointMethod
from spume.geometry.filling.fill import Filling
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.shapes import Shape
from spume.geometry.shapes.primitives import Box, Sphere
from spume.geometry.surface_mesh import surface_mesh
from spume.matter.embedded import DIFFERENCE, RIGID, EmbeddedSurface, deformed, moving
from spume.ranks.ranks import ALONE

READ = TypeAdapter(Shape)
VELOCITY = np.array([1.0, -2.0, 0.5])


def enclosed(x, triangles):
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def ball(grid=None, **body):
    scene = Scene(
        title="ball", method="mpm", dimension=3, duration=1.0, gravity=[0.0, 0.0, 0.0],
        grid=grid or {"cell": 0.1}, time={"dt": 1e-3},
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
    (surface,) = method.surfaces.values()
    for _ in range(5):
        method.take_step(1e-3)
    assert method.frame()[surface.name]["x"] == pytest.approx(surface.vertices + 5e-3 * VELOCITY, abs=1e-12)


def moved(method, motion):
    """The vertices after all points have been moved by a function, in another order and for good measure with new
    indices."""
    particles = method.particles
    particles.x[:] = motion(particles.x)
    order = np.random.default_rng(1).permutation(len(particles))
    particles.replace({name: array[order] for name, array in particles.arrays().items()})
    (surface,) = method.surfaces.values()
    return surface, surface.arrays(surface.points_bound_to(method.world))["x"]


def test_vertices_rotate_with_their_body_exactly():
    angle = 2.0
    R = np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])
    surface, x = moved(ball(), lambda x: x @ R.T + [1.0, 2.0, 3.0])
    assert x == pytest.approx(surface.vertices @ R.T + [1.0, 2.0, 3.0], abs=1e-12)


def test_vertices_follow_an_affine_motion():
    """The weight of the rotation draws the gradient G towards it by RIGID tr S/λ, with the smallest eigenvalue λ of the
    moments S: at a flat surface a fifth of the trace or more; the vertex is at most a cell from the mean."""
    G = np.array([[1.5, 0.4, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.1]])
    surface, x = moved(ball(), lambda x: x @ G.T)
    assert np.abs(x - surface.vertices @ G.T).max() < 0.1 * RIGID * 5 * np.linalg.norm(G - np.eye(3), 2)


def bent(x):
    """X + q(X, X) with ‖q(d, d)‖ ≤ 0.6 ‖d‖² and gradients of q up to 0.6 ‖X‖."""
    return x + 0.5 * np.stack([x[:, 0] * x[:, 2], x[:, 0] ** 2, x[:, 1] * x[:, 2]], axis=1)


@pytest.mark.parametrize("shift", [0.0, 0.5])
@pytest.mark.parametrize("cell", [0.1, 0.05, 0.025])
def test_the_sharp_rim_of_a_disc_follows_affine_motion_and_bending_to_second_order(cell, shift):
    """RIGID draws the gradient G towards the rotation by RIGID tr S/λ (G − R), where at a rim λ is a tenth of tr S or
    more, and the vertex is at most a cell from the mean. A quarter of a ball with 24 points has a radius of 2.9
    spacings; with the gap at the rim all points are within 3.5 spacings. The affine fit leaves what q differs by there,
    at most twice 0.6 (3.5 spacings)²."""
    spacing, G = cell / 3, np.array([[1.5, 0.4, 0.0], [0.0, 0.8, 0.2], [0.0, 0.0, 1.1]])
    shape = {"cylinder": {"center": [shift * cell, 0.0, 0.0], "radius": 0.3, "height": 0.1}}
    discs = [ball({"cell": cell}, shape=shape, fill={"points_per_axis": 3}) for _ in range(2)]
    drawn = cell * RIGID * 10
    surface, x = moved(discs[0], lambda x: x @ G.T)
    assert np.abs(x - surface.vertices @ G.T).max() < drawn * np.linalg.norm(G - np.eye(3), 2)
    surface, x = moved(discs[1], bent)
    largest = np.linalg.norm(surface.vertices, axis=1).max()
    error = np.linalg.norm(x - bent(surface.vertices), axis=1).max()
    assert error < 2 * 0.6 * (3.5 * spacing) ** 2 + drawn * 0.6 * largest


def test_a_layer_of_points_carries_its_normal():
    """Points in a plane say nothing about the direction across it: vertices beside it follow its rotation."""
    grid = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0), [0.0]), axis=-1).reshape(-1, 3)
    vertices = np.array([[2.5, 2.5, 0.5], [2.5, 2.5, -0.5]])
    surface = EmbeddedSurface("sheet", vertices, np.zeros((0, 3), np.int32), 0, 0)
    surface.appear(Filling(grid, np.ones(36), None, np.arange(36), 36), 0)
    surface.bind(ALONE)
    turned = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])  # x to −z, z to x
    x = deformed(vertices, surface.initial, surface.initial @ turned.T, surface.weights)
    assert x == pytest.approx(vertices @ turned.T, abs=1e-9)


def test_vertices_stay_with_their_points_when_the_body_is_crushed():
    """However wildly points move, a vertex keeps to the neighbourhood of those it is bound to.

    |A (X − C)| ≤ σ_x |X − C|/√λ with the spread σ_x of the points and λ ≥ RIGID tr S."""
    rng = np.random.default_rng(3)
    _, x = moved(ball(), lambda x: x * [1.0, 0.02, 1.0] + 0.05 * rng.normal(size=x.shape))
    spread = 0.05 * 6 + 0.3
    assert np.abs(x).max() < 0.3 + spread


def test_triangles_of_vertices_without_points_are_left_out():
    method = ball()
    particles = method.particles
    particles.replace({name: array[particles.x[:, 0] < 0.0] for name, array in particles.arrays().items()})
    (surface,) = method.surfaces.values()
    frame = surface.arrays(surface.points_bound_to(method.world))
    assert 0 < len(frame["triangles"]) < len(surface.triangles)
    assert frame["x"][frame["triangles"]].max(axis=(0, 1))[0] < 0.3
    assert np.isfinite(frame["x"]).all()


def test_a_frame_holds_the_mesh_and_a_checkpoint_restores_it():
    method = ball()
    method.take_step(1e-3)
    _, mesh = method.declarations()
    assert (mesh.name, mesh.kind) == ("surface of ball", "mesh")
    assert set(method.frame()[mesh.name]) == {field.name for field in mesh.fields}
    arrays, values = method.checkpoint()
    arrays = {name: a.copy() for name, a in arrays.items()}
    other = ball()
    other.restore(arrays, values)
    method.take_step(1e-3)
    other.take_step(1e-3)
    assert other.frame()[mesh.name]["x"].tobytes() == method.frame()[mesh.name]["x"].tobytes()


def test_the_mesh_of_a_body_appears_with_it():
    method = ball(start=2e-3)
    (surface,) = method.surfaces.values()
    assert len(method.frame()[surface.name]["triangles"]) == 0
    method.advance(4e-3, lambda: False, lambda _: None)
    frame = method.frame()[surface.name]
    assert frame["x"] == pytest.approx(surface.vertices + 2e-3 * VELOCITY, abs=1e-12)
    other = ball(start=2e-3)
    other.restore(*method.checkpoint())
    assert other.frame()[surface.name]["x"].tobytes() == frame["x"].tobytes()


def test_a_surface_in_the_plane_is_refused():
    with pytest.raises(SpumeError, match="embedded surfaces need a 3D scene"):
        Scene(
            title="disc", method="mpm", dimension=2, duration=1.0, grid={"cell": 0.1},
            body=[{"material": "soft rubber", "surface": "embedded",
                   "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.3}}}],
        )  # fmt: skip


def test_a_placed_mesh_keeps_its_own_faces(tmp_path):
    """Rotated by 90° about z and displaced, twice as large: the faces of the file, and no others."""
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosahedron().export(tmp_path / "body.obj")
    shape = READ.validate_python(
        {"translate": {"by": [1.0, 2.0, 3.0], "shape": {"rotate": {"angle": 90.0, "axis": [0.0, 0.0, 1.0], "shape": {
            "scale": {"factor": 2.0, "about": [0.5, 0.0, 0.0], "shape": {"mesh": {"file": "body.obj"}}}}}}}}
    )  # fmt: skip
    own, faces = surface_mesh(READ.validate_python({"mesh": {"file": "body.obj"}}), 0.05, tmp_path)
    x, triangles = surface_mesh(shape, 0.05, tmp_path)
    larger = 2.0 * own - [0.5, 0.0, 0.0]
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    expected = larger @ turned.T + np.array([1.0, 2.0, 3.0])
    assert np.array_equal(triangles, faces)
    assert x == pytest.approx(expected, abs=1e-12)
    assert enclosed(x, triangles) == pytest.approx(8.0 * enclosed(own, faces), rel=1e-12)
    # and the material is where the mesh is
    assert distances(compile_shape(shape, 3, tmp_path), x) == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(
    ("spline", "cells"), [pytest.param("quadratic", 3, marks=pytest.mark.slow_suite), ("cubic", 4)]
)
def test_a_mesh_that_spans_a_gap_is_reported(spline, cells):
    """Two points that share no node exert no force on each other: apart by the width of the splines along an axis."""
    method = ball(grid={"cell": 0.1, "spline": spline})
    p = method.particles
    assert "warnings" not in method.diagnostics()
    half = p.x[:, 0] > 0.0
    p.x[:] *= 2.0  # a stretch is not a gap
    assert not any("surface" in name for name in method.diagnostics().get("warnings", {}))
    p.x[:] /= 2.0
    p.x[half, 0] += cells * 0.1 - 0.11  # the outermost points of the halves are a spacing, half a cell, apart
    assert not any("surface" in name for name in method.diagnostics().get("warnings", {}))
    p.x[half, 0] += 0.2
    warning = method.diagnostics()["warnings"]["surface of ball"]
    assert f"have parted by more than {cells} cells; --skin reconstructed shows the gaps" in warning


def test_points_that_no_longer_exist_leave_no_gap():
    method = ball()
    particles = method.particles
    particles.replace({name: array[::2] for name, array in particles.arrays().items()})
    (surface,) = method.surfaces.values()
    assert surface.parted(surface.points_bound_to(method.world), 0.3) == 0.0


@pytest.mark.parametrize("spin", [(0.0, 0.0, 0.0), (3.0, -1.0, 2.0)])
def test_vertices_have_the_velocity_of_a_rigid_motion(spin):
    """v = u + ω × (x − c) is exact in the fit, so what remains is the central difference: DIFFERENCE² of the speed."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (30, 24, 3))
    vertices = rng.uniform(-1, 1, (30, 3))
    weights = rng.uniform(0.1, 1.0, (30, 24))
    u, omega = VELOCITY, np.array(spin)
    found = moving(vertices, X, X, u + np.cross(omega, X), weights)
    exact = u + np.cross(omega, vertices)
    assert np.abs(found - exact).max() < 10 * DIFFERENCE**2 * np.linalg.norm(exact, axis=1).max()


def test_frames_have_velocities_of_an_embedded_mesh():
    method = ball()
    (surface,) = method.surfaces.values()
    for _ in range(3):
        method.take_step(1e-3)
    frame = method.frame()[surface.name]
    assert frame["v"] == pytest.approx(np.tile(VELOCITY, (len(frame["x"]), 1)), abs=1e-6)


def test_a_mesh_at_rest_has_no_velocity():
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, (3, 24, 3))
    found = moving(X[:, 0], X, X, np.zeros_like(X), np.ones((3, 24)))
    assert not found.any()
