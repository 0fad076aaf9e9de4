"""Flows and copies from moving emitters: released volume, places, velocities, sentences."""

import itertools
import math

import numpy as np
import pytest

from spume import Scene, SceneError, Simulation
from spume.geometry.motion import pose
from spume.geometry.nozzles import CircleNozzle, SlotNozzle, StarNozzle, nozzle_area, nozzle_points
from spume.matter.sources import build_sources

EXACT = 1e-3
"""The volume of a burst, relative."""
CELL = 0.02
SPACING = CELL / 2


def scene(dimension=3, method="mpm", duration=1.0, **emitter):
    tables = {"title": "t", "method": method, "dimension": dimension, "duration": duration}
    tables |= {"points": {"spacing": SPACING}} if method == "point-based" else {"grid": {"cell": CELL}}
    if method == "sand-water":
        tables["mixture"] = {"drag_coefficient": 1.0}
    defaults = {"material": "shaving cream" if method != "sand-water" else "dry sand"}
    return Scene(**tables, emitter=[defaults | emitter])


def flow(**tables):
    """The source of an emitter with a round nozzle that points down, unless told otherwise."""
    given = {"nozzle": {"circle": {"center": [0, 0.5, 0], "radius": 0.05}}, "velocity": [0, -0.5, 0]} | tables
    return build_sources(scene(**given))[0]


def released(source, until=math.inf):
    return sum(source.points(k)["volume"].sum() for k, time in enumerate(source.times) if time <= until)


BURSTS = [0.003, 0.011, 0.0259, 0.1, 0.7003]


@pytest.mark.parametrize("method", ["mpm", "continuum-foam", "sand-water", "point-based"])
def test_every_method_releases_what_the_rate_says(method):
    source = flow(method=method, rate=1e-3, stop=0.0321)
    assert released(source) == pytest.approx(1e-3 * 0.0321, rel=1e-12)


@pytest.mark.parametrize("stop", BURSTS)
def test_a_burst_of_any_length_has_released_speed_times_opening(stop):
    """Layers are 0.01 m apart and leave at 0.5 m/s: the bursts are from 0.15 to 35 layers long."""
    nozzle = flow(start=0.1, stop=0.1 + stop)
    assert released(nozzle) == pytest.approx(math.pi * 0.05**2 * 0.5 * stop, rel=1e-12)
    shape = {"cylinder": {"center": [0, 0.5, 0], "radius": 0.05, "height": 0.1}}
    section = flow(nozzle=None, shape=shape, start=0.1, stop=0.1 + stop)
    assert released(section) == pytest.approx(math.pi * 0.05**2 * 0.5 * stop, rel=EXACT)


@pytest.mark.parametrize("interpolation", ["linear", "smooth"])
def test_the_volume_follows_the_integral_of_a_keyframed_rate(interpolation):
    """Two bursts with a pause: at any time within half a layer of ∫ rate dt, here by a fine midpoint sum; after each
    burst exact."""
    keys = {"times": [0.1, 0.3, 0.4, 0.5, 0.7, 0.9], "values": [0, 4e-3, 0, 0, 2e-3, 0], "interpolation": interpolation}
    source = flow(rate=keys)
    track = source.table.rate_track
    fine = (np.arange(200_000) + 0.5) / 200_000
    integral = np.cumsum([track.at(t)[0][0] for t in fine]) / len(fine)
    thickest = max(source.points(k)["volume"].sum() for k in range(len(source.times)))
    for until in (0.15, 0.22, 0.31, 0.6, 0.75, 0.88):
        exact = integral[int(until * len(fine)) - 1]
        assert abs(released(source, until) - exact) <= 0.5 * thickest + 1e-9
    for until in (0.45, 0.95):
        assert released(source, until) == pytest.approx(integral[int(until * len(fine)) - 1], rel=1e-6)
    assert not [time for time in source.times if 0.4 < time < 0.5]


def test_the_volume_follows_a_keyframed_velocity_that_turns():
    """What passes the opening is its area times the component across it: ½ · 0.2 s · 0.4 m/s, then 0.4 m/s sideways
    adds nothing."""
    keys = {"times": [0.0, 0.2, 0.3], "values": [[0, 0, 0], [0, -0.4, 0], [0.4, 0, 0]]}
    source = flow(velocity=keys, stop=0.3)
    area = math.pi * 0.05**2
    assert released(source) == pytest.approx(area * (0.5 * 0.2 * 0.4 + 0.5 * 0.1 * 0.4), rel=1e-12)
    late = source.points(len(source.times) - 1)["v"][0]
    assert late[0] > 0
    assert late[0] - late[1] == pytest.approx(0.4, rel=1e-12)  # on the straight way between the keyframes


