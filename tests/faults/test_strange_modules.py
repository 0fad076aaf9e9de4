"""Modules in the current folder are not executed, whatever they are called: they may be a stranger's."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ballistic import SCENE_TEXT

import spume
from spume.children import process_pool, python_command
from spume.cli import main
from spume.runs import compile_ahead
from spume.runs.compile_ahead import CompileAhead
from spume.scene.common import Scene
from spume.work import each_frame

NAMES = ("queue", "json", "multiprocessing", "reprlib", "signal", "pickle", "numba", "numpy", "sitecustomize")
"""Modules that Python processes import at their start."""
FOAM = {
    "title": "foam", "method": "continuum-foam", "duration": 0.01, "dimension": 2, "grid": {"cell": 0.01},
    "body": [{"material": "shaving cream", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.06}}}],
}  # fmt: skip


@pytest.fixture
def strange(tmp_path, monkeypatch):
    """The current folder, with modules that leave a mark when they are executed."""
    folder = tmp_path / "strange"
    folder.mkdir()
    for name in NAMES:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write('{name} ')\n")
    monkeypatch.chdir(folder)
    yield folder
    assert not (tmp_path / "executed").exists(), (tmp_path / "executed").read_text()


def test_the_compile_helper(strange, monkeypatch):
    monkeypatch.setattr(compile_ahead, "cores", lambda: 2)
    with CompileAhead(Scene(**FOAM)) as ahead:
        ahead.start()
        with pytest.raises(subprocess.TimeoutExpired):
            ahead._process.wait(timeout=0.7)  # it has begun to import


def test_processes_that_draw(strange):
    assert each_frame(abs, [-1, -2, -3], "numbers", 2) == {-1: 1, -2: 2, -3: 3}


def test_python_as_a_module(strange):
    """Except for the few that Python itself imports before the package can take the folder off its path."""
    (strange / "reprlib.py").unlink()
    ended = subprocess.run([sys.executable, "-m", "spume", "scenes"], capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_pictures_of_a_run(strange, monkeypatch):
    pytest.importorskip("imageio_ffmpeg")
    Path("points.toml").write_text(SCENE_TEXT)
    started = []
    original = subprocess.Popen

    class Recorded(original):
        def __init__(self, command, **options):
            started.append(command)
            super().__init__(command, **options)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    assert main(["run", "points.toml", "--out", "run", "--render"]) == 0
    assert started[0][:2] == [sys.executable, "-P"]


def test_processes_of_a_sweep(strange, monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    with process_pool(1, abs, (1,)) as pool:
        assert pool.submit(os.getenv, "PYTHONSAFEPATH").result() == "1"
        pool.shutdown()
    assert os.environ["PYTHONSAFEPATH"] == ""


def test_all_other_processes_are_started_in_one_way():
    """`python_command` and `process_pool` keep the current folder off the path. Blender's script is run as a file."""
    assert python_command("-m", "x") == [sys.executable, "-P", "-m", "x"]
    package = Path(spume.__file__).parent
    found = {
        f"{file.relative_to(package)}: {ast.unparse(node)}"
        for file in package.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("executable", "get_context", "ProcessPoolExecutor")
    }
    assert found == {
        "children.py: sys.executable", "children.py: multiprocessing.get_context",
        "look/blender/process.py: sys.executable",
    }  # fmt: skip
