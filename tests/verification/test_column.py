"""A column under its own weight; validation case 10."""

import numpy as np
from scenes import box, half_space, simulate
from scipy.integrate import cumulative_trapezoid
from scipy.optimize import brentq


def test_stress_in_a_standing_column_is_hydrostatic():
    """Uniaxial strain F = diag(1, J, 1): σ_yy = [κ/2 (J² − 1) + 2/3 μ J^(−2/3) (J² − 1)]/J = −ρ0 g (H − Y) for a point
    that was at height Y. The column starts in this state, and PIC damps what moves it away: whatever force the grid
    finds unbalanced changes the stress. After two seconds (twenty transits of a wave) the Cauchy stress holds to 1 % of
    ρ g H in the middle of the column; at walls the splines reach a cell past the material, an error of first order that
    fades within a few cells."""
    kappa, mu, density, height, cell, g = 1.0e5, 5.0e3, 1000.0, 1.0, 0.025, 9.81
    sim = simulate(
        dimension=2,
        gravity=[0.0, -g],
        grid={"cell": cell},
        transfer={"scheme": "pic"},
        material={"solid": {"law": "neo-hookean", "density": density, "bulk_modulus": kappa, "shear_modulus": mu}},
        body=[{"material": "solid", "shape": box(2, (height / 2, height / 2), (height, height))}],
        obstacle=[
            {"shape": half_space((0.0, 0.0), (0.0, 1.0)), "contact": "slip"},
            {"shape": half_space((0.0, 0.0), (1.0, 0.0)), "contact": "slip"},
            {"shape": half_space((height, 0.0), (-1.0, 0.0)), "contact": "slip"},
        ],
    )

    def excess(j, load):
        return (0.5 * kappa + 2 / 3 * mu * j ** (-2 / 3)) * (j * j - 1) / j + load

    def compression(y):
        return brentq(excess, 0.5, 1.5, args=(density * g * (height - y),))

    p = sim.particles
    X, Y = p.x[:, 0].copy(), p.x[:, 1].copy()
    p.body[:] = np.arange(len(Y))
    levels = np.linspace(0.0, height, 2001)
    deformed = cumulative_trapezoid([compression(y) for y in levels], levels, initial=0.0)
    expected = np.array([compression(y) for y in Y])
    p.x[:, 1] = np.interp(Y, levels, deformed)
    p.F[:, 1, 1] = expected
    sim.method.world.model.stress(p.arrays(), p.stress)
    sim.advance(2.0)
    p = sim.particles
    stress = (p.stress[:, 1] / np.linalg.det(p.F))[np.argsort(p.body)]
    middle = (abs(X - height / 2) < height / 4) & (abs(Y - height / 2) < height / 4)
    assert np.abs(stress + density * g * (height - Y))[middle].max() <= 0.01 * density * g * height
