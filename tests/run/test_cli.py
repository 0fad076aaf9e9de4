"""The command line from end to end, in this process."""

import json
import subprocess
import sys

import numpy as np
import pytest
from ballistic import SCENE_TEXT

import spume
from spume.cli import main

DISCS = ["colliding-discs", "--set", "grid.cell=0.02", "--set", "duration=0.03"]


@pytest.fixture
def scene_file(tmp_path):
    """A ballistic scene file."""
    (tmp_path / "points.toml").write_text(SCENE_TEXT)
    return tmp_path / "points.toml"


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == spume.__version__


def test_a_run_goes_to_a_folder_named_after_the_scene(scene_file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", str(scene_file)]) == 0
    assert "11 frames, 0.05 s, in out/points" in capsys.readouterr().out
    assert spume.open_run("out/points").name == "points"


def test_progress_goes_to_the_error_stream_as_plain_lines_when_it_is_no_terminal(scene_file, tmp_path, capsys):
    main(["run", str(scene_file), "--out", str(tmp_path / "run")])
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 1
    last = printed.err.splitlines()[-1]
    assert "frame 10/10" in last
    assert "t = 0.05 s" in last
    assert "50 points" in last
    assert "steps/s" in last
    assert "left" in last


def test_info_of_a_material_point_run_has_what_is_promised(tmp_path, capsys):
    assert main(["run", *DISCS, "--out", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    assert main(["info", str(tmp_path / "run"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["scene"], told["method"], told["complete"]) == ("colliding-discs", "mpm", True)
    promised = {
        "frame",
        "time",
        "points",
        "mass",
        "momentum",
        "kinetic_energy",
        "elastic_energy",
        "volume",
        "dt",
        "steps",
    }
    assert [frame["frame"] for frame in told["frames"]] == [0, 1, 2, 3]
    assert all(promised <= frame.keys() for frame in told["frames"])
    assert main(["info", str(tmp_path / "run")]) == 0
    text = capsys.readouterr().out
    assert "colliding-discs" in text
    assert "time per stage" in text


def test_info_of_one_frame_gives_the_range_of_each_field(scene_file, tmp_path, capsys):
    main(["run", str(scene_file), "--out", str(tmp_path / "run")])
    capsys.readouterr()
    assert main(["info", str(tmp_path / "run"), "--frame", "3", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    x = spume.open_run(tmp_path / "run")[3].x
    assert told["fields"]["x"]["max"] == x.max()
    assert told["fields"]["x"]["unit"] == "m"
    assert main(["info", str(tmp_path / "run"), "--frame", "3"]) == 0
    assert "position" in capsys.readouterr().out
    assert main(["info", str(tmp_path / "run"), "--frame", "30"]) == 2
    assert "frames 0 to 10" in capsys.readouterr().err


def test_an_estimate_tells_points_memory_steps_and_time(capsys):
    assert main(["estimate", *DISCS, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["points"] == len(spume.Simulation(spume.load_scene("colliding-discs", ["grid.cell=0.02"])).particles)
    assert main(["estimate", *DISCS]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[:5]] == ["points", "memory", "disk", "steps", "time"]
    assert any("left disc" in line and "kg" in line for line in lines)


def test_a_preview_says_what_it_does_and_keeps_to_its_own_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "colliding-discs", "--set", "grid.cell=0.01", "--set", "duration=0.01", "--preview"]) == 0
    assert "cells of 0.02 m instead of 0.01 m" in capsys.readouterr().err
    assert spume.open_run("out/colliding-discs-preview").scene.grid.cell == 0.02


def test_damage_and_occupied_folders_have_exit_code_4(scene_file, tmp_path, capsys):
    assert main(["info", str(tmp_path / "nothing")]) == 4
    assert main(["resume", str(tmp_path / "nothing")]) == 4
    assert main(["run", str(scene_file), "--out", str(tmp_path / "run")]) == 0
    assert main(["run", str(scene_file), "--out", str(tmp_path / "run")]) == 4
    assert main(["run", str(scene_file), "--out", str(tmp_path / "run"), "--overwrite"]) == 0
    assert all(line.startswith(("error: ", "frame ")) for line in capsys.readouterr().err.splitlines())


def test_a_run_that_goes_wrong_has_exit_code_3(scene_file, tmp_path, capsys):
    assert main(["run", str(scene_file), "--set", "fails_at=0.02", "--out", str(tmp_path / "run")]) == 3
    assert "frames 0 to 4 are good" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m spume.cli schema mpm | head -1; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.returncode == 0
    assert result.stderr == ""


def test_a_simulation_in_memory_shows_its_particles():
    simulation = spume.Simulation("colliding-discs")
    left = simulation.particles.body == 0
    before = simulation.particles.x[left].mean(axis=0)
    simulation.advance(0.005)
    left = simulation.particles.body == 0
    # Until the discs share cells the left one flies freely at 1 m/s; sums over 1,804 points round at 1e-13.
    moved = simulation.particles.x[left].mean(axis=0) - before
    np.testing.assert_allclose(moved, [0.005, 0.0], rtol=0, atol=1e-13)
    assert simulation.time == 0.005


def test_one_material_is_shown_with_its_derived_quantities(capsys):
    """c0 = 2 μ/(√3 c_F (2 μ + 3 λ)), for ν = 0.3: 2 μ + 3 λ = E/(1 − 2 ν), 2 μ = E/(1 + ν)."""
    assert main(["materials", "dry sand", "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert entry["name"] == "dry sand"
    sine = np.sin(np.radians(entry["friction_angle"]))
    expected = 0.4 / 1.3 / (np.sqrt(3.0) * np.sqrt(2.0) / 3.0 * sine)
    assert entry["derived"]["c0 of the cone (plane strain)"]["value"] == pytest.approx(expected, rel=1e-12)


def test_a_material_that_is_none_is_one_sentence(capsys):
    assert main(["materials", "dri sand"]) != 0
    assert "there is no material 'dri sand': did you mean 'dry sand'" in capsys.readouterr().err


def test_an_argument_too_many_is_named(capsys):
    assert main(["scenes", "foams"]) != 0
    assert (
        capsys.readouterr().err
        == "error: 'spume scenes' takes no further argument 'foams'; see 'spume scenes --help'\n"
    )
