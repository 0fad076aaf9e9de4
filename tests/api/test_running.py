"""Running, resuming and reading runs from Python."""

import numpy as np
import pytest
from ballistic import SCENE, frame_bytes

import spume

DISC = {
    "title": "a disc",
    "method": "mpm",
    "dimension": 2,
    "duration": 0.02,
    "frame_rate": 100.0,
    "grid": {"cell": 0.01},
    "gravity": [0.0, 0.0],
    "body": [
        {
            "material": "gelatin",
            "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.03}},
            "velocity": [1.0, 0.0],
        }
    ],
}


def test_a_scene_in_a_dict_is_run_and_every_frame_reported(tmp_path):
    frames, steps = [], []
    run = spume.run(
        SCENE,
        tmp_path / "run",
        changes={"points": 7},
        on_frame=lambda frame: frames.append((frame.number, frame.time, frame.x.copy())),
        on_progress=lambda progress: steps.append(progress.time),
        progress="none",
    )
    assert run.complete
    assert [number for number, _, _ in frames] == list(range(len(run))) == list(range(11))
    for number, time, x in frames:
        assert time == run[number].time
        assert np.array_equal(x, run[number].x)
        assert x.shape == (7, 3)
    assert steps == sorted(steps)
    assert steps[-1] == 0.05


def test_a_callback_that_raises_ends_the_run_and_resume_completes_it_bit_for_bit(tmp_path):
    def stop(frame):
        if frame.number == 4:
            raise RuntimeError("seen enough")

    with pytest.raises(RuntimeError, match="seen enough"):
        spume.run(SCENE, tmp_path / "stopped", on_frame=stop, progress="none")
    assert not spume.open_run(tmp_path / "stopped").complete
    told = []
    run = spume.resume(tmp_path / "stopped", on_frame=lambda frame: told.append(frame.number), progress="none")
    assert run.complete
    assert told == [5, 6, 7, 8, 9, 10]
    spume.run(SCENE, tmp_path / "whole", progress="none")
    assert frame_bytes(tmp_path / "stopped") == frame_bytes(tmp_path / "whole")


def test_progress_is_printed_unless_told_not_to(tmp_path, capsys):
    spume.run(SCENE, tmp_path / "quiet", progress="none")
    assert capsys.readouterr().err == ""
    spume.run(SCENE, tmp_path / "told")
    assert "frame 10/10" in capsys.readouterr().err


def test_a_slice_of_a_run_reads_frames_when_they_are_asked_for(tmp_path):
    run = spume.run(SCENE, tmp_path / "run", progress="none")
    chosen = run[1::4]
    assert isinstance(chosen, spume.Frames)
    assert [frame.number for frame in chosen] == [1, 5, 9]
    assert np.array_equal(chosen.times, [run[k].time for k in (1, 5, 9)])
    assert chosen[-1].number == 9
    assert [frame.number for frame in chosen[::2]] == [1, 9]
    assert [frame.number for frame in run[::-5]] == [10, 5, 0]
    (tmp_path / "run" / "frames" / "frame_00005.safetensors").unlink()
    assert chosen[0].number == 1  # frame 5 was not needed
    with pytest.raises(spume.CacheError):
        chosen[1]


def test_a_dict_is_a_scene_file_with_extends_and_presets():
    scene = spume.load_scene({"extends": "colliding-discs", "grid": {"cell": 0.02}})
    assert scene == spume.load_scene("colliding-discs", ["grid.cell=0.02"])
    tables = {**DISC, "preset": {"coarse": {"grid": {"cell": 0.02}}}}
    assert spume.load_scene(tables, preset="coarse").grid.cell == 0.02
    assert tables["grid"] == {"cell": 0.01}, "the dict stays as it was"
    with pytest.raises(spume.SceneError, match="did you mean 'cell'"):
        spume.load_scene(DISC, {"grid.cel": 0.02})
    with pytest.raises(spume.SceneError, match="put it in a list"):
        spume.load_scene(DISC, "grid.cell=0.02")


