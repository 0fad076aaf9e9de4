"""Runs and sweeps with good checksums and wrong contents, as a stranger could make them: one sentence each."""

from types import SimpleNamespace

import numpy as np
import pytest
import synthetic_run
from ballistic import SCENE, make_scene

import spume
from spume.cli import main
from spume.matter.driver import restore_values
from spume.runs import storage
from spume.runs.loop import resume_run, start_run
from spume.scene.common import Scene

WRONG = {
    "name": 3, "method": ["mpm"], "scene": [], "scene.title": None, "scene.method": "other", "scene.body": [7],
    "scene.measure": [{"name": "top"}], "version": {}, "complete": "yes", "format": True, "populations": {},
    "populations.0": "points", "populations.0.name": "a/b", "populations.0.fields": [], "populations.0.kind": "cloud",
    "populations.0.spacing": "wide", "populations.0.fields.0": 5, "populations.0.fields.0.shape": [],
    "populations.0.fields.0.name": "x/y", "populations.0.fields.0.dtype": "complex", "changes": [{"time": 0.1}],
    "frames": "many", "extra": 1,
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "run", 2, cell=0.06)


def set_value(tables, path, value):
    """Set a value by its path, or delete it."""
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    for part in parents:
        tables = tables[part]
    if isinstance(tables, dict | list) and not (isinstance(tables, list) and isinstance(last, str)):
        tables[last] = value


@pytest.fixture
def changed(run):
    """Write a file of the run with other contents, and put it back after the test."""
    before = {}

    def change(name, write):
        before[run / name] = (run / name).read_bytes()
        write(run / name)
        return run

    yield change
    for file, contents in before.items():
        file.write_bytes(contents)


def one_sentence(capsys, *arguments):
    capsys.readouterr()
    assert main(list(arguments)) in (2, 4)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("error: ")
    return said[0]


@pytest.mark.parametrize("path", WRONG)
def test_a_malformed_manifest_is_one_sentence(changed, capsys, path):
    def write(file):
        tables = storage.read_json(file)
        set_value(tables, path, WRONG[path])
        storage.write_json(file, tables)

    folder = changed("manifest.json", write)
    assert "manifest.json'" in one_sentence(capsys, "info", str(folder))


@pytest.mark.parametrize("key", ["name", "scene", "populations", "complete", "version"])
def test_a_key_that_is_missing_is_named(changed, capsys, key):
    def write(file):
        storage.write_json(file, {name: value for name, value in storage.read_json(file).items() if name != key})

    assert f"{key} is missing" in one_sentence(capsys, "info", str(changed("manifest.json", write)))


RECORDS = {
    "frame": 7, "time": "late", "seconds": {"law": "long"}, "warnings": ["low"], "measured": {"top": [1]},
    "obstacles": {"ground": {"impulse": 3}},
}  # fmt: skip


@pytest.mark.parametrize("key", RECORDS)
def test_a_malformed_record_is_one_sentence(changed, capsys, key):
    def write(file):
        first, last = storage.read_records(file)
        storage.write_records(file, [first, last | {key: RECORDS[key]}])

    assert "is malformed" in one_sentence(capsys, "info", str(changed("frames.jsonl", write)))


FRAMES = {
    "no points": lambda about, arrays: arrays.pop("points/x"),
    "a flat array": lambda about, arrays: arrays.update({"points/x": arrays["points/x"].reshape(-1)}),
    "another length": lambda about, arrays: arrays.update({"points/v": arrays["points/v"][:3]}),
    "a number": lambda about, arrays: arrays.update({"points/mass": np.zeros(())}),
    "no number": lambda about, arrays: about.update(frame="first"),
    "no time": lambda about, arrays: about.pop("time"),
    "no diagnostics": lambda about, arrays: about.update(diagnostics=1),
}


@pytest.mark.parametrize("how", FRAMES)
def test_a_malformed_frame_is_one_sentence(changed, capsys, how):
    def write(file):
        about, arrays = storage.read_checked(file)
        FRAMES[how](about, arrays)
        storage.write_arrays(file, arrays, about)

    folder = changed("frames/frame_00001.safetensors", write)
    assert "frame_00001.safetensors' is malformed" in one_sentence(capsys, "info", str(folder), "--frame", "1")


def test_triangles_without_vertices_are_one_sentence(tmp_path, capsys):
    folder = synthetic_run.write_run(tmp_path / "run", 2, cell=0.06, populations="several")
    file = folder / "frames" / "frame_00001.safetensors"
    about, arrays = storage.read_checked(file)
    arrays["shell/triangles"][0, 0] = 4
    storage.write_arrays(file, arrays, about)
    assert "triangles refer to points that do not exist" in one_sentence(
        capsys, "export", str(folder), "--to", "ply", "--what", "points", "--frames", "1"
    )


