"""Live runs on ranks: paused, stepped, changed and restarted, they have the bits of one process."""

import pytest
from mpi_runs import assert_same
from rank_states import on_crew

from spume.runs.folder import RunFolder
from spume.runs.loop import replay_run, start_run
from spume.runs.manifest import Manifest
from spume.runs.progress import Silent
from spume.runs.steering import Requests
from spume.runs.storage import read_arrays
from spume.scene.loading import load_scene

SCENE = {
    "title": "a disc falls on a floor",
    "method": "mpm",
    "dimension": 2,
    "duration": 0.02,
    "frame_rate": 200,
    "grid": {"cell": 0.005},
    "body": [
        {"material": "gelatin", "shape": {"circle": {"center": [0.0, 0.04], "radius": 0.035}}, "velocity": [0.0, -1.0]}
    ],
    "obstacle": [
        {"name": "floor", "shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "friction": 0.2}
    ],
}
CHANGED = [
    {"do": "set", "values": {"gravity.0": 12.0}},
    {"do": "pause"},
    {"do": "step"},
    {"do": "set", "values": {"gravity.1": 3.0, "obstacle.0.friction": 0.7}},
    {"do": "set", "values": {"gravity.1": 1e9}},  # refused
    {"do": "resume"},
]


class Scripted(Silent):
    """Makes requests when frames are done, as a viewer does."""

    def __init__(self, requests, script):
        self.requests, self.script = requests, dict(script)

    def frame(self, number):
        for each in self.script.pop(number, ()):
            self.requests.queue.put(each)


def live(folder, size, script, phase="running", then=()):
    """A live run that is stopped when it is over; `then`: requests each of which follows a pause. The reports."""
    reports, following = [], iter(then)

    def tell(report):
        reports.append({name: value for name, value in report.items() if name != "time"})
        if report.get("phase") in ("finished", "failed"):
            requests.queue.put({"do": "stop"})
        elif report.get("phase") == "paused" and then:
            requests.queue.put(next(following))

    requests = Requests(load_scene(SCENE), tell, phase)
    display = Scripted(requests, script)
    on_crew(size, lambda crew: start_run(load_scene(SCENE), folder, display=display, steering=requests, crew=crew))
    return reports


@pytest.mark.parametrize("script", [{1: CHANGED}, {2: [CHANGED[0], {"do": "restart"}]}], ids=["changed", "restarted"])
def test_a_live_run_on_ranks_has_the_bits_of_one_process(tmp_path, script):
    reports = live(tmp_path / "ranks", 3, script)
    assert reports == live(tmp_path / "one", 1, script)
    assert_same(tmp_path / "ranks", tmp_path / "one")
    changes = [Manifest.read(tmp_path / name / "manifest.json").changes for name in ("ranks", "one")]
    assert changes[0] == changes[1]
    replay_run(tmp_path / "ranks", tmp_path / "again")
    assert_same(tmp_path / "ranks", tmp_path / "again")


def test_single_steps_on_ranks_show_the_points_of_all(tmp_path):
    def points(name, size):
        asked = [{"do": "step"}, {"do": "step"}, {"do": "frame"}, {"do": "step"}, {"do": "stop"}]
        live(tmp_path / name, size, {}, "paused", asked)
        found = read_arrays(RunFolder(tmp_path / name).snapshot, ["points/id", "points/x"])
        return found["points/x"][found["points/id"].argsort()]

    one = points("one", 1)
    assert points("ranks", 2).tobytes() == one.tobytes()
    assert len(one) > 500
