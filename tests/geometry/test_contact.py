"""What contact with obstacles does to a velocity."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shape_cases import COMBINED, directions, read

from spume.errors import SceneError
from spume.geometry.motion import pose
from spume.geometry.motion.models import Combine, Keyframes, Oscillate, Turn, Velocity
from spume.geometry.obstacles.collision import (
    SEPARATE,
    SLIP,
    STICK,
    collide_and_move,
    obstacle_distance_and_normal,
    obstacle_velocity,
    resolve,
)
from spume.geometry.obstacles.obstacle_set import Obstacle, ObstacleArrays, ObstacleSet
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances


def collide(obstacles, *place_and_velocity):
    """Velocity after contact and clearance of a point that has no time to move."""
    return collide_and_move(obstacles, 0.0, *place_and_velocity)[3:]


numbers = st.floats(-10, 10)
vectors = st.tuples(numbers, numbers, numbers)


def half_space(point, normal):
    return read({"half_space": {"point": list(point), "normal": list(normal)}})


FLOOR = half_space((0, 0, 0), (0, 1, 0))


@st.composite
def normals(draw):
    return directions(np.random.default_rng(draw(st.integers(0, 2**32))), 1, 3)[0]


@settings(max_examples=300, deadline=None)
@given(vectors, normals(), st.floats(0, 3))
def test_separate_obeys_coulomb(v, n, mu):
    """[Stomakhin13] section 8. Leaving: nothing. Approaching: the normal part vanishes, and the tangential part loses
    μ |vn|, or all of it if it has not that much, and keeps its direction."""
    v = np.array(v)
    after = np.array(resolve(SEPARATE, mu, *n, *v))
    vn = v @ n
    if vn >= 0:
        np.testing.assert_array_equal(after, v)
        return
    vt = v - vn * n
    # Products of numbers up to 10 round by 1e-15 each.
    assert abs(after @ n) < 1e-13
    expected = max(np.linalg.norm(vt) + mu * vn, 0.0)
    assert np.linalg.norm(after) == pytest.approx(expected, abs=1e-13)
    assert after @ vt >= -1e-12
    assert np.linalg.norm(np.cross(after, vt)) < 1e-11


@settings(max_examples=100, deadline=None)
@given(vectors, normals(), st.floats(0, 3), st.sampled_from([STICK, SLIP, SEPARATE]))
def test_contact_never_adds_energy_and_acts_only_once(v, n, mu, contact):
    after = resolve(contact, mu if contact == SEPARATE else 0.0, *n, *v)
    assert np.linalg.norm(after) <= np.linalg.norm(v) * (1 + 1e-14)
    again = resolve(contact, mu if contact == SEPARATE else 0.0, *n, *after)
    # The normal part left by rounding, 1e-14, is all that friction can act on again.
    np.testing.assert_allclose(again, after, atol=1e-13)


@settings(max_examples=50, deadline=None)
@given(vectors, normals())
def test_slip_keeps_the_tangential_part_and_stick_nothing(v, n):
    np.testing.assert_allclose(resolve(SLIP, 0.0, *n, *v), v - (np.array(v) @ n) * n, atol=1e-14)
    assert resolve(STICK, 0.0, *n, *v) == (0.0, 0.0, 0.0)


def test_without_obstacles_nothing_happens():
    for dimension in (2, 3):
        nothing = ObstacleSet([], dimension).at(1.0)
        assert collide(nothing, 0.1, 0.2, 0.0, 1.0, 2.0, 3.0) == (1.0, 2.0, 3.0, math.inf)


@pytest.mark.parametrize("contact", ["stick", "slip", "separate"])
def test_a_point_outside_keeps_its_velocity(contact):
    arrays = ObstacleSet([Obstacle(FLOOR, contact)], 3).at(0.0)
    assert collide(arrays, 0.0, 1e-9, 0.0, 1.0, -2.0, 3.0) == (1.0, -2.0, 3.0, 1e-9)


def test_moving_obstacles_act_where_they_are_with_the_velocity_of_their_surface():
    """A paddle that turns and a floor that oscillates, against poses and rules written out in NumPy."""
    paddle, turn = read({"box": {"center": [0.5, 0, 0], "size": [1, 0.2, 0.3]}}), Turn(axis=(0, 1, 1), rate=4.0)
    floor, shake = half_space((0, -0.2, 0), (0, 1, 0)), Oscillate(direction=(1, 1, 0), amplitude=0.1, frequency=3)
    obstacles = ObstacleSet(
        [Obstacle(floor, "separate", 0.4, shake, "floor"), Obstacle(paddle, "slip", 0.0, turn, "paddle")], 3
    )
    rng = np.random.default_rng(0)
    hit = np.zeros(2, dtype=int)
    for t in (0.0, 0.13, 0.8):
        arrays = obstacles.at(t)
        at = [pose(shake, t, 3), pose(turn, t, 3)]
        for x, v in zip(rng.uniform(-0.6, 0.6, (1_000, 3)), rng.normal(size=(1_000, 3))):
            local = [at[k].R.T @ (x - at[k].p) for k in (0, 1)]
            in_floor = local[0][1] < -0.2
            q = np.abs(local[1] - [0.5, 0, 0]) - [0.5, 0.1, 0.15]
            in_paddle = (q < 0).all()
            if in_floor and in_paddle:
                continue
            expected = v
            if in_paddle:
                n = np.zeros(3)
                axis = int(np.argmax(q))
                n[axis] = np.sign((local[1] - [0.5, 0, 0])[axis])
                n = at[1].R @ n
                surface = at[1].v + np.cross(at[1].omega, x - at[1].p)
                expected = v - ((v - surface) @ n) * n
            elif in_floor:
                surface = at[0].v
                rel = v - surface
                vt = rel * [1, 0, 1]
                if rel[1] < 0:
                    rel = max(0.0, 1 + 0.4 * rel[1] / np.linalg.norm(vt)) * vt
                expected = surface + rel
            hit += [in_floor, in_paddle]
            np.testing.assert_allclose(collide(arrays, *x, *v)[:3], expected, atol=1e-12)
    assert hit.min() > 30


def test_distance_normal_and_velocity_of_an_obstacle_follow_finite_differences():
    """In space for the normal, and in time for the velocity: a point carried along keeps its distance."""
    shape = read(
        {
            "union": {
                "of": [COMBINED[0].table, {"torus": {"center": [0, 0.5, 0], "major_radius": 0.5, "minor_radius": 0.1}}]
            }
        }
    )
    obstacles = ObstacleSet([Obstacle(shape, motion=Turn(axis=(1, 2, 3), about=(0.2, 0, 0), rate=2.0))], 3)
    h = 1e-6
    for x in np.random.default_rng(1).uniform(-1, 1, (50, 3)):
        arrays = obstacles.at(0.7)
        d, *n = obstacle_distance_and_normal(arrays, 0, *x)
        v = np.array(obstacle_velocity(arrays, 0, *x))
        for axis, e in enumerate(h * np.eye(3)):
            ahead, behind = (obstacle_distance_and_normal(arrays, 0, *(x + s * e))[0] for s in (1, -1))
            assert (ahead - behind) / (2 * h) == pytest.approx(n[axis], abs=1e-6)
        # Carried on a circle instead of along v the point would be h² ω² |x| / 2 elsewhere: 1e-11.
        assert obstacle_distance_and_normal(obstacles.at(0.7 + h), 0, *(x + h * v))[0] == pytest.approx(d, abs=1e-10)


def test_where_obstacles_overlap_sticking_wins_in_any_order():
    belt = Obstacle(FLOOR, "stick", 0.0, Velocity(linear=(2.0, 0.0, 0.0)), "belt")
    other = Obstacle(read({"sphere": {"center": [0, 0, 0], "radius": 1}}), "slip", 0.0, None, "ball")
    for order in ([belt, other], [other, belt]):
        arrays = ObstacleSet(order, 3).at(0.1)
        assert collide(arrays, 0.0, -0.1, 0.0, 5.0, 5.0, 5.0) == (2.0, 0.0, 0.0, 0.0)


@settings(max_examples=100, deadline=None)
@given(vectors, st.floats(20, 160), st.sampled_from(["slip", "separate"]), st.booleans())
def test_in_a_wedge_the_velocity_ends_up_acceptable_to_both_sides(v, angle, contact, swapped):
    """Each sweep multiplies what is left of the approach by cos² of the angle a between the planes: 0.883 for 20
    degrees. A velocity along the first plane is left alone by the first half of a sweep, so that sin a |cos a|^63 of it
    remains after 32 sweeps, 2.0e-2 at most."""
    a = math.radians(angle)
    n = [np.array([0.0, 1.0, 0.0]), np.array([math.sin(a), math.cos(a), 0.0])]
    sides = [Obstacle(half_space((0, 0, 0), normal), contact) for normal in n]
    arrays = ObstacleSet(sides[::-1] if swapped else sides, 3).at(0.0)
    x = -0.1 * (n[0] + n[1])
    if min(-(x @ n[0]), -(x @ n[1])) <= 0:
        x = -0.1 * (n[0] + n[1]) / (1 + n[0] @ n[1])
    after = np.array(collide(arrays, *x, *v)[:3])
    allowed = abs(math.cos(a)) ** 63 * np.linalg.norm(v) + 1e-12
    for normal in n:
        assert after @ normal >= -allowed
        if contact == "slip":
            assert abs(after @ normal) <= allowed
    assert after[2] == pytest.approx(v[2], abs=1e-12)
    assert np.linalg.norm(after) <= np.linalg.norm(v) * (1 + 1e-12)


def test_clearance_never_overstates_the_distance():
    """Within the clearance of a place there is no place inside an obstacle; inside it is zero."""
    shape = COMBINED[4].shape
    obstacles = ObstacleSet([Obstacle(shape, motion=Velocity(linear=(1.0, 0.0, 0.0)))], 3)
    arrays = obstacles.at(0.5)
    rng = np.random.default_rng(2)
    inside = rng.uniform(-1, 1, (2_000, 3))
    inside = inside[distances(compile_shape(shape, 3), inside) < 0] + [0.5, 0, 0]
    assert len(inside) > 50
    outside = 0
    for place in rng.uniform(-2, 3, (500, 3)):
        clearance = collide(arrays, *place, 0.0, 0.0, 0.0)[3]
        assert clearance <= np.linalg.norm(inside - place, axis=1).min()
        outside += clearance > 0.5
    assert outside > 100
    for place in inside:
        assert collide(arrays, *place, 0.0, 0.0, 0.0)[3] == 0.0


def test_no_point_of_an_obstacle_goes_farther_than_the_set_has_travelled():
    """Corners of a paddle that turns and of one that goes round corners between keyframes, followed over many calls."""
    paddle = read({"box": {"center": [0.5, 0, 0], "size": [1, 0.2, 0.3]}})
    there = Keyframes(times=(0.0, 0.5, 1.0), positions=((0, 0, 0), (1, 0, 0), (1, 1, 0)))
    corners = np.array([[x, y, z] for x in (0, 1) for y in (-0.1, 0.1) for z in (-0.15, 0.15)])
    for motion in (Turn(axis=(0, 1, 1), about=(0.3, 0, 0), rate=4.0), there):
        obstacles = ObstacleSet([Obstacle(paddle, motion=motion)], 3)
        assert obstacles.travelled == 0.0
        rng = np.random.default_rng(3)
        before, at = pose(motion, 0.0, 3), 0.0
        way = np.zeros(8)
        for dt in rng.uniform(0.0, 0.1, 30):
            at += dt
            obstacles.at(at)
            now = pose(motion, at, 3)
            way += np.linalg.norm(corners @ (now.R - before.R).T + now.p - before.p, axis=1)
            before = now
            assert way.max() <= obstacles.travelled * (1 + 1e-12)
        assert obstacles.travelled < 10 * way.max()


def test_at_reuses_its_arrays_and_fixed_obstacles_stay():
    fixed = Obstacle(FLOOR)
    moving = Obstacle(FLOOR, motion=Velocity(linear=(0.0, 1.0, 0.0)))
    obstacles = ObstacleSet([fixed, moving], 3)
    first = obstacles.at(0.0)
    poses = first.poses.copy()
    second = obstacles.at(2.0)
    assert second.poses is first.poses
    np.testing.assert_array_equal(second.poses[0], poses[0])
    assert second.poses[1, 10] == 2.0
    assert len(obstacles) == 2


def test_2d_obstacles_leave_the_third_component_alone():
    disc = read({"circle": {"center": [0, 0], "radius": 1}})
    arrays = ObstacleSet([Obstacle(disc, "separate", 0.5, Turn(rate=2.0), "disc")], 2).at(0.3)
    vx, vy, vz, _ = collide(arrays, 0.5, 0.0, 0.0, -1.0, 0.0, 0.0)
    # Surface velocity (0, 1): relative (-1, -1), friction 0.5 leaves (0, -0.5), so the velocity is (0, 0.5).
    assert (vx, vy, vz) == pytest.approx((0.0, 0.5, 0.0), abs=1e-14)


@pytest.mark.parametrize(
    ("obstacle", "sentence"),
    [
        (Obstacle(FLOOR, "sticky", 0.0, None, "pan"), "the contact of the obstacle 'pan' is 'sticky'"),
        (Obstacle(FLOOR, "separate", -0.1), "must be 0 or more"),
        (Obstacle(FLOOR, "separate", math.nan), "must be 0 or more"),
        (Obstacle(FLOOR, "slip", 0.3), "belongs to contact = 'separate', not 'slip'"),
    ],
)
def test_a_malformed_obstacle_is_an_error(obstacle, sentence):
    with pytest.raises(SceneError, match=sentence):
        ObstacleSet([obstacle], 3)


SWINGING = Combine(
    of=(Turn(axis=(0, 1, 1), about=(0.3, 0, 0), rate=4.0), Oscillate(direction=(1, 0, 0), amplitude=0.1, frequency=3.0))
)


def swinging() -> ObstacleSet:
    return ObstacleSet([Obstacle(read({"sphere": {"center": [0.5, 0, 0], "radius": 0.2}}), motion=SWINGING)], 3)


def check_maps(found: ObstacleArrays, start: float, end: float) -> None:
    """The poses and maps are the bits of a set that made no other step."""
    expected = swinging().during(start, end)
    for field in ("poses", "moves", "moved"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field), field)
    before, now = pose(SWINGING, start, 3), pose(SWINGING, end, 3)
    np.testing.assert_allclose(found.moves[0, :9].reshape(3, 3), now.R @ before.R.T, atol=1e-15)


def test_a_step_begins_where_the_last_one_ended():
    obstacles, time = swinging(), 0.0
    for dt in (0.01, 0.02, 0.005):
        check_maps(obstacles.during(time, time + dt), time, time + dt)
        time = time + dt


def test_a_repeated_step_of_another_length_begins_at_the_same_poses():
    obstacles = swinging()
    obstacles.during(0.0, 0.3)
    for end in (0.7, 0.5, 0.4):  # two steps that failed, and a shorter one that did not
        check_maps(obstacles.during(0.3, end), 0.3, end)
    check_maps(obstacles.during(0.4, 0.5), 0.4, 0.5)


def test_a_step_begins_at_the_poses_that_the_obstacles_have():
    """Poses may change otherwise than by motions; repeating the step does not forget that."""
    obstacles = swinging()
    obstacles.during(0.0, 0.3)
    obstacles.poses[0, 9:12] += (0.1, 0.2, -0.1)
    before = obstacles.poses[0].copy()
    for end in (0.5, 0.4):
        arrays = obstacles.during(0.3, end)
        A, b = arrays.moves[0, :9].reshape(3, 3), arrays.moves[0, 9:]
        now = pose(SWINGING, end, 3)
        np.testing.assert_allclose(A @ before[:9].reshape(3, 3), now.R, atol=1e-15)
        np.testing.assert_allclose(A @ before[9:12] + b, now.p, atol=1e-15)


def test_a_clock_set_between_steps_sets_the_poses():
    """The last step before a frame ends at the time of the frame only up to rounding."""
    obstacles = swinging()
    obstacles.during(0.2, 0.3)
    exact = np.nextafter(0.3, 1.0)
    check_maps(obstacles.during(exact, 0.4), exact, 0.4)
    obstacles.at(0.35)
    check_maps(obstacles.during(0.35, 0.4), 0.35, 0.4)


def test_restored_obstacles_follow_their_motions_again():
    one, other = swinging(), swinging()
    one.at(0.3)
    other.restore(one.poses.tolist())
    np.testing.assert_array_equal(other.poses, one.poses)
    check_maps(other.during(0.3, 0.4), 0.3, 0.4)
    with pytest.raises(ValueError, match="reshape"):
        other.restore(np.zeros((2, 18)))
