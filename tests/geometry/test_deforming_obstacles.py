"""Obstacles whose vertices move as the files of a sequence say."""

from pathlib import Path

import mesh_files
import numpy as np
import pytest

from spume.errors import SceneError
from spume.geometry.mesh_files.sequence import read_sequence, sequence_files
from spume.geometry.motion.models import Turn
from spume.geometry.obstacles.collision import carry, collide_and_move, obstacle_distance_and_normal, obstacle_velocity
from spume.geometry.obstacles.obstacle_set import Obstacle, ObstacleSet
from spume.geometry.shapes import MeshSequence, Rotate, Scale, Translate, TriangleMesh
from spume.scene.loading import load_scene

pytest.importorskip("igl", reason="needs the extra 'geometry'")

RATE = 10.0
SIZE = 0.2


def write_sequence(folder: Path, maps: list[np.ndarray], shifts: list[np.ndarray], name: str = "crate") -> str:
    """A crate of SIZE after affine maps, one file for each; returns the pattern."""
    folder.mkdir(parents=True, exist_ok=True)
    for k, (A, b) in enumerate(zip(maps, shifts)):
        x = mesh_files.corners(SIZE) @ A.T + b
        lines = ["v {!r} {!r} {!r}".format(*corner) for corner in x.tolist()]
        lines += ["f " + " ".join(str(place + 1) for place in face) for face in mesh_files.QUADS]
        (folder / f"{name}_{k + 8}.obj").write_text("\n".join(lines) + "\n")  # 8, 9, 10: not in the order of letters
    return str(folder / f"{name}_*.obj")


def sliding(folder: Path, speed: float, count: int = 4) -> MeshSequence:
    shifts = [np.array([speed * k / RATE, 0.0, 0.0]) for k in range(count)]
    files = write_sequence(folder, [np.eye(3)] * count, shifts)
    return MeshSequence(files=files, frame_rate=RATE, resolution=0.02)


def obstacles(shape, contact="stick", motion=None) -> ObstacleSet:
    return ObstacleSet([Obstacle(shape, contact, 0.0, motion, "crate")], 3)


def test_files_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    files = write_sequence(tmp_path, [np.eye(3)] * 3, [np.zeros(3)] * 3)
    assert [path.stem for path in sequence_files(files)] == ["crate_8", "crate_9", "crate_10"]


def test_an_affine_motion_in_time_is_interpolated_exactly(tmp_path: Path) -> None:
    """A cubic through positions that are linear in time is that line."""
    sequence = read_sequence(sliding(tmp_path, 0.3).files, RATE)
    for time in (0.0, 0.03, 0.1, 0.25, 0.2999):
        x, v = sequence.at(time)
        np.testing.assert_allclose(x, mesh_files.corners(SIZE) + np.array([0.3 * time, 0, 0]), atol=1e-15)
        np.testing.assert_allclose(v, np.tile([0.3, 0, 0], (8, 1)), atol=1e-13)
    for time in (-1.0, 0.3, 7.0):
        np.testing.assert_array_equal(sequence.at(time)[1], 0.0)


