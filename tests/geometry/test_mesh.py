"""Meshes as shapes."""

import math

import numpy as np
import pytest
from shape_cases import norm, read

from spume.errors import MissingExtra, SceneError
from spume.geometry.filling.fill import fill
from spume.geometry.sdf import mesh_samples as mesh_module
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances, distances_and_gradients
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.volume import volume

trimesh = pytest.importorskip("trimesh")
pytest.importorskip("igl")

H = 0.08
"""Sample spacing of the tests [m]."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A ball of radius 1 (to 0.0025), a box, and the ball damaged in several ways."""
    folder = tmp_path_factory.mktemp("meshes")
    ball = trimesh.creation.icosphere(subdivisions=4)
    for suffix in ("obj", "ply", "stl"):
        ball.export(folder / f"ball.{suffix}")
    trimesh.creation.box((1.0, 0.6, 0.8)).export(folder / "box.stl")
    inverted = ball.copy()
    inverted.invert()
    inverted.export(folder / "inverted.ply")
    top = ball.triangles_center[:, 1]
    for name, level in (("crack", top.max()), ("bowl", 0.5)):
        opened = ball.copy()
        opened.update_faces(top < level)
        assert not opened.is_watertight
        opened.export(folder / f"{name}.ply")
    (folder / "empty.obj").write_text("v 0 0 0\n")
    (folder / "garbage.stl").write_bytes(b"\x00" * 40)
    (folder / "picture.png").write_bytes(b"")
    return folder


def mesh(name, **keys):
    return read({"mesh": {"file": name, "resolution": H, **keys}})


def places(n, reach, seed=0):
    return np.random.default_rng(seed).uniform(-reach, reach, (n, 3))


@pytest.mark.parametrize("name", ["ball.obj", "ball.ply", "ball.stl", "inverted.ply"])
def test_a_ball_is_read_from_every_format_and_inside_out(folder, name):
    """Linear interpolation of a distance of curvature 1/R errs by h²/(8R) along each of three axes; the mesh itself
    by 0.0025."""
    x = places(5_000, 1.4)
    d = distances(compile_shape(mesh(name), 3, folder), x)
    exact = norm(x) - 1
    wrong = (d < 0) != (exact < 0)
    assert np.abs(exact[wrong]).max(initial=0.0) < 3 * H**2 / 8 / 0.9 + 0.0025


def test_a_crack_narrower_than_the_samples_is_closed(folder):
    """The missing triangles have sides of 0.08: away from them the ball is as if whole, there the surface is within
    0.08 of where it was."""
    x = places(20_000, 1.4)
    d, whole = (distances(compile_shape(mesh(name), 3, folder), x) for name in ("crack.ply", "ball.ply"))
    wrong = (d < 0) != (whole < 0)
    crack = norm(x - [0, 1, 0]) < 3 * H
    assert not wrong[~crack].any()
    assert np.abs(whole[wrong]).max(initial=0.0) < 0.08


@pytest.mark.parametrize("name", ["ball.ply", "box.stl", "crack.ply"])
def test_the_distance_of_a_mesh_is_a_lipschitz_bound_everywhere(folder, name):
    """Inside the samples, across their border and far outside."""
    program = compile_shape(mesh(name), 3, folder)
    rng = np.random.default_rng(1)
    a = places(20_000, 2.5, seed=2)
    b = a + 10.0 ** rng.uniform(-5, 0.3, (len(a), 1)) * rng.normal(size=a.shape)
    change = np.abs(distances(program, a) - distances(program, b))
    assert (change <= norm(a - b) * (1 + 1e-9) + 1e-13).all()


def test_the_distance_of_a_mesh_is_never_less_than_its_steepness_allows(folder):
    """It is the true distance divided by at most √3, the greatest slope of a trilinear interpolant of a distance, plus
    what interpolation does at kinks, less than the diagonal of a cell."""
    x = places(5_000, 1.3, seed=3)
    q = np.abs(x) - np.array([0.5, 0.3, 0.4])
    exact = norm(np.maximum(q, 0)) + np.minimum(q.max(axis=1), 0)
    d = distances(compile_shape(mesh("box.stl"), 3, folder), x)
    assert (np.abs(d) >= np.abs(exact) / math.sqrt(3) - math.sqrt(3) * H).all()


