"""A thousand damaged scenes, from fixed seeds: each is refused in plain sentences, or can be planned as a run."""

import copy
import random

import pytest

from spume import Scene, SceneError, load_scene
from spume.matter.sources import refuse_too_many_points
from spume.scene.builtin import LIBRARY, library_files
from spume.scene.extending import read_scene
from spume.scene.loading import anchor_files
from spume.scene.mpm import MpmScene

BASES = [
    {key: value for key, value in anchor_files(read_scene(file), LIBRARY).items() if key != "preset"}
    for file in library_files()
]
NUMBERS = (
    0, -1, 1, 2, 3, 1000, 10**9, 10**30, 10**400, 2**63, 0.0, -0.0, 0.5, 1e-9, 1e-30, 1e-199, 5e-324, 1e9, 1e30,
    1e150, 1e199, 1e308, -1e308, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip
WORDS = (
    "", "auto", "sphere", "mesh", "\0", "a\0b.stl", "../loop.stl", 5000 * "x", "\ud800", "stick", "soft rubber", "[",
    "\n", "shaving cream", "rotate",
)  # fmt: skip
KEYS = (
    "", "shape", "sphere", "mesh", "file", "union", "of", "motion", "keyframes", "times", "copies", "\0", "body", "0",
    "spehre", "start", "gravity",
)  # fmt: skip
TABLES = ([], {}, None, True, {"sphere": {}}, {"mesh": {"file": "a\0.stl"}}, {"union": {"of": []}})


def deep(levels):
    value = []
    for _ in range(levels):
        value = [value]
    return value


def damaged_value(random_, old):
    """Something to stand in the place of `old`."""
    kind = random_.randrange(8)
    if kind <= 3:
        return random_.choice(NUMBERS)
    if kind == 4:
        return random_.choice(WORDS)
    if kind == 5:
        return random_.choice((*TABLES, deep(50), deep(400), [old], {"translate": {"shape": old, "by": [0, 0, 0]}}))
    if kind == 6 and isinstance(old, list):
        return [random_.choice(NUMBERS) for _ in old]
    return old * 10.0 ** random_.randint(-40, 40) if isinstance(old, float) else random_.choice(NUMBERS)


def places(value, path=()):
    if path:
        yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def damage(tables, random_):
    """Replace, delete, add or copy a value somewhere."""
    path = random_.choice(list(places(tables)))
    parent = tables
    for key in path[:-1]:
        parent = parent[key]
    action = random_.randrange(6)
    if action <= 2:
        parent[path[-1]] = damaged_value(random_, parent[path[-1]])
    elif action == 3:
        del parent[path[-1]]
    elif isinstance(parent, dict):
        parent[random_.choice(KEYS)] = damaged_value(random_, copy.deepcopy(parent[path[-1]]))
    else:
        parent.append(copy.deepcopy(random_.choice(parent)))


def checked(tables):
    """The scene of `tables`, planned, or the sentence of the error."""
    try:
        scene = Scene(**tables)
        if isinstance(scene, MpmScene):
            refuse_too_many_points(scene)
    except SceneError as error:
        return None, str(error)
    return scene, ""


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow_suite) for seed in range(2, 8))])
def test_damaged_tables(seed):
    random_ = random.Random(seed)
    accepted = 0
    for _ in range(100):
        tables = copy.deepcopy(random_.choice(BASES))
        for _ in range(random_.choice((1, 1, 2, 4))):
            damage(tables, random_)
        scene, sentence = checked(tables)
        assert (scene is None) == bool(sentence.strip())
        assert len(sentence.splitlines()) <= 7, sentence
        accepted += scene is not None
    assert 0 < accepted < 100


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow_suite)])
def test_damaged_files(seed, tmp_path):
    random_ = random.Random(seed)
    likely = b"0123456789.-+e=[]{}\"', #_\n\0\xff"
    for k in range(100):
        contents = bytearray(random_.choice(library_files()).read_bytes())
        for _ in range(random_.choice((1, 2, 5))):
            place = random_.randrange(len(contents))
            contents[place : place + random_.randrange(3)] = bytes(random_.choices(likely, k=random_.randrange(3)))
        file = tmp_path / f"{k}.toml"
        file.write_bytes(contents)
        sentence = ""
        try:
            load_scene(file)
        except SceneError as error:
            sentence = str(error)
        assert "Traceback" not in sentence
        assert len(sentence.splitlines()) <= 7, sentence