def test_layers_are_evenly_spaced_at_a_nozzle_at_rest():
    """Extrapolated along their velocity to one time the layers are equally far apart, at the spacing to half a layer in
    the number of layers, and each is a lattice of the spacing."""
    source = flow(stop=0.7003)
    layers = [source.points(k) for k in range(len(source.times))]
    heights = [p["x"][0, 1] + p["v"][0, 1] * (1.0 - t) for p, t in zip(layers, source.times)]
    gaps = np.diff(heights)
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-9)
    assert abs(gaps[0] - SPACING) <= 0.5 * SPACING / len(layers) * 1.01
    across = layers[0]["x"][:, [0, 2]] / SPACING
    np.testing.assert_allclose((across - across[0]) % 1.0 % (1 - 1e-9), 0.0, atol=1e-9)


SPIRAL = {"spiral": {"axis": [0, 1, 0], "start_radius": 0.2, "end_radius": 0.05, "revolutions": 2, "stop": 1.0}}
SPIN = {"rotate": {"axis": [0, 1, 0], "about": [0, 0, 0], "rate": 6.0}}


@pytest.mark.parametrize("motion", [SPIRAL, SPIN, {"combine": {"of": [SPIN, SPIRAL]}}])
def test_material_leaves_a_moving_nozzle_as_it_would_one_at_rest(motion):
    """In the frame of the nozzle at the time of release, every layer is the layer of a nozzle at rest: same places,
    same velocity once that of the nozzle itself is taken off, same volumes. The affine velocity is its spin."""
    still, moving = flow(), flow(motion=motion)
    assert moving.times == still.times
    for k, time in enumerate(moving.times):
        at = pose(moving.table.motion, time, 3)
        one, other = moving.points(k), still.points(k)
        np.testing.assert_allclose((one["x"] - at.p) @ at.R, other["x"], atol=1e-14)
        carried = at.v + np.cross(at.omega, one["x"] - at.p)
        np.testing.assert_allclose((one["v"] - carried) @ at.R, other["v"], atol=1e-13)
        np.testing.assert_array_equal(one["volume"], other["volume"])
        arm = np.array([0.1, -0.2, 0.3])
        np.testing.assert_allclose(one["C"][0] @ arm, np.cross(at.omega, arm), atol=1e-14)


def test_a_nozzle_that_moves_across_the_flow_leaves_no_steps():
    """Uniform motion: extrapolated to one time, each layer is shifted against the one before by the same vector."""
    source = flow(motion={"velocity": {"linear": [0.3, 0, 0]}}, stop=0.5)
    ends = [p["x"] + p["v"] * (1.0 - t) for p, t in ((source.points(k), t) for k, t in enumerate(source.times))]
    shifts = np.array([after - before for before, after in itertools.pairwise(ends)])
    np.testing.assert_allclose(shifts, np.broadcast_to(shifts[0, 0], shifts.shape), atol=1e-13)


def test_copies_follow_motion_and_keyframed_velocity():
    source = build_sources(
        scene(
            shape={"sphere": {"center": [0.1, 0, 0], "radius": 0.05}},
            velocity={"times": [0.0, 1.0], "values": [[0, -1, 0], [0, -3, 0]]},
            copies={"count": 3, "interval": 0.25},
            motion={"rotate": {"axis": [0, 0, 1], "revolutions_per_second": 1.0}},
        )
    )[0]
    quarter = source.points(1)
    np.testing.assert_allclose(quarter["x"].mean(axis=0), [0, 0.1, 0], atol=1e-12)
    # −1.5 m/s along y, turned to +x, and 2π · 0.1 m/s of the rotation, along −x
    np.testing.assert_allclose(quarter["v"].mean(axis=0), [1.5 - 0.2 * math.pi, 0, 0], atol=1e-12)


def test_jitter_moves_points_alike_whenever_a_layer_is_asked_for():
    jittered, plain = flow(fill={"jitter": 0.4}), flow()
    one = jittered.points(3)["x"] - plain.points(3)["x"]
    assert 0.1 * SPACING < np.abs(one).max() <= 0.2 * SPACING
    assert np.abs(one - (jittered.points(4)["x"] - plain.points(4)["x"])).max() > 0.01 * SPACING
    np.testing.assert_array_equal(flow(fill={"jitter": 0.4}).points(3)["x"], jittered.points(3)["x"])


