"""A block slides down a frictional incline; validation case 9."""

import numpy as np
import pytest
from scenes import box, half_space, simulate


@pytest.mark.parametrize(("integrator", "dt"), [("explicit", "auto"), ("semi-implicit", 1e-2)])
@pytest.mark.parametrize(("angle", "friction"), [(30.0, 0.2), (30.0, 0.0), (20.0, 0.6)])
def test_the_block_slides_as_coulomb_says(angle, friction, integrator, dt):
    """Displacement along the slope ½ g t² (sin θ − μ cos θ), or none below the friction angle; with backward Euler
    ½ g t (t + Δt) (sin θ − μ cos θ).

    The slope is level and gravity tilted, which is the same. The block's elastic settling takes a few wave transits
    (L/c = 0.01 s), during which the normal force is not yet its mean: 3 % of the displacement at 0.4 s.
    """
    theta, g, time = np.radians(angle), 9.81, 0.4
    sim = simulate(
        dimension=2,
        gravity=[g * np.sin(theta), -g * np.cos(theta)],
        grid={"cell": 0.025, "spline": "cubic" if integrator == "explicit" else "quadratic"},
        time={"integrator": integrator, "dt": dt},
        material={"solid": {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e6, "poisson_ratio": 0.2}},
        body=[{"material": "solid", "shape": box(2, (0.2, 0.1), (0.4, 0.2))}],
        obstacle=[{"shape": half_space((0.0, 0.0), (0.0, 1.0)), "contact": "separate", "friction": friction}],
    )
    start = sim.particles.x[:, 0].mean()
    sim.advance(time)
    slid = sim.particles.x[:, 0].mean() - start
    free = 0.5 * g * time * (time + (0.0 if dt == "auto" else dt))
    expected = free * max(0.0, np.sin(theta) - friction * np.cos(theta))
    assert slid == pytest.approx(expected, abs=0.03 * free * np.sin(theta))
