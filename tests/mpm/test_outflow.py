"""Flows out of the surface of a shape: area, places, directions, volume, sentences."""

import math

import numpy as np
import pytest

from spume import Scene, SceneError, Simulation
from spume.matter.sources import build_sources

CELL = 0.02
SPACING = CELL / 2
BALL = {"sphere": {"center": [0.1, 0.5, 0.0], "radius": 0.08}}


def scene(dimension=3, duration=1.0, obstacles=(), **emitter):
    tables = {"title": "t", "method": "mpm", "dimension": dimension, "duration": duration, "grid": {"cell": CELL}}
    given = {"material": "shaving cream", "shape": BALL, "outflow": 0.1} | emitter
    return Scene(**tables, emitter=[given], obstacle=list(obstacles))


def source(**tables):
    return build_sources(scene(**tables))[0]


SURFACES = {
    "sphere": (BALL, 4 * math.pi * 0.08**2, 3),
    "cylinder": ({"cylinder": {"center": [0, 0, 0], "radius": 0.1, "height": 0.2}}, 2 * math.pi * 0.1 * 0.3, 3),
    "box": ({"box": {"center": [0.003, 0, 0], "size": [0.2, 0.2, 0.2]}}, 6 * 0.2**2, 3),
    "circle": ({"circle": {"center": [0.1, 0.5], "radius": 0.08}}, 2 * math.pi * 0.08, 2),
}


@pytest.mark.parametrize("name", SURFACES)
def test_the_area_is_that_of_the_shape(name):
    """The shell between level sets at ±t has the area of the surface to second order in t, along convex edges of
    length L to first: the outside adds π/2 L t and the inside takes 2 L t. The measure has a mean |t| of 0.6 h with
    h = spacing / 8."""
    shape, area, dimension = SURFACES[name]
    measured = source(shape=shape, dimension=dimension).flow.section.area
    edges = {"cylinder": 2 * math.pi * 0.1 * 2, "box": 12 * 0.2}.get(name, 0.0)
    bound = 0.5 * (2 - math.pi / 2) * edges * 0.6 * SPACING / 8 + 1e-3 * area
    assert abs(measured - area) <= bound


@pytest.mark.parametrize("name", SURFACES)
def test_points_are_on_the_surface_apart_and_cover_it(name):
    """There is no room for another point: none is farther than two least distances from the next, plus the distance of
    the places they are chosen from."""
    shape, _, dimension = SURFACES[name]
    made = source(shape=shape, dimension=dimension)
    x, n = made.x, made.directions
    np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0, rtol=1e-9)
    if "sphere" in shape:
        arm = x - np.array(shape["sphere"]["center"])
        np.testing.assert_allclose(np.linalg.norm(arm, axis=1), 0.08, atol=1e-3 * SPACING)
        np.testing.assert_allclose(n, arm / 0.08, atol=1e-3)
    distances = np.linalg.norm(x[:, None] - x[None], axis=2) + 10 * np.eye(len(x))
    least = SPACING * (0.6966**0.5 if dimension == 3 else 0.7476)
    assert distances.min() >= least * (1 - 1e-9)
    assert distances.min(axis=1).max() <= 2 * least + SPACING / 3


@pytest.mark.parametrize("stop", [0.03, 0.25])
def test_the_volume_is_area_times_the_way_of_the_flow(stop):
    made = source(stop=stop)
    volume = sum(made.points(k)["volume"].sum() for k in range(len(made.times)))
    assert volume == pytest.approx(made.flow.section.area * 0.1 * stop, rel=1e-12)


def test_speed_and_direction_follow_keyframes_and_motion():
    """The emitter turns by a quarter in 1 s about z: what left along x leaves along y, at the speed of that time."""
    keys = {"times": [0.0, 1.0], "values": [0.1, 0.3]}
    turn = {"rotate": {"axis": [0, 0, 1], "about": [0.1, 0.5, 0.0], "rate": math.pi / 2}}
    made = source(outflow=keys, motion=turn)
    number = int(np.argmin(np.abs(np.array(made.times) - 0.5)))
    points, time = made.points(number), made.times[number]
    arm = points["x"] - np.array([0.1, 0.5, 0.0])
    spin = np.cross([0, 0, math.pi / 2], arm)
    speed = np.einsum("ij,ij->i", points["v"] - spin, arm / np.linalg.norm(arm, axis=1)[:, None])
    np.testing.assert_allclose(speed, 0.1 + 0.2 * time, rtol=2e-3)


