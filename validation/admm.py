"""Convergence of ADMM in one step of the paper's scenes: penalty, weights, over-relaxation."""

import numpy as np
from numpy.typing import NDArray

from spume import Simulation, load_scene
from validation.case import Case, Check, Outcome, Surroundings
from validation.drawing import COLOURS, panels, save

ITERATIONS = 100
STUDIES: tuple[tuple[str, str, float, str, dict[str, tuple[str, ...]]], ...] = (
    ("elastic-balls", "penalty", 0.35, "stiffness weights", {
        "ρ = 0.2": ("implicit.rho=0.2",),
        "ρ = 0.5": ("implicit.rho=0.5",),
        "ρ = 1": ("implicit.rho=1.0",),
        "ρ = 3": ("implicit.rho=3.0",),
    }),
    ("elastic-balls", "weights", 0.35, "ρ = 0.5; unit weights: half the bulk modulus", {
        "stiffness": ("implicit.weights='stiffness'",),
        "bulk-modulus": ("implicit.weights='bulk-modulus'",),
        "unit": ("implicit.weights='unit'", "implicit.rho=4.2e4"),
    }),
    ("roller", "over-relaxation", 1.0, "ρ = 0.5", {
        "α = 1": ("implicit.over_relaxation=1.0",),
        "α = 1.4": ("implicit.over_relaxation=1.4",),
        "α = 1.6": ("implicit.over_relaxation=1.6",),
        "α = 1.9": ("implicit.over_relaxation=1.9",),
    }),
)  # fmt: skip
"""Scene, what is varied, time of the step [s], remark, and the variants."""
FACTOR = 100.0
"""by which the residual of the defaults must fall in ITERATIONS iterations"""


def residuals(scene: str, time: float, changes: tuple[str, ...]) -> NDArray[np.float64]:
    """The larger one of primal and dual residual in each iteration of the step at `time` [s]."""
    sim = Simulation(load_scene(scene, preset="draft"))
    sim.advance(time)
    arrays, values = sim.method.checkpoint()
    fixed = (f"implicit.iterations={ITERATIONS}", "implicit.tolerance=1e-12", "implicit.accepted_residual=1e9")
    varied = Simulation(load_scene(scene, ["implicit.linear_tolerance=1e-4", *fixed, *changes], preset="draft"))
    varied.method.restore({name: a.copy() for name, a in arrays.items()}, values)
    varied.method.step(sim.scene.time.max_dt)
    last = varied.method.diagnostics()
    return np.maximum(last["primal_residuals"], last["dual_residuals"])


def run(around: Surroundings) -> Outcome:
    """All studies."""
    outcome = Outcome()
    figure, made = panels(len(STUDIES))
    for axes, (scene, varied, time, remark, variants) in zip(made, STUDIES):
        for (label, changes), colour in zip(variants.items(), COLOURS):
            around.say(f"{scene}: {label}")
            found = residuals(scene, time, changes)
            axes.semilogy(np.arange(1, len(found) + 1), found, color=colour, label=label)
            if label in ("ρ = 0.5", "stiffness", "α = 1"):
                fall = float(found.max() / found[-1])
                outcome.checks.append(
                    Check(
                        f"{scene}, {label}: fall of the residual", f"{fall:.3g} times", "converges",
                        f"in {len(found)} iterations", f"≥ {FACTOR:g} times", fall >= FACTOR,
                    )
                )  # fmt: skip
        axes.set(xlabel="iteration", ylabel="residual", title=f"{scene}: {varied} ({remark})")
        axes.title.set_fontsize(8)
        axes.legend(frameon=False, fontsize=8)
    caption = "Larger one of the relative primal and dual residuals in one step, as in figures 10 to 12 of [Fang19]."
    outcome.figures.append((save(figure, around.pictures, "admm"), caption))
    return outcome


CASE = Case(
    "admm",
    "Convergence of ADMM",
    "Figures 10 to 12 of [Fang19] show the residual over the iterations of one step for several penalties, weights and "
    "factors of over-relaxation. Ours: one step of elastic-balls in collision and of roller, both in draft. The paper "
    "gives no numbers; the residual of our defaults must fall a hundredfold in a hundred iterations.",
    run,
)
