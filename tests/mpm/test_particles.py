"""Points keep their numbers; changes of the arrangement are noticed."""

import numpy as np
import pytest

from spume import Scene, Simulation
from spume.matter.particles import Particles, point_fields

SOLID = {"law": "neo-hookean", "density": 1000.0, "bulk_modulus": 2.0e4, "shear_modulus": 5.0e3}


def some(count=5):
    particles = Particles([point_fields(2, False)])
    particles.add(count, x=np.arange(2.0 * count).reshape(-1, 2))
    return particles


def test_new_points_get_new_numbers_and_removed_ones_are_not_used_again():
    p = some()
    p.take(np.array([True, True, False, False, False]))
    p.add(2)
    assert list(p.id) == [0, 1, 5, 6]
    p.take(np.array([3, 0, 2, 1]))
    assert list(p.id) == [6, 0, 5, 1]


def test_replaced_points_bring_their_numbers():
    p, other = some(), some(8)
    other.take(np.array([7, 2]))
    p.replace(other.arrays())
    p.add(1)
    assert list(p.id) == [7, 2, 8]


def test_the_generation_tells_a_new_arrangement_from_a_motion():
    p = some()
    seen = {p.generation}
    p.x[:] += 1.0
    assert p.generation in seen
    for change in (lambda: p.add(1), lambda: p.take(np.arange(6)[::-1]), lambda: p.replace(p.arrays())):
        change()
        assert p.generation not in seen
        seen.add(p.generation)


def flow(**more):
    """A jet whose points are released in layers and resorted on the way."""
    tables = {
        "title": "ids", "method": "mpm", "dimension": 2, "duration": 10.0, "grid": {"cell": 0.02},
        "material": {"solid": SOLID}, "gravity": [0.0, 0.0],
        "emitter": [
            {"material": "solid", "velocity": [0.3, 2.0],
             "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.1, 0.1]}}},
        ],
    }  # fmt: skip
    return Simulation(Scene(**(tables | more)))


def test_numbers_follow_points_through_steps_checkpoints_and_frames():
    sim = flow()
    sim.advance(0.02)
    first = dict(zip(sim.particles.id, sim.particles.x.copy()))
    arrays, values = sim.method.checkpoint()
    arrays = {name: array.copy() for name, array in arrays.items()}
    sim.advance(0.06)
    p = sim.particles
    assert len(np.unique(p.id)) == len(p) > len(first)
    resumed = flow()
    resumed.method.restore(arrays, values)
    resumed.method.advance(sim.time, lambda: False, lambda progress: None)
    assert np.array_equal(resumed.particles.id, p.id)
    assert np.array_equal(resumed.particles.x, p.x)
    assert np.array_equal(sim.frame()["id"], p.id)
    # the jet moves rigidly: every point that was there before has moved by v t
    here = dict(zip(p.id, p.x))
    moved = np.array([here[n] - first[n] for n in first])
    assert moved == pytest.approx(np.tile([0.3 * 0.06, 2.0 * 0.06], (len(first), 1)), abs=1e-9)


@pytest.mark.parametrize("kind", ["first-order", "second-order"])
def test_the_scene_chooses_the_deformation_of_a_step(kind):
    """In a rotation det(I + Δt W) = 1 + (Δt ω)², and to second order 1 + (Δt ω)⁴/4; the grid has W exactly."""
    omega, dt = 5.0, 1e-2
    body = {"material": "solid", "spin": omega, "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.1}}}
    grid = {"cell": 0.02, "spline": "quadratic"}
    sim = flow(emitter=[], time={"dt": dt, "deformation": kind}, body=[body], grid=grid)
    sim.advance(dt)
    square = (dt * omega) ** 2
    wanted = 1.0 + (square if kind == "first-order" else square**2 / 4)
    np.testing.assert_allclose(np.linalg.det(sim.particles.F), wanted, rtol=1e-13)
