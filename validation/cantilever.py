"""Case 30: a cantilever under its own weight."""

import numpy as np
from reports.case import Case, Check, Outcome, Surroundings, relative
from reports.drawing import OURS, THEIRS, panels, save

from spume import Scene, Simulation

LENGTH, HEIGHT, E, NU, DENSITY, GRAVITY = 1.0, 0.2, 1e6, 0.3, 1000.0, 0.05
CELLS = (4, 8, 16)
"""Cells across the thickness."""
STEP, STEPS = 0.4, 8
"""Time step [s]: backward Euler damps the first mode, with ω = 6.8/s, by 1/√(1 + (ω Δt)²) in each step."""


def closed_form() -> float:
    """Timoshenko's beam in plane strain: ρ g A L⁴/(8 E' I) + ρ g L²/(2 k G) with E' = E/(1 − ν²), k = 5/6 [m]."""
    plane, shear = E / (1 - NU**2), E / (2 * (1 + NU))
    bending = DENSITY * GRAVITY * HEIGHT * LENGTH**4 / (8 * plane * HEIGHT**3 / 12)
    return bending + DENSITY * GRAVITY * LENGTH**2 / (2 * 5 / 6 * shear)


def sag(cells: int) -> float:
    """Deflection of the tip [m]."""
    cell = HEIGHT / cells
    scene = Scene(
        title="cantilever", method="mpm", dimension=2, duration=20.0, gravity=[0.0, -GRAVITY],
        grid={"cell": cell, "spline": "quadratic"}, time={"integrator": "implicit", "dt": STEP},
        implicit={"solver": "newton", "iterations": 30, "tolerance": 1e-6, "linear_iterations": 4000},
        material={"m": {"law": "hencky", "density": DENSITY, "youngs_modulus": E, "poisson_ratio": NU}},
        body=[{"material": "m", "shape": {"rectangle": {"center": [LENGTH / 2 - 0.05, 0.0],
                                                        "size": [LENGTH + 0.1, HEIGHT]}}}],
        obstacle=[{"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [1.0, 0.0]}}, "contact": "stick"}],
    )  # fmt: skip
    method = Simulation(scene).method
    p = method.particles
    tip = p.id[p.x[:, 0] > LENGTH - cell]
    before = p.x[np.isin(p.id, tip), 1].mean()
    for _ in range(STEPS):
        method.take_step(STEP)
    return float(before - p.x[np.isin(p.id, tip), 1].mean())


def run(around: Surroundings) -> Outcome:
    """Three resolutions."""
    outcome, expected = Outcome(), closed_form()
    found = []
    for cells in CELLS:
        around.say(f"{cells} cells thick")
        found.append(sag(cells))
    outcome.checks.append(relative("deflection, 8 cells thick", found[1], expected, 0.05, "m"))
    errors = np.abs(np.array(found) / expected - 1)
    outcome.checks.append(
        Check("errors with finer cells", " → ".join(f"{100 * e:.2f} %" for e in errors), "converges", "-",
              "last below first", bool(errors[-1] < errors[0]))
    )  # fmt: skip
    figure, (axes,) = panels()
    axes.axhline(expected, **THEIRS, label="Timoshenko's beam")
    axes.plot(CELLS, found, **OURS, label="ours")
    axes.set(xlabel="cells across the thickness", ylabel="deflection [m]", ylim=(0, 1.2 * max(*found, expected)))
    axes.legend(frameon=False, fontsize=8)
    outcome.figures.append((save(figure, around.pictures, "cantilever"), "Deflection of the tip."))
    return outcome


CASE = Case(
    "cantilever",
    "Cantilever under its own weight",
    "Small deflection in plane strain: ρ g A L⁴/(8 E' I) with E' = E/(1 − ν²), plus the deflection by shear, "
    "ρ g L²/(2 k G), since the beam is only five times as long as thick. Ours: backward Euler by Newton's method until "
    "the beam is at rest.",
    run,
)
