"""Steering: a run that is paused, stepped, changed and restarted from outside, and repeated bit for bit without."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ballistic import frame_bytes

from spume.errors import SceneError
from spume.frames.reader import open_run
from spume.geometry.motion import pose
from spume.runs.folder import RunFolder
from spume.runs.loop import replay_run, resume_run, start_run
from spume.runs.manifest import Manifest
from spume.runs.progress import Silent
from spume.runs.steering import Requests
from spume.runs.storage import read_metadata
from spume.scene.common import Scene
from spume.scene.controls import controls

DISC = {"material": "gelatin", "shape": {"circle": {"center": [0.0, 0.03], "radius": 0.02}}, "velocity": [0.0, -1.0]}
FLOOR = {"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "separate"}
PADDLE = {
    "name": "paddle",
    "shape": {"circle": {"center": [-0.05, 0.02], "radius": 0.02}},
    "motion": {"oscillate": {"direction": [1, 0], "amplitude": 0.005, "frequency": 20.0}},
}
POST = {"name": "post", "shape": {"circle": {"center": [0.06, 0.02], "radius": 0.02}}, "contact": "stick"}
POINTS: dict[str, Any] = {"dimension": 2, "grid": {"cell": 0.01}, "obstacle": [FLOOR, PADDLE, POST]}
SCENES: dict[str, dict[str, Any]] = {
    "mpm": {**POINTS, "method": "mpm", "duration": 0.02, "body": [DISC]},
    "implicit": {
        **POINTS,
        "method": "mpm",
        "duration": 0.02,
        "grid": {"cell": 0.01, "spline": "quadratic"},  # as other tests of implicit steps, to compile less
        "body": [DISC],
        "time": {"integrator": "implicit"},
    },
    "continuum-foam": {
        **POINTS, "method": "continuum-foam", "duration": 0.004, "body": [{**DISC, "material": "shaving cream"}]
    },
    "sand-water": {
        **POINTS,
        "method": "sand-water",
        "duration": 0.02,
        "body": [
            {**DISC, "material": "wet sand"},
            {"material": "water", "shape": {"rectangle": {"center": [0.01, 0.04], "size": [0.04, 0.03]}}},
        ],
        "mixture": {"hydraulic_conductivity": 1e-3},
    },
    "point-based": {
        "method": "point-based",
        "dimension": 2,
        "points": {"spacing": 0.005},
        "obstacle": [FLOOR, PADDLE, POST],
        "duration": 0.02,
        "body": [{**DISC, "material": "modelling clay"}],
    },
}  # fmt: skip
FRAMES = 4


def scene_of(name: str) -> Scene:
    return Scene(**SCENES[name], title="steered", frame_rate=FRAMES / SCENES[name]["duration"])


class Scripted(Silent):
    """A display that makes requests when frames are done and steps reported, as a viewer does."""

    def __init__(
        self, at_frame: dict[int, Callable[[], None]], at_step: Callable[[Any], None] = lambda _: None
    ) -> None:
        self.at_frame, self.at_step = at_frame, at_step

    def frame(self, number: int) -> None:
        self.at_frame.get(number, lambda: None)()

    def step(self, progress: Any) -> None:
        self.at_step(progress)


def steered(scene: Scene, folder: Any, script: dict[int, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Run a scene; after some frames make the requests given for them, and stop when the run is over. The reports."""
    reports: list[dict[str, Any]] = []

    def tell(report: dict[str, Any]) -> None:
        reports.append(report)
        if report.get("phase") in ("finished", "failed"):
            requests.queue.put({"do": "stop"})

    requests = Requests(scene, tell)

    def ask(asked: list[dict[str, Any]]) -> Callable[[], None]:
        return lambda: [requests.queue.put(each) for each in asked] and None

    display = Scripted({number: ask(asked) for number, asked in script.items()})
    start_run(scene, folder, display=display, steering=requests)
    return reports


