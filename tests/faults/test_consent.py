"""Python files that only a run or a sweep on disk names are executed after consent, which holds for their contents."""

import importlib.util
import os
import py_compile
import shutil
from pathlib import Path

import pytest
from ballistic import SCENE, SCENE_TEXT

import spume
from spume import consent
from spume.cli import main
from spume.materials import registry
from spume.runs.loop import replay_run, resume_run
from spume.runs.storage import read_checked, read_json, write_arrays, write_json
from spume.sweeps.jobs import Job, work

LAW = Path(__file__).parents[1] / "materials" / "my_law.py"


def forget() -> None:
    """What a new process of another user knows: nothing."""
    consent._accepted.clear()
    registry._loaded_files.clear()
    registry.LAWS.pop("ciarlet", None)
    shutil.rmtree(consent.config_directory(), ignore_errors=True)


@pytest.fixture(autouse=True)
def _nothing_known(tmp_path, monkeypatch):
    monkeypatch.setenv("SPUME_CONFIG_DIR", str(tmp_path / "settings"))
    forget()
    yield
    forget()


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "executed"


@pytest.fixture
def law(tmp_path, mark):
    """A file of laws that leaves a mark when it is executed."""
    file = tmp_path / "law.py"
    file.write_text(f"{LAW.read_text()}\nopen({str(mark)!r}, 'a').write('x')\n")
    return file


@pytest.fixture
def run(tmp_path, law, mark):
    """A run that was stopped at its start, by somebody else."""
    spume.run({**SCENE, "laws": str(law)}, tmp_path / "run", progress="none")
    manifest = read_json(tmp_path / "run" / "manifest.json")
    write_json(tmp_path / "run" / "manifest.json", manifest | {"complete": False, "frames": 0})
    forget()
    mark.unlink()
    return tmp_path / "run"


@pytest.mark.parametrize("command", [["resume", "RUN"], ["replay", "RUN", "--out", "OUT"]])
def test_laws_of_a_run_are_executed_after_consent_only(run, law, mark, tmp_path, capsys, command):
    given = [{"RUN": str(run), "OUT": str(tmp_path / "out")}.get(word, word) for word in command]
    assert main(given) == 2
    assert f"'{law}' would be executed" in capsys.readouterr().err
    assert not mark.exists()
    assert main([*given, "--trust"]) == 0
    assert mark.read_text() == "x"


def test_consent_is_kept_for_the_contents_of_a_file(run, law, mark, tmp_path):
    resume_run(run, trust=True)
    registry._loaded_files.clear()
    consent._accepted.clear()
    replay_run(run, tmp_path / "again")  # another process of the same user
    assert mark.read_text() == "xx"
    registry._loaded_files.clear()
    law.write_text(law.read_text() + "# changed\n")
    with pytest.raises(consent.NotTrusted):
        replay_run(run, tmp_path / "third")
    assert mark.read_text() == "xx"


def test_your_own_run_resumes_without_a_question(tmp_path, law, mark):
    spume.run({**SCENE, "laws": str(law)}, tmp_path / "run", progress="none")
    registry._loaded_files.clear()
    consent._accepted.clear()
    replay_run(tmp_path / "run", tmp_path / "again")
    assert mark.read_text() == "xx"


def test_a_law_that_was_loaded_needs_no_consent(run, law, mark):
    spume.load_laws(law)
    assert spume.resume(run, progress="none").complete
    assert mark.read_text() == "x"


def test_what_is_executed_is_what_was_agreed_to(run, law, mark, tmp_path):
    """A compiled file beside it, with the right time and size, is not."""
    bad = tmp_path / "bad.py"
    bad.write_text(f"open({str(mark)!r}, 'a').write('bad')\n".ljust(law.stat().st_size))
    os.utime(bad, ns=(law.stat().st_atime_ns, law.stat().st_mtime_ns))
    cached = importlib.util.cache_from_source(str(law))
    py_compile.compile(str(bad), cached, dfile=str(law))
    resume_run(run, trust=True)
    assert mark.read_text() == "x"


def test_only_the_checkpoint_names_the_law(run, law, mark):
    """A manifest that is rebuilt from the checkpoint is a stranger's, too."""
    (run / "manifest.json").write_text("{")
    with pytest.raises(consent.NotTrusted):
        resume_run(run)
    assert not mark.exists()


def test_functions_of_a_sweep_are_executed_after_consent_only(tmp_path, mark, capsys):
    (tmp_path / "points.toml").write_text(SCENE_TEXT)
    (tmp_path / "mine.py").write_text(
        f"open({str(mark)!r}, 'a').write('x')\ndef count(run):\n    return len(run[-1].x)\n"
    )
    command = ["sweep", str(tmp_path / "points.toml"), "--vary", "points=5", "--out", str(tmp_path / "sweep")]
    options = ["--pictures", "none", "--processes", "1"]
    assert main([*command, *options, "--function", f"{tmp_path / 'mine.py'}:count"]) == 0
    assert mark.read_text() == "x"
    forget()
    assert main(["resume", str(tmp_path / "sweep")]) == 2
    assert f"'{tmp_path / 'mine.py'}' would be executed" in capsys.readouterr().err
    assert mark.read_text() == "x"
    assert main(["resume", str(tmp_path / "sweep"), "--trust"]) == 0
    assert mark.read_text() == "xx"


def test_laws_of_a_sweep_are_executed_after_consent_only(tmp_path, law, mark):
    spume.sweep({**SCENE, "laws": str(law)}, {"seed": [1]}, tmp_path / "sweep", processes=1, progress="none")
    shutil.rmtree(tmp_path / "sweep" / "runs")
    forget()
    with pytest.raises(consent.NotTrusted):
        spume.resume_sweep(tmp_path / "sweep", progress="none")
    assert mark.read_text() == "x"
    assert spume.resume_sweep(tmp_path / "sweep", processes=1, progress="none", trust=True).complete


def test_a_process_of_a_sweep_executes_what_it_was_told_to(run, law, mark, tmp_path):
    scene = read_json(run / "manifest.json")["scene"]
    job = Job(str(run), "run", scene, str(tmp_path / "stop"))
    assert "would be executed" in work(job).sentence
    assert not mark.exists()
    consent.agree(law, law.read_bytes(), trust=True)
    trusted = consent.accepted()
    forget()
    assert work(Job(str(run), "run", scene, str(tmp_path / "stop"), trusted=trusted)).status == "complete"


def test_a_sweep_that_goes_on_does_not_execute_the_laws_of_runs_that_lie_there(run, law, mark, tmp_path):
    """Its own scene has none."""
    made = spume.sweep(SCENE, {"points": [5]}, tmp_path / "sweep", processes=1, progress="none")
    shutil.rmtree(made[0].path)
    shutil.copytree(run, tmp_path / "sweep" / "runs" / "0000")
    again = spume.resume_sweep(tmp_path / "sweep", processes=1, progress="none")
    assert "would be executed" in again.table["status"][0]
    assert not mark.exists()


def test_checkpoints_hold_no_code(run):
    """They are read as numbers and JSON."""
    about, arrays = read_checked(run / "checkpoint.safetensors")
    write_arrays(run / "checkpoint.safetensors", arrays, about)
    assert all(array.dtype.kind in "fiub" for array in arrays.values())


def test_names_of_files_cannot_pass_for_consent(tmp_path):
    file = tmp_path / f"a\n{'0' * 64} b.py"
    file.write_text("x = 1")
    consent.agree(file, file.read_bytes(), trust=True)
    assert "0" * 64 not in consent._remembered()
    assert len(consent._remembered()) == 1
