"""Damping by round trips in scenes of sand and water."""

import numpy as np
import pytest
from mixtures import body, simulate

from spume.mpm.damping import damp_velocities
from spume.mpm.diagnostics import angular_momentum, species_angular_momentum

TRIPS = {"rpic_iterations": 5}


def overlapping(spline="quadratic", **tables):
    """Wet sand that spins, and water of another velocity in its pores and beside it, with a short wave each."""
    sand = body("sand", [0.0, 0.0], [0.4, 0.3], velocity=[1.0, -0.5], spin=2.0,
                wave={"velocity": [0.4, 0.7], "wave_vector": [9.0, 30.0]})  # fmt: skip
    water = body("pore water", [0.1, 0.0], [0.6, 0.3], velocity=[-0.3, 0.2], spin=-1.0,
                 wave={"velocity": [0.2, -0.5], "wave_vector": [25.0, 4.0]})  # fmt: skip
    return simulate(
        grid={"cell": 0.05, "spline": spline}, gravity=[0.0, 0.0], body=[sand, water], damping=TRIPS, **tables
    )


def energy(p):
    return float(p.mass @ np.einsum("ij,ij->i", p.v, p.v))


@pytest.mark.parametrize("spline", ["quadratic", pytest.param("cubic", marks=pytest.mark.slow_suite)])
def test_round_trips_keep_the_momentum_of_each_species(spline):
    """To rounding: sums of some hundred products, relative to the largest of each kind."""
    sim = overlapping(spline)
    state = sim.method.world
    before = [
        (s.particles.mass @ s.particles.v, species_angular_momentum(state, s), energy(s.particles))
        for s in state.species
    ]
    damp_velocities(state, 1e-3, sim.scene.damping)
    for species, (linear, angular, kinetic) in zip(state.species, before):
        p = species.particles
        assert p.mass @ p.v == pytest.approx(linear, rel=1e-12)
        assert species_angular_momentum(state, species)[2] == pytest.approx(angular[2], rel=1e-12)
        assert energy(p) < 0.99 * kinetic  # it does damp


def test_a_damped_step_keeps_the_momentum_of_both_together():
    """Drag and pressure only exchange momentum."""
    sim = overlapping(time={"dt": 1e-3})
    state = sim.method.world

    def momentum():
        return sum(s.particles.mass @ s.particles.v for s in state.species), angular_momentum(state)[2]

    linear, angular = momentum()
    sim.method.take_step(1e-3)
    assert momentum()[0] == pytest.approx(linear, rel=1e-12)
    assert momentum()[1] == pytest.approx(angular, rel=1e-11)
