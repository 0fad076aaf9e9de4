"""Poses of obstacles are part of the state: every method writes them into frames and checkpoints."""

import json
from typing import Any

import numpy as np
import pytest

from spume.frames.reader import open_run
from spume.geometry.motion import pose
from spume.methods import method_class
from spume.runs.changes import with_scene
from spume.runs.loop import resume_run, start_run
from spume.runs.stopping import StopRequest
from spume.scene.common import Scene

DISC = {"material": "gelatin", "shape": {"circle": {"center": [0.0, 0.03], "radius": 0.02}}, "velocity": [0.0, -1.0]}
FLOOR = {"shape": {"half_plane": {"point": [0.0, -0.02], "normal": [0.0, 1.0]}}, "contact": "separate"}
PADDLE = {
    "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.1, 0.02]}},
    "contact": "stick",
    "motion": {
        "combine": {
            "of": [
                {"rotate": {"rate": 20.0, "about": [0.01, 0.0]}},
                {"oscillate": {"direction": [0.0, 1.0], "amplitude": 0.01, "frequency": 30.0}},
            ]
        }
    },
}
WALLS = {"lower": [-0.1, -0.1], "upper": [0.1, 0.1]}
GRID: dict[str, Any] = {"grid": {"cell": 0.01, "walls": WALLS}}
TABLES: dict[str, dict[str, Any]] = {
    "mpm": {**GRID, "body": [DISC]},
    "sand-water": {
        **GRID,
        "body": [
            {**DISC, "material": "wet sand"},
            {"material": "water", "shape": {"rectangle": {"center": [0.01, 0.06], "size": [0.04, 0.03]}}},
        ],
        "mixture": {"hydraulic_conductivity": 1e-3},
    },
    "point-based": {"points": {"spacing": 0.005}, "body": [{**DISC, "material": "modelling clay"}]},
}
every_method = pytest.mark.parametrize("name", TABLES)


def scene_of(name: str, **changes: Any) -> Any:
    common = {"title": "paddle", "method": name, "dimension": 2, "duration": 0.02, "frame_rate": 100.0}
    return Scene(**{**common, **TABLES[name], "obstacle": [FLOOR, PADDLE], **changes})


def advanced(method: Any, until: float) -> Any:
    assert method.advance(until, lambda: False, lambda progress: None)
    return method


def check_poses(found: Any, scene: Any, time: float) -> None:
    """The poses of a frame are the bits of the motions at its time."""
    expected = [pose(obstacle.motion, time, 2) for obstacle in scene.obstacle]
    for k, field in enumerate(("rotation", "position", "velocity", "angular_velocity")):
        np.testing.assert_array_equal(found[field], [each[k] for each in expected], field)


def check_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for population in one:
        for field in one[population]:
            np.testing.assert_array_equal(one[population][field], other[population][field], f"{population}/{field}")


@every_method
def test_poses_in_a_frame_are_those_of_the_motions_at_its_time(name: str) -> None:
    scene = scene_of(name)
    method = method_class(name)(scene)
    check_poses(method.frame()["obstacles"], scene, 0.0)
    check_poses(advanced(method, 0.007).frame()["obstacles"], scene, 0.007)


def test_obstacles_move_before_there_is_material() -> None:
    scene = scene_of("mpm", body=[{**DISC, "start": 0.015}])
    method = advanced(method_class("mpm")(scene), 0.01)
    assert len(method.frame()["points"]["x"]) == 0
    check_poses(method.frame()["obstacles"], scene, 0.01)


@every_method
def test_frames_of_a_scene_without_obstacles_have_no_poses(name: str) -> None:
    method = method_class(name)(scene_of(name, obstacle=[]))
    assert "obstacles" not in method.frame()
    assert "obstacles" not in [population.name for population in method.declarations()]


@every_method
@pytest.mark.parametrize("version", ["present", "earlier"])
def test_a_method_restored_beside_a_moving_obstacle_continues_bit_for_bit(name: str, version: str) -> None:
    scene = scene_of(name)
    straight = advanced(method_class(name)(scene), 0.008)
    arrays, values = straight.checkpoint()
    saved, written = {key: np.array(array) for key, array in arrays.items()}, json.loads(json.dumps(values))
    if version == "earlier":
        del written["poses"]
    resumed = method_class(name)(scene)
    resumed.restore(saved, written)
    check_poses(resumed.frame()["obstacles"], scene, 0.008)
    check_same(advanced(resumed, 0.02).frame(), advanced(straight, 0.02).frame())


def test_writing_frames_and_checkpoints_between_steps_changes_no_bit() -> None:
    scene = scene_of("mpm")
    plain, watched = (method_class("mpm")(scene) for _ in range(2))
    advanced(plain, 0.02)

    def look() -> bool:
        watched.frame()
        watched.checkpoint()
        return False

    assert watched.advance(0.02, look, lambda progress: None)
    check_same(watched.frame(), plain.frame())


def test_a_checkpoint_contains_the_poses_at_its_time() -> None:
    method = advanced(method_class("mpm")(scene_of("mpm")), 0.01)
    poses = np.array(method.checkpoint()[1]["poses"])
    assert len(poses) == 2 + 4  # obstacles, then walls
    np.testing.assert_array_equal(poses[:2, 9:12], method.frame()["obstacles"]["position"])


def test_a_simulation_continues_with_other_obstacles() -> None:
    method = advanced(method_class("mpm")(scene_of("mpm")), 0.005)
    fewer = scene_of("mpm", obstacle=[PADDLE])
    check_poses(advanced(with_scene(method, fewer), 0.006).frame()["obstacles"], fewer, 0.006)
    still = scene_of("mpm", obstacle=[FLOOR, {key: value for key, value in PADDLE.items() if key != "motion"}])
    check_poses(advanced(with_scene(method, still), 0.006).frame()["obstacles"], still, 0.006)


def test_a_resumed_run_has_the_bits_and_the_poses_of_an_uninterrupted_one(tmp_path: Any, monkeypatch: Any) -> None:
    scene = scene_of("mpm")
    start_run(scene, tmp_path / "straight")
    calls = iter(range(1000))
    with monkeypatch.context() as patch:
        patch.setattr(StopRequest, "__call__", lambda self: next(calls) > 12)
        assert start_run(scene, tmp_path / "stopped").status == "interrupted"
    assert resume_run(tmp_path / "stopped").status == "complete"
    straight, resumed = open_run(tmp_path / "straight"), open_run(tmp_path / "stopped")
    for one, other in zip(straight, resumed, strict=True):
        assert one.path.read_bytes() == other.path.read_bytes()
        check_poses(other["obstacles"], scene, other.time)