NOZZLES = {
    "circle": CircleNozzle(center=(0, 0, 0), radius=0.05),
    "slot": SlotNozzle(center=(0, 0, 0), width=0.083, thickness=0.031),
    "star": StarNozzle(center=(0, 0, 0), tips=6, outer_radius=0.06, inner_radius=0.03),
}


@pytest.mark.parametrize("name", NOZZLES)
def test_the_area_of_a_nozzle_is_that_of_its_points(name):
    """Closed form against a lattice of n = 10⁵ and more points: the rim, about √n long, misses at most one point each
    where lattice lines follow it, so less than a few n^-½."""
    nozzle = NOZZLES[name]
    fine = 0.05 / 250
    count = len(nozzle_points(nozzle, fine, 3))
    assert count * fine**2 == pytest.approx(nozzle_area(nozzle), rel=4 / math.sqrt(count))


def test_a_star_has_its_tips_where_it_says():
    x = nozzle_points(NOZZLES["star"], 0.0005, 3)
    r, angle = np.hypot(*x.T), np.degrees(np.arctan2(x[:, 1], x[:, 0])) % 60
    tip, notch = (angle < 1) | (angle > 59), np.abs(angle - 30) < 1
    assert r[tip].max() == pytest.approx(0.06, abs=0.001)
    assert r[notch].max() == pytest.approx(0.03, abs=0.001)


def test_a_slot_of_a_plane_scene_is_divided_evenly():
    source = build_sources(
        scene(dimension=2, nozzle={"slot": {"center": [0.1, 0], "width": 0.047}}, velocity=[0, 1.0], stop=0.013)
    )[0]
    np.testing.assert_allclose(np.diff(source.points(0)["x"][:, 0]), -0.047 / 5, rtol=1e-12)
    assert released(source) == pytest.approx(0.047 * 0.013, rel=1e-12)