CHECKPOINTS = {
    "an array of another shape": lambda about, arrays: arrays.update(x=arrays["x"].reshape(-1)),
    "an array of another type": lambda about, arrays: arrays.update(x=arrays["x"].astype(np.int64)),
    "no velocities": lambda about, arrays: arrays.pop("v"),
    "a word for the time": lambda about, arrays: about["values"].update(time="now"),
    "another time": lambda about, arrays: about["values"].update(time=0.04),
    "no steps": lambda about, arrays: about["values"].pop("steps"),
}


@pytest.mark.parametrize("how", CHECKPOINTS)
def test_a_checkpoint_that_does_not_fit_is_one_sentence(tmp_path, how):
    with pytest.raises(spume.RunFailed):
        start_run(make_scene(fails_at=0.012), tmp_path / "run")
    file = tmp_path / "run" / "checkpoint.safetensors"
    about, arrays = storage.read_checked(file)
    CHECKPOINTS[how](about, arrays)
    storage.write_arrays(file, arrays, about)
    with pytest.raises(spume.CacheError, match=r"checkpoint\.safetensors' does not fit the scene of its run"):
        resume_run(tmp_path / "run")


PLANS = {"runs": [], "runs.0": 3, "runs.0.number": "../../x", "runs.0.number ": 5, "runs.0.parameters": {}, "name": 1,
         "measures": "top", "pictures": "all", "functions": [3], "version": 0}  # fmt: skip


@pytest.mark.parametrize("path", PLANS)
def test_a_malformed_plan_is_one_sentence(tmp_path, capsys, path):
    spume.sweep(SCENE | {"duration": 0.005}, {"points": [3]}, tmp_path / "sweep", processes=1, progress="none")
    tables = storage.read_json(tmp_path / "sweep" / "sweep.json")
    set_value(tables, path.strip(), PLANS[path])
    storage.write_json(tmp_path / "sweep" / "sweep.json", tables)
    assert "sweep.json' is malformed" in one_sentence(capsys, "resume", str(tmp_path / "sweep"))


DRY = {"title": "dry", "method": "dry-foam", "duration": 0.02, "frame_rate": 100.0, "foam": {"cells": 16}}


def damaged_network(folder, file, field, change):
    """Make a dry foam and change an array of its network in a file."""
    start_run(Scene(**DRY, coarsening={"diffusion": 1.0}), folder)
    about, arrays = storage.read_checked(folder / file)
    arrays = dict(arrays)
    name = next(name for name in arrays if name.rpartition("/")[2] == field)
    arrays[name] = change(arrays[name])
    storage.write_arrays(folder / file, arrays, about)


def test_half_edges_that_do_not_return_are_one_sentence(tmp_path, capsys):
    """Each follows itself: a walk around a cell would never end."""
    damaged_network(tmp_path, "frames/frame_00001.safetensors", "next", lambda old: np.arange(len(old)))
    said = one_sentence(capsys, "export", str(tmp_path), "--to", "ply", "--frames", "1")
    assert "its tables do not fit together (the foam network is not valid" in said


@pytest.mark.parametrize(
    ("field", "change"),
    [("next", lambda old: old + 100), ("shift", lambda old: old[:5]), ("pressures", lambda old: old[:3]),
     ("lattice", lambda old: np.full_like(old, np.nan))],
)  # fmt: skip
def test_a_checkpoint_without_a_foam_is_one_sentence(tmp_path, field, change):
    damaged_network(tmp_path, "checkpoint.safetensors", field, change)
    manifest = storage.read_json(tmp_path / "manifest.json")
    storage.write_json(tmp_path / "manifest.json", manifest | {"complete": False, "frames": 0})
    with pytest.raises(spume.CacheError, match="does not fit the scene of its run: the foam network is not valid"):
        resume_run(tmp_path)


def test_values_of_another_kind_are_one_sentence(tmp_path, capsys):
    folder = synthetic_run.write_run(tmp_path / "run", 2, cell=0.06)
    file = folder / "frames" / "frame_00001.safetensors"
    about, arrays = storage.read_checked(file)
    name = next(name for name in arrays if name.endswith("/x"))
    storage.write_arrays(file, arrays | {name: arrays[name].astype(np.int64)}, about)
    said = one_sentence(capsys, "export", str(folder), "--to", "ply", "--what", "points", "--frames", "1")
    assert "x has values of type int64; they should be float64" in said


def test_times_of_stages_are_numbers(tmp_path):
    """A table in the place of a time would be added to one."""
    with pytest.raises(TypeError, match="float"):
        restore_values(
            SimpleNamespace(time_step=SimpleNamespace()),
            {"time": 0.0, "steps": 0, "speed": 0.0, "last_dt": 0.0, "seconds": {"move": {}}},
        )
