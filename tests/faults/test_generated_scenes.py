"""Whatever tables a scene holds, the answer is a checked scene or a SceneError, never another exception."""

import contextlib
import copy
import datetime
import tomllib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spume import Scene, SceneError, load_scene
from spume.scene.builtin import library_files
from spume.scene.loading import anchor_files
from spume.scene.overrides import apply_overrides, apply_preset
from spume.scene.registry import scene_model

GOOD = [tomllib.loads(file.read_text()) for file in library_files() if "mpm" in file.read_text()]
WORDS = ("mpm", "auto", "cubic", "soft rubber", "sphere", "hencky", "rotate", "stick", "table", "list", "number")
KEYS = st.text(max_size=5) | st.sampled_from(
    [
        "title",
        "method",
        "duration",
        "grid",
        "cell",
        "walls",
        "time",
        "dt",
        "body",
        "shape",
        "sphere",
        "center",
        "radius",
        "of",
        "material",
        "law",
        "base",
        "density",
        "emitter",
        "rate",
        "copies",
        "obstacle",
        "motion",
        "rotate",
        "gravity",
    ]
)
SCALARS = (
    st.integers()
    | st.floats()
    | st.booleans()
    | st.text(max_size=5)
    | st.sampled_from(WORDS)
    | st.just(datetime.date(2026, 1, 1))
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
RELAXED = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def scene_or_error(tables) -> None:
    """Check `tables` as load_scene would; an error must carry a sentence."""
    sentence, checked = "", None
    try:
        checked = Scene(**anchor_files(apply_preset(tables, None, "generated"), library_files()[0].parent))
    except SceneError as error:
        sentence = str(error).strip()
    assert sentence or checked
    if checked is not None:
        assert Scene(**checked.resolved()).resolved() == checked.resolved()


@RELAXED
@given(st.dictionaries(KEYS, VALUES, max_size=8))
def test_any_tables(tables):
    scene_or_error(tables)


@RELAXED
@given(st.dictionaries(KEYS, VALUES, max_size=6))
def test_any_tables_of_a_known_method(tables):
    scene_or_error({"title": "t", "duration": 1.0, "grid": {"cell": 0.1}, **tables, "method": "mpm"})


def places(value, path=()):
    """The paths of all values inside `value`."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


@RELAXED
@given(st.data())
def test_built_in_scenes_with_one_value_changed(data):
    tables = copy.deepcopy(data.draw(st.sampled_from(GOOD)))
    path = data.draw(st.sampled_from([p for p in places(tables) if p]))
    parent = tables
    for key in path[:-1]:
        parent = parent[key]
    action = data.draw(st.sampled_from(["replace", "delete", "add"]))
    if action == "replace":
        parent[path[-1]] = data.draw(VALUES)
    elif action == "delete":
        del parent[path[-1]]
    elif isinstance(parent, dict):
        parent[data.draw(KEYS)] = data.draw(VALUES)
    else:
        parent.append(data.draw(VALUES))
    scene_or_error(tables)


@RELAXED
@given(st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
def test_any_file(tmp_path_factory, contents):
    file = tmp_path_factory.mktemp("any") / "scene.toml"
    file.write_bytes(contents)
    with pytest.raises(SceneError, match=r"scene\.toml"):  # too short to be a whole scene
        load_scene(file)


@RELAXED
@given(st.text(max_size=20), VALUES)
def test_any_override(text, value):
    tables = copy.deepcopy(GOOD[0])
    for override in (text, f"{text}={value!r}", f"grid.cell={text}", f"body.0.{text}=1"):
        with contextlib.suppress(SceneError):
            assert isinstance(apply_overrides(tables, [override], scene_model("mpm")), dict)
