"""From names and files to scenes: overrides, presets, mesh files beside the scene."""

import json

import pytest

from spume import SceneError, load_scene
from spume.cli import main
from spume.scene.builtin import LIBRARY, read_toml
from spume.scene.loading import anchor_files
from spume.scene.overrides import apply_overrides, apply_preset, parse_override
from spume.scene.problems import dotted
from spume.scene.registry import scene_model


def test_a_name_and_the_path_of_its_file_give_the_same_scene():
    assert load_scene("ball-bounce") == load_scene(LIBRARY / "more" / "ball-bounce.toml")


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("grid.cell=0.01", ("grid", "cell"), 0.01),
        ("body.0.velocity=[1, 0, 0]", ("body", "0", "velocity"), [1, 0, 0]),
        ('material."soft rubber".density=900', ("material", "soft rubber", "density"), 900),
        ('title="a = b"', ("title",), "a = b"),
        ("grid.spline=quadratic", ("grid", "spline"), "quadratic"),
        ("body.0.material=soft rubber", ("body", "0", "material"), "soft rubber"),
        ("grid.walls={ lower = [0, 0], upper = [1, 1] }", ("grid", "walls"), {"lower": [0, 0], "upper": [1, 1]}),
        ("tearing.enabled=false", ("tearing", "enabled"), False),
    ],
)
def test_an_override_is_a_path_and_a_toml_value(text, path, value):
    assert parse_override(text) == (path, value)


def test_overrides_change_what_they_name_and_nothing_else():
    plain = load_scene("ball-bounce").resolved()
    changed = load_scene("ball-bounce", ["grid.cell=0.05", "body.0.velocity=[1, 0, 0]", "time.courant=0.3"]).resolved()
    assert changed["grid"]["cell"] == 0.05
    assert changed["body"][0]["velocity"] == [1.0, 0.0, 0.0]
    assert changed["time"]["courant"] == 0.3
    changed["grid"]["cell"], changed["time"]["courant"] = plain["grid"]["cell"], plain["time"]["courant"]
    del changed["body"][0]["velocity"]
    assert changed == plain


def test_later_overrides_win_and_the_tables_given_stay_as_they_were():
    tables = read_toml(LIBRARY / "more" / "ball-bounce.toml")
    changed = apply_overrides(tables, ["seed=1", "seed=2"], scene_model("mpm"))
    assert changed["seed"] == 2
    assert "seed" not in tables


def test_an_override_of_the_method_is_checked_by_the_model_of_that_method():
    assert load_scene("ball-bounce", ["method=continuum-foam"]).method == "continuum-foam"


def test_presets_merge_tables_and_reach_into_lists():
    tables = {
        "grid": {"cell": 1, "spline": "cubic"},
        "body": [{"material": "a"}, {"material": "b"}],
        "preset": {"draft": {"grid": {"cell": 2}, "body.1.material": "c", "time.courant": 0.5}},
    }
    merged = apply_preset(tables, "draft", "scene")
    assert merged == {
        "grid": {"cell": 2, "spline": "cubic"},
        "body": [{"material": "a"}, {"material": "c"}],
        "time": {"courant": 0.5},
    }
    assert tables["grid"]["cell"] == 1
    assert "preset" not in apply_preset(tables, None, "scene")


@pytest.mark.parametrize("key", ["body.5.material", "grid.cell.x", "body.x"])
def test_a_preset_that_leads_nowhere_says_where(key):
    tables = {"grid": {"cell": 1}, "body": [{}], "preset": {"draft": {key: 1}}}
    with pytest.raises(SceneError, match=r"scene: preset\.draft"):
        apply_preset(tables, "draft", "scene")


def test_overrides_come_after_presets():
    assert load_scene("ball-bounce", ["grid.cell=0.07"], preset="draft").grid.cell == 0.07


