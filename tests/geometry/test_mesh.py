"""Meshes as shapes."""

import math

import numpy as np
import pytest
from shape_cases import norm, read

from spume import extras
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
    assert filling.volume.sum() == pytest.approx(exact, rel=3 * (3 * H**2 / 8 + 0.0025) + 1e-3)
    assert np.abs(filling.volume @ filling.positions).max() < 1e-3 * 0.02 * exact


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
        ({"file": "picture.png"}, "is not an OBJ, PLY, STL or GLB file"),
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
        raise ImportError(name, name=name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(MissingExtra, match=r"pip install 'spume\[geometry\]'"):
        compile_shape(mesh("ball.ply", resolution=0.081), 3, folder)


def regular(name):
    """Closed meshes with flat faces and sharp edges."""
    cube = trimesh.creation.box((1.0, 1.0, 1.0))
    turn = trimesh.transformations.rotation_matrix(0.7, [1, 2, 3])
    cavity = trimesh.creation.icosphere(subdivisions=2, radius=0.3)
    cavity.invert()
    return {
        "cube": cube,
        "slab": trimesh.creation.box((1.0, 0.02, 1.0)),
        "rod": trimesh.creation.box((0.03, 1.0, 0.03)),
        "cylinder": trimesh.creation.cylinder(radius=0.3, height=1.0, sections=24),
        "icosahedron": trimesh.creation.icosahedron(),
        "turned box": trimesh.creation.box((0.7, 0.4, 0.9), transform=turn),
        "cube with a cavity": trimesh.util.concatenate([cube, cavity]),
        # samples lie exactly on their faces
        "slab beside the origin": trimesh.creation.box(bounds=[(0.0, 0.0, 0.0), (1.0, 0.02, 1.0)]),
        "cube beside the origin": trimesh.creation.box(bounds=[(0.0, 0.0, 0.0), (0.1, 0.1, 0.1)]),
    }[name]


@pytest.mark.parametrize("suffix", ["stl", pytest.param("obj", marks=pytest.mark.slow_suite)])
@pytest.mark.parametrize(
    "name",
    [
        "cube",
        "cylinder",
        "cube with a cavity",
        "cube beside the origin",
        *(
            pytest.param(name, marks=pytest.mark.slow_suite)
            for name in ("rod", "icosahedron", "turned box", "slab", "slab beside the origin")
        ),
    ],
)
def test_solids_with_flat_faces_are_accepted_at_the_default_resolution(tmp_path, name, suffix):
    """Their volume is that of the triangles; STL rounds the vertices to single precision."""
    solid = regular(name)
    solid.export(tmp_path / f"solid.{suffix}")
    shape = read({"mesh": {"file": "solid." + suffix}})
    assert volume(shape, 3, tmp_path) == pytest.approx(solid.volume, rel=1e-5)
    size = np.ptp(solid.vertices, axis=0)
    cell = (0.25 if size.min() < 0.1 * size.max() else 0.1) * float(size.min())
    filling = fill(shape, 3, cell, folder=tmp_path)
    assert filling.volume.sum() == pytest.approx(solid.volume, rel=1e-5)


def test_the_volume_of_a_mesh_with_a_hole_cut_out_is_found(tmp_path):
    """A cube less a ball in its middle, by the tree of cells. The interpolated faces of the cube are exact; its edges
    and the ball are smoothed at the sample spacing h = 1/64: 12 edges lose at most h² each, the ball h² per area."""
    regular("cube").export(tmp_path / "cube.stl")
    ball = {"sphere": {"center": [0, 0, 0], "radius": 0.3}}
    shape = read({"difference": {"of": {"mesh": {"file": "cube.stl"}}, "minus": [ball]}})
    exact = 1.0 - 4 / 3 * math.pi * 0.3**3
    assert volume(shape, 3, tmp_path) == pytest.approx(exact, abs=12 / 64**2 + 1e-3)


def test_overlapping_parts_are_not_counted_twice(tmp_path):
    """Two unit cubes, the second moved by a half: each is closed, together they enclose 1.5 and not 2."""
    second = trimesh.creation.box((1.0, 1.0, 1.0), transform=trimesh.transformations.translation_matrix([0.5, 0, 0]))
    trimesh.util.concatenate([regular("cube"), second]).export(tmp_path / "pair.stl")
    found = volume(read({"mesh": {"file": "pair.stl"}}), 3, tmp_path)
    assert found == pytest.approx(1.5, abs=20 * (1.5 / 64) ** 2)


BOX_OBJ = "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1)) + "".join(
    f"f {a} {b} {c}\n"
    for a, b, c in [
        (1, 2, 4), (1, 4, 3), (5, 7, 8), (5, 8, 6), (1, 5, 6), (1, 6, 2),
        (3, 4, 8), (3, 8, 7), (1, 3, 7), (1, 7, 5), (2, 6, 8), (2, 8, 4),
    ]
)  # fmt: skip


