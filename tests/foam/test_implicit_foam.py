"""Foam by implicit steps of milliseconds: Herschel-Bulkley flow and torn points inside the solver."""

import numpy as np
import pytest

from spume import Scene
from spume.foam import step as foam_steps
from spume.foam.foam import FoamState
from spume.foam.method import ContinuumFoam
from spume.foam.resampling import avoid_a_void


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


@pytest.mark.slow_suite
def test_implicit_and_explicit_steps_let_a_column_of_foam_slump_alike():
    """Both are of first order in the step; steps of 2 ms are a sixtieth of the time it falls."""
    explicit, _ = slump({})
    implicit, method = slump({"integrator": "implicit", "dt": 2e-3})
    assert method.world.steps < 100
    assert implicit == pytest.approx(explicit, rel=0.05)


def pulled(integrator, time_table):
    """A strip of shaving cream between two plates that part: it stretches, and voids open."""
    plates = [
        {"shape": {"rectangle": {"center": [side * 0.08, 0.0], "size": [0.08, 0.2]}}, "contact": "stick",
         "motion": {"keyframes": {"times": [0.0, 1.0], "positions": [[0.0, 0.0], [side * 0.5, 0.0]],
                                  "interpolation": "linear"}}}
        for side in (-1.0, 1.0)
    ]  # fmt: skip
    return ContinuumFoam(
        Scene(
            title="pull", method="continuum-foam", dimension=2, duration=1.0, gravity=[0.0, 0.0],
            grid={"cell": 0.01, "spline": "quadratic"}, time={"integrator": integrator} | time_table,
            body=[{"material": "shaving cream", "shape": {"rectangle": {"center": [0.0, 0.0], "size": [0.12, 0.08]}}}],
            obstacle=plates,
        )
    )  # fmt: skip


def resamplings(method, monkeypatch, until):
    """The times and step counts at which points are resampled."""
    found = []

    def noted(world, now, *more):
        found.append((now, world.steps + 1))
        return avoid_a_void(world, now, *more)

    monkeypatch.setattr(foam_steps, "avoid_a_void", noted)
    method.advance(until, lambda: False, lambda progress: None)
    return np.array(found)


def test_implicit_steps_resample_as_often_in_time_as_explicit_ones(monkeypatch):
    """Not before the time of 50 explicit steps has passed since the last time, and at most one step later."""
    dt = 4e-4
    method = pulled("implicit", {"dt": dt})
    material = method.scene.materials[0]
    interval = 50 * 0.5 * 0.01 / material.law.wave_speed(material.parameters)
    assert dt < interval < 0.01
    times = np.concatenate([[0.0], resamplings(method, monkeypatch, 0.022)[:, 0]])
    assert len(times) > 3
    assert (np.diff(times) >= interval * (1 - 1e-9)).all()
    assert (np.diff(times) < interval + 1.001 * dt).all()


def test_implicit_steps_recover_and_are_searched_as_often_in_time_as_explicit_ones():
    """By default after the time of ten explicit steps, in this case after each fourth step."""
    method = pulled("implicit", {"dt": 4e-4})
    foam, steps = method.part(FoamState), 4
    assert steps - 1 < 10 * foam.explicit_step / 4e-4 < steps
    for k in range(1, 2 * steps + 1):
        method.advance(4e-4 * k, lambda: False, lambda progress: None)
        latest = 4e-4 * (k // steps) * steps
        assert foam.recovered_until == pytest.approx(latest, rel=1e-12)
        assert foam.searched_until == pytest.approx(latest, rel=1e-12)


def test_explicit_steps_resample_by_their_number(monkeypatch):
    steps = resamplings(pulled("explicit", {}), monkeypatch, 0.02)[:, 1]
    assert steps.tolist() == [50 * (k + 1) for k in range(len(steps))]
    assert len(steps) >= 1


def test_a_resumed_implicit_run_resamples_at_the_same_times(monkeypatch):
    method = pulled("implicit", {"dt": 4e-4})
    method.advance(5e-3, lambda: False, lambda progress: None)
    arrays, values = method.checkpoint()
    other = pulled("implicit", {"dt": 4e-4})
    other.restore({name: array.copy() for name, array in arrays.items()}, values)
    first, second = (resamplings(each, monkeypatch, 0.012) for each in (method, other))
    assert len(first) >= 1
    assert np.array_equal(first, second)
    assert method.particles.x.tobytes() == other.particles.x.tobytes()
