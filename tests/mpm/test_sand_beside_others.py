"""Sand, rubber and foam in one scene of the material point method."""

import numpy as np
import pytest

from spume import Scene, Simulation

GRAVITY = np.array([0.3, -9.81])


def test_sand_beside_rubber_and_foam_keeps_the_balance_of_momentum():
    """Three touching blocks that are pressed together and sheared: forces between points cancel, so the momentum
    changes by M g t alone. Rounding of the sums is relative to Σ m |v|, for each of some hundred steps."""
    bodies = [
        {
            "material": material, "velocity": velocity,
            "shape": {"rectangle": {"center": [x, 0.1], "size": [0.2, 0.2]}},
        }
        for material, x, velocity in (
            ("loose", -0.2, [0.5, 0.2]), ("soft rubber", 0.0, [0.0, 0.0]), ("shaving cream", 0.2, [-0.5, 0.1]),
        )
    ]  # fmt: skip
    sim = Simulation(
        Scene(
            title="three", method="mpm", dimension=2, duration=100.0, gravity=GRAVITY.tolist(),
            grid={"cell": 0.025, "spline": "quadratic"}, body=bodies,
            material={"loose": {"base": "dry sand", "youngs_modulus": 1e5}},
        )
    )  # fmt: skip
    start, duration = sim.diagnostics(), 0.04
    sim.advance(duration)
    end, p = sim.diagnostics(), sim.particles
    for name in ("x", "v", "stress"):
        assert np.isfinite(getattr(p, name)).all()
    assert end["mass"] == pytest.approx(start["mass"], rel=1e-14)
    change = np.array(end["momentum"]) - np.array(start["momentum"])
    size = np.sum(p.mass * np.linalg.norm(p.v, axis=1))
    np.testing.assert_allclose(change, end["mass"] * GRAVITY * duration, rtol=0, atol=1e-11 * size)
    # the blocks push each other: sand and cream have lost most of their approach
    sand, foam = (p.v[p.material == k, 0].mean() for k in (material_of(p, -0.2), material_of(p, 0.2)))
    assert sand - foam < 0.8


def material_of(p, x):
    """Material of the points around x."""
    return np.bincount(p.material[np.abs(p.x[:, 0] - x) < 0.05]).argmax()
