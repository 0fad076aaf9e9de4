"""The built-in scenes and materials are good, and are what the lists say."""

import json
import pickle

import pytest

from spume import Scene, load_scene
from spume.cli import main
from spume.materials import LAWS
from spume.materials.table import LOOK, REMARKS, named_materials
from spume.scene.builtin import LIBRARY, PAPERS, library_files
from spume.scene.common import Scene as AnyScene
from spume.scene.extending import library_entries, read_scene

NAMES = [file.stem for file in library_files()]
ISSUE_2 = {"ball-bounce", "incline", "colliding-balls", "colliding-discs", "bar-vibration", "paddle", "fountain"}

SILLY_RUBBER = (
    "silicone", "viscosity-and-stiffness", "twisting", "twisting-explicit", "twisting-elastic",
    "twisting-elastic-explicit", "panda", "coil", "pet-monster", "cherries", "faceless", "faceless-hyperelastic",
    "warrior", "cars", "sofa", "alien", "sand-column-implicit", "sand-column-explicit", "elastic-balls", "roller",
)  # fmt: skip

SAND_FAMILIES = (
    "hourglass", "sand-pouring", "sand-pile", "sand-column", "sand-wedge", "dam-breach-2d", "dam-breach", "levee",
    "sandcastle",
)  # fmt: skip


def test_every_file_of_the_library_has_a_name_of_its_own_and_a_paper():
    assert sorted(library_files()) == sorted(LIBRARY.rglob("*.toml"))
    assert len(set(NAMES)) == len(NAMES)


def test_the_list_of_scenes_is_grouped_by_paper(capsys):
    assert main(["scenes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == list(PAPERS.values())
    assert lines.index(PAPERS["yue15"]) < [line.split()[0] for line in lines].index("shaving-cream")


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_scene_and_each_of_its_presets_is_good(name):
    presets = read_scene(library_files()[NAMES.index(name)]).get("preset", {})
    for preset in (None, *presets):
        scene = load_scene(name, preset=preset)
        assert isinstance(scene, AnyScene)
        assert Scene(**json.loads(json.dumps(scene.resolved()))).resolved() == scene.resolved()
        assert pickle.loads(pickle.dumps(scene)).resolved() == scene.resolved()  # as other processes get it


def test_the_library_has_the_scenes_of_the_foundation_in_both_dimensions():
    entries = {entry["name"]: entry for entry in library_entries()}
    assert entries.keys() >= ISSUE_2
    assert {entries[name]["dimension"] for name in ISSUE_2} == {2, 3}


def test_the_scenes_of_silly_rubber_have_three_sizes():
    """All figures of [Fang19] with a scene of their own, small enough to try, middling and as large as the paper's."""
    presets = {entry["name"]: set(entry["presets"]) for entry in library_entries()}
    lacking = {name for name in SILLY_RUBBER if not {"draft", "medium", "paper"} <= presets.get(name, set())}
    assert lacking == set()


def test_the_scenes_of_sand_and_water_have_three_sizes():
    """All figures of [Tampubolon17] and the showcase, with their variants."""
    presets = {entry["name"]: set(entry["presets"]) for entry in library_entries()}
    families = {family: [name for name in presets if name.startswith(family)] for family in SAND_FAMILIES}
    assert [family for family, names in families.items() if not names] == []
    lacking = {
        name for names in families.values() for name in names if not {"draft", "medium", "paper"} <= presets[name]
    }
    assert lacking == set()


def test_scenes_are_listed_as_text_and_json(capsys):
    assert main(["scenes"]) == 0
    text = capsys.readouterr().out
    assert main(["scenes", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["name"] for entry in entries] == NAMES
    assert all(entry["name"] in text and entry["title"] in text for entry in entries)


@pytest.mark.parametrize("name", named_materials())
def test_a_named_material_is_good_and_says_what_it_is_and_where_its_numbers_come_from(name):
    entry = named_materials()[name]
    law = LAWS[entry["law"]]
    law.parameters.model_validate({k: v for k, v in entry.items() if k not in ("law", LOOK, *REMARKS)}, strict=True)
    assert all(entry[remark].strip() for remark in REMARKS)


def test_materials_are_listed_as_text_and_json(capsys):
    assert main(["materials"]) == 0
    text = capsys.readouterr().out
    assert main(["materials", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert {entry["name"] for entry in entries} == named_materials().keys()
    assert all(entry["name"] in text and entry["source"] in text for entry in entries)