def scaled(factor):
    lines = [line.split() for line in BOX_OBJ.splitlines()]
    return "".join(
        " ".join([w[0], *(f"{float(c) * factor:.17g}" for c in w[1:])] if w[0] == "v" else w) + "\n" for w in lines
    )


@pytest.mark.parametrize(
    ("contents", "sentence"),
    [
        (scaled(1e300), "is 1e\\+300 m large .* give it another 'scale'"),
        (scaled(1e-300), "is 1e-300 m large .* give it another 'scale'"),
        (scaled(0.0), "has all its vertices in one place|holds no triangles"),
        (BOX_OBJ.replace("v 0 0 0", "v nan 0 0"), "not numbers|cannot be read"),
        (BOX_OBJ.replace("f 1 2 4", "f 1 2 99"), "does not define|cannot be read"),
        (BOX_OBJ.replace("f ", "g "), "holds no triangles|cannot be read"),
    ],
)
def test_broken_meshes_are_refused_in_one_sentence(tmp_path, contents, sentence):
    (tmp_path / "broken.obj").write_text(contents)
    with pytest.raises(SceneError, match=sentence) as caught:
        volume(read({"mesh": {"file": "broken.obj"}}), 3, tmp_path)
    assert "\n" not in str(caught.value)


def test_names_that_lead_to_no_file_are_refused_in_one_sentence(tmp_path):
    (tmp_path / "loop.stl").symlink_to(tmp_path / "loop.stl")
    (tmp_path / "folder.stl").mkdir()
    for name, sentence in [
        ("a\0b.stl", "cannot be opened"),
        ("loop.stl", "cannot be opened"),
        ("folder.stl", "is a folder or a device"),
        (300 * "n" + ".stl", "cannot be opened"),
    ]:
        with pytest.raises(SceneError, match=sentence) as caught:
            volume(read({"mesh": {"file": name}}), 3, tmp_path)
        assert "\n" not in str(caught.value)


def test_any_damage_to_the_bytes_of_a_mesh_gives_a_mesh_or_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(mesh_module, "SAMPLES_ALONG", 12)
    monkeypatch.setattr(mesh_module, "DEFAULT_LIMIT", 20_000)
    rng = np.random.default_rng(8)
    accepted = 0
    for k in range(60):
        contents = np.frombuffer(BOX_OBJ.encode(), dtype=np.uint8).copy()
        places = rng.integers(0, len(contents), rng.integers(1, 4) if k else 0)
        likely = np.frombuffer(b"0123456789.-e /vf\n", dtype=np.uint8)
        contents[places] = rng.choice(likely, len(places)) if k % 2 else rng.integers(0, 256, len(places))
        file = tmp_path / f"{k}.obj"
        file.write_bytes(contents.tobytes())
        sentence = ""
        try:
            accepted += volume(read({"mesh": {"file": file.name}}), 3, tmp_path) > 0
        except SceneError as error:
            sentence = str(error)
        assert "\n" not in sentence
    assert accepted > 0  # the first is not damaged
