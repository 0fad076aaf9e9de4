"""Malformed scenes: exit code 2, one sentence naming file, key, what was found, what would be right, no traceback."""

import re

import pytest

from spume.cli import main

GOOD = """\
title = "a ball"
method = "mpm"
duration = 1.0
frame_rate = 30
gravity = [0.0, -9.81, 0.0]

[grid]
cell = 0.02

[time]
dt = "auto"

[transfer]
scheme = "flip"

[material.jelly]
law = "hencky"
density = 1000.0
youngs_modulus = 1.0e4
poisson_ratio = 0.3

[[body]]
name = "ball"
material = "jelly"
shape = { sphere = { center = [0.0, 0.5, 0.0], radius = 0.1 } }
velocity = [1.0, 0.0, 0.0]

[[emitter]]
material = "soft rubber"
shape = { box = { center = [0.0, 1.0, 0.0], size = [0.1, 0.1, 0.1] } }
velocity = [0.0, -1.0, 0.0]
rate = 0.01

[[obstacle]]
name = "ground"
shape = { half_space = { point = [0.0, 0.0, 0.0], normal = [0.0, 1.0, 0.0] } }
contact = "separate"
friction = 0.3
"""

# name of the case: what is replaced, by what, the key the error must name, words it must contain
CASES = {
    "not toml": ('title = "a ball"', 'title = "a ball', "", r"not TOML.*line 1, column \d+"),
    "key twice": ("duration = 1.0", "duration = 1.0\nduration = 2.0", "", r"not TOML.*line 4"),
    "no title": ('title = "a ball"\n', "", "title", "is missing: one line that says what happens"),
    "empty title": ('"a ball"', '""', "title", "at least 1"),
    "no method": ('method = "mpm"\n', "", "method", "is missing: known methods are 'mpm'"),
    "unknown method": ('"mpm"', '"mpn"', "method", "'mpn', which is not a method: did you mean 'mpm'"),
    "method of another type": ('"mpm"', "3", "method", "is 3, which is not a method"),
    "no duration": ("duration = 1.0\n", "", "duration", r"is missing: simulated time \[s\]"),
    "duration as text": ("duration = 1.0", 'duration = "1 s"', "duration", "is '1 s': it should be a number"),
    "duration zero": ("duration = 1.0", "duration = 0", "duration", "is 0: it should be greater than 0"),
    "duration infinite": ("duration = 1.0", "duration = inf", "duration", "is inf: it should be a finite number"),
    "negative frame rate": ("frame_rate = 30", "frame_rate = -30", "frame_rate", "greater than 0"),
    "misspelt key": ("duration = 1.0", "duratoin = 1.0", "duratoin", "is unknown: did you mean 'duration'"),
    "misspelt key in a table": ("cell = 0.02", "cel = 0.02", "grid.cel", "is unknown: did you mean 'cell'"),
    "key nobody knows": (
        "cell = 0.02",
        "cell = 0.02\nxyzzy = 1",
        "grid.xyzzy",
        "keys known here are cell, spline, walls",
    ),
    "unknown table": ("[time]", "[tmie]", "tmie", "did you mean 'time'"),
    "no grid": ("[grid]\ncell = 0.02\n", "", "grid", "is missing"),
    "grid is no table": ("[grid]\ncell = 0.02\n", "grid = 3\n", "grid", "is 3: it should be a table"),
    "cell zero": ("cell = 0.02", "cell = 0.0", "grid.cell", r"is 0.0: it should be greater than 0 \(edge length"),
    "cell negative": ("cell = 0.02", "cell = -0.02", "grid.cell", "greater than 0"),
    "cell nan": ("cell = 0.02", "cell = nan", "grid.cell", "is nan: it should be"),
    "cell true": ("cell = 0.02", "cell = true", "grid.cell", "is true: it should be a number"),
    "unknown spline": ("cell = 0.02", 'cell = 0.02\nspline = "cubik"', "grid.spline", "did you mean 'cubic'"),
    "walls upside down": (
        "cell = 0.02",
        "cell = 0.02\nwalls = { lower = [-1, -1, -1], upper = [1, -2, 1] }",
        "grid.walls.upper",
        "greater than in lower",
    ),
    "body outside the walls": (
        "cell = 0.02",
        "cell = 0.02\nwalls = { lower = [-1, 0.7, -1], upper = [1, 2, 1] }",
        "body.0.shape",
        "outside the walls",
    ),
    "time step as a word": ('dt = "auto"', 'dt = "fast"', "time.dt", "is 'fast': it should be 'auto'"),
    "time step negative": ('dt = "auto"', "dt = -1e-4", "time.dt", "greater than 0"),
    "largest step beside a fixed one": ('dt = "auto"', "dt = 1e-4\nmax_dt = 1e-3", "time.max_dt", "fixed dt"),
    "courant above one": ('dt = "auto"', 'dt = "auto"\ncourant = 1.5', "time.courant", "less than or equal to 1"),
    "flip with apic": ('scheme = "flip"', 'scheme = "apic"\nflip = 0.9', "transfer.flip", "scheme 'apic'"),
    "flip without a scheme": ('scheme = "flip"', "flip = 0.9", "transfer.flip", "use scheme = 'flip'"),
    "gravity of two components": ("[0.0, -9.81, 0.0]", "[0.0, -9.81]", "gravity", "a 3D scene has 3 components"),
    "gravity a number": ("[0.0, -9.81, 0.0]", "9.81", "gravity", "is 9.81: it should be a list"),
    "gravity of unequal keyframes": (
        "[0.0, -9.81, 0.0]",
        "{ times = [0.0, 1.0], values = [[0.0, -9.81, 0.0]] }",
        "gravity",
        "2 times and 1 values",
    ),
    "gravity going back in time": (
        "[0.0, -9.81, 0.0]",
        "{ times = [1.0, 0.0], values = [[0, 0, 0], [0, 0, 0]] }",
        "gravity.times",
        "greater than the one before",
    ),
    "unknown material": ('material = "jelly"', 'material = "jely"', "body.0.material", "did you mean 'jelly'"),
    "unknown law": ('law = "hencky"', 'law = "henky"', "material.jelly.law", "did you mean 'hencky'"),
    "no law": ('law = "hencky"\n', "", "material.jelly", "neither of 'law' and 'base'"),
    "law and base": (
        'law = "hencky"',
        'law = "hencky"\nbase = "gelatin"',
        "material.jelly",
        "both of 'law' and 'base'",
    ),
    "base that is not there": ('law = "hencky"', 'base = "gelatine"', "body.0.material", "did you mean 'gelatin'"),
    "base of itself": (
        'law = "hencky"',
        'base = "custard"\n[material.custard]\nbase = "jelly"',
        "body.0.material",
        "the bases form a cycle: custard -> jelly -> custard",
    ),
    "parameter missing": ("poisson_ratio = 0.3\n", "", "material.jelly.poisson_ratio", "is missing"),
    "parameter misspelt": (
        "youngs_modulus",
        "young_modulus",
        "material.jelly.young_modulus",
        "did you mean 'youngs_mod",
    ),
    "parameter out of range": ("density = 1000.0", "density = -1.0", "material.jelly.density", "greater than 0"),
    "parameter as text": ("density = 1000.0", 'density = "1000"', "material.jelly.density", "it should be a number"),
    "body without shape": (
        "shape = { sphere = { center = [0.0, 0.5, 0.0], radius = 0.1 } }\n",
        "",
        "body.0.shape",
        "is missing: the shape that is filled",
    ),
    "unknown shape": ("{ sphere = {", "{ spere = {", "body.0.shape", "no shape 'spere'; did you mean 'sphere'"),
    "two shapes": ("radius = 0.1 } }", "radius = 0.1 }, box = {} }", "body.0.shape", "exactly one key"),
    "radius negative": ("radius = 0.1", "radius = -0.1", "body.0.shape.sphere.radius", "greater than 0"),
    "radius misspelt": ("radius = 0.1", "raduis = 0.1", "body.0.shape.sphere.raduis", "did you mean 'radius'"),
    "plane shape in space": ("{ sphere =", "{ circle =", "body.0.shape", "'circle' belongs in a 2D scene"),
    "plane vector in a shape": (
        "center = [0.0, 0.5, 0.0]",
        "center = [0.0, 0.5]",
        "body.0.shape",
        "'center' of the shape",
    ),
    "body without end": (
        "{ sphere = { center = [0.0, 0.5, 0.0], radius = 0.1 } }",
        "{ half_space = { point = [0, 0, 0], normal = [0, 1, 0] } }",
        "body.0.shape",
        "is unbounded",
    ),
    "body of no volume": (
        "{ sphere = { center = [0.0, 0.5, 0.0], radius = 0.1 } }",
        "{ intersection = { of = [{ sphere = { center = [0, 0, 0], radius = 1 } }, "
        "{ sphere = { center = [9, 0, 0], radius = 1 } }] } }",
        "body.0.shape",
        "empty",
    ),
    "body smaller than a point": ("radius = 0.1", "radius = 1e-4", "body.0.shape", "it would be empty"),
    "velocity of two components": ("[1.0, 0.0, 0.0]", "[1.0, 0.0]", "body.0.velocity", "has 3 components"),
    "velocity of text": ("[1.0, 0.0, 0.0]", '["fast", 0, 0]', "body.0.velocity.0", "is 'fast': it should be a number"),
    "spin of the plane": ('name = "ball"', 'name = "ball"\nspin = 2.0', "body.0.spin", "in a 3D scene it is a vector"),
    "start after the end": ('name = "ball"', 'name = "ball"\nstart = 1.0', "body.0.start", "the scene ends before"),
    "no points per axis": (
        'name = "ball"',
        'name = "ball"\nfill = { points_per_axis = 0 }',
        "body.0.fill.points_per_axis",
        "1",
    ),
    "half a point": (
        'name = "ball"',
        'name = "ball"\nfill = { points_per_axis = 1.5 }',
        "body.0.fill.points_per_axis",
        "whole",
    ),
    "unknown pattern": (
        'name = "ball"',
        'name = "ball"\nfill = { pattern = "hexagonal" }',
        "body.0.fill.pattern",
        "'lattice'",
    ),
    "rate and copies": (
        "rate = 0.01",
        "rate = 0.01\ncopies = { count = 3, interval = 0.1 }",
        "emitter.0",
        "both 'rate' and",
    ),
    "flow at rest": ("velocity = [0.0, -1.0, 0.0]", "velocity = [0.0, 0.0, 0.0]", "emitter.0.velocity", "is zero"),
    "flow that spins": ("rate = 0.01", "rate = 0.01\nspin = [1, 0, 0]", "emitter.0.spin", "only copies can spin"),
    "stop before start": ("rate = 0.01", "rate = 0.01\nstart = 0.5\nstop = 0.2", "emitter.0.stop", "after the start"),
    "unknown contact": ('contact = "separate"', 'contact = "glue"', "obstacle.0.contact", "is 'glue': it should be"),
    "friction while sticking": ('contact = "separate"', 'contact = "stick"', "obstacle.0.friction", "only 'separate'"),
    "negative friction": ("friction = 0.3", "friction = -0.3", "obstacle.0.friction", "greater than or equal to 0"),
    "unknown motion": ("friction = 0.3", "motion = { wobble = {} }", "obstacle.0.motion", "no motion 'wobble'"),
    "dimension four": ("duration = 1.0", "duration = 1.0\ndimension = 4", "dimension", "is 4: it should be 2 or 3"),
    "bodies as one table": ("[[body]]", "[body]", "body", "it should be a list"),
    "seed of a fraction": ("duration = 1.0", "duration = 1.0\nseed = 0.5", "seed", "it should be a whole number"),
    "camera without target": ("[grid]", "[camera]\nposition = [0, 0, 1]\n[grid]", "camera", "without 'target'"),
    "presets that are none": ("duration = 1.0", "duration = 1.0\npreset = 3", "preset", "tables of changes"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_malformed_scene_is_one_sentence_and_exit_code_2(case, tmp_path, capsys):
    found, replacement, key, words = CASES[case]
    assert found in GOOD
    file = tmp_path / "scene.toml"
    file.write_text(GOOD.replace(found, replacement, 1))
    assert main(["run", str(file), "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    lines = printed.err.splitlines()
    assert printed.out == ""
    assert len(lines) == 1
    assert re.match(rf"error: {re.escape(str(file))}(:\d+)?: {re.escape(key)}", lines[0])
    assert re.search(words, lines[0])
    assert not (tmp_path / "out").exists()


def test_the_scene_the_cases_start_from_is_good(tmp_path):
    from spume import load_scene

    (tmp_path / "scene.toml").write_text(GOOD)
    assert load_scene(tmp_path / "scene.toml").frame_count == 30


def test_several_problems_are_one_line_each(tmp_path, capsys):
    (tmp_path / "scene.toml").write_text(GOOD.replace("cell = 0.02", "cell = 0").replace("rate = 30", "rate = 0"))
    assert main(["estimate", str(tmp_path / "scene.toml")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "frame_rate is 0" in lines[0]
    assert "grid.cell is 0" in lines[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "no-such-scene"], "no built-in scene 'no-such-scene'"),
        (["run", "bal-bounce"], "did you mean 'ball-bounce'"),
        (["run", "nowhere/scene.toml"], "no scene file 'nowhere/scene.toml'"),
        (["run", "ball-bounce", "--set", "grid.cell"], "path.to.key=value"),
        (["run", "ball-bounce", "--set", "grid.cel=1"], "grid has no key 'cel': did you mean 'cell'"),
        (["run", "ball-bounce", "--set", "grid.cell.x=1"], "grid.cell is 0.0125, which has no key 'x'"),
        (["run", "ball-bounce", "--set", "body.7.velocity=[1,0,0]"], "'7' is none of them"),
        (["run", "ball-bounce", "--set", "gravity=[1,"], r"'\[1,' is not a TOML value"),
        (["run", "ball-bounce", "--preset", "drft"], "no preset 'drft': did you mean 'draft'"),
        (["run", "colliding-discs", "--preset", "draft"], "no preset 'draft': it has none"),
        (["run", "ball-bounce", "--threads", "10000"], "this machine allows 1 to"),
        (["run", "ball-bounce", "--threads", "many"], "threads"),
        (["run", "ball-bounce", "--colour", "red"], "colour"),
        (["run"], "SCENE"),
        (["rnu", "ball-bounce"], "rnu"),
        (["schema", "mpn"], "did you mean 'mpm'"),
    ],
)
def test_wrong_arguments_are_one_sentence_and_exit_code_2(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert re.search(words, lines[0])
    assert not (tmp_path / "out" / "ball-bounce" / "manifest.json").exists()


def test_a_file_that_is_not_text_is_named(tmp_path, capsys):
    (tmp_path / "scene.toml").write_bytes(b"\xff\xfe\x00title")
    assert main(["run", str(tmp_path / "scene.toml")]) == 2
    assert "byte 0 is not UTF-8" in capsys.readouterr().err


def test_a_real_bug_shows_its_traceback(monkeypatch):
    from spume.scene import extending

    monkeypatch.setattr(extending, "library_entries", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        main(["scenes"])