def stiffer(scene: Scene) -> dict[str, float]:
    """Three times the value of every parameter of a material that has a logarithmic slider."""
    return {control.key: 3 * control.value for control in controls(scene) if control.scale == "logarithmic"}


@pytest.mark.parametrize("name", SCENES)
def test_a_steered_run_is_repeated_bit_for_bit(name: str, tmp_path) -> None:
    """Gravity, every material parameter, the speed of one obstacle and the place of another change during the run,
    some of them in the middle of a frame, at a single step."""
    scene = scene_of(name)
    script = {
        1: [
            {"do": "set", "values": {"gravity.0": 12.0, "obstacle.1.speed": 2.0}},
            {"do": "pause"},
            {"do": "step"},
            {"do": "set", "values": stiffer(scene) | {"obstacle.2.shift.0": -0.01}},
            {"do": "resume"},
        ],
        2: [{"do": "set", "values": {"obstacle.1.speed": 0.0, "obstacle.0.friction": 0.7, "gravity.1": 3.0}}],
    }
    reports = steered(scene, tmp_path / "live", script)
    assert [report for report in reports if report["about"] == "trouble"] == []
    changes = Manifest.read(tmp_path / "live" / "manifest.json").changes
    assert len(changes) == 3
    assert scene.frame_time(1) == changes[0]["time"] < changes[1]["time"] < changes[2]["time"] == scene.frame_time(2)
    seen = open_run(tmp_path / "live").scene  # for pictures: as it began, but for the motions
    assert seen.gravity is None
    assert seen.obstacle[1].motion.speeds == (2.0, 0.0)
    replay_run(tmp_path / "live", tmp_path / "again")
    assert frame_bytes(tmp_path / "live") == frame_bytes(tmp_path / "again")
    start_run(scene, tmp_path / "plain")
    plain, live = frame_bytes(tmp_path / "plain"), frame_bytes(tmp_path / "live")
    names = sorted(plain)
    assert [plain[each] == live[each] for each in names] == [True, True, False, False, False]


def test_a_run_killed_after_a_change_makes_it_again(tmp_path) -> None:
    """The manifest has the change at once; the last checkpoint is older."""
    scene = scene_of("mpm")
    steered(scene, tmp_path / "live", {1: [{"do": "set", "values": {"gravity.1": 9.0}}]})
    place = RunFolder(tmp_path / "live")
    expected = frame_bytes(place.path)

    class Killed(BaseException):
        pass

    def kill() -> None:
        raise Killed

    requests = Requests(scene, lambda _: None)
    display = Scripted({1: lambda: requests.queue.put({"do": "set", "values": {"gravity.1": 9.0}})}, lambda p: None)
    display.at_step = lambda progress: kill() if progress.time > scene.frame_time(1) else None
    with pytest.raises(Killed):
        start_run(scene, tmp_path / "killed", display=display, steering=requests)
    manifest = Manifest.read(tmp_path / "killed" / "manifest.json")
    assert (len(manifest.frames), len(manifest.changes)) == (2, 1)
    resume_run(tmp_path / "killed")
    assert frame_bytes(tmp_path / "killed") == expected


def test_single_steps_and_single_frames(tmp_path) -> None:
    """Each request is made when the one before has led to a pause."""
    scene = scene_of("mpm")
    asked = iter(["step", "step", "step", "frame", "step", "stop"])
    requests = Requests(scene, lambda report: follow(report), "paused")
    place = RunFolder(tmp_path / "run")
    seen: list[tuple[int, float]] = []

    def follow(report: dict[str, Any]) -> None:
        if report.get("phase") == "paused":
            frames = Manifest.read(place.manifest).frames
            seen.append((len(frames), report["time"]))
            if len(seen) in (2, 3, 4, 6):  # after a step, which has to be seen
                assert read_metadata(place.snapshot)["time"] == report["time"]
            requests.queue.put({"do": next(asked)})

    outcome = start_run(scene, place.path, steering=requests)
    assert (outcome.status, len(open_run(place.path))) == ("interrupted", 2)
    assert [frames for frames, _ in seen] == [1, 1, 1, 1, 2, 2]
    times = [time for _, time in seen]
    assert 0.0 == times[0] < times[1] < times[2] < times[3]
    assert scene.frame_time(1) == times[4] < times[5] == outcome.time
    resume_run(place.path)
    start_run(scene, tmp_path / "plain")
    assert frame_bytes(place.path) == frame_bytes(tmp_path / "plain")


