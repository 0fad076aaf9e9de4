"""Messages name the line of a key."""

import pytest

from spume.cli import main
from spume.errors import SceneError
from spume.scene.lines import key_lines
from spume.scene.loading import load_scene
from spume.scene.starter import write_starter

TEXT = '''# a comment with [brackets] and "quotes
title = "a # is no comment here"
notes = """
[grid]
cell = 1
"""
"quoted key" = 1
a.b = 2

[grid]
cell = 0.01  # [m]

[[body]]
shape = { sphere = { center = [0,
  1, # a line inside a value
  2], radius = 3 } }
[[body]]
name = 'x'
[body.look]
color = "red"
[preset.draft]
"grid.cell" = 2
'''


def test_keys_stand_where_a_reader_finds_them():
    lines = key_lines(TEXT)
    wanted = {
        ("title",): 2, ("notes",): 3, ("quoted key",): 7, ("a", "b"): 8, ("grid",): 10, ("grid", "cell"): 11,
        ("body", 0): 13, ("body", 0, "shape"): 14, ("body", 0, "shape", "sphere", "center", 1): 15,
        ("body", 0, "shape", "sphere", "radius"): 16, ("body", 1, "name"): 18, ("body", 1, "look", "color"): 20,
        ("preset", "draft", "grid.cell"): 22,
    }  # fmt: skip
    assert {path: lines.get(path) for path in wanted} == wanted


def problems_of(text, tmp_path, **more):
    (tmp_path / "scene.toml").write_text(text)
    with pytest.raises(SceneError) as raised:
        load_scene(tmp_path / "scene.toml", **more)
    return str(raised.value).splitlines()


def test_a_wrong_value_is_named_with_its_line(tmp_path):
    (only,) = problems_of('extends = "ball-bounce"\n\n[grid]\ncell = -1.0\n', tmp_path)
    assert only.startswith(f"{tmp_path / 'scene.toml'}:4: grid.cell is -1.0")


def test_a_missing_key_is_named_with_the_line_of_its_table(tmp_path):
    text = 'title = "t"\nmethod = "mpm"\nduration = 1.0\n[grid]\n[[body]]\nmaterial = "soft rubber"\n'
    problems = problems_of(text, tmp_path)
    assert any(line.startswith(f"{tmp_path / 'scene.toml'}:4: grid.cell is missing") for line in problems)
    assert any(line.startswith(f"{tmp_path / 'scene.toml'}:5: body.0.shape is missing") for line in problems)


def test_a_key_of_a_preset_is_named_with_its_line_there(tmp_path):
    text = 'extends = "ball-bounce"\n[preset.wrong.grid]\ncell = 0.0\n'
    (only,) = problems_of(text, tmp_path, preset="wrong")
    assert only.startswith(f"{tmp_path / 'scene.toml'}:3: grid.cell is 0.0")


def test_a_key_of_several_presets_is_named_with_its_line_in_the_last(tmp_path):
    text = 'extends = "ball-bounce"\n[preset.good.grid]\ncell = 0.1\n[preset.wrong.grid]\ncell = 0.0\n'
    (only,) = problems_of(text, tmp_path, preset=["good", "wrong"])
    assert only.startswith(f"{tmp_path / 'scene.toml'}:5: grid.cell is 0.0")
    (only,) = problems_of(text.replace("0.1", "-1.0"), tmp_path, preset=["wrong", "good"])
    assert only.startswith(f"{tmp_path / 'scene.toml'}:3: grid.cell is -1")


def test_a_value_given_on_the_command_line_has_no_line(tmp_path):
    (only,) = problems_of('extends = "ball-bounce"\n[grid]\ncell = 0.01\n', tmp_path, changes=["grid.cell=-2"])
    assert only.startswith(f"{tmp_path / 'scene.toml'}: grid.cell is -2")


def test_a_new_scene_is_sound_with_all_its_presets_and_replaces_nothing(tmp_path):
    file = write_starter(tmp_path / "mine")
    assert file.name == "mine.toml"
    for preset in (None, "draft", "fine"):
        load_scene(file, preset=preset)
    with pytest.raises(SceneError, match="exists already"):
        write_starter(tmp_path / "mine")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_a_completion_with_all_commands(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command in script for command in ("run", "resume", "render", "materials"))


def test_materials_are_listed_with_their_units(capsys):
    assert main(["materials"]) == 0
    assert "density 1000 kg/m³" in capsys.readouterr().out
