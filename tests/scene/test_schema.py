"""The JSON Schema: what an editor completes from."""

import functools
import json

import pytest

from spume.cli import main
from spume.methods import METHODS
from spume.scene.builtin import library_files
from spume.scene.extending import read_scene
from spume.scene.schema import scene_schema


def test_the_schema_of_a_method_knows_every_key_and_describes_it():
    schema = scene_schema("mpm")
    wanted = {"title", "duration", "grid", "body", "emitter", "obstacle", "material", "preset"}
    assert wanted <= schema["properties"].keys()
    undescribed = [
        f"{table.get('title')}.{key}"
        for table in (schema, *schema["$defs"].values())
        for key, entry in table.get("properties", {}).items()
        if "description" not in entry and "description" not in definition(schema, entry)
    ]
    assert undescribed == []


def definition(schema, entry):
    """The definition an entry refers to."""
    return schema["$defs"].get(entry.get("$ref", "").rpartition("/")[2], {})


def test_quantities_with_a_unit_say_so():
    grid = scene_schema("mpm")["$defs"]["Grid"]["properties"]
    assert "[m]" in grid["cell"]["description"]


def test_the_parameters_of_every_law_are_in_the_schema():
    from spume.materials import LAWS

    alternatives = scene_schema("mpm")["$defs"]["MaterialTable"]["oneOf"]
    by_law = {entry["properties"]["law"]["const"]: entry for entry in alternatives if "law" in entry["properties"]}
    assert by_law.keys() == LAWS.keys()
    assert "poisson_ratio" in by_law["hencky"]["required"]


def test_unknown_keys_are_forbidden_by_the_schema_too():
    schema = scene_schema("mpm")
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Body"]["additionalProperties"] is False


def test_the_schema_of_all_methods_is_printed_as_json(capsys):
    assert main(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert len(schema["anyOf"]) == len(METHODS)


@functools.cache
def validator(method):
    """Checks scenes of a method; that its schema is a schema is checked once."""
    jsonschema = pytest.importorskip("jsonschema")
    kind = jsonschema.Draft202012Validator
    kind.check_schema(scene_schema(method))
    return kind(scene_schema(method))


@pytest.mark.parametrize("file", library_files(), ids=lambda file: file.stem)
def test_built_in_scenes_fit_the_schema(file):
    data = read_scene(file)
    validator(data["method"]).validate(data)


def test_a_scene_that_extends_another_needs_no_more_than_that():
    jsonschema = pytest.importorskip("jsonschema", reason="needs the extra 'test'")
    for method in (None, "mpm"):
        validator = jsonschema.Draft202012Validator(scene_schema(method))
        assert validator.is_valid({"extends": "ball-bounce", "grid": {"cell": 0.01}})
        assert not validator.is_valid({"grid": {"cell": 0.01}})
        assert not validator.is_valid({"extends": "ball-bounce", "gird": {"cell": 0.01}})
