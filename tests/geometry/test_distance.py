"""Every shape: sign, distance and gradient of its compiled program."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from shape_cases import BY_NAME, CASES, PRIMITIVES, A, B, Case, norm, read

from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distance, distance_and_gradient, distances, distances_and_gradients
from spume.geometry.sdf.operations import join
from spume.geometry.shapes.extent import bounds

EXACT = [case for case in PRIMITIVES if case.surface is not None]


def window(case: Case, n: int, seed: int = 0, margin: float = 0.4) -> np.ndarray:
    """Random places in and around a shape."""
    lower, upper = bounds(case.shape, case.dimension)
    lower, upper = np.maximum(lower, -1.0) - margin, np.minimum(upper, 1.0) + margin
    return np.random.default_rng(seed).uniform(lower, upper, (n, case.dimension))


def ids(cases):
    return [case.name for case in cases]


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_sign_agrees_with_the_definition_of_the_shape(case):
    x = window(case, 20_000)
    d = distances(compile_shape(case.shape, case.dimension), x)
    clear = np.abs(d) > 1e-12  # closer, the definition itself is rounded
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(d[clear] < 0, case.inside(x)[clear])
    assert 0 < (d < 0).mean() < 1


@pytest.mark.parametrize("case", EXACT, ids=ids(EXACT))
def test_distance_of_a_primitive_is_that_to_the_nearest_of_many_surface_points(case):
    """With n random points over an area a, the ball of radius δ around the nearest place of the surface holds one
    except with probability exp(−n π δ²/a) (exp(−2 n δ/a) on a curve): δ is chosen for e⁻³⁰."""
    n = 100_000
    rng = np.random.default_rng(1)
    surface = case.surface(rng, n)
    delta = math.sqrt(30 * case.area / (math.pi * n)) if case.dimension == 3 else 30 * case.area / (2 * n)
    x = window(case, 2_000, seed=2, margin=0.2)
    d = np.abs(distances(compile_shape(case.shape, case.dimension), x))
    nearest = cKDTree(surface).query(x)[0]
    assert (d <= nearest + 1e-12).all()
    assert (nearest <= d + delta).all()


@pytest.mark.parametrize("case", EXACT, ids=ids(EXACT))
def test_distance_vanishes_on_the_surface(case):
    surface = case.surface(np.random.default_rng(3), 5_000)
    d = distances(compile_shape(case.shape, case.dimension), surface)
    # Rounding of coordinates of size 1, a few operations of the sampler and the kernel each.
    assert np.abs(d).max() < 64 * np.finfo(float).eps


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_distance_is_lipschitz_so_it_never_overestimates(case):
    """|d(a) − d(b)| ≤ |a − b|. With b on the surface this says that |d| is not more than the distance to it."""
    program = compile_shape(case.shape, case.dimension)
    a = window(case, 20_000, seed=4)
    rng = np.random.default_rng(5)
    lengths = 10.0 ** rng.uniform(-6, 0, (len(a), 1))
    b = a + lengths * rng.normal(size=a.shape)
    change = np.abs(distances(program, a) - distances(program, b))
    assert (change <= norm(a - b) + 1e-13).all()


@pytest.mark.parametrize("case", CASES, ids=ids(CASES))
def test_gradient_is_a_unit_vector_and_the_derivative_of_the_distance(case):
    """Central differences of step h err by h² × curvature, and by eps/h from rounding. Where they disagree the point
    must lie within h of a kink; there are few such points, as kinks are surfaces: a share of order h."""
    program = compile_shape(case.shape, case.dimension)
    x = window(case, 5_000, seed=6)
    _, gradient = distances_and_gradients(program, x)
    assert np.abs(norm(gradient) - 1).max() < 1e-9
    h = 1e-6
    steps = h * np.eye(case.dimension)
    numeric = np.stack([(distances(program, x + e) - distances(program, x - e)) / (2 * h) for e in steps], axis=1)
    if "smooth" in case.name:  # there the derivative is shorter than one
        numeric /= norm(numeric)[:, None]
    wrong = np.abs(numeric - gradient).max(axis=1) > 1e-5
    assert wrong.mean() < 1e-3


def test_smooth_union_of_two_spheres_has_the_value_of_its_formula():
    case = BY_NAME["smooth union"]
    x = window(case, 5_000)
    a, b = norm(x) - 0.4, norm(x - np.array([0.35, 0.1, 0.0])) - 0.35
    expected = np.minimum(a, b) - np.maximum(0.3 - np.abs(a - b), 0) ** 2 / 1.2
    np.testing.assert_allclose(distances(compile_shape(case.shape, 3), x), expected, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(
    axes=st.tuples(*[st.floats(1e-3, 1e3)] * 3),
    place=st.tuples(*[st.one_of(st.just(0.0), st.floats(-1e3, 1e3))] * 3),
)
def test_ellipsoid_of_any_proportions_has_its_nearest_point_on_its_surface(axes, place):
    """x − d ∇d is the nearest point: on the surface, and with the gradient along the normal there. Planes of symmetry,
    where the nearest point jumps, are included."""
    shape = read({"ellipsoid": {"center": [0, 0, 0], "semi_axes": list(axes)}})
    d, *gradient = distance_and_gradient(compile_shape(shape, 3), *place)
    e, x, g = np.array(axes), np.array(place), np.array(gradient)
    nearest = x - d * g
    size = max(norm(x), e.max())
    # Rounding of the nearest point, 1e-14 of the largest length, divided by the smallest semi-axis.
    tolerance = 1e-13 * size / e.min()
    assert abs(norm(nearest / e) - 1) < max(tolerance, 1e-10)
    normal = nearest / e**2
    if tolerance < 1e-9:
        assert norm(normal / norm(normal) - g) < 1e-4
    assert (d < 0) == (norm(x / e) < 1) or abs(norm(x / e) - 1) < tolerance


@pytest.mark.parametrize(
    ("table", "place", "expected"),
    [
        (A, (0.0, 0.0, 0.0), -0.4),
        ({"capsule": {"start": [0, 0, 0], "end": [1, 0, 0], "radius": 0.1}}, (0.5, 0.0, 0.0), -0.1),
        ({"capsule": {"start": [0, 0, 0], "end": [0, 0, 0], "radius": 0.1}}, (0.0, 0.0, 0.0), -0.1),
        ({"torus": {"center": [0, 0, 0], "major_radius": 1, "minor_radius": 0.2}}, (1.0, 0.0, 0.0), -0.2),
        ({"torus": {"center": [0, 0, 0], "major_radius": 1, "minor_radius": 0.2}}, (0.0, 0.0, 0.0), 0.8),
        ({"cylinder": {"center": [0, 0, 0], "radius": 0.2, "height": 2}}, (0.0, 0.0, 0.0), -0.2),
        ({"cone": {"base": [0, 0, 0], "radius": 1, "height": 1}}, (0.0, 1.0, 0.0), 0.0),
        ({"box": {"center": [0, 0, 0], "size": [1, 1, 1]}}, (0.5, 0.5, 0.5), 0.0),
        ({"ellipsoid": {"center": [0, 0, 0], "semi_axes": [3, 2, 1]}}, (0.0, 0.0, 0.0), -1.0),
        ({"ellipsoid": {"center": [0, 0, 0], "semi_axes": [1, 1, 1]}}, (0.0, 0.0, 0.0), -1.0),
    ],
    ids=lambda value: str(value) if isinstance(value, tuple) else None,
)
def test_where_the_distance_has_a_kink_it_is_exact_and_the_gradient_a_unit_vector(table, place, expected):
    d, *gradient = distance_and_gradient(compile_shape(read(table), 3), *place)
    assert d == pytest.approx(expected, abs=1e-14)
    assert norm(np.array(gradient)) == pytest.approx(1, abs=1e-12)


def test_a_2d_shape_is_a_prism():
    program = compile_shape(read({"circle": {"center": [0, 0], "radius": 1}}), 2)
    assert distance(program, 0.5, 0.0, 7.0) == -0.5


def test_a_guarded_union_equals_the_plain_minimum():
    """Guards skip copies that are too far to matter: the result must be that of all copies, to rounding."""
    step = np.array([0.3, 0.25, 0.2])
    ball = {"sphere": {"center": [0, 0, 0], "radius": 0.1}}
    shape = read({"repeat": {"shape": ball, "count": [7, 5, 4], "spacing": step.tolist()}})
    x = np.random.default_rng(7).uniform(-0.5, 2.5, (5_000, 3))
    copies = [distances(compile_shape(read(ball), 3), x - step * index) for index in np.ndindex(7, 5, 4)]
    np.testing.assert_allclose(distances(compile_shape(shape, 3), x), np.min(copies, axis=0), rtol=0, atol=1e-15)


def test_far_away_a_repeated_shape_is_not_visited_copy_by_copy():
    """The rows of 1,000 copies stand under guards: spoiling those far away must not change the distance."""
    shape = read({"repeat": {"shape": A, "count": [10, 10, 10], "spacing": [1, 1, 1]}})
    program = compile_shape(shape, 3)
    corrupted = program._replace(numbers=program.numbers.copy())
    spheres = program.rows[program.rows[:, 0] == 0]
    centers = program.numbers[spheres[:, 2][:, None] + np.arange(3)]
    far = spheres[norm(centers) > 6]
    corrupted.numbers[far[:, 2] + 3] = np.nan
    assert distance(corrupted, 0.5, 0.1, 0.2) == distance(program, 0.5, 0.1, 0.2)


def test_joined_programs_keep_their_shapes_apart():
    tables = [A, BY_NAME["repeat of differences"].table, BY_NAME["plate with holes"].table, B]
    programs = [compile_shape(read(table), 3) for table in tables]
    joined = join(programs, 3)
    x = np.random.default_rng(8).uniform(-1, 1, (500, 3))
    for k, program in enumerate(programs):
        alone = joined._replace(starts=joined.starts[k : k + 2].copy())
        np.testing.assert_array_equal(distances(alone, x), distances(program, x))
