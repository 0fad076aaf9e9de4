"""Free fall, uniform translation and rigid rotation: motions without forces have exact answers."""

import numpy as np
import pytest
from scenes import SOFT, ball, simulate

CELL = 0.05


def kept_apart(dimension, spline, *rest):
    """A case whose kernels no other test needs goes to the slow suite."""
    alone = (dimension, spline) == (3, "quadratic") or (dimension, *rest) == (3, "flip")
    marks = [pytest.mark.slow_suite] if alone else []
    return pytest.param(dimension, spline, *rest, marks=marks)


GRIDS = [(d, s) for d in (2, 3) for s in ("quadratic", "cubic")]
COMBINATIONS = [kept_apart(*grid, scheme) for grid in GRIDS for scheme in ("flip", "apic")]
COMBINATIONS.append((2, "quadratic", "aflip"))


def moving_ball(dimension, spline, scheme, *, dt=1e-3, **body):
    return simulate(
        dimension=dimension,
        gravity=body.pop("gravity", [0.0, 0.0, 0.0])[:dimension],
        grid={"cell": CELL, "spline": spline},
        time={"dt": dt},
        transfer={"scheme": scheme},
        body=[{"material": "solid", "shape": ball(dimension, (0.013, 0.021, -0.007), 0.2), **body}],
    )


@pytest.mark.parametrize(("dimension", "spline", "scheme"), COMBINATIONS)
def test_free_fall_is_that_of_symplectic_euler(dimension, spline, scheme):
    """x_n = x_0 + n Δt v_0 + g Δt² n (n + 1)/2, no stress, for every point; rounding of n steps only."""
    g, dt, steps = np.array([0.3, -9.81, 0.1])[:dimension], 1e-3, 50
    v0 = np.array([0.4, 0.2, -0.3])[:dimension]
    sim = moving_ball(dimension, spline, scheme, dt=dt, velocity=v0.tolist(), gravity=g.tolist())
    start = sim.particles.x.copy()
    sim.advance(steps * dt)
    moved = np.sort(sim.particles.x, axis=0) - np.sort(start, axis=0)
    expected = steps * dt * v0 + g * dt**2 * steps * (steps + 1) / 2
    # velocities of about 1 m/s carry rounding of 1e-16 times some ten operations a step
    assert np.abs(moved - expected).max() <= steps * dt * 1e-13
    assert np.abs(sim.particles.F - np.eye(3)).max() <= 1e-11


@pytest.mark.parametrize(("dimension", "spline", "scheme"), COMBINATIONS)
def test_mass_and_momentum_are_conserved(dimension, spline, scheme):
    """No force from outside: mass exact, linear momentum to 1e-12 of m v."""
    spin = 3.0 if dimension == 2 else [0.0, 1.0, 3.0]
    sim = moving_ball(dimension, spline, scheme, velocity=[1.0, 0.5, 0.25][:dimension], spin=spin)
    before = sim.diagnostics()
    sim.advance(0.05)
    after = sim.diagnostics()
    assert after["mass"] == before["mass"]
    scale = before["mass"] * np.linalg.norm([1.0, 0.5, 0.25])
    assert np.abs(np.subtract(after["momentum"], before["momentum"])).max() <= 1e-12 * scale


@pytest.mark.parametrize(("dimension", "spline"), [kept_apart(*grid) for grid in GRIDS])
def test_apic_conserves_angular_momentum(dimension, spline):
    """[Jiang15]: the affine part included, APIC keeps angular momentum to rounding."""
    spin = 3.0 if dimension == 2 else [0.0, 1.0, 3.0]
    sim = moving_ball(dimension, spline, "apic", spin=spin)
    before = np.array(sim.diagnostics()["angular_momentum"])
    sim.advance(0.05)
    after = np.array(sim.diagnostics()["angular_momentum"])
    assert np.abs(after - before).max() <= 1e-12 * np.linalg.norm(before)


def test_a_spinning_disc_turns_at_its_angular_velocity():
    """Points of a rigidly spinning disc turn by ω t. The grid sees the rotation exactly (it is linear), so what remains
    is symplectic Euler's drift along the circle, ½ ω² Δt r per unit time, and the centrifugal strain ρ ω² R²/E."""
    omega, time, dt = 2.0, 0.1, 2e-4
    sim = moving_ball(2, "cubic", "apic", dt=dt, spin=omega)
    x0 = sim.particles.x.copy()
    centre = x0.mean(axis=0)
    sim.particles.body[:] = np.arange(len(x0))  # follows each point through re-sorting
    sim.advance(time)
    x = sim.particles.x[np.argsort(sim.particles.body)]
    c, s = np.cos(omega * time), np.sin(omega * time)
    expected = centre + (x0 - centre) @ np.array([[c, s], [-s, c]])
    centrifugal = SOFT["density"] * omega**2 * 0.2**2 / SOFT["youngs_modulus"]
    bound = 0.2 * (centrifugal + 0.5 * omega**2 * dt * time)
    assert np.abs(x - expected).max() <= bound
