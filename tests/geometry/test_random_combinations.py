"""Shapes combined at random, nested several levels deep: sign and 1-Lipschitz bound of the compiled program."""

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from shape_cases import ball, in_box, norm, read, rotated

from spume.errors import SceneError
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.shapes.extent import bounds

place = st.tuples(*[st.sampled_from([-0.4, -0.1, 0.0, 0.25, 0.5])] * 3)
length = st.sampled_from([0.15, 0.3, 0.6])
angle = st.sampled_from([0, 30, 90, 215])
AXIS = [1.0, 0.5, -2.0]

# A strategy yields (table of the scene, function that tells what is inside).
spheres = st.builds(ball, place, length)
boxes = st.builds(
    lambda c, size: ({"box": {"center": list(c), "size": list(size)}}, in_box(c, size)),
    place,
    st.tuples(length, length, length),
)


def combine(children):
    several = st.lists(children, min_size=1, max_size=3)

    def union(parts):
        return {"union": {"of": [t for t, _ in parts]}}, lambda x: np.any([f(x) for _, f in parts], axis=0)

    def intersection(parts):
        return {"intersection": {"of": [t for t, _ in parts]}}, lambda x: np.all([f(x) for _, f in parts], axis=0)

    def difference(base, parts):
        table = {"difference": {"of": base[0], "minus": [t for t, _ in parts]}}
        return table, lambda x: base[1](x) & ~np.any([f(x) for _, f in parts], axis=0)

    def rotate(part, degrees, about):
        table = {"rotate": {"shape": part[0], "axis": AXIS, "angle": degrees, "about": list(about)}}
        return table, lambda x: part[1](rotated(x, AXIS, -degrees, about))

    def scale(part, factor, about):
        table = {"scale": {"shape": part[0], "factor": factor, "about": list(about)}}
        return table, lambda x: part[1](np.array(about) + (x - np.array(about)) / factor)

    def repeat(part, count, spacing):
        table = {"repeat": {"shape": part[0], "count": list(count), "spacing": list(spacing)}}
        steps = [np.array(spacing) * index for index in np.ndindex(*count)]
        return table, lambda x: np.any([part[1](x - step) for step in steps], axis=0)

    return st.one_of(
        st.builds(union, several),
        st.builds(intersection, several),
        st.builds(difference, children, several),
        st.builds(rotate, children, angle, place),
        st.builds(scale, children, st.sampled_from([0.5, 1.5]), place),
        st.builds(repeat, children, st.tuples(*[st.integers(1, 3)] * 3), place),
    )


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.one_of(spheres, boxes), combine, max_leaves=8), st.integers(0, 2**32 - 1))
def test_sign_is_exact_and_the_distance_a_lipschitz_bound_inside_the_box_given(made, seed):
    table, inside = made
    shape = read(table)
    try:
        program = compile_shape(shape, 3)
        lower, upper = bounds(shape, 3)
    except SceneError as error:
        assume("do not meet" not in str(error))
        raise
    rng = np.random.default_rng(seed)
    a = rng.uniform(lower - 0.3, upper + 0.3, (400, 3))
    d = distances(program, a)
    clear = np.abs(d) > 1e-9
    np.testing.assert_array_equal(d[clear] < 0, inside(a)[clear])
    outside_box = ((a < lower) | (a > upper)).any(axis=1)
    assert (d[outside_box] > 0).all()
    b = a + 10.0 ** rng.uniform(-4, 0.5, (len(a), 1)) * rng.normal(size=a.shape)
    assert (np.abs(d - distances(program, b)) <= norm(a - b) + 1e-12).all()
