"""Foam by implicit steps of milliseconds: Herschel-Bulkley flow and torn points inside the solver."""

import numpy as np
import pytest

from spume import Scene
from spume.foam.method import ContinuumFoam


def slump(time_table, **tables):
    """Height and width [m] of a column of shaving cream 0.15 s after it was set free, in the plane."""
    scene = Scene(
        title="slump", method="continuum-foam", dimension=2, duration=0.2,
        grid={"cell": 0.01, "spline": "quadratic"}, time=time_table,
        body=[{"material": "shaving cream", "shape": {"rectangle": {"center": [0.0, 0.08], "size": [0.12, 0.16]}}}],
        obstacle=[{"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "contact": "stick"}],
        **tables,
    )  # fmt: skip
    method = ContinuumFoam(scene)
    method.advance(0.15, lambda: False, lambda progress: None)
    x = method.particles.x
    return np.array([np.percentile(x[:, 1], 98), np.ptp(x[:, 0])]), method


def test_implicit_and_explicit_steps_let_a_column_of_foam_slump_alike():
    """Both are of first order in the step; steps of 2 ms are a sixtieth of the time it falls."""
    explicit, _ = slump({})
    implicit, method = slump({"integrator": "implicit", "dt": 2e-3})
    assert method.state.steps < 100
    assert implicit == pytest.approx(explicit, rel=0.05)
