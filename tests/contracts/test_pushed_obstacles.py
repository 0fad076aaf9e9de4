"""Obstacles that stages move, as material pushes them: one pose for all species, in frames, checkpoints and loads."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lockstep import on_ranks
from pushed import BODY, CLASSES, MASS, VELOCITY
from rank_states import assert_same_states, state

from spume.frames.poses import obstacle_poses
from spume.frames.reader import open_run
from spume.methods import METHODS, method_class
from spume.runs.loop import resume_run, start_run
from spume.runs.stopping import StopRequest
from spume.scene.common import Scene

BLOCK = {"material": "gelatin", "shape": {"rectangle": {"center": [0.05, 0.0], "size": [0.04, 0.06]}}}
DROP = {"material": "water", "shape": {"rectangle": {"center": [0.07, 0.03], "size": [0.04, 0.03]}}}
BAR = {
    "name": BODY,
    "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.03, 0.08]}},
    "contact": "separate",
    "friction": 0.2,
}
GRID: dict[str, Any] = {"grid": {"cell": 0.01}}
TABLES: dict[str, dict[str, Any]] = {
    "mpm": {**GRID, "body": [{**BLOCK, "velocity": [-1.5, 0.5]}]},
    "sand-water": {
        **GRID,
        "body": [
            {**BLOCK, "material": "wet sand", "velocity": [-1.5, 0.5]},
            {**DROP, "velocity": [-1.5, 0.5]},
        ],
        "mixture": {"hydraulic_conductivity": 1e-3},
    },
    "point-based": {
        "points": {"spacing": 0.005},
        "body": [{**BLOCK, "material": "modelling clay", "velocity": [-1.5, 0.5]}],
    },
}
every_method = pytest.mark.parametrize("name", TABLES)


@pytest.fixture(autouse=True)
def pushed_methods(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in CLASSES.items():
        monkeypatch.setitem(METHODS, name, replace(METHODS[name], method=place))


def scene_of(name: str, **changes: Any) -> Any:
    common = {
        "title": "a body that is pushed", "method": name, "dimension": 2, "duration": 0.03, "frame_rate": 100.0,
        "gravity": [0.0, 0.0], "obstacle": [BAR],
        "measure": [{"name": "push", "what": {"force": {"obstacle": BODY}}}],
    }  # fmt: skip
    return Scene(**{**common, **TABLES[name], **changes})


def advanced(method: Any, until: float) -> Any:
    assert method.advance(until, lambda: False, lambda progress: None)
    return method


def momentum(method: Any) -> Any:
    parts = (s.particles.mass @ s.particles.v for s in method.world.species)
    return sum(parts, start=np.zeros(2))


@every_method
def test_a_body_takes_the_momentum_that_all_species_lose_and_moves_by_it(name: str) -> None:
    """M V + Σ m v is constant, with V that the next step moves the body with; without gravity nothing else acts."""
    method = method_class(name)(scene_of(name))
    total = momentum(method) + MASS * VELOCITY[:2]
    frames = [method.frame()["obstacles"]]
    for time in (0.01, 0.02, 0.03):
        frames.append(advanced(method, time).frame()["obstacles"])
    loads = method.diagnostics()["obstacles"][BODY]
    V = VELOCITY[:2] + np.array(loads["impulse"]) / MASS
    scale = np.abs(momentum(method)).sum() + MASS * np.abs(VELOCITY).sum()
    np.testing.assert_allclose(momentum(method) + MASS * V, total, rtol=0, atol=1e-11 * scale)
    assert V[0] < 0.0 < VELOCITY[0], "the material throws the body back"
    x = np.array([frame["position"][0, 0] for frame in frames])
    assert x[1] > x[0] == 0.0, "it goes on until it is hit"
    assert x[3] < x[2], "and then returns"
    assert frames[-1]["angular_velocity"][0, 2] != 0.0
    np.testing.assert_array_equal(frames[-1]["position"][0], method.world.obstacles.poses[0, 9:12])
    assert method.checkpoint()[1]["poses"][0][9:12] == frames[-1]["position"][0].tolist()


def test_both_species_push_the_same_body() -> None:
    """What the body gets from sand and water is more than from each of them alone."""
    scene = scene_of("sand-water")
    pushes = []
    for bodies in (scene.body, scene.body[:1], scene.body[1:]):
        method = advanced(method_class("sand-water")(scene.model_copy(update={"body": bodies})), 0.03)
        assert {id(method.world.obstacles_for(each, 0.0).poses) for each in method.world.species} == {
            id(method.world.obstacles.poses)
        }
        pushes.append(method.diagnostics()["obstacles"][BODY]["impulse"][0])
    assert pushes[0] < min(pushes[1:]) < max(pushes[1:]) < 0.0


@every_method
def test_material_is_outside_of_the_body_where_it_is_now(name: str) -> None:
    method = advanced(method_class(name)(scene_of(name)), 0.03)
    pose = method.world.obstacles.poses[0]
    for species in method.world.species:
        local = (species.particles.x - pose[9:11]) @ pose[:9].reshape(3, 3)[:2, :2]
        depth = np.minimum(0.015 - np.abs(local[:, 0]), 0.04 - np.abs(local[:, 1]))
        assert depth.max() < 0.0025, "a quarter of a cell, for contacts without penetration to first order in a step"


@every_method
def test_a_restored_method_continues_bit_for_bit(name: str) -> None:
    scene = scene_of(name)
    straight = advanced(method_class(name)(scene), 0.012)
    arrays, values = straight.checkpoint()
    saved, written = {key: np.array(array) for key, array in arrays.items()}, json.loads(json.dumps(values))
    resumed = method_class(name)(scene)
    resumed.restore(saved, written)
    one, other = (advanced(method, 0.03).frame() for method in (straight, resumed))
    for population in one:
        for field in one[population]:
            np.testing.assert_array_equal(one[population][field], other[population][field], f"{population}/{field}")


def test_a_resumed_run_has_the_frames_of_an_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scene_of("mpm")
    start_run(scene, tmp_path / "straight")
    calls = iter(range(1000))
    with monkeypatch.context() as patch:
        patch.setattr(StopRequest, "__call__", lambda self: next(calls) > 20)
        assert start_run(scene, tmp_path / "stopped").status == "interrupted"
    assert resume_run(tmp_path / "stopped").status == "complete"
    straight, resumed = open_run(tmp_path / "straight"), open_run(tmp_path / "stopped")
    for one, other in zip(straight, resumed, strict=True):
        assert one.path.read_bytes() == other.path.read_bytes()
    assert obstacle_poses(straight, straight[3]).position[0, 0] != 0.0


def test_a_step_that_is_repeated_moves_the_body_once() -> None:
    """From its pose before the step, and as far as the shorter step lasts."""
    world = method_class("mpm")(scene_of("mpm")).world
    start, full = world.obstacles.begin(0.0)[0].copy(), 1e-3
    for dt in (full, 0.5 * full):
        moved = world.obstacles.begin(0.0)[0].copy()
        np.testing.assert_array_equal(moved, start)
        moved[9] += dt
        world.obstacles.place(0, moved, 0.0, dt)
    obstacles = world.obstacles.during(0.0, 0.5 * full)
    assert obstacles.poses[0, 9] == 0.5 * full == obstacles.moves[0, 9]
    assert obstacles.moved[0] == 1
    assert world.obstacles.at(0.5 * full).moved[0] == 0
    assert world.obstacles.poses[0, 9] == 0.5 * full


def test_ranks_push_the_body_as_one_process_does() -> None:
    scene = scene_of("sand-water")
    whole = state(scene, 40)
    ranks = on_ranks(2, lambda messages: state(scene, 40, messages))
    assert_same_states(whole, ranks)