def test_velocities_are_the_derivatives_of_the_positions(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    files = write_sequence(tmp_path, [np.eye(3) + 0.1 * rng.normal(size=(3, 3)) for _ in range(5)], [np.zeros(3)] * 5)
    sequence = read_sequence(files, RATE)
    h = 1e-5
    for time in (0.05, 0.13, 0.21, 0.35):
        difference = (sequence.at(time + h)[0] - sequence.at(time - h)[0]) / (2 * h)
        # the third derivative of a cubic over 0.1 s through ways of about 0.1 m is some 600 m/s³
        np.testing.assert_allclose(sequence.at(time)[1], difference, atol=600 * h**2)
    before, after = sequence.at(0.2 - 1e-9)[1], sequence.at(0.2 + 1e-9)[1]
    np.testing.assert_allclose(before, after, atol=1e-6)


def test_the_distance_of_a_mesh_that_slides_is_that_of_the_mesh_moved(tmp_path: Path) -> None:
    """Its zero is where the face is at any time; elsewhere it is a bound that is too small by at most √3."""
    made = obstacles(sliding(tmp_path, 0.5))
    for time in (0.0, 0.07, 0.1, 0.22):
        now = made.during(time, time + 0.01)
        face = 0.5 * (time + 0.01) + SIZE / 2
        for offset in (-0.03, 0.0, 0.004, 0.015):
            d, nx, ny, nz = obstacle_distance_and_normal(now, 0, face + offset, 0.01, -0.02)
            bounds = sorted((offset, offset / np.sqrt(3)))
            assert bounds[0] - 1e-12 <= d <= bounds[1] + 1e-12
            np.testing.assert_allclose((nx, ny, nz), (1, 0, 0), atol=1e-9)


def test_the_velocity_of_a_mesh_that_slides_is_its_speed(tmp_path: Path) -> None:
    made = obstacles(sliding(tmp_path, 0.5))
    now = made.during(0.1, 0.11)
    np.testing.assert_allclose(obstacle_velocity(now, 0, 0.15, 0.02, 0.01), (0.5, 0, 0), atol=1e-12)
    now = made.during(0.5, 0.51)  # after the last file
    np.testing.assert_array_equal(obstacle_velocity(now, 0, 0.15, 0.02, 0.01), (0, 0, 0))


def test_a_mesh_that_stretches_has_the_velocity_of_its_faces(tmp_path: Path) -> None:
    """x ↦ (1 + a t) x: the face at +x moves at a SIZE / 2, the middle of the other faces along their normals not."""
    a = 0.6
    maps = [np.diag([1.0 + a * k / RATE, 1.0, 1.0]) for k in range(5)]
    made = obstacles(MeshSequence(files=write_sequence(tmp_path, maps, [np.zeros(3)] * 5), frame_rate=RATE))
    time = 0.2
    now = made.during(time - 0.01, time)
    half = (1 + a * time) * SIZE / 2
    for sign in (1, -1):
        np.testing.assert_allclose(
            obstacle_velocity(now, 0, sign * half, 0.01, 0.0), (sign * a * SIZE / 2, 0, 0), atol=1e-9
        )
    # on another face, x / half of that speed, to the width of a cell of the lattice
    vx, vy, vz = obstacle_velocity(now, 0, 0.5 * half, SIZE / 2, 0.0)
    assert vx == pytest.approx(0.5 * a * SIZE / 2, rel=0.05)
    np.testing.assert_allclose((vy, vz), 0, atol=1e-12)


def test_a_point_that_sticks_travels_with_a_surface_that_slides(tmp_path: Path) -> None:
    made = obstacles(sliding(tmp_path, 0.5))
    x, dt = np.array([SIZE / 2 - 1e-4, 0.01, 0.02]), 0.007
    start = x.copy()
    for step in range(30):
        now = made.during(step * dt, (step + 1) * dt)
        np.testing.assert_allclose(carry(now, 0, *x), x + np.array([0.5 * dt, 0, 0]), atol=1e-12)
        *x, vx, vy, vz, clearance = collide_and_move(now, dt, *x, 0.0, -1.0, 0.0)
        assert clearance == 0.0
        np.testing.assert_allclose((vx, vy, vz), (0.5, 0, 0), atol=1e-12)
    np.testing.assert_allclose(x, start + np.array([0.5 * 30 * dt, 0, 0]), atol=1e-12)


def test_an_obstacle_that_deforms_may_also_be_placed_and_turn(tmp_path: Path) -> None:
    """Scaled by 2, turned by 90° about z, put at (1, 0, 0), and spinning: velocities add up in the turned frame."""
    inner = sliding(tmp_path, 0.5)
    turned = Rotate(shape=Scale(shape=inner, factor=2.0), axis=(0, 0, 1), angle=90.0)
    shape = Translate(shape=turned, by=(1.0, 0.0, 0.0))
    rate = 2.0
    made = obstacles(shape, motion=Turn(axis=(0, 1, 0), rate=rate))
    time, dt = 0.12, 1e-3
    now = made.during(time, time + dt)
    angle = rate * (time + dt)
    R = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    own = np.array([1.0, 2 * (0.5 * (time + dt)), 0.0])  # where the middle of the crate is in the obstacle's own frame
    x = R @ own
    d, *_ = obstacle_distance_and_normal(now, 0, *(R @ (own + np.array([0, SIZE, 0]))))
    assert d == pytest.approx(0.0, abs=1e-9)
    expected = R @ [0, 1.0, 0] + np.cross([0, rate, 0], x)
    np.testing.assert_allclose(obstacle_velocity(now, 0, *x), expected, atol=1e-9)
    # carried: the material point at the start of the step
    angle0 = rate * time
    R0 = np.array([[np.cos(angle0), 0, np.sin(angle0)], [0, 1, 0], [-np.sin(angle0), 0, np.cos(angle0)]])
    np.testing.assert_allclose(carry(now, 0, *(R0 @ (own - np.array([0, dt, 0])))), x, atol=1e-12)


def test_no_distance_changes_by_more_than_the_path_says(tmp_path: Path) -> None:
    """Nodes outside are looked at again only when the obstacles have travelled by their distance."""
    rng = np.random.default_rng(5)
    maps = [np.eye(3) + 0.15 * rng.normal(size=(3, 3)) for _ in range(4)]
    shifts = [0.05 * rng.normal(size=3) for _ in range(4)]
    made = obstacles(MeshSequence(files=write_sequence(tmp_path, maps, shifts), frame_rate=RATE, resolution=0.02))
    places = rng.uniform(-0.4, 0.4, (200, 3))
    before = None
    for step in range(30):
        now = made.during(0.01 * step, 0.01 * (step + 1))
        d = np.array([obstacle_distance_and_normal(now, 0, *x)[0] for x in places])
        if before is not None:
            assert np.abs(d - before[0]).max() <= made.travelled - before[1] + 1e-12
        before = d, made.travelled


def test_a_sequence_at_rest_is_the_mesh(tmp_path: Path) -> None:
    """Files that do not differ give the distances of one of them."""
    files = write_sequence(tmp_path, [np.eye(3)] * 2, [np.zeros(3)] * 2)
    still = obstacles(MeshSequence(files=files, resolution=0.02))
    mesh = obstacles(TriangleMesh(file=str(tmp_path / "crate_8.obj"), resolution=0.02))
    for x in np.random.default_rng(1).uniform(-0.2, 0.2, (50, 3)):
        one, other = (obstacle_distance_and_normal(each.at(0.01), 0, *x) for each in (still, mesh))
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_a_repeated_step_gives_the_same_arrays(tmp_path: Path) -> None:
    """Whatever was asked for before."""
    one, other = obstacles(sliding(tmp_path, 0.5)), obstacles(sliding(tmp_path, 0.5))
    one.during(0.0, 0.05)
    one.during(0.2, 0.25)
    a, b = one.during(0.1, 0.13), other.during(0.1, 0.13)
    np.testing.assert_array_equal(a.voxels, b.voxels)
    np.testing.assert_array_equal(a.currents, b.currents)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"union": {"of": [None, {"sphere": {"center": [0, 0, 0], "radius": 0.1}}]}}, "part of a combination"),
        ({"mesh_sequence": {"files": "none_*.obj"}}, "no files are called"),
        ({"mesh_sequence": {"files": "one.obj"}}, "should be a pattern"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(tmp_path: Path, tables: dict, message: str) -> None:
    files = write_sequence(tmp_path, [np.eye(3)] * 2, [np.zeros(3)] * 2)
    if "union" in tables:
        tables["union"]["of"][0] = {"mesh_sequence": {"files": files}}
    with pytest.raises(SceneError, match=message):
        load_scene({**scene(), "obstacle": [{"shape": tables}]})


def test_a_body_cannot_be_a_sequence(tmp_path: Path) -> None:
    files = write_sequence(tmp_path, [np.eye(3)] * 2, [np.zeros(3)] * 2)
    with pytest.raises(SceneError, match="only obstacles deform"):
        load_scene({**scene(), "body": [{"material": "gelatin", "shape": {"mesh_sequence": {"files": files}}}]})


def test_files_with_other_triangles_are_refused(tmp_path: Path) -> None:
    files = write_sequence(tmp_path, [np.eye(3)] * 2, [np.zeros(3)] * 2)
    text = (tmp_path / "crate_9.obj").read_text().splitlines()
    (tmp_path / "crate_9.obj").write_text("\n".join(text[:-1]) + "\n")
    with pytest.raises(SceneError, match="have the same triangles"):
        load_scene({**scene(), "obstacle": [{"shape": {"mesh_sequence": {"files": files}}}]})


def scene() -> dict:
    ball = {"sphere": {"center": [0.0, 0.5, 0.0], "radius": 0.1}}
    return {
        "title": "A ball", "method": "mpm", "duration": 0.1, "frame_rate": 10.0, "grid": {"cell": 0.05},
        "body": [{"material": "gelatin", "shape": ball}],
    }  # fmt: skip
