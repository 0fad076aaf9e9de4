"""A shape is filled in its own frame, with its own volume and centroid."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from shape_cases import CASES, COMBINED, A, B, norm, read

from spume.geometry.filling.cells import points_of_cells
from spume.geometry.filling.fill import expected_points, fill
from spume.geometry.filling.frame import own_frame
from spume.geometry.filling.lattice import lattice_within
from spume.geometry.shapes.placement import HERE, rotation_matrix
from spume.geometry.shapes.volume import moments

BOUNDED = [case for case in [*CASES, *COMBINED] if not case.name.startswith("half")]
CELL = 0.08
SPACING = CELL / 2
HEMISPHERE = {"difference": {"of": A, "minus": [{"half_space": {"point": [0, 0.08, 0], "normal": [0, 1, 0]}}]}}
LENS = {"intersection": {"of": [A, B]}}
CORNER = {
    "union": {
        "of": [
            {"box": {"center": [0, 0, 0], "size": [0.43, 0.3, 0.2]}},
            {"box": {"center": [0.1, 0.15, 0], "size": [0.2, 0.51, 0.2]}},
        ]
    }
}
TILTED = {"cylinder": {"center": [0.1, 0.2, 0.3], "radius": 0.2, "height": 0.37, "axis": [1, 2, -0.5]}}
TURNED = {
    "rotate": {
        "shape": {"box": {"center": [0.3, 0, 0], "size": [0.5, 0.23, 0.31]}},
        "angle": 33,
        "axis": [1, 2, 3],
        "about": [0, 0, 0],
    }
}
ARROW = {"polygon": {"points": [[0, 0], [0.7, 0.2], [0.1, 0.5], [0.2, 0.2]]}}
SOLIDS = {
    "hemisphere": (HEMISPHERE, 3), "lens": (LENS, 3), "corner": (CORNER, 3), "tilted cylinder": (TILTED, 3),
    "turned box": (TURNED, 3), "arrow": (ARROW, 2),
    "cone": ({"cone": {"base": [0, 0.1, 0], "radius": 0.3, "height": 0.5, "axis": [0.3, 1, 0.2]}}, 3),
    "capsule": ({"capsule": {"start": [0, 0, 0], "end": [0.2, 0.3, 0.1], "radius": 0.15}}, 3),
}  # fmt: skip
PLACES = ("center", "start", "end", "base", "point", "about", "points")
DIRECTIONS = ("axis", "normal", "by")


def centroid(filling):
    return filling.volume @ filling.positions / filling.volume.sum()


def changed(table, place, direction, turn=1.0):
    """A copy of a shape's table with all places and directions mapped, and angles multiplied by `turn`."""
    if isinstance(table, list):
        return [changed(item, place, direction, turn) for item in table]
    if not isinstance(table, dict):
        return table
    new = {}
    for key, value in table.items():
        if key == "points":
            new[key] = [place(np.array(point)).tolist() for point in value]
        elif key in PLACES:
            new[key] = place(np.array(value, float)).tolist()
        elif key in DIRECTIONS:
            pseudo = turn if "angle" in table else 1.0  # the axis of a rotation
            new[key] = (pseudo * direction(np.array(value, float))).tolist()
        else:
            new[key] = changed(value, place, direction, turn)
    return new


FEW = [case for case in BOUNDED if case.name in ("cone", "polygon", "difference", "smooth union", "2D smooth union")]
RANDOM = [("lattice", 0.8), ("poisson-disk", 0.0)]


