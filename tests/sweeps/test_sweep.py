"""Sweeps on this machine: folders, table, failures, lost processes, stopping and going on."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from ballistic import SCENE, SCENE_TEXT, frame_bytes
from waiting import PATIENCE, wait_until

import spume
from spume.cli import main
from spume.sweeps import execution
from spume.sweeps.jobs import state_of

VARY = {"points": [5, 8], "seed": [1, 2]}


def farthest(run: spume.Run) -> dict[str, float]:
    """A user's function."""
    return {"farthest": float(abs(run[-1].x).max())}


def test_a_sweep_is_the_single_runs_and_one_table(tmp_path):
    made = spume.sweep(
        SCENE, VARY, tmp_path / "sweep", measure=["kinetic_energy", "kinetic_energy:max", farthest], processes=1,
        progress="none",
    )  # fmt: skip
    assert made.complete
    assert made.table["points"] == [5, 5, 8, 8]
    assert made.table["seed"] == [1, 2, 1, 2]
    single = spume.run(SCENE, tmp_path / "single", changes={"points": 8, "seed": 1}, progress="none")
    assert frame_bytes(made[2].path) == frame_bytes(single.path)
    assert made.table["kinetic_energy"][2] == single.diagnostics[-1]["kinetic_energy"]
    assert made.table["kinetic_energy:max"][2] == max(entry["kinetic_energy"] for entry in single.diagnostics)
    assert made.table["farthest"][2] == abs(single[-1].x).max()
    with open(tmp_path / "sweep" / "table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["farthest"]) for row in rows] == made.table["farthest"]
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(tmp_path / "sweep" / "table.parquet").to_pydict()
    assert table["farthest"] == made.table["farthest"]
    assert table["points"] == made.table["points"]
    pytest.importorskip("pandas")
    assert list(made.to_pandas()["seed"]) == made.table["seed"]


def test_a_sweep_goes_on_with_what_is_missing_and_refuses_other_runs(tmp_path):
    made = spume.sweep(SCENE, VARY, tmp_path / "sweep", processes=1, progress="none")
    before = {
        planned.number: (made[planned.number].path / "manifest.json").stat().st_mtime_ns for planned in made.plan.runs
    }
    for file in (tmp_path / "sweep" / "runs" / "0003").rglob("*.*"):
        file.unlink()
    again = spume.resume_sweep(tmp_path / "sweep", measure=["volume"], processes=1, progress="none")
    assert again.complete
    assert again.table["volume"] == [1.0] * 4
    after = {number: (again[number].path / "manifest.json").stat().st_mtime_ns for number in before}
    assert [number for number in before if before[number] != after[number]] == [3]
    with pytest.raises(spume.CacheError, match="other runs"):
        spume.sweep(SCENE, {"points": [5]}, tmp_path / "sweep", progress="none")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("years")
    with pytest.raises(spume.CacheError, match="other files"):
        spume.sweep(SCENE, VARY, tmp_path / "other", progress="none")
    assert (
        len(spume.sweep(SCENE, {"points": [5]}, tmp_path / "sweep", overwrite=True, processes=1, progress="none")) == 1
    )


def test_a_run_that_goes_wrong_is_in_the_table_and_the_others_go_on(tmp_path, capsys):
    (tmp_path / "points.toml").write_text(SCENE_TEXT)
    arguments = [
        "sweep",
        str(tmp_path / "points.toml"),
        "--vary",
        "fails_at=0.02,1.0",
        "--out",
        str(tmp_path / "sweep"),
    ]
    assert main([*arguments, "--measure", "steps", "--pictures", "none", "--processes", "1"]) == 3
    printed = capsys.readouterr()
    assert "1 of 2 runs complete" in printed.out
    assert "point 3 left the world" in printed.err
    with open(tmp_path / "sweep" / "table.csv", newline="") as file:
        first, second = csv.DictReader(file)
    assert first["status"].startswith("failed: at 0.02")
    assert first["steps"] == ""
    assert second["status"] == "complete"
    assert int(second["steps"]) > 10


def test_wrong_values_are_found_before_anything_runs(tmp_path, capsys):
    (tmp_path / "points.toml").write_text(SCENE_TEXT)
    common = ["sweep", str(tmp_path / "points.toml"), "--out", str(tmp_path / "sweep"), "--vary"]
    assert main([*common, "points=5,-1"]) == 2
    assert "points=-1: points is -1" in capsys.readouterr().err
    assert main([*common, "pionts=5"]) == 2
    assert "did you mean 'points'" in capsys.readouterr().err
    assert not (tmp_path / "sweep").exists()
    assert main([*common, "points=5", "--measure", "kinetic_enrgy", "--pictures", "none", "--processes", "1"]) == 2
    assert "did you mean 'kinetic_energy'" in capsys.readouterr().err


def test_a_function_of_a_file_is_measured(tmp_path, capsys):
    (tmp_path / "points.toml").write_text(SCENE_TEXT)
    (tmp_path / "mine.py").write_text("def count(run):\n    return len(run[-1].x)\n")
    common = ["sweep", str(tmp_path / "points.toml"), "--vary", "points=5,6", "--out", str(tmp_path / "sweep")]
    options = ["--pictures", "none", "--processes", "1", "--function"]
    assert main([*common, *options, f"{tmp_path / 'mine.py'}:count"]) == 0
    assert (tmp_path / "sweep" / "table.csv").read_text().splitlines()[1].split(",")[-2] == "5"
    assert main([*common, *options, f"{tmp_path / 'mine.py'}:cuont"]) == 2
    assert main([*common, *options, "nothing.py:count"]) == 2
    errors = capsys.readouterr().err
    assert "has no function 'cuont'" in errors
    assert "there is no file 'nothing.py'" in errors


def running(folder: Path) -> int | None:
    """Number of the process that writes a run, when it has frames and is not complete."""
    lock = folder / "run.lock"
    if state_of(folder)[0] == "interrupted" and state_of(folder)[1] > 2 and lock.exists():
        return int(lock.read_text() or 0) or None
    return None


@pytest.mark.slow_suite
def test_a_process_that_is_killed_is_survived_from_the_checkpoint(tmp_path):
    """One of two processes is killed in the middle of its run; before that, neither gets to its end."""
    folder, killed = tmp_path / "sweep", []

    def kill() -> None:
        wait_until(lambda: running(folder / "runs" / "0000") not in (None, os.getpid()), "the first run has frames")
        os.kill(running(folder / "runs" / "0000"), signal.SIGKILL)
        killed.append(state_of(folder / "runs" / "0000")[1])
        (tmp_path / "go on").touch()

    thread = threading.Thread(target=kill)
    thread.start()
    waiting = SCENE | {"waits_for": str(tmp_path / "go on")}
    made = spume.sweep(waiting, {"pause": [0.0, 1e-6]}, folder, processes=2, progress="none")
    thread.join()
    assert killed
    assert made.complete
    whole = spume.run(SCENE, tmp_path / "whole", progress="none")
    assert frame_bytes(made[0].path) == frame_bytes(whole.path)
    assert frame_bytes(made[1].path) == frame_bytes(whole.path)


@pytest.mark.slow_suite
def test_ctrl_c_stops_all_runs_and_resume_completes_the_sweep(tmp_path):
    (tmp_path / "points.toml").write_text(f"{SCENE_TEXT}waits_for = '{tmp_path / 'go on'}'\n")
    command = [sys.executable, "-m", "spume.cli", "sweep", str(tmp_path / "points.toml"), "--vary", "pause=0.0,1e-6"]
    command += ["--out", str(tmp_path / "sweep"), "--pictures", "none", "--processes", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_until(lambda: running(tmp_path / "sweep" / "runs" / "0001"), "the second run has frames", pause=0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert f"spume resume {tmp_path / 'sweep'}" in errors
    assert "Traceback" not in errors
    states = [state_of(tmp_path / "sweep" / "runs" / name)[0] for name in ("0000", "0001")]
    assert "interrupted" in states
    (tmp_path / "go on").touch()
    assert main(["resume", str(tmp_path / "sweep")]) == 0
    made = spume.resume_sweep(tmp_path / "sweep", progress="none")
    assert made.complete
    whole = spume.run(SCENE, tmp_path / "whole", progress="none")
    assert frame_bytes(made[1].path) == frame_bytes(whole.path)


def test_resume_completes_a_sweep_as_it_was_begun(tmp_path, capsys):
    """Measurements, functions of files and pictures are those of the command that was interrupted."""
    (tmp_path / "points.toml").write_text(SCENE_TEXT)
    (tmp_path / "mine.py").write_text("def count(run):\n    return len(run[-1].x)\n")
    folder = tmp_path / "sweep"
    command = ["sweep", str(tmp_path / "points.toml"), "--vary", "points=5,6", "--out", str(folder), "--processes", "1"]
    command += ["--measure", "kinetic_energy:max", "--function", f"{tmp_path / 'mine.py'}:count", "--pictures", "none"]
    assert main(command) == 0
    whole = (folder / "table.csv").read_text().splitlines()
    (folder / "table.csv").unlink()
    for file in (folder / "runs" / "0001").rglob("*.*"):
        file.unlink()
    assert main(["resume", str(folder), "--processes", "1"]) == 0
    resumed = (folder / "table.csv").read_text().splitlines()
    # the last column is the time the runs took
    assert [line.rpartition(",")[0] for line in resumed] == [line.rpartition(",")[0] for line in whole]
    assert resumed[0].split(",")[-3:] == ["kinetic_energy:max", "count", "seconds"]
    assert spume.resume_sweep(folder, progress="none").plan.pictures == "none"
    capsys.readouterr()
    assert main(["resume", str(folder), "--threads", "2"]) == 2
    assert "is a sweep, whose runs share the cores; use --processes" in capsys.readouterr().err
    assert main(["resume", str(folder / "runs" / "0000"), "--processes", "2"]) == 2
    assert "is not a sweep, which has a file sweep.json" in capsys.readouterr().err


def test_plots_sheet_and_film_of_a_sweep(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    tables = {
        "title": "a disc", "method": "mpm", "dimension": 2, "duration": 0.02, "frame_rate": 100.0,
        "grid": {"cell": 0.01}, "gravity": [0.0, 0.0],
        "body": [{"material": "gelatin", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.03}}}],
        "measure": [{"name": "top", "what": {"height": {}}}],
    }  # fmt: skip
    vary = {"body.0.shape.circle.radius": [0.03, 0.04]}
    made = spume.sweep(tables, vary, tmp_path / "sweep", pictures="film", processes=1, progress="none")
    assert made.table["top"] == pytest.approx([0.03, 0.04], abs=0.005)  # to a point spacing
    names = [file.name for file in made.files]
    assert names == ["table.csv", "table.parquet", "plot.png", "sheet.png", "compare.mp4"]
    assert all(file.stat().st_size > 1000 for file in made.files if file.suffix in (".png", ".mp4"))
    assert json.loads((tmp_path / "sweep" / "sweep.json").read_text())["measures"] == ["top"]


FAILING = """
def ratio(run):
    return 1 / (len(run[-1].x) - 6)

def leave(run):
    if len(run[-1].x) == 7:
        raise SystemExit("bye")
    return {"left": 1.0}

def odd(run):
    return [1, 2] if len(run[-1].x) == 8 else {"status": 1} if len(run[-1].x) == 9 else 2
"""


def test_a_function_that_fails_keeps_the_rest_of_the_table(tmp_path, capsys):
    (tmp_path / "points.toml").write_text(SCENE_TEXT)
    (tmp_path / "mine.py").write_text(FAILING)
    command = ["sweep", str(tmp_path / "points.toml"), "--vary", "points=5,6,7,8,9", "--out", str(tmp_path / "sweep")]
    command += ["--measure", "steps", "--pictures", "none", "--processes", "1"]
    for name in ("ratio", "leave", "odd"):
        command += ["--function", f"{tmp_path / 'mine.py'}:{name}"]
    assert main(command) == 3
    printed = capsys.readouterr()
    assert "1 of 5 runs complete" in printed.out
    assert "runs/0001 not measured: ratio failed at line 3: ZeroDivisionError: division by zero" in printed.err
    with open(tmp_path / "sweep" / "table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["ratio"] for row in rows] == ["-1", "", "1", "0.5", "0.3333333333333333"]
    assert [row["left"] for row in rows] == ["1", "1", "", "1", "1"]
    assert [row["odd"] for row in rows] == ["2", "2", "2", "", ""]
    assert all(row["steps"] for row in rows)
    reasons = [
        "complete",
        "ratio failed",
        "SystemExit: bye",
        "odd returned [1, 2]",
        "odd returned a value named 'status'",
    ]
    assert all(reason in row["status"] for row, reason in zip(rows, reasons, strict=True))
    assert main(["resume", str(tmp_path / "sweep"), "--processes", "1"]) == 3


def test_runs_use_no_more_threads_than_allowed(monkeypatch):
    """NUMBA_NUM_THREADS limits them below the number of cores."""
    monkeypatch.setattr(execution, "cores", lambda: 8)
    monkeypatch.setattr(execution, "most_threads", lambda: 3)
    assert [execution.suitable_processes([], n) for n in (1, 2, 4, 16)] == [(1, 3), (2, 3), (4, 2), (16, 1)]
