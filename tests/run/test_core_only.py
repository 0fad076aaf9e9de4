"""Without any extra, every command works or says in one sentence which extra to install."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from ballistic import SCENE_TEXT

from spume.cli import app
from spume.extras import EXTRAS

pytestmark = pytest.mark.slow_suite

SUPPORT = Path(__file__).parents[1] / "support"
LAW = Path(__file__).parents[1] / "materials" / "my_law.py"
ABSENT = (*EXTRAS, "pyarrow", "dask")
"""Modules of the extras; absent in every process below."""
SITE = f"""
from importlib.machinery import PathFinder
find = PathFinder.find_spec
def find_others(name, path=None, target=None):
    return None if name.partition(".")[0] in {ABSENT!r} else find(name, path, target)
PathFinder.find_spec = find_others
import ballistic
ballistic.register()
"""
SCRIPT = """
import contextlib, io, json, sys, traceback
from spume.cli import main

found = []
for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(words)
        except BaseException:
            code, trace = None, traceback.format_exc()
            err.write(trace)
    found.append([code, out.getvalue(), err.getvalue()])
sys.__stdout__.write("\\n" + json.dumps(found))
"""
WORKS = "works"
COMMANDS = {
    "run points.toml --out made": WORKS,
    "run points.toml --out drawn --render": "look",
    "run mesh.toml --out meshed": "geometry",
    "resume made": WORKS,
    "replay made --out again": WORKS,
    "estimate points.toml": WORKS,
    "info plane": WORKS,
    "info plane --csv table.csv": WORKS,
    "scenes": WORKS,
    "materials": WORKS,
    "new fresh": WORKS,
    "completion bash": WORKS,
    "schema": WORKS,
    "surface space": WORKS,
    "render plane": "look",
    "render space --processes 2": "look",
    "render space --show points --stills-only": "look",
    "render space --color speed --stills-only": "look",
    "render space --beauty": "blender|render",
    "render space --beauty --renderer mitsuba": "render",
    "render space --beauty --renderer cycles": "blender|look",
    "view space": "view",
    "view space --export page.html": "look",
    "live points.toml --out lively": "view",
    "plot plane": "look",
    "export space --to usd": "export",
    "export space --to usd --layout clips --processes 2": "export",
    "export space --to vtkhdf": "export",
    "export space --to ply --processes 2": WORKS,
    "export space --to obj --what surface --processes 1": WORKS,
    "export space --to alembic": "alembic",
    "export space --to gltf": WORKS,
    "export space --to blend": "blender",
    "export space --to csv": WORKS,
    "export space --to ply --cluster tcp://127.0.0.1:1": "cluster",
    "rheometer pie --rates 1": WORKS,
    "rheometer pie --rates 1 --plot curve.png": "look",
    "fit flow.csv": WORKS,
    f"check-law {LAW}": WORKS,
    "fit flow.csv --plot fit.png": "look",
    "whitewater wet": WORKS,
    "sweep points.toml --vary points=5,6 --out swept --processes 1": WORKS,
    "calibrate mpm.toml --target flow.csv --out found --evaluations 2 --fit material.foam.yield_stress=10:200": WORKS,
}
"""Commands, and the extras of which each names one, or that it works without them."""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int | None, str, str]]:
    """Exit code, output and error output of every command, in a process without extras."""
    import synthetic_run

    place = tmp_path_factory.mktemp("core")
    (place / "site").mkdir()
    (place / "site" / "sitecustomize.py").write_text(SITE)
    write_inputs(place)
    for name, dimension in (("space", 3), ("plane", 2)):
        synthetic_run.write_run(place / name, frames=3, dimension=dimension, cell=0.05)
    first, second = synthetic_run.scene_tables()["body"]
    synthetic_run.write_run(place / "wet", frames=2, cell=0.05, body=[first | {"material": "water"}, second])
    paths = (place / "site", SUPPORT, Path(__file__).parents[2] / "src")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps([command.split() for command in COMMANDS]),
        cwd=place, env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return dict(zip(COMMANDS, map(tuple, json.loads(done.stdout.splitlines()[-1]))))


def write_inputs(place: Path) -> None:
    """Scenes and measurements that the commands read."""
    (place / "points.toml").write_text(SCENE_TEXT)
    (place / "flow.csv").write_text("rate [1/s],stress [Pa]\n0.01,20\n0.1,22\n1,27\n10,45\n100,110\n1000,350\n")
    scene = 'title = "a foam"\nmethod = "mpm"\nduration = 0.1\nframe_rate = 10\n[grid]\ncell = 0.05\n'
    body = '[[body]]\nmaterial = "{}"\nshape = {{ {} }}\n'
    foam = '[material.foam]\nbase = "pie"\n'
    (place / "mpm.toml").write_text(scene + foam + body.format("foam", "sphere = { center = [0, 0, 0], radius = 0.1 }"))
    (place / "mesh.toml").write_text(scene + body.format("pie", 'mesh = { file = "cube.stl" }'))
    (place / "cube.stl").write_text("solid cube\nendsolid cube\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_works_or_names_its_extra(command: str, outcomes: dict[str, tuple[int | None, str, str]]):
    code, out, err = outcomes[command]
    wanted = COMMANDS[command]
    if wanted == WORKS:
        assert code in (0, 3), err  # 3: a calibration of two evaluations has not converged
        assert out
        return
    assert code == 5, err
    last = err.splitlines()[-1]
    assert re.fullmatch(
        rf"error: .* needs the package '.*', which is missing: pip install 'spume\[({wanted})\]'.*", last
    )
    assert "Traceback" not in err


def test_every_command_is_tried():
    known = {name for name in app if not name.startswith("-")}
    assert {command.split()[0] for command in COMMANDS} == known