@pytest.mark.parametrize(
    ("case", "pattern", "jitter"),
    [(case, "lattice", 0.0) for case in BOUNDED] + [(case, *random) for case in FEW for random in RANDOM],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_points_have_volume_and_centroid_of_the_shape(case, pattern, jitter):
    filling = fill(case.shape, case.dimension, CELL, pattern, jitter=jitter)
    exact = moments(case.shape, case.dimension)
    assert filling.volume.sum() == pytest.approx(exact.volume, rel=1e-12)
    # what `moments.ROUNDING` leaves alone
    np.testing.assert_allclose(centroid(filling), exact.centroid[: case.dimension], rtol=0, atol=1e-9 * SPACING)
    assert filling.volume.min() > 0


@pytest.mark.parametrize("case", COMBINED, ids=[case.name for case in COMBINED])
def test_centroids_of_combined_shapes_are_those_of_dense_samples(case):
    """A lattice of samples that know nothing of the package. Where a face lies on them, they miss half a cell."""
    n = 100 if case.dimension == 3 else 600
    axis = (np.arange(n) + 0.5) / n * 3.0 - 1.5
    x = np.stack(np.meshgrid(*[axis] * case.dimension, indexing="ij"), axis=-1).reshape(-1, case.dimension)
    x = x[case.inside(x)]
    found = moments(case.shape, case.dimension).centroid[: case.dimension]
    np.testing.assert_allclose(found, x.mean(axis=0), rtol=0, atol=0.5 * 3.0 / n)


@pytest.mark.parametrize("name", SOLIDS)
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_a_body_that_stands_elsewhere_has_the_same_points_there(name, data):
    """Coordinates up to 100 m have a rounding of 1.4e-14 m; a corner of a lattice sums up a few."""
    table, d = SOLIDS[name]
    by = np.array(data.draw(st.lists(st.floats(-100, 100), min_size=d, max_size=d)))
    there = fill(read(changed(table, lambda x: x + by, lambda v: v)), d, CELL)
    here = fill(read(table), d, CELL)
    assert len(here.volume) == len(there.volume)
    assert np.abs(there.positions - by - here.positions).max() < 1e-10
    np.testing.assert_allclose(there.volume, here.volume, rtol=0, atol=1e-9 * SPACING**d)


@pytest.mark.parametrize("pattern", ["lattice", "poisson-disk"])
@pytest.mark.parametrize("name", SOLIDS)
def test_a_body_that_is_displaced_and_turned_has_its_points_displaced_and_turned(name, pattern):
    table, d = SOLIDS[name]
    turn = {"shape": table, "angle": 77} | ({"axis": [1, -2, 0.4]} if d == 3 else {})
    R = rotation_matrix([1, -2, 0.4] if d == 3 else [0, 0, 1], math.radians(77))[:d, :d]
    by = np.array([3.21, -0.77, 0.123])[:d]
    moved = fill(read({"translate": {"shape": {"rotate": turn}, "by": by.tolist()}}), d, CELL, pattern, rng=5)
    here = fill(read(table), d, CELL, pattern, rng=5)
    np.testing.assert_allclose(moved.positions, here.positions @ R.T + by, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(moved.volume, here.volume)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", SOLIDS)
def test_a_mirrored_body_has_mirrored_points(name, axis):
    table, d = SOLIDS[name]
    sign = np.where(np.arange(d) == axis, -1.0, 1.0)
    other = fill(read(changed(table, lambda x: sign * x, lambda v: sign * v, turn=-1.0)), d, CELL)
    here = fill(read(table), d, CELL)
    assert len(other.volume) == len(here.volume)
    distance, which = cKDTree(sign * other.positions).query(here.positions)
    assert distance.max() < 1e-12
    np.testing.assert_allclose(other.volume[which], here.volume, rtol=0, atol=1e-9 * SPACING**d)


@settings(max_examples=60, deadline=None)
@given(
    size=st.lists(st.floats(5, 20), min_size=3, max_size=3), center=st.lists(st.floats(-9, 9), min_size=3, max_size=3)
)
def test_boxes_are_filled_evenly_from_face_to_face_wherever_they_stand(size, center):
    """5 to 20 spacings: cells of equal size, whose edges differ from the spacing by at most half of it over their
    number, and points in their middles."""
    size, center = SPACING * np.array(size), np.array(center)
    filling = fill(read({"box": {"center": center.tolist(), "size": size.tolist()}}), 3, CELL)
    local = filling.positions - center
    for axis in range(3):
        layers = np.unique(np.round(local[:, axis], 9))
        edge = size[axis] / len(layers)
        assert abs(edge / SPACING - 1.0) <= 0.5 / len(layers) + 1e-3
        expected = (np.arange(len(layers)) + 0.5) * edge - size[axis] / 2
        np.testing.assert_allclose(layers, expected, rtol=0, atol=2e-9)
    np.testing.assert_allclose(filling.volume, np.prod(size) / len(local), rtol=1e-9)


def test_boxes_of_any_size_are_never_refused():
    """200 rectangles and boxes of 5 to 20 spacings at random places."""
    rng = np.random.default_rng(2)
    for k in range(200):
        d = 2 + k % 2
        size, center = SPACING * rng.uniform(5, 20, d), rng.uniform(-50, 50, d)
        shape = read({("rectangle", "box")[k % 2]: {"center": center.tolist(), "size": size.tolist()}})
        filling = fill(shape, d, CELL)
        assert filling.volume.sum() == pytest.approx(np.prod(size), rel=1e-12)
        np.testing.assert_allclose(centroid(filling), center, rtol=0, atol=1e-12)
        assert expected_points(shape, d, SPACING, "lattice") == pytest.approx(len(filling.volume), rel=1e-9)


def test_stacked_boxes_leave_no_gap_and_do_not_crowd():
    """The layers beside the common face are half a cell of each from it."""
    below = fill(read({"box": {"center": [0.013, 0.1, 0], "size": [0.4, 0.2, 0.4]}}), 3, CELL).positions
    above = fill(read({"box": {"center": [0.013, 0.335, 0], "size": [0.4, 0.27, 0.4]}}), 3, CELL).positions
    assert below[:, 1].max() == pytest.approx(0.2 - 0.5 * 0.2 / 5)
    assert above[:, 1].min() == pytest.approx(0.2 + 0.5 * 0.27 / 7)
    together = {"union": {"of": [
        {"box": {"center": [0.013, 0.1, 0], "size": [0.4, 0.2, 0.4]}},
        {"box": {"center": [0.013, 0.335, 0], "size": [0.4, 0.27, 0.4]}},
    ]}}  # fmt: skip
    both = fill(read(together), 3, CELL)
    np.testing.assert_array_equal(both.positions, np.concatenate([below, above]))
    assert both.volume.sum() == pytest.approx(0.47 * 0.4 * 0.4, rel=1e-12)


def test_overlapping_parts_of_a_union_are_filled_once():
    filling = fill(read(CORNER), 3, CELL)
    assert filling.volume.sum() == pytest.approx(0.2 * (0.43 * 0.3 + 0.2 * 0.255), rel=1e-3)
    assert cKDTree(filling.positions).query(filling.positions, k=2)[0][:, 1].min() > 0.5 * SPACING


def test_copies_of_a_shape_have_the_same_points():
    ball = {"sphere": {"center": [0.01, 0, 0], "radius": 0.1}}
    one = fill(read(ball), 3, CELL)
    several = fill(read({"repeat": {"shape": ball, "count": [3, 1, 2], "spacing": [0.2, 0.5, -0.27]}}), 3, CELL)
    moves = [[0.2 * i, 0.0, -0.27 * k] for i in range(3) for k in range(2)]
    expected = np.concatenate([one.positions + move for move in moves])
    np.testing.assert_allclose(several.positions, expected, rtol=0, atol=1e-15)


def test_a_flat_face_that_a_cut_makes_lies_on_the_edges_of_cells():
    """The lower face of a ball less a half space, at y = 0.08: points lie half a cell above it."""
    filling = fill(read(HEMISPHERE), 3, CELL)
    edge = 0.32 / 8
    inside = np.hypot(filling.positions[:, 0], filling.positions[:, 2]) < 0.2
    assert filling.positions[inside, 1].min() == pytest.approx(0.08 + edge / 2, abs=1e-6)


@pytest.mark.parametrize("thickness", [0.55, 0.8, 1.0, 1.3, 1.6, 2.4])
def test_sheets_of_one_or_two_spacings_have_whole_layers(thickness):
    sheet = {"box": {"center": [0.3, 0.017, 0], "size": [0.5, thickness * SPACING, 0.5]}}
    turned = read({"rotate": {"shape": sheet, "angle": 21, "axis": [1, 1, 0]}})
    filling = fill(turned, 3, CELL)
    y = (filling.positions @ rotation_matrix([1, 1, 0], math.radians(21)))[:, 1] - 0.017
    layers = 2 if thickness >= 1.5 else 1
    expected = (np.arange(layers) + 0.5 - layers / 2) * thickness / layers
    np.testing.assert_allclose(np.unique(np.round(y / SPACING, 9)), expected, atol=1e-8)


def test_a_body_smaller_than_a_cell_keeps_its_mass():
    ball = fill(read({"sphere": {"center": [0.123, 0.4, 0], "radius": 0.4 * SPACING}}), 3, CELL)
    np.testing.assert_allclose(ball.positions, [[0.123, 0.4, 0]], atol=1e-12)
    assert ball.volume == pytest.approx(4 / 3 * math.pi * (0.4 * SPACING) ** 3)


@settings(max_examples=25, deadline=None)
@given(radius=st.floats(2.0, 7.0), d=st.sampled_from([2, 3]))
def test_second_moments_of_balls_are_right(radius, d):
    """Polar moment of a ball d/(d + 2) V R². A point in the middle of a cubic cell lacks d h²/12 of V h² each; at the
    surface a rest of the order of h³/R."""
    R = radius * SPACING
    assume(radius >= 2.0)
    shape = read({"circle" if d == 2 else "sphere": {"center": [0.3] * d, "radius": R}})
    filling = fill(shape, d, CELL)
    h = 2 * R / math.floor(2 * radius + 0.5 + 1e-4)
    found = filling.volume @ norm(filling.positions - 0.3) ** 2 / filling.volume.sum()
    assert abs(found + d * h**2 / 12 - d / (d + 2) * R**2) < 0.5 * h**3 / R


def test_cells_have_the_volume_that_is_inside():
    """Each cell of a ball against 40³ samples; the cells that gave or received are compared by their sum."""
    frame = own_frame(read({"sphere": {"center": [0, 0, 0], "radius": 1.0}}), HERE, 3, None)
    first, step = np.full(3, -1.0), np.full(3, 0.4)
    index = lattice_within(frame.program, frame.lower, frame.upper, step, 0.4, first)
    points = points_of_cells(frame.program, index, first, step)
    samples = (np.arange(40) + 0.5) / 40
    offsets = np.stack(np.meshgrid(samples, samples, samples, indexing="ij"), axis=-1).reshape(-1, 3)
    true = {
        tuple(k): float((norm(first + (k + offsets) * step) < 1.0).mean()) for k in index
    }  # fmt: skip
    assert points.volume.sum() == pytest.approx(sum(true.values()), rel=0.005)
    for position, volume, whole in zip(points.positions, points.volume, points.whole):
        inside = true[tuple(np.floor(position).astype(int))]
        assert volume >= inside - 0.03
        assert not whole or inside == 1.0
