"""Shapes as scenes spell them: read, written back, described by a JSON Schema, and refused in one sentence."""

import json
from functools import cache

import pytest
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from shape_cases import CASES, STAR, A, read

from spume.errors import SceneError
from spume.geometry.motion import MOTIONS, Motion
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.shapes import SHAPES, Box, Shape, Sphere


class Body(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    shape: Shape


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_shape_is_written_back_as_it_was_read(case):
    body = Body.model_validate({"shape": case.table})
    assert Body.model_validate(body.model_dump()) == body
    text = body.model_dump_json(exclude_unset=True)
    assert Body.model_validate_json(text) == body
    assert json.loads(text)["shape"] == json.loads(json.dumps(case.table))


def test_models_can_be_used_in_place_of_tables():
    sphere = Sphere(center=(0, 0, 0), radius=1.0)
    assert Body(shape=sphere).model_dump(mode="json") == {"shape": {"sphere": {"center": [0, 0, 0], "radius": 1.0}}}
    assert hash(Body(shape=sphere)) == hash(Body(shape={"sphere": {"center": [0, 0, 0], "radius": 1}}))


def test_shapes_are_frozen():
    with pytest.raises(ValidationError, match="frozen"):
        read(A).radius = 2.0


@pytest.mark.parametrize(("kind", "adapter", "known"), [("Shape", Shape, SHAPES), ("Motion", Motion, MOTIONS)])
def test_schema_is_one_of_the_names_and_every_number_states_its_unit(kind, adapter, known):
    schema = TypeAdapter(adapter).json_schema()
    definitions = schema["$defs"]
    alternatives = definitions[kind]["oneOf"] if kind in definitions else schema["oneOf"]
    names = set()
    for alternative in alternatives:
        table = definitions[alternative["$ref"].rpartition("/")[2]]
        assert table["additionalProperties"] is False
        (name,) = table["required"]
        names.add(name)
    assert names == set(known)
    for model in known.values():
        for key, field in model.model_fields.items():
            assert field.description, (model, key)
            numeric = "float" in str(field.annotation)
            assert not numeric or "[" in field.description or "degrees" in field.description, (model, key)


@cache
def schema_check():
    jsonschema = pytest.importorskip("jsonschema")
    schema = Body.model_json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_schema_accepts_what_the_reader_accepts(case):
    schema_check().validate(json.loads(json.dumps({"shape": case.table})))


BOX = {"center": [0, 0, 0], "size": [1, 1, 1]}
WRONG = [
    ({"spere": {}}, "shape", "there is no shape 'spere'; did you mean 'sphere'? known: sphere, box, "),
    ({"dodecahedron": {}}, "shape", "there is no shape 'dodecahedron'; known: sphere"),
    ({}, "shape", "exactly one key, the name of the shape, and here are none"),
    ({**A, "box": BOX}, "shape", "and here are 'sphere', 'box'"),
    ("sphere", "shape", "a shape is a table with one key, such as { sphere = { ... } }, and this is 'sphere'"),
    ({"sphere": {"center": [0, 0, 0]}}, "shape.sphere.radius", "Field required"),
    ({"sphere": {"center": [0, 0, 0], "radius": 0}}, "shape.sphere.radius", "greater than 0"),
    ({"sphere": {"center": [0, 0, 0], "radius": float("nan")}}, "shape.sphere.radius", "finite number"),
    ({"sphere": {"center": [0, 0, 0], "radius": "1"}}, "shape.sphere.radius", "valid number"),
    ({"sphere": {"center": [0, 0, 0], "radius": True}}, "shape.sphere.radius", "valid number"),
    ({"sphere": {"center": [0], "radius": 1}}, "shape.sphere.center", "and this one has 1"),
    ({"sphere": {"center": [0, 0, 0], "radius": 1, "color": 1}}, "shape.sphere.color", "Extra inputs"),
    ({"box": {**BOX, "size": [1, -1, 1]}}, "shape.box.size", "every component must be greater than 0"),
    ({"box": {**BOX, "rounding": 0.6}}, "shape.box", "a rounding of 0.6 m is more than half the smallest extent"),
    ({"half_space": {"point": [0, 0, 0], "normal": [0, 0, 0]}}, "shape.half_space.normal", "zero vector"),
    (
        {"torus": {"center": [0, 0, 0], "major_radius": 1, "minor_radius": 2}},
        "shape.torus",
        "minor_radius, 2 m, must not be greater than major_radius, 1 m",
    ),
    (
        {"ring": {"center": [0, 0], "inner_radius": 2, "outer_radius": 1}},
        "shape.ring",
        "inner_radius, 2 m, must be less than outer_radius, 1 m",
    ),
    ({"polygon": {"points": [[0, 0], [1, 0]]}}, "shape.polygon", "needs at least 3 corners, and this one has 2"),
    ({"polygon": {"points": [[0, 0], [1, 1], [1, 0], [0, 1]]}}, "shape.polygon", "crosses or touches itself"),
    ({"polygon": {"points": [[0, 0], [2, 0], [1, 0]]}}, "shape.polygon", "crosses or touches itself"),
    ({"polygon": {"points": [*STAR, STAR[0]]}}, "shape.polygon", "the same corner twice"),
    ({"union": {"of": []}}, "shape.union.of", "the list is empty"),
    ({"union": {"of": [A, {"spheer": {}}]}}, "shape.union.of.1", "did you mean 'sphere'?"),
    ({"difference": {"of": A}}, "shape.difference.minus", "Field required"),
    ({"smooth_union": {"of": [A], "radius": 0}}, "shape.smooth_union.radius", "greater than 0"),
    ({"scale": {"shape": A, "factor": -1}}, "shape.scale.factor", "greater than 0"),
    ({"repeat": {"shape": A, "count": [1], "spacing": [1, 1, 1]}}, "shape.repeat.count", "and this one has 1"),
    (
        {"repeat": {"shape": A, "count": [0, 1, 1], "spacing": [1, 1, 1]}},
        "shape.repeat.count.0",
        "greater than or equal",
    ),
    ({"mesh": {"file": ""}}, "shape.mesh.file", "at least 1 character"),
]


@pytest.mark.parametrize(
    ("table", "where", "sentence"), WRONG, ids=[f"{where} {n}" for n, (_, where, _) in enumerate(WRONG)]
)
def test_a_malformed_shape_is_refused_with_its_place_and_one_sentence(table, where, sentence):
    with pytest.raises(ValidationError) as caught:
        Body.model_validate({"shape": table})
    (error,) = caught.value.errors()
    assert ".".join(map(str, error["loc"])) == where
    assert sentence in error["msg"]
    assert "\n" not in error["msg"]


@pytest.mark.parametrize(
    ("dimension", "table", "sentence"),
    [
        (2, A, "the shape 'sphere' belongs in a 3D scene, and this one is 2D; use 'circle'"),
        (3, {"circle": {"center": [0, 0], "radius": 1}}, "use 'sphere or cylinder'"),
        (
            3,
            {"sphere": {"center": [0, 0], "radius": 1}},
            r"'center' of the shape 'sphere' has 2 components, \[0.0, 0.0\]",
        ),
        (2, {"union": {"of": [{"circle": {"center": [0, 0, 0], "radius": 1}}]}}, "it needs 2"),
        (
            2,
            {"translate": {"shape": {"circle": {"center": [0, 0], "radius": 1}}, "by": [1, 0, 0]}},
            "'by' of the shape",
        ),
        (3, {"rotate": {"shape": A, "angle": 3}}, "needs an 'axis'"),
        (
            2,
            {"rotate": {"shape": {"circle": {"center": [0, 0], "radius": 1}}, "angle": 3, "axis": [0, 1]}},
            "no 'axis'",
        ),
        (3, {"repeat": {"shape": A, "count": [100, 100, 100], "spacing": [1, 1, 1]}}, "1000000 copies, and 20000 is"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_shape_that_does_not_fit_the_scene_is_an_error(dimension, table, sentence):
    with pytest.raises(SceneError, match=sentence):
        compile_shape(read(table), dimension)


def test_nesting_beyond_the_stack_is_an_error():
    shape = Box(**BOX).model_dump()
    table = {"box": shape}
    for _ in range(18):
        table = {"union": {"of": [A, {"difference": {"of": table, "minus": [A]}}]}}
    with pytest.raises(SceneError, match="nested more than 16 combinations deep"):
        compile_shape(read(table), 3)
