"""Ranks that fill a body together make the points of one process: the same numbers, positions and volumes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lockstep import on_ranks
from shape_cases import BY_NAME, read

from spume.errors import SceneError
from spume.geometry.filling.darts import throw_darts
from spume.geometry.filling.fill import fill
from spume.geometry.filling.frame import own_frame
from spume.geometry.shapes.placement import HERE
from spume.matter.sources import build_sources
from spume.ranks.team import Team
from spume.scene.loading import load_scene

BALLS = {"sphere": {"center": [0, 0, 0], "radius": 0.2}}
BOX = {"box": {"center": [0.2, 0, 0], "size": [0.5, 0.3, 0.4]}}
SHAPES = {
    "sphere": (BY_NAME["sphere"].shape, 3, 0.08),
    "torus": (BY_NAME["torus"].shape, 3, 0.1),
    "parts and a difference": (BY_NAME["union with a difference"].shape, 3, 0.08),
    "copies": (read({"repeat": {"shape": BALLS, "count": [2, 1, 3], "spacing": [0.5, 0.5, 0.5]}}), 3, 0.1),
    "pointed": (read({"cone": {"base": [0, 0, 0], "radius": 0.3, "height": 1.0, "axis": [0.3, 1, 0.2]}}), 3, 0.08),
    "thin": (read({"box": {"center": [0, 0, 0], "size": [1.0, 0.031, 0.4]}}), 3, 0.08),
    "turned": (read({"rotate": {"shape": BOX, "axis": [1, 2, 3], "angle": 40}}), 3, 0.08),
    "ring": (BY_NAME["ring"].shape, 2, 0.05),
    "small": (read({"circle": {"center": [0.1, 0.2], "radius": 0.03}}), 2, 0.05),
}


def together(size, *arguments, **options):
    """The filling of all ranks, in the order of the numbers of the points."""
    parts = on_ranks(size, lambda messages: fill(*arguments, **options, sharers=Team(messages)))
    places = np.concatenate([part.places for part in parts])
    order = np.argsort(places)
    assert places[order].tolist() == list(range(parts[0].count))
    assert {part.count for part in parts} == {len(places)}
    return (
        np.concatenate([part.positions for part in parts])[order],
        np.concatenate([part.volume for part in parts])[order],
        [len(part.places) for part in parts],
    )


def assert_same(size, *arguments, **options):
    whole = fill(*arguments, **options)
    positions, volume, counts = together(size, *arguments, **options)
    assert positions.tobytes() == whole.positions.tobytes()
    assert volume.tobytes() == whole.volume.tobytes()
    return counts


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("size", "jitter"), [(2, 0.0), (3, 0.8), (5, 0.0)])
def test_parts_of_a_lattice_are_those_of_one_process(name, size, jitter):
    assert_same(size, *SHAPES[name], jitter=jitter, rng=3)


@pytest.mark.parametrize("size", [2, 4])
def test_ranks_have_about_equal_parts(size):
    counts = assert_same(size, *SHAPES["sphere"])
    assert max(counts) < 1.2 * sum(counts) / size


@pytest.mark.parametrize(
    ("name", "size"),
    [("sphere", 3), ("ring", 4), ("small", 8), ("parts and a difference", 2), ("thin", 5), ("turned", 8), ("torus", 1)],
)
def test_random_points_are_those_of_one_process(name, size):
    """Also where ranks have one layer of cells, or none, and where darts at a border wait for each other."""
    counts = assert_same(size, *SHAPES[name], pattern="poisson-disk", rng=5)
    assert size == 1 or name == "small" or max(counts) < sum(counts)


def test_darts_have_numbers_in_the_order_of_one_process():
    frame = own_frame(SHAPES["sphere"][0], HERE, 3, None)
    whole = throw_darts(frame.program, frame.lower, frame.upper, 0.05, 7)

    def work(messages):
        darts = throw_darts(frame.program, frame.lower, frame.upper, 0.05, 7, Team(messages))
        return darts.positions, darts.numbers

    found = on_ranks(4, work)
    positions = np.concatenate([part[0] for part in found])
    numbers = np.concatenate([part[1] for part in found])
    assert positions[np.argsort(numbers)].tobytes() == whole.positions.tobytes()
    assert sorted(numbers.tolist()) == whole.numbers.tolist()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.floats(-0.3, 0.3), min_size=3, max_size=3), st.floats(0.05, 0.3), st.floats(0.02, 0.2),
    st.integers(2, 6),
)  # fmt: skip
def test_any_halves_of_a_ball_are_filled_as_by_one_process(middle, radius, thickness, size):
    """Halves of any size, with rims of any thickness."""
    cut = {"box": {"center": middle, "size": [2.0, thickness, 2.0]}}
    ball = {"sphere": {"center": [0, 0, 0], "radius": radius}}
    shape = read({"difference": {"of": ball, "minus": [cut]}})
    try:
        fill(shape, 3, 0.1)
    except SceneError:
        return
    assert_same(size, shape, 3, 0.1)


def test_a_body_that_is_too_thin_is_refused_on_all_ranks():
    sheet = read({"box": {"center": [0, 0, 0], "size": [1.0, 0.01, 1.0]}})

    def work(messages):
        with pytest.raises(SceneError, match=r"is thinner than half the spacing"):
            fill(sheet, 3, 0.1, sharers=Team(messages))

    on_ranks(3, work)


SMALLER = {"sphere": {"center": [0.0, 0.5, 0.0], "radius": 0.2}}
WALLS = {
    "title": "a ball",
    "method": "mpm",
    "duration": 1.0,
    "grid": {"cell": 0.05},
    "body": [{"material": "soft rubber", "shape": {"sphere": {"center": [0.0, 0.5, 0.0], "radius": 0.3}}}],
}


@pytest.mark.parametrize(
    "change",
    [
        {"grid": {"cell": 0.05, "walls": {"lower": [-1.0, 0.3, -1.0], "upper": [1.0, 1.0, 1.0]}}},
        {"obstacle": [{"shape": {"half_space": {"point": [0.0, 0.9, 0.0], "normal": [0.0, 1.0, 0.0]}}}]},
        {"body": [*WALLS["body"], {"material": "soft rubber", "shape": SMALLER}]},
    ],
    ids=["walls", "obstacle", "bodies"],
)  # fmt: skip
def test_all_ranks_refuse_a_misplaced_body_with_the_sentence_of_one_process(change):
    scene = WALLS | change
    with pytest.raises(SceneError) as alone:
        build_sources(load_scene(scene))

    def work(messages):
        with pytest.raises(SceneError) as found:
            build_sources(load_scene(scene), Team(messages))
        return str(found.value)

    assert on_ranks(3, work) == [str(alone.value)] * 3


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("count", [0, 1, 7, 300])
def test_places_are_those_in_the_order_of_all_numbers(size, count):
    rng = np.random.default_rng(count)
    numbers = rng.choice(10 * count + 1, count, replace=False)
    rank = rng.integers(size, size=count)
    expected = np.argsort(np.argsort(numbers))

    def work(messages):
        own = np.sort(numbers[rank == messages.rank])
        return dict(zip(own.tolist(), Team(messages).places(own).tolist()))

    found = {number: place for part in on_ranks(size, work) for number, place in part.items()}
    assert found == dict(zip(numbers.tolist(), expected.tolist()))