def test_within_limits_the_surface():
    """The upper half of a ball."""
    half = {"half_space": {"point": [0, 0.5, 0], "normal": [0, -1, 0]}}
    made = source(within=half)
    assert made.flow.section.area == pytest.approx(2 * math.pi * 0.08**2, rel=0.01)
    assert (made.x[:, 1] > 0.5).all()


def test_a_barrel_lies_below_the_surface():
    made = source(barrel=0.02)
    depths = [0.08 - np.linalg.norm(made.points(k)["x"] - [0.1, 0.5, 0.0], axis=1) for k in range(2)]
    np.testing.assert_allclose([depth.mean() for depth in depths], [0.005, 0.015], atol=1e-4)


def test_places_are_the_same_for_the_same_seed():
    np.testing.assert_array_equal(source().x, source().x)


def test_places_on_the_surface_of_an_obstacle_are_not_inside_it():
    """All distances of these are zero or, by rounding, below."""
    tables = {"title": "t", "method": "point-based", "dimension": 2, "duration": 0.1, "points": {"spacing": 0.01}}
    shape = {"circle": {"center": [0.0, 0.0], "radius": 0.05}}
    emitter = {"material": "dough", "shape": shape, "outflow": 0.1}
    assert build_sources(Scene(**tables, emitter=[emitter], obstacle=[{"shape": shape}]))[0].count > 10


@pytest.mark.parametrize("contact", ["stick", "separate"])
def test_foam_from_a_disc_grows_around_it(contact):
    """Foam keeps its area: a flow of thickness L fills the ring between R and √(R² + 2 R L), whose mean radius is
    ⅔ (R₂³ − R³)/(R₂² − R²). Points in a cell of the surface move with the foam outside, too, so the layers may lie up
    to half a spacing deeper. Without the flow in the contact, all of them stayed at R."""
    R, L = 0.08, 0.04
    disc = {"shape": SURFACES["circle"][0], "contact": contact}
    tables = scene(2, 0.4, [disc], shape=disc["shape"]).model_copy(update={"gravity": (0.0, 0.0)})
    simulation = Simulation(tables)
    simulation.advance(0.4)
    arm = simulation.particles.x - np.array([0.1, 0.5])
    weight = simulation.particles.volume
    assert weight.sum() == pytest.approx(2 * math.pi * R * L, rel=1e-3)
    outer = math.sqrt(R**2 + 2 * R * L)
    mean = np.average(np.linalg.norm(arm, axis=1), weights=weight)
    assert abs(mean - 2 / 3 * (outer**3 - R**3) / (outer**2 - R**2)) < 0.5 * SPACING
    assert np.linalg.norm(arm, axis=1).min() > R - 1e-3 * SPACING
    assert np.linalg.norm(np.average(arm, axis=0, weights=weight)) < SPACING  # 67 places at random


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"velocity": [0, 1, 0]}, "'velocity'"),
        ({"outflow": None}, "neither 'velocity' nor 'outflow'"),
        ({"outflow": None, "velocity": [0, 1, 0], "within": BALL}, "without 'outflow'"),
        ({"rate": 1.0}, "'rate'"),
        ({"outflow": {"times": [0.0, 1.0], "values": [0.1]}}, "each time needs one value"),
        ({"barrel": 0.09}, "beyond the middle"),
        ({"within": {"sphere": {"center": [9, 9, 9], "radius": 0.1}}}, "no point of spacing"),
    ],
)
def test_what_cannot_be_is_told(tables, words):
    with pytest.raises(SceneError, match=words):
        build_sources(scene(**tables))