CIRCLE = {"circle": {"center": [0, 0, 0], "radius": 0.05}}
BALL = {"sphere": {"center": [0, 0, 0], "radius": 0.1}}
WRONG = {
    "neither": ({"nozzle": None}, "emitter.0 has neither 'shape' nor 'nozzle'"),
    "both": ({"shape": BALL}, "has both 'shape' and 'nozzle'"),
    "nozzle of copies": ({"copies": {"count": 2, "interval": 0.1}}, "a nozzle is for a flow"),
    "circle in the plane": (
        {"dimension": 2, "velocity": [0, -1], "nozzle": {"circle": {"center": [0, 0], "radius": 0.05}}},
        "the opening of a 2D flow is a 'slot'",
    ),
    "slot without thickness": ({"nozzle": {"slot": {"center": [0, 0, 0], "width": 0.1}}}, "slot.thickness is missing"),
    "slot along the flow": (
        {"nozzle": {"slot": {"center": [0, 0, 0], "width": 0.1, "thickness": 0.05, "along": [0, 1, 0]}}},
        "it should lie across the flow",
    ),
    "blunt star": (
        {"nozzle": {"star": {"center": [0, 0, 0], "tips": 5, "outer_radius": 0.1, "inner_radius": 0.2}}},
        "must be less than outer_radius",
    ),
    "tiny nozzle": ({"nozzle": {"circle": {"center": [0, 0, 0], "radius": 1e-4}}}, "is smaller than one point"),
    "negative rate": ({"rate": {"times": [0.0], "values": [-1.0]}}, "greater than or equal to 0"),
    "times in disorder": (
        {"rate": {"times": [0.2, 0.1], "values": [1.0, 2.0]}},
        "greater than the one before",
    ),
    "values missing": ({"rate": {"times": [0.2, 0.3], "values": [1.0]}}, "2 times and 1 values"),
    "velocity that turns back": (
        {"velocity": {"times": [0.0, 1.0], "values": [[0, -1, 0], [0, 1, 0]]}},
        "points back into the emitter at 1 s",
    ),
    "direction without length": (
        {"rate": 1e-3, "velocity": {"times": [0.0, 1.0], "values": [[0, -1, 0], [0, 0, 0]]}},
        "let the rate be zero instead",
    ),
    "motion of the plane": ({"motion": {"velocity": {"linear": [1, 0]}}}, "emitter.0.motion is wrong"),
    "random layers": ({"fill": {"pattern": "poisson-disk"}}, "its layers are lattices"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_emitter_is_told_in_one_sentence(case):
    changes, words = WRONG[case]
    with pytest.raises(SceneError) as caught:
        scene(**({"nozzle": CIRCLE, "velocity": [0, -1, 0]} | changes))
    assert words in str(caught.value)
    assert len(str(caught.value).strip().splitlines()) == 1


def test_a_way_that_leaves_the_walls_is_told_with_its_time():
    walls = {"lower": [-0.3, -0.3, -0.3], "upper": [0.3, 0.3, 0.3]}
    tables = scene(nozzle=CIRCLE, velocity=[0, -1, 0], motion={"velocity": {"linear": [0.5, 0, 0]}}).resolved()
    with pytest.raises(SceneError, match=r"emitter 0, at 0\.\d+ s on its way, reaches .* beyond grid.walls.upper"):
        build_sources(Scene(**tables | {"grid": {"cell": CELL, "walls": walls}}))


def test_scenes_with_emitters_are_written_back_as_they_were_read():
    keys = {"times": [0.0, 0.5], "values": [1e-3, 0.0]}
    given = scene(nozzle=CIRCLE, velocity={"times": [0.0], "values": [[0, -1, 0]]}, rate=keys, motion=SPIRAL)
    assert Scene(**given.resolved()).resolved() == given.resolved()


def test_a_barrel_holds_its_content_and_what_is_pushed_in_behind_comes_out():
    """A barrel of three layers is full from the start; each layer that enters it is in the opening after the flow has
    come by the barrel's length. Its content comes on top of what is released."""
    source = flow(barrel=0.03, stop=0.4)
    area = math.pi * 0.05**2
    assert released(source) == pytest.approx(area * (0.03 + 0.5 * 0.4), rel=1e-12)
    assert source.times[:3] == [0.0] * 3
    np.testing.assert_allclose([source.points(k)["x"][0, 1] - 0.5 for k in range(4)], [0.005, 0.015, 0.025, 0.03])
    later = source.held(np.array([3]), np.array([0]), source.times[3] + 0.03 / 0.5)
    assert later["x"][0, 1] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("method", ["mpm", "point-based"])
def test_a_rope_hangs_from_the_barrel_it_comes_out_of(method):
    """Without a barrel the rope falls freely, by ½ g t² = 0.12 m within 0.16 s; held by its upper end and far stronger
    than its weight, it follows the nozzle, down and back up."""
    motion = {"keyframes": {"times": [0.0, 0.08, 0.16], "positions": [[0, 0], [0, -0.02], [0, 0.0]]}}
    rubber = {"law": "neo-hookean", "density": 1000.0, "bulk_modulus": 1e5, "shear_modulus": 5e4}
    tables = {"title": "t", "method": method, "dimension": 2, "duration": 0.16, "material": {"rubber": rubber}}
    tables |= {"points": {"spacing": SPACING}} if method == "point-based" else {"grid": {"cell": CELL}}
    nozzle = {"slot": {"center": [0, 0], "width": 0.08}}
    emitter = {"material": "rubber", "nozzle": nozzle, "velocity": [0, -0.5], "barrel": 0.06, "motion": motion}
    sim = Simulation(Scene(**tables, emitter=[emitter]))
    sim.advance(0.16)
    y = sim.particles.x[:, 1]
    assert y.max() == pytest.approx(0.06, abs=SPACING)
    assert y.min() == pytest.approx(-0.5 * 0.16, abs=SPACING)
    _, values = sim.method.checkpoint()
    assert values["held"]


def falling_balls(count):
    """An emitter of balls, one a second."""
    ball = {"sphere": {"center": [0, 0, 0], "radius": 0.1}}
    return {"shape": ball, "velocity": [0, -1.0, 0], "copies": {"count": count, "interval": 1.0}}


def test_the_work_done_counts_points_from_their_release_on():
    """Ten copies, one a second: by t = 5 s the first five have been there for 5, 4, 3, 2 and 1 s, of 10 + 9 + … + 1 s
    in all. The part of a step that every step has counts as a thousand points."""
    method = Simulation(scene(duration=10.0, **falling_balls(10))).method
    count = method.sources[0].count
    assert count > 0
    expected = (5 * 1000 + 15 * count) / (10 * 1000 + 55 * count)
    assert method.workload.done(5.0) == pytest.approx(expected, rel=1e-12)
    assert method.workload.done(10.0) == 1.0


def test_without_releases_on_the_way_the_work_is_proportional_to_time():
    assert Simulation(scene(**falling_balls(1))).method.workload.done(0.5) is None


def test_the_time_before_the_first_release_is_no_work():
    method = Simulation(scene(duration=10.0, start=6.0, **falling_balls(3))).method
    assert method.workload.done(6.0) == 0.0
    assert method.workload.done(10.0) == 1.0