def test_a_restarted_run_begins_with_the_values_as_they_are(tmp_path) -> None:
    """It is the same run as that of the changed scene, and its manifest has no changes."""
    scene = scene_of("mpm")
    values = {"gravity.1": 5.0, "obstacle.1.speed": 0.5, "obstacle.2.shift.1": 0.005}
    done: list[int] = []

    def again() -> None:
        if not done:
            done.append(1)
            requests.queue.put({"do": "set", "values": values})
            requests.queue.put({"do": "restart"})

    def tell(report: dict[str, Any]) -> None:
        if report.get("phase") == "finished":
            requests.queue.put({"do": "stop"})

    requests = Requests(scene, tell)
    outcome = start_run(scene, tmp_path / "live", display=Scripted({2: again}), steering=requests)
    assert (outcome.status, outcome.frames) == ("complete", FRAMES + 1)
    manifest = Manifest.read(tmp_path / "live" / "manifest.json")
    assert manifest.changes == []
    begun = Scene(**manifest.scene)
    assert begun.gravity == (0.0, 5.0)
    np.testing.assert_allclose(pose(begun.obstacle[2].motion, 0.0, 2).p, [0, 0.005, 0])
    start_run(begun, tmp_path / "plain")
    assert frame_bytes(tmp_path / "live") == frame_bytes(tmp_path / "plain")


@pytest.mark.parametrize(
    ("request_", "sentence"),
    [
        ({"do": "set", "values": {"gravity.1": 1e9}}, "the slider goes from -20 to 20"),
        ({"do": "set", "values": {"gravity.1": float("nan")}}, "gravity.1 is nan"),
        ({"do": "set", "values": {"gravity.1": "strong"}}, "it should be a number"),
        ({"do": "set", "values": {"grid.cell": 1.0}}, "there is no control 'grid.cell'"),
        ({"do": "set"}, "values are a table"),
        ({"do": "dance"}, "there is no request"),
        ([1, 2], "there is no request"),
    ],
)
def test_a_wrong_request_is_one_sentence_and_changes_nothing(request_: Any, sentence: str, tmp_path) -> None:
    scene = scene_of("mpm")
    reports = steered(scene, tmp_path / "live", {1: [request_]})
    (trouble,) = [report["sentence"] for report in reports if report["about"] == "trouble"]
    assert sentence in trouble
    assert Manifest.read(tmp_path / "live" / "manifest.json").changes == []


def test_a_run_is_not_repeated_into_its_own_folder(tmp_path) -> None:
    start_run(scene_of("mpm"), tmp_path / "run")
    with pytest.raises(SceneError, match="give another folder"):
        replay_run(tmp_path / "run", tmp_path / "run")


def test_a_dry_foam_is_paused_and_has_no_controls(tmp_path) -> None:
    tables = {"method": "dry-foam", "duration": 0.02, "foam": {"cells": 16}, "coarsening": {"diffusion": 1.0}}
    scene = Scene(**tables, title="dry", frame_rate=100.0)
    assert controls(scene) == []
    steered(scene, tmp_path / "live", {1: [{"do": "pause"}, {"do": "step"}, {"do": "resume"}]})
    start_run(scene, tmp_path / "plain")
    assert frame_bytes(tmp_path / "live") == frame_bytes(tmp_path / "plain")
