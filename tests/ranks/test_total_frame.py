"""Grids that deform with a body have the bits of one process on ranks."""

import copy

import numba
import numpy as np
import pytest
from implicit_beams import CELL, RUBBER
from lockstep import on_ranks
from mpi_runs import assert_same
from rank_states import assert_same_frames, assert_same_states, counted, frame_state, on_crew, state

from spume.errors import RunFailed, SceneError
from spume.methods import method_class
from spume.mpm.step import sort_points
from spume.ranks.team import Team
from spume.runs import crew
from spume.runs.loop import resume_run, start_run
from spume.runs.progress import Silent
from spume.runs.shared import shared_arrays
from spume.runs.storage import plain
from spume.scene.loading import load_scene

BLOCK = {
    "title": "a spinning block lands, pulled to one side at its top",
    "method": "mpm",
    "dimension": 2,
    "duration": 1.0,
    "grid": {"cell": 0.5 * CELL, "spline": "quadratic", "frame": "total"},
    "material": {"m": RUBBER},
    "body": [
        {
            "material": "m",
            "shape": {"rectangle": {"center": [0.05, 0.46], "size": [0.9, 0.8]}},
            "velocity": [2.0, -3.0],
            "spin": 5.0,
        }
    ],
    "obstacle": [
        {"name": "floor", "shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "separate"}
    ],
    "force": [
        {
            "shape": {"rectangle": {"center": [0.0, 1.0], "size": [4.0, 0.6]}},
            "traction": [-2e3, 0.0],
            "normal": [0.0, 1.0],
        },
        {"acceleration": [0.0, 1.0], "shape": {"circle": {"center": [0.3, 0.6], "radius": 0.4}}},
    ],
    "measure": [
        {"name": "load", "what": {"force": {"obstacle": "floor"}}},
        {"name": "flow", "what": {"discharge": {"point": [0.1, 0.0], "normal": [1.0, 0.0]}}},
        {"name": "top", "what": {"height": {}}},
    ],
}
NEWTON = {"solver": "newton", "tolerance": 1e-7, "iterations": 40, "linear_iterations": 2000}
SCENES = {
    "explicit": (BLOCK, 40),
    "newton": (BLOCK | {"time": {"integrator": "implicit", "dt": 1e-2}, "implicit": NEWTON}, 3),
    "admm": (BLOCK | {"time": {"integrator": "implicit", "dt": 5e-3}, "implicit": {"solver": "admm"}}, 3),
}


@pytest.mark.parametrize(
    ("name", "size", "threads"),
    [
        ("explicit", 3, 1),
        ("explicit", 8, 2),
        ("newton", 3, 1),
        ("admm", 4, 1),
        *[pytest.param(name, size, 1, marks=pytest.mark.slow_suite) for name in SCENES for size in (1, 2, 5)],
    ],
)
def test_a_grid_that_deforms_on_ranks_has_the_bits_of_one_process(name, size, threads):
    tables, steps = SCENES[name]
    threads = min(threads, numba.config.NUMBA_NUM_THREADS)
    ranks = on_ranks(size, lambda messages: state(load_scene(tables), steps, messages, threads))
    assert_same_states(state(load_scene(tables), steps), ranks)


@pytest.mark.parametrize("name", ["explicit", "admm", pytest.param("newton", marks=pytest.mark.slow_suite)])
def test_frames_diagnostics_and_checkpoints_are_those_of_one_process(name):
    """Also the density of the cloud, which is divided by where the points are, and the motion of the nodes."""
    tables, steps = SCENES[name]
    assert_same_frames(3, tables, steps)


@pytest.mark.parametrize(("first", "second"), [(1, 4), (4, 1), pytest.param(2, 5, marks=pytest.mark.slow_suite)])
def test_a_run_goes_on_with_another_number_of_ranks(first, second):
    tables, steps = SCENES["explicit"]
    scene = load_scene(tables)

    def begin(crew):
        method = crew.build(scene)
        method.advance(scene.duration, counted(steps), lambda progress: None)
        arrays, values = method.checkpoint()
        return {name: array.copy() for name, array in arrays.items()}, copy.deepcopy(plain(values))

    def go_on(crew, arrays, values):
        method = crew.build(scene)
        method.restore(arrays, values)
        again, _ = method.checkpoint()  # before a step: whoever has the nodes
        assert {name: len(array) for name, array in again.items()} == {n: len(array) for n, array in arrays.items()}
        method.advance(scene.duration, counted(steps), lambda progress: None)
        return frame_state(method)

    saved = on_crew(first, begin)
    expected = on_crew(1, lambda crew: go_on(crew, *saved))
    assert on_crew(second, lambda crew: go_on(crew, *saved)) == expected


def test_each_node_is_in_the_checkpoint_of_one_rank():
    tables, _ = SCENES["explicit"]
    scene = load_scene(tables)

    def nodes(*ranks):
        method = method_class("mpm")(scene, *ranks)
        method.advance(1.0, counted(5), lambda progress: None)
        found = shared_arrays(method, "checkpoint")[0]["nodes"]
        return list(zip(found["block"].tolist(), found["local"].tolist()))

    parts = on_ranks(4, lambda messages: nodes(Team(messages, every=2, uneven=0.0)))
    assert sum(len(part) > 0 for part in parts) > 1
    assert sorted(node for part in parts for node in part) == sorted(nodes())


def test_a_grid_turned_inside_out_is_one_sentence_about_the_same_point():
    scene = load_scene(BLOCK)

    def turned(ranks):
        method = method_class("mpm")(scene, *ranks)
        sort_points(method.world)
        method.world.only.displacement[:, 0] = -1.5 * method.world.nodes.positions()[..., 0]
        with pytest.raises(RunFailed, match=r"turned inside out at point \d+") as failed:
            sort_points(method.world)
        return str(failed.value)

    expected = turned(())
    assert on_ranks(3, lambda messages: turned((Team(messages),))) == [expected] * 3


def test_separate_pieces_are_found_whoever_has_them():
    """Two discs whose points two ranks have; a bar whose points two ranks have is one piece."""
    discs = [{"circle": {"center": [x, 0.5], "radius": 0.3}} for x in (-1.0, 1.0)]
    body = {"material": "m", "shape": {"union": {"of": discs}}}
    scene = load_scene(BLOCK | {"body": [body]})

    def build(messages):
        with pytest.raises(SceneError, match="2 separate pieces"):
            method_class("mpm")(scene, Team(messages))

    on_ranks(2, build)
    on_ranks(5, lambda messages: method_class("mpm")(load_scene(BLOCK), Team(messages)) and None)


def test_a_velocity_that_is_not_finite_is_one_sentence_about_the_same_point():
    scene = load_scene(BLOCK)

    def broken(ranks):
        method = method_class("mpm")(scene, *ranks)
        p = method.particles
        p.v[np.isin(p.id, (7, 200))] = np.nan
        with pytest.raises(RunFailed, match="the velocity of point") as failed:
            method.advance(1.0, counted(2), lambda progress: None)
        return str(failed.value)

    expected = broken(())
    assert on_ranks(2, lambda messages: broken((Team(messages),))) == [expected] * 2


def test_checkpoints_in_parts_have_the_nodes(tmp_path, monkeypatch):
    """Two ranks are stopped, three go on."""
    monkeypatch.setattr(crew, "WHOLE_UP_TO", 0)
    scene = load_scene(BLOCK | {"duration": 0.03, "frame_rate": 100})

    class Stop(Silent):
        def frame(self, number):
            if number == 2:
                raise KeyboardInterrupt

    on_crew(1, lambda team: start_run(scene, tmp_path / "one", crew=team, display=Silent()))
    with pytest.raises(KeyboardInterrupt):
        on_crew(2, lambda team: start_run(scene, tmp_path / "two", crew=team, display=Stop()))
    on_crew(3, lambda team: resume_run(tmp_path / "two", crew=team, display=Silent()))
    assert list((tmp_path / "two").rglob("checkpoint*.parts"))
    assert_same(tmp_path / "two", tmp_path / "one")
