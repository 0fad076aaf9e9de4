"""Order of convergence in space and time together; validation case 8."""

import numpy as np
import pytest
from scenes import box, simulate


def error(cells, spline):
    """Root mean square error, relative to the amplitude G, of u = G cos(πX) sin(cπt), the first axial mode of a bar of
    length 1 with free ends, E = 1e7, ν = 0, ρ = 1000, c = 100; G = 1e-6 makes the non-linear terms (G π, relative)
    smaller than the errors looked at. Δt is a fixed part of the cell."""
    c, amplitude, cell = 100.0, 1e-6, 1.0 / cells
    sim = simulate(
        dimension=2,
        gravity=[0.0, 0.0],
        grid={"cell": cell, "spline": spline},
        time={"courant": 0.2},
        transfer={"scheme": "flip", "flip": 1.0},
        material={"solid": {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e7, "poisson_ratio": 0.0}},
        body=[{"material": "solid", "shape": box(2, (0.5, 2 * cell), (1.0, 4 * cell))}],
    )
    p = sim.particles
    X = p.x[:, 0].copy()
    p.v[:, 0] = amplitude * c * np.pi * np.cos(np.pi * X)
    p.body[:] = np.arange(len(X))
    sim.advance(0.0035)
    p = sim.particles
    u = p.x[np.argsort(p.body), 0] - X
    return np.sqrt(np.mean((u - amplitude * np.cos(np.pi * X) * np.sin(c * np.pi * sim.time)) ** 2)) / amplitude


@pytest.mark.parametrize("spline", ["quadratic", "cubic"])
def test_a_standing_wave_converges_with_second_order(spline):
    errors = np.array([error(cells, spline) for cells in (10, 20, 40)])
    orders = np.log2(errors[:-1] / errors[1:])
    assert orders.min() >= 1.7