def test_a_changed_scene_is_checked_and_the_old_one_stays():
    scene = spume.load_scene(DISC)
    finer = scene.changed({"grid.cell": 0.005, "material.gelatin.density": 900.0})
    assert (finer.grid.cell, scene.grid.cell) == (0.005, 0.01)
    assert finer.materials[0].parameters.density == 900.0
    with pytest.raises(spume.SceneError, match=r"grid\.cell is -1"):
        scene.changed({"grid.cell": -1.0})


def test_a_simulation_goes_on_with_a_scene_that_was_changed():
    """A disc in free flight; then gravity is switched on. Velocity v + g t and way v t + g t²/2 (symplectic Euler adds
    g t Δt/2)."""
    sim = spume.Simulation(DISC)
    sim.advance(0.01)
    place = sim.particles.x.mean(axis=0)
    sim.scene = sim.scene.changed({"gravity": [0.0, -10.0]})
    assert sim.time == 0.01
    np.testing.assert_allclose(sim.particles.x.mean(axis=0), place, rtol=0, atol=0)
    sim.advance(0.01)
    np.testing.assert_allclose(sim.particles.v.mean(axis=0), [1.0, -0.1], atol=1e-12)
    with pytest.raises(spume.SceneError, match="carry other fields"):
        sim.scene = sim.scene.changed({"transfer.scheme": "flip"})
    with pytest.raises(spume.SceneError, match="make a new one"):
        sim.scene = {"title": "foam", "method": "dry-foam", "duration": 1.0, "foam": {"cells": 4}}


def test_fields_complete():
    sim = spume.Simulation(DISC)
    assert {"x", "v", "mass", "F"} <= set(dir(sim.particles))
    frame = sim.frame()
    assert {"points", "x", "J", "of_kind"} <= set(dir(frame))
    assert {"x", "mass", "keys"} <= set(dir(frame["points"]))
    assert "points: x [m], v [m/s]" in repr(sim.particles)
    assert repr(sim) == "Simulation(Scene('a disc', method='mpm', 2D, 0.02 s, 3 frames, 1 × body), time=0 s)"


def test_a_notebook_shows_a_picture_of_the_points(tmp_path):
    """The picture is a PNG that other programs read, with the disc in the middle and nothing in the corners."""
    import base64
    import io
    import re

    image = pytest.importorskip("PIL.Image")
    run = spume.run(DISC, tmp_path / "run", progress="none")
    for shown in (run, run[-1], spume.Simulation(DISC)):
        html = shown._repr_html_()
        found = re.search(r"base64,([^']+)", html)
        picture = np.asarray(image.open(io.BytesIO(base64.b64decode(found[1]))))
        assert picture.shape == (280, 420, 3)
        assert np.abs(picture[140, 210].astype(int) - picture[0, 0]).max() > 20
        assert (picture[:40, :40] == picture[0, 0]).all()
    assert "complete" in run._repr_html_()
    assert "position" in run[-1]._repr_html_()
    assert "<script>" not in spume.Simulation({**DISC, "title": "<script>"})._repr_html_()
    foam = spume.Simulation({"title": "foam", "method": "dry-foam", "duration": 1.0, "foam": {"cells": 4}})
    assert "table" in foam._repr_html_()


def test_diagnostics_as_tables(tmp_path):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    run = spume.run(DISC, tmp_path / "run", progress="none")
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.index.name == "time"
    assert list(frame.index) == [0.0, 0.01, 0.02]
    assert list(frame["momentum.x"]) == [entry["momentum"][0] for entry in run.diagnostics]
    data = run.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert data.momentum.sel(component_2d="x").values.tolist() == list(frame["momentum.x"])
    assert data.angular_momentum.dims == ("time", "component")
    assert data.attrs["method"] == "mpm"


def test_a_run_is_rendered_from_python(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    run = spume.run(DISC, tmp_path / "run", progress="none")
    made = spume.render(run, frames=slice(None, None, 2), width=128, height=96, out=tmp_path / "pictures")
    assert [file.name for file in made.stills] == ["frame_00000.png", "frame_00002.png"]
    assert made.sheet.exists()
    assert made.film.exists()
    assert spume.render(run, frames=1, width=128, height=96, out=tmp_path / "pictures").film is None
