"""Sand whose points have crowded together regains its volume; sand at rest is left alone."""

import numpy as np
import pytest

from spume import Scene, Simulation
from spume.foam.plain import MaterialPointMethod
from spume.mpm.crowded_sand import BAND, CROSSINGS, INTERVAL

CELL, SIDE = 0.02, 0.2


def block(fill=None, center=0.0, walls=None, gravity=0.0, **material):
    """A block of sand."""
    sand = {"base": "dry sand", "youngs_modulus": 1e5} | material
    return MaterialPointMethod(
        Scene(
            title="block", method="mpm", dimension=2, duration=1.0, gravity=[0.0, gravity],
            grid={"cell": CELL, "spline": "quadratic"} | ({"walls": walls} if walls else {}), material={"sand": sand},
            body=[{"material": "sand", "shape": {"rectangle": {"center": [0.0, center], "size": [SIDE, SIDE]}},
                   "fill": fill or {}}],
        )
    )  # fmt: skip


def decay_time(method):
    material = method.scene.materials[0]
    return CROSSINGS * CELL / material.law.wave_speed(material.parameters)


def crowd(method, density):
    """Move the points closer together, without telling their deformation."""
    method.particles.x[:] /= np.sqrt(density)


def filled(method):
    """Fraction of the volume around each point that the points fill, by a sum over all pairs of points and nodes."""
    p = method.particles
    nodes = np.stack(np.meshgrid(*[np.arange(-SIDE, SIDE, CELL)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    z = np.abs(p.x[:, None] - nodes) / CELL
    w = np.prod(np.where(z < 0.5, 0.75 - z * z, 0.5 * np.maximum(1.5 - z, 0.0) ** 2), axis=2)
    return w @ (w.T @ (p.volume * np.exp(p.gained_volume))) / CELL**2


def test_the_excess_decays_at_its_rate():
    """Of points without elastic strain, in one step."""
    method, dt = block(), 1e-5
    crowd(method, 1.3)
    excess = np.maximum(np.log(filled(method) / (1.0 + BAND)), 0.0)
    by_id = np.argsort(method.particles.id)
    method.take_step(dt)
    b = method.particles.b[np.argsort(method.particles.id)]
    expected = -np.expm1(-INTERVAL * dt / decay_time(method)) * excess[by_id]
    assert expected.max() > 0.0
    np.testing.assert_allclose(b[:, :3], np.exp(-2.0 / 3.0 * expected)[:, None] * np.ones(3), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("method", "integrator", "law"),
    [
        ("mpm", "semi-implicit", "drucker-prager"),
        pytest.param("mpm", "implicit", "drucker-prager", marks=pytest.mark.slow_suite),
        ("sand-water", "explicit", "drucker-prager"),
        ("sand-water", "semi-implicit", "drucker-prager"),
        ("mpm", "semi-implicit", "granular-flow"),
        pytest.param("mpm", "implicit", "granular-flow", marks=pytest.mark.slow_suite),
        ("sand-water", "explicit", "granular-flow"),
        ("sand-water", "semi-implicit", "granular-flow"),
    ],
)
def test_the_excess_decays_whatever_the_method_and_the_integrator(method, integrator, law):
    """Without forces: the same first correction as in explicit steps of plain MPM, up to the motion of that step. Sand
    is at rest and free of stress, so solvers have nothing to solve."""
    sand = {"base": "dry sand" if law == "drucker-prager" else "glass beads", "youngs_modulus": 1e5}
    sim = Simulation(
        Scene(
            title="block", method=method, dimension=2, duration=1.0, gravity=[0.0, 0.0],
            grid={"cell": CELL, "spline": "quadratic"}, material={"sand": sand},
            time={"integrator": integrator, "dt": 1e-4},
            body=[{"material": "sand", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [SIDE, SIDE]}}}],
            **({"mixture": {"drag_coefficient": 0.0}} if method == "sand-water" else {}),
        )
    )  # fmt: skip
    (p, *_) = sim.method.species.values()
    p.x[:] /= np.sqrt(1.3)
    sim.advance(1e-4)
    tau = decay_time(sim.method)
    inner = np.abs(p.x).max(axis=1) < 0.5 * SIDE / np.sqrt(1.3) - 2.0 * CELL
    expected = -np.expm1(-INTERVAL * 1e-4 / tau) * np.log(1.3 / (1.0 + BAND))
    # points at distances of 0.44 cells fill the space around them evenly to a few per cent
    assert -0.5 * np.log(np.prod(p.b[inner, :3], axis=1)).mean() == pytest.approx(expected, rel=0.05)


def test_a_crowded_column_rises_between_walls():
    """Points next to walls and at the surface do not take part, so it rises by a part of what is missing only."""
    walls = {"lower": [-SIDE / 2, 0.0], "upper": [SIDE / 2, 1.0], "contact": "slip"}
    heights = []
    for material in ({}, {"volume_correction": False}):
        method = block(center=SIDE / 2, walls=walls, gravity=-9.81, **material)
        method.particles.x[:, 1] /= 1.3
        method.advance(0.5 * decay_time(method), lambda: False, lambda _: None)
        heights.append(2.0 * method.particles.x[:, 1].mean())
    assert heights[1] < SIDE / 1.3 < heights[0] < SIDE / (1.0 + BAND)


def test_gained_volume_is_given_back_before_the_sand_is_compressed():
    method = block()
    crowd(method, 1.3)
    method.particles.gained_volume[:] = 0.5  # J = exp(0.5): φ = 1.3 exp(0.5)
    b = method.particles.b.copy()
    while method.world.steps <= INTERVAL:
        method.take_step(1e-5)
    inner = np.abs(method.particles.x).max(axis=1) < 0.05
    assert (method.particles.gained_volume[inner] < 0.5).all()
    np.testing.assert_allclose(method.particles.b[inner], b[inner], atol=1e-9)


@pytest.mark.parametrize("fill", [{}, {"pattern": "poisson-disk"}])
def test_sand_at_rest_is_not_touched(fill):
    method = block(fill)
    b = method.particles.b.copy()
    for _ in range(2 * INTERVAL):
        method.take_step(1e-4)
    np.testing.assert_array_equal(method.particles.b, b)
    assert not method.particles.v.any()


def test_without_volume_correction_crowded_sand_stays_crowded():
    method = block(volume_correction=False)
    crowd(method, 1.3)
    method.advance(0.02 * decay_time(method), lambda: False, lambda _: None)
    assert not method.particles.v.any()


def test_a_settled_column_does_not_swell():
    """An irregular filling under its weight: without drift there is nothing to restore."""
    walls = {"lower": [-SIDE / 2, 0.0], "upper": [SIDE / 2, 1.0], "contact": "slip"}
    heights = []
    for correction in (True, False):
        method = block({"pattern": "poisson-disk"}, SIDE / 2, walls, -9.81, volume_correction=correction)
        method.advance(0.3, lambda: False, lambda _: None)
        heights.append(method.particles.x[:, 1].mean())
    assert heights[0] == pytest.approx(heights[1], rel=0.01)


@pytest.mark.parametrize("law", ["drucker-prager", "granular-flow"])
def test_a_resumed_run_restores_at_the_same_steps(law):
    """Continued from the middle between two corrections: the same bits."""
    more = {} if law == "drucker-prager" else {"base": "glass beads"}
    runs = []
    for cut in (None, INTERVAL + 3):
        method = block(**more)
        crowd(method, 1.3)
        while method.world.steps < 3 * INTERVAL:
            if method.world.steps == cut:
                arrays, values = method.checkpoint()
                method = block(**more)
                method.restore({name: array.copy() for name, array in arrays.items()}, values)
            method.take_step(1e-4)
        runs.append(method.particles)
    assert runs[0].b.tobytes() == runs[1].b.tobytes()
    assert (runs[0].b[:, 0] < 1.0).any()
