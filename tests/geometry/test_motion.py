"""Poses of motions and their velocities."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from spume.errors import SceneError
from spume.geometry.motion import KeyframedVector, Motion, pose

MOTION = TypeAdapter(Motion)
KEYS = {
    "times": [0.1, 0.5, 0.9, 1.6],
    "positions": [[0, 0, 0], [0.2, 0, 0.1], [0.3, -0.1, 0.1], [0.3, 0.4, 0]],
    "rotations": [[0, 0, 0], [0, 90, 0], [30, 80, -20], [0, 400, 0]],
    "about": [0.1, 0.2, 0.3],
}
TABLES_3D = {
    "fixed": {"fixed": {}},
    "velocity": {"velocity": {"linear": [1, -2, 0.5], "start": 0.2, "stop": 1.1}},
    "oscillate": {"oscillate": {"direction": [1, 2, 2], "amplitude": 0.3, "frequency": 2, "phase": 40}},
    "rotate": {"rotate": {"axis": [1, 1, 0], "about": [0.5, 0, 0.2], "rate": 3, "start": 0.2, "stop": 1.1}},
    "turns": {"rotate": {"axis": [0, 0, 1], "revolutions_per_second": -1.5}},
    "smooth keyframes": {"keyframes": KEYS},
    "linear keyframes": {"keyframes": {**KEYS, "interpolation": "linear"}},
    "spiral": {
        "spiral": {
            "axis": [1, 2, 0.5],
            "start_radius": 0.3,
            "end_radius": 0.05,
            "revolutions": -1.5,
            "rise": 0.4,
            "phase": 30,
            "start": 0.2,
            "stop": 1.1,
        }
    },
    "spiral by angle": {
        "spiral": {
            "axis": [1, 0, 0],
            "start_radius": 0.0,
            "end_radius": 0.2,
            "revolutions": 2,
            "stop": 1.6,
            "pacing": "angle",
        }
    },
    "polyline": {"polyline": {"points": [[0, 0, 0], [0.5, 0, 0], [0.5, 0.4, 0]], "start": 0.2, "stop": 1.1}},
    "combine": {
        "combine": {
            "of": [
                {"rotate": {"axis": [0, 1, 0], "about": [1, 0, 0], "rate": 2}},
                {"oscillate": {"direction": [0, 1, 0], "amplitude": 0.3, "frequency": 1}},
                {"rotate": {"axis": [1, 0, 1], "about": [0, 0.5, 0], "rate": -1}},
            ]
        }
    },
    "retime": {
        "retime": {
            "motion": {"rotate": {"axis": [1, 1, 0], "about": [0.5, 0, 0.2], "rate": 3}},
            "times": [0.1, 0.5, 0.9, 1.1],
            "speeds": [2, 0, -1, 0.5],
        }
    },
}
TABLES_2D = {
    "velocity": {"velocity": {"linear": [1, -2]}},
    "rotate": {"rotate": {"about": [0.5, 0.3], "rate": 3}},
    "spiral": {"spiral": {"start_radius": 0.1, "end_radius": 0.3, "revolutions": 1, "stop": 1.6}},
    "polyline": {"polyline": {"points": [[0, 0], [0.4, 0.3]], "speed": 0.5}},
    "keyframes": {"keyframes": {"times": [0, 1, 2], "positions": [[0, 0], [1, 0], [1, 1]], "rotations": [0, 360, 90]}},
}
ALL = [(3, *item) for item in TABLES_3D.items()] + [(2, *item) for item in TABLES_2D.items()]
KNOTS = [0.1, 0.2, 0.5, 0.7, 0.9, 1.0, 1.1, 1.6, 2.0]


def read(table):
    return MOTION.validate_python(table)


@pytest.mark.parametrize(("dimension", "name", "table"), ALL, ids=[f"{name} {d}D" for d, name, _ in ALL])
def test_velocity_is_the_time_derivative_of_the_pose(dimension, name, table):
    """Central differences of step h of a smooth motion err by h² |x'''|/6: with rates up to 20 rad/s and lengths of
    1 m, below 2e-9 for h = 1e-6; rounding adds eps/h = 2e-10. Times at which a motion starts or turns are avoided."""
    motion = read(table)
    h = 1e-6
    rng = np.random.default_rng(0)
    local = rng.normal(size=(5, 3)) * [1, 1, dimension == 3]
    for t in rng.uniform(0, 2, 40):
        if min(abs(t - knot) for knot in KNOTS) < 10 * h:
            continue
        at, before, after = (pose(motion, s, dimension) for s in (t, t - h, t + h))
        world, moved, was = (local @ p.R.T + p.p for p in (at, after, before))
        velocity = at.v + np.cross(at.omega, world - at.p)
        np.testing.assert_allclose(velocity, (moved - was) / (2 * h), atol=5e-9)


@pytest.mark.parametrize(("dimension", "name", "table"), ALL, ids=[f"{name} {d}D" for d, name, _ in ALL])
def test_pose_is_rigid_and_stays_in_the_plane_of_a_2d_scene(dimension, name, table):
    for t in np.linspace(-0.5, 3, 15):
        at = pose(read(table), t, dimension)
        np.testing.assert_allclose(at.R @ at.R.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(at.R) > 0
        if dimension == 2:
            assert at.p[2] == at.v[2] == at.omega[0] == at.omega[1] == 0
            np.testing.assert_allclose(at.R[2], [0, 0, 1], atol=1e-15)


def test_absent_motion_is_fixed():
    at = pose(None, 3.0, 3)
    np.testing.assert_array_equal(at.R, np.eye(3))
    assert not (at.p.any())
    assert not (at.v.any())
    assert not (at.omega.any())


def test_closed_forms():
    at = pose(read(TABLES_3D["velocity"]), 0.7, 3)
    np.testing.assert_allclose(at.p, np.array([1, -2, 0.5]) * 0.5, rtol=1e-15)
    at = pose(read(TABLES_3D["velocity"]), 5.0, 3)
    np.testing.assert_allclose(at.p, np.array([1, -2, 0.5]) * 0.9, rtol=1e-15)
    assert not at.v.any()
    at = pose(read(TABLES_3D["oscillate"]), 0.3, 3)
    shift = 0.3 * math.sin(2 * math.pi * 2 * 0.3 + math.radians(40))
    np.testing.assert_allclose(at.p, shift * np.array([1, 2, 2]) / 3, rtol=1e-14)
    quarter = pose(read({"rotate": {"about": [1.0, 0.0], "revolutions_per_second": 0.25}}), 1.0, 2)
    np.testing.assert_allclose(quarter.R @ [2, 0, 0] + quarter.p, [1, 1, 0], atol=1e-15)
    np.testing.assert_allclose(quarter.omega, [0, 0, math.pi / 2], rtol=1e-15)


def test_a_retimed_motion_is_the_original_at_the_time_of_its_clock():
    """τ = t up to 0.5 s, then twice as fast up to 1 s, then at rest."""
    original = TABLES_3D["oscillate"]
    motion = read({"retime": {"motion": original, "times": [0.5, 1.0], "speeds": [2.0, 0.0]}})
    for t, clock, speed in ((0.25, 0.25, 1.0), (0.5, 0.5, 2.0), (0.75, 1.0, 2.0), (1.0, 1.5, 0.0), (3.0, 1.5, 0.0)):
        at, expected = pose(motion, t, 3), pose(read(original), clock, 3)
        np.testing.assert_array_equal(at.p, expected.p)
        np.testing.assert_array_equal(at.v, speed * expected.v)


@pytest.mark.parametrize("interpolation", ["smooth", "linear"])
def test_keyframes_go_through_what_is_given(interpolation):
    from scipy.spatial.transform import Rotation

    motion = read({"keyframes": {**KEYS, "interpolation": interpolation}})
    about = np.array(KEYS["about"])
    for t, shift, turn in zip(KEYS["times"], KEYS["positions"], KEYS["rotations"]):
        at = pose(motion, t, 3)
        expected = Rotation.from_rotvec(np.radians(turn)).as_matrix()
        np.testing.assert_allclose(at.R, expected, atol=1e-14)
        np.testing.assert_allclose(at.R @ about + at.p, about + shift, atol=1e-14)


def test_a_spiral_keeps_its_speed_and_ends_where_it_should():
    """Constant speed: the length of the path, here summed over 20,000 chords, over the time. Chords of arcs of radius r
    and angle a are short by a²/24 of their length, 1e-8 here."""
    table = {"axis": [0, 1, 0], "start_radius": 0.1, "end_radius": 0.0, "revolutions": 3, "rise": 0.05, "stop": 2.0}
    motion = read({"spiral": table})
    times = np.linspace(0.0, 2.0, 20_001)
    places = np.array([pose(motion, t, 3).p for t in times])
    speeds = np.linalg.norm([pose(motion, t, 3).v for t in times[:-1]], axis=1)
    length = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    np.testing.assert_allclose(speeds, length / 2.0, rtol=1e-6)
    np.testing.assert_allclose(places[0], [0.1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(places[-1], [0, 0.05, 0], atol=1e-15)
    half = pose(read({"spiral": table | {"pacing": "angle", "revolutions": 0.5}}), 1.0, 3)
    np.testing.assert_allclose(half.p, [0, 0.025, -0.05], atol=1e-15)  # a quarter turn about y leads from x to −z


def test_a_polyline_passes_its_points_at_a_constant_speed():
    motion = read({"polyline": {"points": [[0, 0], [0.3, 0], [0.3, 0.4]], "speed": 0.1, "start": 1.0}})
    for t, expected in ((0.5, [0, 0]), (2.0, [0.1, 0]), (4.0, [0.3, 0]), (6.0, [0.3, 0.2]), (9.0, [0.3, 0.4])):
        np.testing.assert_allclose(pose(motion, t, 2).p[:2], expected, atol=1e-15)
    np.testing.assert_allclose(pose(motion, 5.0, 2).v, [0, 0.1, 0], atol=1e-15)


def test_smooth_keyframes_have_no_jump_of_velocity_and_rest_at_both_ends():
    """Continuously differentiable: across a key the velocity changes by at most 2e-9 s × acceleration (1e3)."""
    motion = read({"keyframes": KEYS})
    for t in KEYS["times"]:
        before, after = pose(motion, t - 1e-9, 3), pose(motion, t + 1e-9, 3)
        np.testing.assert_allclose(before.v, after.v, atol=2e-6)
        np.testing.assert_allclose(before.omega, after.omega, atol=2e-6)
    for t in (0.0, 0.1, 1.6, 9.0):
        at = pose(motion, t, 3)
        assert not (at.v.any())
        assert not (at.omega.any())


def test_linear_keyframes_turn_a_full_turn_when_told_to():
    motion = read({"keyframes": {"times": [0, 1], "rotations": [0, 720], "interpolation": "linear"}})
    assert pose(motion, 0.4, 2).omega[2] == pytest.approx(4 * math.pi, rel=1e-14)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.floats(0.01, 3), st.floats(-5, 5)), min_size=2, max_size=8), st.floats(0, 1))
def test_smooth_track_never_leaves_the_range_of_its_neighbours(steps, fraction):
    times = np.cumsum([gap for gap, _ in steps])
    values = [value for _, value in steps]
    track = KeyframedVector(times, [[value] for value in values], "smooth")
    t = times[0] + fraction * (times[-1] - times[0])
    k = min(int(np.searchsorted(times, t, side="right")) - 1, len(times) - 2)
    low, high = sorted(values[k : k + 2])
    (value,), _ = track.at(t)
    assert low - 1e-9 <= value <= high + 1e-9


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"rotat": {}}, "there is no motion 'rotat'; did you mean 'rotate'?"),
        ({"spiral": {"start_radius": 0, "end_radius": 0, "revolutions": 2, "stop": 1}}, "has no length"),
        ({"polyline": {"points": [[0, 0], [1, 0]]}}, "needs one of 'stop' [s] and 'speed' [m/s]"),
        ({"polyline": {"points": [[0, 0], [0, 0]], "speed": 1}}, "points 1 and 2 of the polyline are the same place"),
        ({"rotate": {"axis": [0, 0, 1]}}, "needs one of 'rate' [rad/s] and 'revolutions_per_second'"),
        ({"rotate": {"axis": [0, 0, 0], "rate": 1}}, "a direction cannot be the zero vector"),
        ({"velocity": {"linear": [1, 0, 0], "start": 2, "stop": 1}}, "'stop', 1 s, must be later than 'start', 2 s"),
        ({"keyframes": {"times": [0, 1], "positions": [[0, 0, 0]]}}, "'positions' has 1 items and 'times' has 2"),
        ({"keyframes": {"times": [0, 0], "positions": [[0, 0], [1, 1]]}}, "'times' must increase"),
        ({"keyframes": {"times": [0, 1]}}, "keyframes need 'positions' or 'rotations'"),
        ({"oscillate": {"direction": [1, 0, 0], "amplitude": 0.1, "frequency": 1, "fase": 3}}, "Extra inputs"),
        ({"combine": {"of": []}}, "the list is empty"),
        (
            {"retime": {"motion": {"fixed": {}}, "times": [0, 1], "speeds": [2]}},
            "'speeds' has 1 items and 'times' has 2",
        ),
        ({"retime": {"motion": {"fixed": {}}, "times": [1, 1], "speeds": [2, 3]}}, "'times' must increase"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_malformed_motion_is_an_error_that_says_why(table, sentence):
    with pytest.raises(ValidationError) as caught:
        read(table)
    (error,) = caught.value.errors()
    assert sentence in error["msg"]


@pytest.mark.parametrize(
    ("dimension", "table", "sentence"),
    [
        (2, {"velocity": {"linear": [1, 0, 0]}}, "'linear' of the motion has 3 components"),
        (2, {"rotate": {"axis": [0, 1], "rate": 1}}, "takes no 'axis'"),
        (3, {"rotate": {"rate": 1}}, "needs an 'axis'"),
        (3, {"keyframes": {"times": [0], "rotations": [30]}}, "a vector of 3 components in a 3D scene"),
        (2, {"keyframes": {"times": [0], "rotations": [[0, 0, 30]]}}, "an angle in a 2D scene"),
        (3, {"retime": {"motion": {"rotate": {"rate": 1}}, "times": [0], "speeds": [1]}}, "needs an 'axis'"),
        (2, {"combine": {"of": [{"velocity": {"linear": [1, 0, 0]}}]}}, "'linear' of the motion has 3 components"),
    ],
)
def test_a_motion_of_the_wrong_dimension_is_an_error(dimension, table, sentence):
    with pytest.raises(SceneError, match=sentence):
        pose(read(table), 0.0, dimension)