def test_gradient_of_a_mesh_points_along_the_derivative(folder):
    program = compile_shape(mesh("ball.ply"), 3, folder)
    x = places(3_000, 2.0, seed=4)
    _, gradient = distances_and_gradients(program, x)
    h = 1e-7
    numeric = np.stack(
        [(distances(program, x + e) - distances(program, x - e)) / (2 * h) for e in h * np.eye(3)], axis=1
    )
    # In the very middle of the ball all samples of a cell are equal, and the distance has no direction.
    sloping = norm(numeric) > 1e-6
    assert sloping.mean() > 0.999
    x, numeric, gradient = x[sloping], numeric[sloping] / norm(numeric[sloping])[:, None], gradient[sloping]
    # A difference across a face of a sample cell sees both slopes: a share 3 · 2 h/H of the places.
    wrong = np.abs(numeric - gradient).max(axis=1) > 1e-4
    assert wrong.mean() < 1e-3
    # Near the surface it is the direction from the centre, to the angle a cell is seen under.
    near = np.abs(norm(x) - 1) < H
    cosines = (gradient * x).sum(axis=1) / norm(x)
    assert cosines[near].min() > math.cos(2 * H)


def test_volume_and_bounds_and_filling_of_a_mesh(folder):
    """The interpolated surface lies within h²/(8R) · 3 of the mesh: three times that in volume."""
    shape = mesh("ball.ply", scale=0.1, resolution=0.1 * H)
    exact = 4 / 3 * math.pi * 0.1**3
    found = volume(shape, 3, folder)
    assert found == pytest.approx(exact, rel=3 * (3 * H**2 / 8 + 0.0025) + 1e-3)
    lower, upper = bounds(shape, 3, folder)
    assert (lower < -0.0999).all()
    assert (upper > 0.0999).all()
    filling = fill(shape, 3, 0.02, folder=folder)
    assert norm(filling.positions).max() < 0.101
    assert abs(filling.lattice_error) < 0.02


def test_a_mesh_moved_turned_scaled_and_combined(folder):
    table = {"mesh": {"file": "box.stl", "resolution": H}}
    moved = read({"translate": {"shape": {"scale": {"shape": table, "factor": 2}}, "by": [1, 0, 0]}})
    plain, program = compile_shape(read(table), 3, folder), compile_shape(moved, 3, folder)
    x = places(2_000, 2.0, seed=5)
    np.testing.assert_allclose(distances(program, 2 * x + [1, 0, 0]), 2 * distances(plain, x), atol=1e-13)
    both = read({"union": {"of": [{"sphere": {"center": [0, 0, 0], "radius": 0.45}}, table, table]}})
    program = compile_shape(both, 3, folder)
    union = np.minimum(distances(plain, x), norm(x) - 0.45)
    np.testing.assert_array_equal(distances(program, x) < 0, union < 0)
    assert len(program.voxels) == len(plain.voxels)


def test_default_resolution_is_a_64th_of_the_largest_extent(folder):
    samples = mesh_module.load_mesh("box.stl", 1.0, None, folder)
    assert samples.spacing == pytest.approx(1 / 64)


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"file": "bowl.ply"}, "is not watertight, and winding numbers cannot tell its inside"),
        ({"file": "nowhere.obj"}, "does not exist"),
        ({"file": "picture.png"}, "is not an OBJ, PLY or STL file"),
        ({"file": "empty.obj"}, "holds no triangles"),
        ({"file": "garbage.stl"}, "cannot be read|holds no triangles"),
        ({"file": "ball.ply", "resolution": 1e-4}, "samples, and 30,000,000 is the most; raise its 'resolution'"),
        ({"file": "box.stl", "resolution": 3.0}, "has no inside at a resolution of 3 m"),
    ],
    ids=lambda value: value["file"] if isinstance(value, dict) else None,
)
def test_a_mesh_that_cannot_be_used_is_an_error_that_says_why(folder, keys, sentence):
    with pytest.raises(SceneError, match=sentence):
        compile_shape(read({"mesh": {"resolution": H, **keys}}), 3, folder)


def test_a_missing_package_names_the_extra(folder, monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(mesh_module, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"pip install 'spume\[geometry\]'"):
        compile_shape(mesh("ball.ply", resolution=0.081), 3, folder)
