"""Case 35: the rest state of a beam that bends far, with both frames of the grid."""

import numpy as np
from reports.case import Case, Check, Outcome, Surroundings, relative

from spume import Scene, Simulation
from validation.finite_elements import cantilever

LENGTH, HEIGHT, E, NU, DENSITY, GRAVITY = 1.0, 0.2, 1e6, 0.3, 1000.0, 8.0
CELLS, STEPS, DURATION = (3, 6), (0.5, 0.1), 5.0
"""Cells across the thickness; steps and duration [s]: backward Euler damps the first mode, with ω = 6.8/s, by
1/√(1 + (ω Δt)²) in each step: below 1e-4 in 50 steps of 0.1 s."""
SAME = 1e-3
"""Largest relative difference of the rest states after long and short steps: their remaining oscillations, and the
residuals of Newton's method."""


def scene(cells: int, step: float, frame: str) -> Scene:
    """The beam, clamped at the plane x = 0."""
    return Scene(
        title="cantilever", method="mpm", dimension=2, duration=DURATION, gravity=[0.0, -GRAVITY],
        grid={"cell": HEIGHT / cells, "spline": "quadratic", "frame": frame},
        time={"integrator": "implicit", "dt": step},
        implicit={"solver": "newton", "iterations": 60, "tolerance": 1e-6, "linear_iterations": 4000},
        material={"m": {"law": "hencky", "density": DENSITY, "youngs_modulus": E, "poisson_ratio": NU}},
        body=[{"material": "m", "shape": {"rectangle": {"center": [LENGTH / 2 - 0.05, 0.0],
                                                        "size": [LENGTH + 0.1, HEIGHT]}}}],
        obstacle=[{"shape": {"half_plane": {"point": [0.0, 0.0], "normal": [1.0, 0.0]}}, "contact": "stick"}],
    )  # fmt: skip


def sag(cells: int, step: float, frame: str) -> float:
    """Deflection [m] of the last cell of the beam, whose middle is half a cell before its end."""
    method = Simulation(scene(cells, step, frame)).method
    p = method.particles
    end = p.id[p.x[:, 0] > LENGTH - HEIGHT / cells]
    before = p.x[np.isin(p.id, end), 1].mean()
    for _ in range(round(DURATION / step)):
        method.take_step(step)
    return float(before - method.particles.x[np.isin(method.particles.id, end), 1].mean())


def run(around: Surroundings) -> Outcome:
    """Both frames, two resolutions, two steps."""
    outcome = Outcome()
    X, u = cantilever(LENGTH, HEIGHT, E, NU, DENSITY * GRAVITY)
    axis = np.flatnonzero(np.abs(X[:, 1]) < 1e-9)
    for cells in CELLS:
        cell = HEIGHT / cells
        expected = -float(np.interp(LENGTH - cell / 2, X[axis, 0], u[axis, 1]))
        found = {}
        for frame in ("total", "updated"):
            for step in STEPS:
                around.say(f"{cells} cells thick, frame {frame}, steps of {step} s")
                found[frame, step] = sag(cells, step, frame)
        clamp = (1.0 + 0.5 * cell / LENGTH) ** 4 - 1.0
        for step in STEPS:
            name = f"{cells} cells, steps of {step} s, frame total"
            outcome.checks.append(relative(name, found["total", step], expected, clamp, "m"))
        for step in STEPS:
            error = found["updated", step] / expected - 1.0
            outcome.checks.append(
                Check(f"{cells} cells, steps of {step} s, frame updated", f"{found['updated', step]:.4g} m",
                      f"{expected:.4g} m", f"{100 * error:+.2f} %", "stated, not bounded", True)
            )  # fmt: skip
        long, short = (found["total", step] for step in STEPS)
        outcome.checks.append(relative(f"{cells} cells, frame total, long and short steps", long, short, SAME, "m"))
    return outcome


CASE = Case(
    "rest-state",
    "Rest state of a beam that bends far",
    "A cantilever of a Hencky solid sags by more than a quarter of its length. Theirs: nine-node finite elements of "
    "the same law in plane strain (`validation/finite_elements.py`). Ours: Newton's method until the beam is at rest, "
    "with long and with short steps, which let it swing further first. Nodes hold the clamp, so its place is known to "
    'half a cell, which lengthens the beam: $(1 + h/2L)^4 - 1$ bounds the difference. With `frame = "total"` the rest '
    'state does not depend on the steps; with the default, `"updated"`, it does.',
    run,
)
