"""What every method promises: it is built, advanced, written, saved, restored and estimated alike.

Nothing here knows of points, grids or materials, so a method without them passes through too. A new method needs a
small scene in `SCENES` and nothing else.
"""

import json
from typing import Any

import numpy as np
import pytest
from ballistic import SCENE as BALLISTIC

from spume.errors import SceneError
from spume.fields import Population
from spume.frames.reader import open_run
from spume.methods import METHODS, load, method_class, method_entry
from spume.runs.loop import start_run
from spume.runs.storage import TYPES, plain
from spume.scene.common import Scene

DISC = {"material": "gelatin", "shape": {"circle": {"center": [0.0, 0.03], "radius": 0.02}}, "velocity": [0.0, -1.0]}
FLOOR = {"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "separate"}
POINTS: dict[str, Any] = {"dimension": 2, "grid": {"cell": 0.01}, "obstacle": [FLOOR]}

SCENES: dict[str, dict[str, Any]] = {
    "mpm": {**POINTS, "duration": 0.02, "body": [DISC]},
    "continuum-foam": {**POINTS, "duration": 0.004, "body": [{**DISC, "material": "shaving cream"}]},
    "sand-water": {
        **POINTS,
        "duration": 0.02,
        "body": [
            {**DISC, "material": "wet sand"},
            {"material": "water", "shape": {"rectangle": {"center": [0.01, 0.04], "size": [0.04, 0.03]}}},
        ],
        "mixture": {"hydraulic_conductivity": 1e-3},
    },
    "point-based": {
        "dimension": 2,
        "points": {"spacing": 0.005},
        "obstacle": [FLOOR],
        "duration": 0.02,
        "body": [{**DISC, "material": "modelling clay"}],
    },
    "dry-foam": {"duration": 0.02, "foam": {"cells": 16}, "coarsening": {"diffusion": 1.0}},
    "ballistic": {key: value for key, value in BALLISTIC.items() if key not in ("title", "method")},
}
every_method = pytest.mark.parametrize("name", SCENES)


def scene_of(name: str) -> Scene:
    """The small scene of a method, two frames long."""
    tables = SCENES[name]
    return Scene(**{**tables, "title": "contract", "method": name, "frame_rate": 2.0 / tables["duration"]})


def advance(method: Any, until: float) -> None:
    assert method.advance(until, lambda: False, lambda progress: None)


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two frames are the same bits."""
    return one.keys() == other.keys() and all(
        one[population].keys() == other[population].keys()
        and all(np.array_equal(array, other[population][field]) for field, array in one[population].items())
        for population in one
    )


def copied(frame: dict[str, Any]) -> dict[str, Any]:
    return {name: {field: np.array(array) for field, array in arrays.items()} for name, arrays in frame.items()}


def test_every_registered_method_is_under_test() -> None:
    assert SCENES.keys() == METHODS.keys()


@every_method
def test_a_registration_names_things_that_exist(name: str) -> None:
    entry = method_entry(name)
    assert entry.name == name == method_class(name).name
    assert isinstance(scene_of(name), load(entry.scene_model))
    assert callable(load(entry.drawer))


def test_an_unknown_method_is_one_sentence() -> None:
    with pytest.raises(SceneError, match=r"no method 'sponge': it has .*mpm"):
        method_class("sponge")


@every_method
def test_a_frame_holds_what_is_declared(name: str) -> None:
    method = method_class(name)(scene_of(name))
    assert method.time == 0.0
    frame = method.frame()
    assert list(frame) == [population.name for population in method.declarations()]
    for population in method.declarations():
        check_population(population, frame[population.name])


def check_population(population: Population, arrays: dict[str, Any]) -> None:
    """Every field has its declared type and shape, and an entry for every member."""
    assert set(arrays) == {field.name for field in population.fields}
    for field in population.fields:
        assert arrays[field.name].dtype.name == field.dtype, field.name
        assert arrays[field.name].shape[1:] == field.shape, field.name
    assert len({len(array) for field, array in arrays.items() if field != "triangles"}) == 1, population.name
    assert population.spacing is None or population.spacing > 0


@every_method
def test_a_method_advances_to_exactly_the_time_it_is_told(name: str) -> None:
    scene = scene_of(name)
    method = method_class(name)(scene)
    before = copied(method.frame())
    reports: list[Any] = []
    until = scene.duration / 3
    assert method.advance(until, lambda: False, reports.append)
    assert method.time == until
    assert not same(method.frame(), before), "nothing happened"
    times = [report.time for report in reports]
    assert times == sorted(times)
    assert times[-1] == until
    assert reports[-1].steps >= 1
    assert reports[-1].dt > 0


@every_method
def test_an_interrupted_method_stops_after_a_step_and_says_so(name: str) -> None:
    method = method_class(name)(scene_of(name))
    asked = iter([False, True])
    assert not method.advance(1e9, lambda: next(asked), lambda progress: None)
    assert 0 < method.time < 1e9


@every_method
def test_a_restored_method_continues_bit_for_bit(name: str) -> None:
    scene = scene_of(name)
    straight = method_class(name)(scene)
    advance(straight, scene.duration / 3)
    arrays, values = straight.checkpoint()
    assert all(array.dtype.name in TYPES for array in arrays.values())
    saved = {key: np.array(array) for key, array in arrays.items()}
    written = json.dumps(values, allow_nan=True)
    advance(straight, scene.duration)

    resumed = method_class(name)(scene)
    resumed.restore(saved, json.loads(written))
    assert resumed.time == scene.duration / 3
    advance(resumed, scene.duration)
    assert same(resumed.frame(), straight.frame())
    one, other = ({k: v for k, v in each.diagnostics().items() if k != "seconds"} for each in (resumed, straight))
    assert plain(one) == plain(other)


@every_method
def test_an_estimate_foresees_the_start(name: str) -> None:
    scene = scene_of(name)
    cost = method_class(name).estimate(scene)
    assert cost.points == method_class(name)(scene).diagnostics()["points"]
    assert cost.memory > 0
    assert cost.steps >= 1
    assert cost.seconds > 0


@every_method
def test_a_run_on_disk_is_what_the_method_gave(name: str, tmp_path: Any) -> None:
    scene = scene_of(name)
    start_run(scene, tmp_path / "run")
    run = open_run(tmp_path / "run")
    method = method_class(name)(scene)
    assert run.stored_populations == method.declarations()
    assert json.dumps(run.diagnostics, allow_nan=False)
    advance(method, scene.frame_time(1))
    frame = run[1]
    stored = {each.name for each in run.stored_populations}
    read = {key: {field: each[field] for field in each} for key, each in frame.populations.items() if key in stored}
    assert same(read, {key: dict(each) for key, each in copied(method.frame()).items()})


@pytest.mark.parametrize("name", ["mpm", "continuum-foam"])
def test_bodies_are_filled_once_for_estimate_and_state(name: str, monkeypatch) -> None:
    from spume.matter import sources

    filled = []
    fill = sources.fill
    monkeypatch.setattr(sources, "fill", lambda *arguments: (filled.append(arguments), fill(*arguments))[1])
    scene = scene_of(name)
    method_class(name).estimate(scene)
    method_class(name)(scene)
    assert len(filled) == 1
    method_class(name).estimate(scene_of(name))
    assert len(filled) == 2, "another scene is filled anew"
