"""Runs that were changed on their way are repeated and resumed on ranks, bit for bit."""

import pytest
from clay import CLAY
from mpi_runs import assert_same
from rank_states import on_crew

from spume.errors import SceneError
from spume.frames.info import run_lines
from spume.frames.reader import open_run
from spume.runs.loop import replay_run, resume_run, start_run
from spume.runs.steering import Unsteered
from spume.scene.loading import load_scene

FALL = {
    "title": "two discs fall on a ground",
    "method": "mpm",
    "dimension": 2,
    "duration": 0.02,
    "frame_rate": 200,
    "grid": {"cell": 0.012},
    "transfer": {"scheme": "flip"},
    "body": [
        {"material": "soft rubber", "shape": {"circle": {"center": [-0.08, 0.07], "radius": 0.06}}},
        {"material": "soft rubber", "shape": {"circle": {"center": [0.08, 0.07], "radius": 0.06}}, "start": 0.008},
    ],
    "obstacle": CLAY["obstacle"],
}
SCENES = {"mpm": FALL, "point-based": CLAY | {"duration": 0.02, "frame_rate": 200}}
CHANGES = [
    {"time": 0.0031, "values": {"gravity": [3.0, -40.0]}},
    {"time": 0.0112, "values": {"gravity": [0.0, -9.81], "obstacle.0.friction": 0.1}},
]


class StopAfter(Unsteered):
    """Stops a run after a frame."""

    def __init__(self, frame):
        self.left = frame

    def frame_done(self, run):
        self.left -= 1
        if self.left == 0:
            run.ask_to_stop()


@pytest.mark.parametrize("method", ["mpm", pytest.param("point-based", marks=pytest.mark.slow_suite)])
def test_a_changed_run_is_repeated_and_resumed_on_ranks(method, tmp_path):
    scene = load_scene(SCENES[method])
    start_run(scene, tmp_path / "whole", changes=CHANGES)
    on_crew(3, lambda crew: replay_run(tmp_path / "whole", tmp_path / "again", crew=crew))
    assert_same(tmp_path / "again", tmp_path / "whole")
    stopped = tmp_path / "stopped"
    first = on_crew(2, lambda crew: start_run(scene, stopped, changes=CHANGES, steering=StopAfter(1), crew=crew))
    assert first.status == "interrupted"
    on_crew(3, lambda crew: resume_run(stopped, crew=crew))
    assert_same(stopped, tmp_path / "whole")
    assert any(line.startswith("3 ranks: ") for line in run_lines(open_run(stopped)))
    assert not any("ranks: " in line for line in run_lines(open_run(tmp_path / "whole")))


def test_a_change_that_needs_other_fields_is_refused_on_all_ranks(tmp_path):
    changes = [{"time": 0.0031, "values": {"transfer.scheme": "apic"}}]
    with pytest.raises(SceneError, match="its points carry other fields"):
        on_crew(2, lambda crew: start_run(load_scene(FALL), tmp_path / "run", changes=changes, crew=crew))
