"""Five thousand damaged files and command lines, from fixed seeds: each is accepted or refused in a clear sentence.

Manifests, frames, checkpoints and plans are signed again after the damage, as a stranger could.
"""

import contextlib
import copy
import io
import json
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import synthetic_run
from ballistic import SCENE, Ballistic, make_scene
from damaging import damage_arrays, damage_bytes, damage_tables, limited, try_all, try_command

import spume
from spume.runs import storage
from spume.runs.folder import RunFolder
from spume.runs.loop import start_run
from spume.scene.common import Scene
from spume.sweeps.sweep import sweep

pytestmark = pytest.mark.slow_suite
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


@pytest.fixture(scope="module")
def place():
    """A folder in memory where the system has that: thousands of files are synced there quickly."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture(autouse=True)
def _quiet(monkeypatch):
    """No warning of numpy about numbers of a stranger."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture(scope="module")
def bases(place):
    """Runs to damage: complete and stopped ones, with one population and with several, with measurements."""
    with pytest.raises(spume.RunFailed):
        start_run(make_scene(fails_at=0.02, points=5, warns_at=0.01), place / "stopped")
    obstacle = {"force": {"obstacle": "ground"}}
    measures = [{"name": "top", "what": {"height": {}}}, {"name": "push", "what": obstacle}]
    for name in ("one", "several"):
        folder = synthetic_run.write_run(place / name, 3, cell=0.06, populations=name, measure=measures)
        lines = storage.read_records(folder / "frames.jsonl")
        loads = {"ground": {"impulse": [0.0, 1.0, 0.0], "angular_impulse": [0.0, 0.0, 1.0]}}
        storage.write_records(
            folder / "frames.jsonl", [line | {"measured": {"top": 1.0}, "obstacles": loads} for line in lines]
        )
    tables = {"method": "dry-foam", "duration": 0.02, "foam": {"cells": 16}, "coarsening": {"diffusion": 1.0}}
    start_run(Scene(**tables, title="dry", frame_rate=100.0), place / "dry")
    shutil.copytree(place / "dry", place / "dry stopped")
    manifest = storage.read_json(place / "dry" / "manifest.json")
    storage.write_json(place / "dry stopped" / "manifest.json", manifest | {"complete": False, "frames": 0})
    return {name: place / name for name in ("stopped", "one", "several", "dry", "dry stopped")}


def copied(folder: Path) -> Path:
    """A copy to damage."""
    target = folder.parent / "case"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    return target


def damaged_signed(values, rng):
    """`values` damaged until they can be written as JSON."""
    while True:
        tables = copy.deepcopy(values)
        for _ in range(rng.choice((1, 1, 1, 3))):
            if tables:
                damage_tables(tables, rng)
        with contextlib.suppress(ValueError, UnicodeEncodeError):
            json.dumps(tables, allow_nan=False).encode()
            return tables


READERS = (
    ["info", "RUN"], ["info", "RUN", "--json"], ["info", "RUN", "--frame", "1"], ["info", "RUN", "--csv", "OUT"],
    ["export", "RUN", "--to", "csv"], ["export", "RUN", "--to", "ply", "--what", "points", "--frames", "1"],
    ["export", "RUN", "--to", "vtkhdf", "--what", "points", "--frames", "1"],
)  # fmt: skip


def read_it(folder: Path, rng: random.Random) -> None:
    """One of the commands that read runs."""
    words = {"RUN": str(folder), "OUT": str(folder / "table.csv")}
    try_command(*(words.get(word, word) for word in rng.choice(READERS)))


def continue_it(folder: Path, rng: random.Random) -> None:
    command = ["resume", str(folder)] if rng.random() < 0.7 else ["replay", str(folder), "--out", str(folder / "again")]
    with short_runs():
        try_command(*command)


