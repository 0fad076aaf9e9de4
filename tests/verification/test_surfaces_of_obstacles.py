"""Material comes down to the surface of obstacles, and obstacles act on what touches them only."""

import numpy as np
import pytest
from scenes import SOFT, ball, box, half_space, simulate

pytestmark = pytest.mark.slow
GROUND = {"shape": half_space((0.0, 0.0), (0.0, 1.0))}


@pytest.mark.parametrize("contact", ["stick", "slip", "separate"])
def test_a_lone_point_falls_freely_until_it_touches(contact):
    """A point of spacing h/2, 3/4 of a cell above the ground: a node in the ground sees it from two cells on, and must
    not slow it down. Symplectic Euler falls by g Δt² n (n + 1)/2, until it is half its spacing above ground."""
    h, dt, g = 0.1, 1e-3, 9.81
    sim = simulate(
        dimension=2,
        grid={"cell": h},
        time={"dt": dt},
        body=[{"material": "solid", "shape": box(2, (0.025, 0.075), (0.05, 0.05))}],
        obstacle=[GROUND | {"contact": contact}],
    )
    assert len(sim.particles) == 1
    start = sim.particles.x[0, 1]
    assert start == pytest.approx(0.075, abs=1e-12)
    n = 80
    sim.advance(n * dt)
    assert start - sim.particles.x[0, 1] == pytest.approx(g * dt**2 * n * (n + 1) / 2, rel=1e-9)
    sim.advance(0.5)
    # sticking and slipping contacts take a tenth of a cell for touching
    above = (0.0 if contact == "separate" else 0.1) + 0.02
    assert -0.02 * h < sim.particles.x[0, 1] - h / 4 < above * h


def test_a_landed_ball_lies_on_the_ground():
    """At rest its lowest points are half a spacing above the ground, less the compression of that half spacing. The
    pressure under the ball, a few times ρ g R, is a few per cent of its stiffness: a twentieth of a cell is ample.
    A sticking contact takes a tenth of a cell for touching."""
    h = 0.02
    sim = simulate(
        dimension=2,
        grid={"cell": h},
        transfer={"scheme": "flip", "flip": 0.0},  # PIC
        material={"solid": SOFT | {"youngs_modulus": 1e5}},
        body=[{"material": "solid", "shape": ball(2, (0.0, 0.13), 0.1)}],
        obstacle=[GROUND | {"contact": "stick"}],
    )
    sim.advance(1.5)
    lowest = sim.particles.x[:, 1].min()
    assert -h / 20 < lowest - h / 4 < h / 10 + h / 20


def slide(scheme, angle, friction=0.4, duration=0.6, h=0.025, gap=0.0):
    """Mean displacement along the slope at seven times, and the height of the lowest points [cells], of a block that
    first settles under gravity that grows slowly: an undamped block that is loaded at once vibrates, and vibrations
    make any block creep, because nothing holds it while its normal force is low."""
    theta, g = np.radians(angle), 9.81
    down, along = [0.0, -g * np.cos(theta)], [g * np.sin(theta), -g * np.cos(theta)]
    sim = simulate(
        dimension=2,
        gravity={"times": [0.0, 0.3, 0.35], "values": [[0.0, -1e-3], down, along]},
        grid={"cell": h},
        transfer={"scheme": scheme},
        material={"solid": SOFT | {"youngs_modulus": 1e6, "poisson_ratio": 0.2}},
        body=[{"material": "solid", "shape": box(2, (0.2, 0.1 + gap * h), (0.4, 0.2))}],
        obstacle=[GROUND | {"contact": "separate", "friction": friction}],
    )
    sim.advance(0.45 if scheme != "pic" else 0.6)
    places, heights = [sim.particles.x[:, 0].mean()], []
    for _ in range(6):
        sim.advance(duration / 6)
        places.append(sim.particles.x[:, 0].mean())
        heights.append(sim.particles.x[:, 1].min() / h)
    return np.array(places), np.array(heights)


@pytest.mark.parametrize("scheme", ["apic", pytest.param("flip", marks=pytest.mark.slow_suite)])
def test_a_block_sticks_below_the_friction_angle(scheme):
    """At 21° with μ = 0.4, whose angle is 21.8°."""
    places, _ = slide(scheme, 21.0)
    assert np.ptp(places) < 0.01 * 0.025


@pytest.mark.parametrize("scheme", ["apic", "flip"])
def test_a_block_slides_on_the_surface_above_the_friction_angle(scheme):
    """At 30° its acceleration is g (sin θ − μ cos θ), 3 %, and it does not rise from the surface: the lowest points
    stay half a spacing above it, to the compression of a fiftieth of a cell."""
    angle, friction = 30.0, 0.4
    places, heights = slide(scheme, angle, friction)
    times = np.linspace(0.0, 0.6, 7)
    acceleration = 2.0 * np.polyfit(times, places, 2)[0]
    theta = np.radians(angle)
    assert acceleration == pytest.approx(9.81 * (np.sin(theta) - friction * np.cos(theta)), rel=0.03)
    assert np.all(np.abs(heights - 0.25) < 0.02)


@pytest.mark.parametrize(
    ("h", "gap"),
    [
        (0.025, 0.0),
        pytest.param(0.025, 0.3, marks=pytest.mark.slow_suite),
        pytest.param(0.0125, 0.0, marks=pytest.mark.slow_suite),
    ],
)
def test_a_damped_block_sticks_and_slides_by_coulombs_law(h, gap):
    """Near the friction angle of 21.8°, whatever the cells and the gap [cells] at the start: at 21° it does not move,
    and at 22.5° the acceleration, 1.3 % of g, is found to 3 %. Vibrations, which PIC damps, would change it: parts of
    the block that stick for a moment take less than the full friction."""
    stuck, _ = slide("pic", 21.0, duration=0.3, h=h, gap=gap)
    assert np.ptp(stuck) < 1e-3 * h
    places, heights = slide("pic", 22.5, duration=0.3, h=h, gap=gap)
    acceleration = 2.0 * np.polyfit(np.linspace(0.0, 0.3, 7), places, 2)[0]
    theta = np.radians(22.5)
    assert acceleration == pytest.approx(9.81 * (np.sin(theta) - 0.4 * np.cos(theta)), rel=0.03)
    assert np.all(np.abs(heights - 0.25) < 0.02)