def test_mesh_files_are_taken_from_the_folder_of_the_scene(tmp_path):
    tables = {"body": [{"shape": {"union": {"of": [{"mesh": {"file": "cow.obj"}}]}}}], "mesh": "no file"}
    anchored = anchor_files(tables, tmp_path)
    assert anchored["body"][0]["shape"]["union"]["of"][0]["mesh"]["file"] == str(tmp_path / "cow.obj")
    assert anchored["mesh"] == "no file"


def test_a_scene_that_extends_another_states_only_what_differs(tmp_path):
    file = tmp_path / "heavier.toml"
    file.write_text('extends = "ball-bounce"\ntitle = "Slower"\n"body.0.velocity" = [0, -1, 0]\ngrid.cell = 0.02\n')
    child, parent = load_scene(file), load_scene("ball-bounce")
    assert child.title == "Slower"
    assert child.body[0].velocity == (0.0, -1.0, 0.0)
    assert child.grid.cell == 0.02
    assert child.body[0].shape == parent.body[0].shape
    assert load_scene(file, preset="draft").grid.cell == load_scene("ball-bounce", preset="draft").grid.cell


@pytest.mark.parametrize(
    ("text", "words"),
    [('extends = "bal-bounce"', "no scene"), ("extends = 3", "name or the file"), ('extends = "self.toml"', "circle")],
)
def test_what_is_wrong_with_extends_is_said(tmp_path, text, words):
    (tmp_path / "self.toml").write_text(text)
    with pytest.raises(SceneError, match=words):
        load_scene(tmp_path / "self.toml")


def test_several_presets_apply_in_their_order():
    tables = {
        "grid": {"cell": 1, "spline": "cubic"},
        "preset": {"draft": {"grid": {"cell": 2}, "seed": 1}, "fast": {"seed": 2}},
    }
    assert apply_preset(tables, ["draft", "fast"], "scene") == {"grid": {"cell": 2, "spline": "cubic"}, "seed": 2}
    assert apply_preset(tables, ("fast", "draft"), "scene")["seed"] == 1
    assert apply_preset(tables, iter(["fast"]), "scene") == {"grid": tables["grid"], "seed": 2}
    with pytest.raises(SceneError, match=r"scene: there is no preset 'fats': did you mean 'fast'\?"):
        apply_preset(tables, ["draft", "fats"], "scene")


def test_size_and_variant_of_a_built_in_scene_combine(capsys):
    """The four of [Fang19] figure 13, as small as the draft."""
    trips = {"undamped": 0, "five-trips": 5, "strong": 20}
    for variant, count in trips.items():
        scene = load_scene("alien", preset=["draft", variant])
        assert (scene.grid.cell, scene.damping.rpic_iterations) == (0.025, count)
    assert load_scene("alien", preset="draft").damping.rpic_iterations == 1
    with pytest.raises(SceneError, match="preset 'draft': a checked scene has no presets any more"):
        load_scene(scene, preset=["draft", "strong"])
    choose = ["--scene", "coil", "--preset", "draft", "--preset", "stiff", "--preset", "stiffer"]
    assert main(["rheometer", "thread", *choose, "--step-strain", "0.01", "--json"]) == 0
    first, *_ = json.loads(capsys.readouterr().out)
    assert first["small_strain_theory"] == pytest.approx((3500.0 + 3570.0) * 0.01, rel=1e-12)


@pytest.mark.parametrize("key", ["\n", 'soft "rubber"', "a\\b", "\u2028"])
def test_a_strange_key_is_told_on_one_line_and_as_toml(key):
    tables = {"title": "t", "method": "mpm", "duration": 1.0, "grid": {"cell": 0.1}, "skin": {key: 1}}
    with pytest.raises(SceneError) as told:
        load_scene(tables)
    (line,) = (line for line in str(told.value).splitlines() if "skin" in line)
    assert "is unknown: the keys known here are crumbs" in line
    assert line.isprintable()
    if key.isprintable():
        assert parse_override(f"{dotted(('skin', key))}=1") == (("skin", key), 1)