@contextlib.contextmanager
def short_runs():
    """Runs of damaged scenes end after a few steps."""
    original = Ballistic.advance

    def advance(self, until, interrupted, report):
        if self.steps > 200 or until > 1e3 or len(self.x) > 1e4:
            raise spume.RunFailed("long enough")
        return original(self, until, interrupted, report)

    Ballistic.advance = advance
    try:
        yield
    finally:
        Ballistic.advance = original


def damage_manifest(folder: Path, rng: random.Random) -> None:
    file = folder / "manifest.json"
    storage.write_json(file, damaged_signed(storage.read_json(file), rng))


def damage_records(folder: Path, rng: random.Random) -> None:
    file = folder / "frames.jsonl"
    lines = storage.read_records(file)
    damaged = damaged_signed(lines, rng)
    storage.write_records(file, [line for line in damaged if isinstance(line, dict)])


def damage_frame(folder: Path, rng: random.Random) -> None:
    file = RunFolder(folder).frame(1)
    about, arrays = storage.read_checked(file)
    if rng.random() < 0.3:
        about = damaged_signed(about, rng)
    else:
        for _ in range(rng.choice((1, 1, 2))):
            damage_arrays(arrays, rng)
    storage.write_arrays(file, arrays, about)


def damage_checkpoint(folder: Path, rng: random.Random) -> None:
    file = folder / "checkpoint.safetensors"
    about, arrays = storage.read_checked(file)
    if rng.random() < 0.6:
        about = damaged_signed(about, rng)
    else:
        damage_arrays(arrays, rng)
    storage.write_arrays(file, arrays, about)


def damage_raw(folder: Path, rng: random.Random) -> None:
    """Bytes of any file, which are not signed again."""
    file = rng.choice([each for each in sorted(folder.rglob("*")) if each.is_file()])
    file.write_bytes(damage_bytes(file.read_bytes(), rng, b'0123456789.-e{}[]",:\\\n\0\xff'))


def try_cases(count: int, seed: int, base: Callable[[random.Random], Path], damage, work) -> None:
    """Damage copies and work on them."""

    def case(rng: random.Random) -> str:
        folder = copied(base(rng))
        damage(folder, rng)
        work(folder, rng)
        return damage.__name__

    try_all(count, seed, case)


def a_run(bases, *names):
    return lambda rng: bases[rng.choice(names)]


@pytest.mark.parametrize("seed", range(4))
def test_manifests_that_are_read(bases, seed):
    base = a_run(bases, "stopped", "one", "several", "dry")
    try_cases(150, seed, base, damage_manifest, read_it)
    try_cases(100, seed, base, damage_records, read_it)


@pytest.mark.parametrize("seed", range(2))
def test_runs_that_are_continued(bases, seed):
    for damage in (damage_manifest, damage_records, damage_checkpoint, damage_raw):
        try_cases(150, seed, a_run(bases, "stopped"), damage, continue_it)


def test_dry_foams_that_are_continued(bases):
    try_cases(200, 0, a_run(bases, "dry stopped"), damage_checkpoint, continue_it)


@pytest.mark.parametrize("seed", range(2))
def test_frames(bases, seed):
    try_cases(250, seed, a_run(bases, "one", "several", "dry"), damage_frame, read_it)
    try_cases(100, seed, a_run(bases, "stopped", "several"), damage_raw, read_it)


def test_sweeps(place):
    made = sweep(SCENE | {"points": 3}, {"seed": [1, 2]}, place / "sweep", processes=1, progress="none")

    def damage_plan(folder, rng):
        file = folder / "sweep.json"
        storage.write_json(file, damaged_signed(storage.read_json(file), rng))

    def resume(folder, rng):
        with short_runs():
            try_command("resume", str(folder), "--processes", "1", "--pictures", "none")

    import spume.sweeps.pictures as pictures

    original, pictures.plot_table = pictures.plot_table, lambda *given: []
    try:
        try_cases(300, 0, lambda rng: made.folder, damage_plan, resume)
    finally:
        pictures.plot_table = original


OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
PLY = (
    b"ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\n"
    b"property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n"
    b"3 0 3 2\n3 1 2 3\n"
)
STL = b"solid a\n" + b"".join(
    b"facet normal 0 0 0\nouter loop\nvertex %s\nvertex %s\nvertex %s\nendloop\nendfacet\n" % corners
    for corners in ((b"0 0 0", b"0 1 0", b"1 0 0"), (b"0 0 0", b"1 0 0", b"0 0 1"), (b"0 0 0", b"0 0 1", b"0 1 0"),
                    (b"1 0 0", b"0 1 0", b"0 0 1"))
) + b"endsolid a\n"  # fmt: skip


@pytest.mark.parametrize(("suffix", "contents"), [("obj", OBJ), ("ply", PLY), ("stl", STL)])
def test_meshes(place, suffix, contents):
    pytest.importorskip("trimesh")

    def case(rng: random.Random) -> None:
        file = place / f"case.{suffix}"
        file.write_bytes(damage_bytes(contents, rng, b"0123456789.-e/ \n\0\xffvfn"))
        scene = {
            "title": "a mesh", "method": "mpm", "duration": 0.1, "grid": {"cell": 0.3},
            "body": [{"material": "gelatin", "shape": {"mesh": {"file": str(file), "resolution": 0.3}}}],
        }  # fmt: skip
        with contextlib.redirect_stderr(io.StringIO()), limited(), contextlib.suppress(spume.SpumeError):
            spume.load_scene(scene)

    try_all(200, 0, case)


CURVES = [
    b"shear rate,shear stress\n1/s,Pa\n0.1,21\n0.3,22.5\n1,25\n3,29\n10,37\n30,50\n100,80\n",
    "Scherrate;Schubspannung\n[1/s];[Pa]\n0,1;21\n0,3;22,5\n1;25\n3;29\n10;37\n30;50\n".encode("utf-16"),
    b"rate\tstress\n0.1\t21\n1\t25\n10\t37\n100\t80\n",
    b"frequency,storage modulus,loss modulus\n0.1,100,20\n1,120,30\n10,150,50\n100,170,80\n",
]


def test_curves_of_rheometers(place):
    def case(rng: random.Random) -> None:
        file = place / "case.csv"
        file.write_bytes(damage_bytes(rng.choice(CURVES), rng, b"0123456789.,;-e\t\n\0\xff#\"'aP "))
        try_command("fit", str(file), "--json")

    try_all(400, 0, case)


COMMANDS = (
    "run", "resume", "replay", "estimate", "info", "scenes", "materials", "new", "completion", "schema", "render",
    "plot", "surface", "export", "sweep", "calibrate", "fit", "rheometer", "mesh", "nothing",
)  # fmt: skip
TOKENS = (
    "--out", "--set", "--preset", "--frame", "--json", "--csv", "--threads", "--frames", "--to", "--vary", "--fit",
    "--target", "--count", "--sample", "--measure", "--function", "--size", "--color", "--limits", "--trust", "--help",
    "x", "", "-1", "0", "1e400", "nan", "a=b", "=", "duration=", "duration=nan", "points=1:2", "points=1,2", "..", "\0",
    "/dev/null", "/", "~", "🫧",
    "a" * 300, "points=[", "no.toml", "RUN", "SCENE", "\x1b[2J", "--", "-", "0x10", "1:2:3",
)  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_command_lines(bases, place, seed, monkeypatch):
    scene = place / "points.toml"
    scene.write_text('title = "p"\nmethod = "ballistic"\nduration = 0.01\nframe_rate = 200.0\npoints = 3\n')

    def case(rng: random.Random) -> None:
        work = place / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        monkeypatch.chdir(work)
        words = {"RUN": str(bases["one"]), "SCENE": str(scene)}
        chosen = [rng.choice(COMMANDS), *rng.choices(TOKENS, k=rng.randrange(6))]
        with short_runs():
            try_command(*(words.get(word, word) for word in chosen))

    try_all(400, seed, case)
