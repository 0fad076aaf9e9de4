"""Boxes around shapes, and their volumes."""

import math

import numpy as np
import pytest
from shape_cases import CASES, COMBINED, A, B, read

from spume.errors import SceneError
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.volume import _by_tree, moments, volume

BOUNDED = [case for case in CASES if not case.name.startswith("half")]


@pytest.mark.parametrize("case", BOUNDED, ids=[case.name for case in BOUNDED])
def test_bounds_hold_the_shape(case):
    lower, upper = bounds(case.shape, case.dimension)
    x = np.random.default_rng(0).uniform(lower - 0.05, upper + 0.05, (50_000, case.dimension))
    x = x[case.inside(x)]
    assert len(x) > 100
    assert (x >= lower).all()
    assert (x <= upper).all()


@pytest.mark.parametrize("case", CASES[:18], ids=[case.name for case in CASES[:18]])
def test_bounds_of_a_primitive_are_tight_even_when_it_is_turned(case):
    """A shape touches each side of its tightest box: there the distance to the shape is zero somewhere. The side is
    searched by following the distance downhill."""
    turn = {"rotate": {"shape": case.table, "angle": 25}}
    if case.dimension == 3:
        turn["rotate"]["axis"] = [0.3, 1.0, -0.4]
    shape = read(turn)
    lower, upper = bounds(shape, case.dimension)
    if not np.isfinite(np.concatenate([lower, upper])).all():
        pytest.skip("a shape without end has no box to touch")
    program = compile_shape(shape, case.dimension)
    rng = np.random.default_rng(1)
    for axis in range(case.dimension):
        for side in (lower, upper):
            x = rng.uniform(lower, upper, (1_500, case.dimension))
            spread = upper - lower
            for _ in range(20):
                x[:, axis] = side[axis]
                best = x[np.argsort(distances(program, x))[:75]]
                spread = 0.7 * spread
                x = np.repeat(best, 20, axis=0) + rng.uniform(-0.5, 0.5, (1_500, case.dimension)) * spread
            x[:, axis] = side[axis]
            assert abs(distances(program, x).min()) < 1e-3


def test_bounds_of_half_spaces_are_infinite_but_along_their_normal():
    lower, upper = bounds(read({"half_space": {"point": [0, 2, 0], "normal": [0, 1, 0]}}), 3)
    np.testing.assert_array_equal(lower, [-math.inf] * 3)
    np.testing.assert_array_equal(upper, [math.inf, 2, math.inf])


@pytest.mark.parametrize(
    ("table", "dimension", "expected"),
    [
        ({"sphere": {"center": [0, 0, 0], "radius": 2}}, 3, 32 / 3 * math.pi),
        ({"box": {"center": [0, 0, 0], "size": [1, 2, 3]}}, 3, 6),
        ({"cylinder": {"center": [0, 0, 0], "radius": 2, "height": 3}}, 3, 12 * math.pi),
        ({"capsule": {"start": [0, 0, 0], "end": [0, 3, 4], "radius": 1}}, 3, (5 + 4 / 3) * math.pi),
        ({"cone": {"base": [0, 0, 0], "radius": 2, "height": 3}}, 3, 4 * math.pi),
        ({"torus": {"center": [0, 0, 0], "major_radius": 3, "minor_radius": 1}}, 3, 6 * math.pi**2),
        ({"ellipsoid": {"center": [0, 0, 0], "semi_axes": [1, 2, 3]}}, 3, 8 * math.pi),
        ({"circle": {"center": [0, 0], "radius": 2}}, 2, 4 * math.pi),
        ({"rectangle": {"center": [0, 0], "size": [2, 3]}}, 2, 6),
        ({"ellipse": {"center": [0, 0], "semi_axes": [2, 3]}}, 2, 6 * math.pi),
        ({"ring": {"center": [0, 0], "inner_radius": 1, "outer_radius": 2}}, 2, 3 * math.pi),
        ({"polygon": {"points": [[0, 0], [0, 2], [3, 0]]}}, 2, 3),
        ({"capsule": {"start": [0, 0], "end": [3, 4], "radius": 1}}, 2, 10 + math.pi),
        ({"scale": {"shape": A, "factor": 2}}, 3, 8 * 4 / 3 * math.pi * 0.4**3),
        ({"repeat": {"shape": A, "count": [2, 3, 4], "spacing": [0.8, -0.8, 0.9]}}, 3, 24 * 4 / 3 * math.pi * 0.4**3),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_volume_in_closed_form(table, dimension, expected):
    assert volume(read(table), dimension) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("case", BOUNDED[:17], ids=[case.name for case in BOUNDED[:17]])
def test_volume_by_cells_agrees_with_the_closed_form(case):
    exact = volume(case.shape, case.dimension)
    tree = _by_tree(case.shape, case.dimension, None)
    assert tree.volume == pytest.approx(exact, rel=1e-3)
    size = np.ptp(bounds(case.shape, case.dimension), axis=0).max()
    np.testing.assert_allclose(tree.centroid, moments(case.shape, case.dimension).centroid, rtol=0, atol=1e-4 * size)


def test_volume_of_overlapping_spheres_is_that_of_the_lens_formula():
    """Two spheres of radii R, r at distance d share π (R+r−d)² (d²+2d(R+r)−3(R−r)²) / (12 d)."""
    R, r, d = 0.4, 0.35, math.hypot(0.35, 0.1)
    lens = math.pi * (R + r - d) ** 2 * (d * d + 2 * d * (R + r) - 3 * (R - r) ** 2) / (12 * d)
    a, b = 4 / 3 * math.pi * R**3, 4 / 3 * math.pi * r**3
    assert volume(read({"intersection": {"of": [A, B]}}), 3) == pytest.approx(lens, rel=1e-3)
    assert volume(read({"union": {"of": [A, B]}}), 3) == pytest.approx(a + b - lens, rel=1e-3)
    assert volume(read({"difference": {"of": A, "minus": [B]}}), 3) == pytest.approx(a - lens, rel=1e-3)


@pytest.mark.parametrize("case", COMBINED, ids=[case.name for case in COMBINED])
def test_volume_of_a_combination_agrees_with_random_places(case):
    """n random places in a box of volume v, a share p of them inside, err by v √(p (1 − p)/n); five times that."""
    lower, upper = bounds(case.shape, case.dimension)
    box = np.prod(upper - lower)
    n = 100_000
    p = case.inside(np.random.default_rng(2).uniform(lower, upper, (n, case.dimension))).mean()
    error = 5 * box * math.sqrt(p * (1 - p) / n)
    assert abs(volume(case.shape, case.dimension) - p * box) < error + 1e-3 * p * box


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"half_space": {"point": [0, 0, 0], "normal": [0, 1, 0]}}, "is unbounded"),
        ({"difference": {"of": A, "minus": [{"scale": {"shape": A, "factor": 2}}]}}, "has no volume"),
        (
            {"intersection": {"of": [A, {"translate": {"shape": A, "by": [3, 0, 0]}}]}},
            "is empty: its parts do not meet",
        ),
        ({"intersection": {"of": [A, {"translate": {"shape": A, "by": [0.6, 0.6, 0]}}]}}, "has no volume"),
    ],
    ids=["unbounded", "all cut away", "far apart", "boxes overlap only"],
)
def test_a_shape_without_a_finite_volume_is_an_error(table, message):
    with pytest.raises(SceneError, match=message):
        volume(read(table), 3)
