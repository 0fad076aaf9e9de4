"""Case 29: convergence of ADMM in one step of the paper's scenes, figures 10 to 12 of [Fang19]."""

import numpy as np
from numpy.typing import NDArray

from spume import Simulation, load_scene
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.step import rasterize, sort_points
from validation.case import Case, Check, Outcome, Surroundings
from validation.drawing import COLOURS, panels, save

ITERATIONS = (2, 3, 5, 8, 12, 20, 30, 50, 80, 120)
"""Numbers of iterations after which the velocities are compared."""
SAND = ("grid.cell=0.03",)
STUDIES: tuple[tuple[str, tuple[str, ...], str, float, dict[str, tuple[str, ...]]], ...] = (
    ("sand-column-implicit", SAND, "10, left: Ruiz", 0.5, {
        "stiffness, ρ = 0.5": ("implicit.rho=0.5",),
        "stiffness, ρ = 0.1": ("implicit.rho=0.1",),
        "Ruiz, ρ = 0.1": ("implicit.weights='ruiz'",),
        "Ruiz, ρ = 2": ("implicit.weights='ruiz'", "implicit.rho=2.0"),
    }),
    ("elastic-balls", (), "10, right: Ruiz", 0.35, {
        "stiffness, ρ = 0.5": (),
        "stiffness, ρ = 2": ("implicit.rho=2.0",),
        "Ruiz, ρ = 0.5": ("implicit.weights='ruiz'",),
        "Ruiz, ρ = 2": ("implicit.weights='ruiz'", "implicit.rho=2.0"),
    }),
    ("elastic-balls", (), "11: weights", 0.35, {
        "stiffness": (),
        "bulk modulus": ("implicit.weights='bulk-modulus'",),
        "unit": ("implicit.weights='unit'", "implicit.rho=4.2e4"),
        "from rest, not warm": ("implicit.start='free'",),
        "balanced, ρ = 0.02": ("implicit.balancing='residual'", "implicit.rho=0.02"),
    }),
    ("roller", (), "12: over-relaxation", 1.0, {
        "α = 1": (),
        "α = 1.4": ("implicit.over_relaxation=1.4",),
        "α = 1.6": ("implicit.over_relaxation=1.6",),
        "α = 1.9": ("implicit.over_relaxation=1.9",),
    }),
)  # fmt: skip
"""Scene, changes for all variants, figure, time of the step [s], and the variants."""
CONVERGED = ("implicit.iterations=1500", "implicit.tolerance=1e-9", "implicit.linear_tolerance=0.01")
FACTOR = 100.0
"""factor by which the error must fall with the defaults after the largest number of iterations"""


def convergence(scene: str, common: tuple[str, ...], time: float, variants: dict) -> dict[str, NDArray[np.float64]]:
    """Errors of the node velocities of each variant after ITERATIONS of the step at `time` [s]: their distance from the
    converged solution of the defaults, relative to that of the velocities without stress, in the norm of the kinetic
    energy."""
    sim = Simulation(load_scene(scene, list(common), preset="draft"))
    sim.advance(time)
    arrays, values = sim.method.checkpoint()
    dt = sim.scene.time.max_dt

    def restored(changes: tuple[str, ...]) -> Simulation:
        made = Simulation(load_scene(scene, [*common, *changes], preset="draft"))
        kept = {name: a.copy() for name, a in arrays.items() if name.partition("/")[2] in made.particles.arrays()}
        made.method.restore(kept, values | {"allowed_dt": None})
        return made

    def solved(changes: tuple[str, ...]) -> NDArray[np.float64]:
        made = restored((*changes, "implicit.accepted_residual=1e9"))
        made.method.step(dt)
        return made.method.stages.integrator.last.v

    start = restored(())
    sort_points(start.method.state)
    rasterize(start.method.state)
    problem = StepProblem(start.method.state, dt)
    exact = solved(CONVERGED)

    def distance(v: NDArray[np.float64]) -> float:
        return float(np.sqrt(problem.mass @ ((v - exact) ** 2).sum(axis=1)))

    found = {}
    for label, changes in variants.items():
        fixed = [(*changes, f"implicit.iterations={count}", "implicit.tolerance=1e-13") for count in ITERATIONS]
        found[label] = np.array([distance(solved(each)) for each in fixed]) / distance(problem.free)
    return found


def run(around: Surroundings) -> Outcome:
    """All studies."""
    outcome = Outcome()
    figure, made = panels(len(STUDIES))
    for axes, (scene, common, title, time, variants) in zip(made, STUDIES):
        around.say(f"{scene}: {title}")
        curves = convergence(scene, common, time, variants)
        for (label, curve), colour in zip(curves.items(), COLOURS):
            axes.loglog(ITERATIONS, curve, color=colour, marker="o", markersize=3, label=label)
        if scene != "sand-column-implicit":
            label, curve = next(iter(curves.items()))
            fall = float(1.0 / curve[-1])
            outcome.checks.append(
                Check(
                    f"{scene}, {label}: fall of the error", f"{fall:.3g} times", "converges",
                    f"in {ITERATIONS[-1]} iterations", f"≥ {FACTOR:g} times", fall >= FACTOR,
                )
            )  # fmt: skip
        axes.set(xlabel="iterations", ylabel="error of the velocities", title=f"{scene} (figure {title})")
        axes.title.set_fontsize(8)
        axes.legend(frameon=False, fontsize=7)
    caption = "Unbalanced impulses relative to those without stress, in one step; as in figures 10 to 12 of [Fang19]."
    outcome.figures.append((save(figure, around.pictures, "admm"), caption))
    return outcome


CASE = Case(
    "admm",
    "Convergence of ADMM",
    "Figures 10 to 12 of [Fang19] show the residual over the iterations of one step for Ruiz equilibration, weights "
    "and over-relaxation. Ours: one step of a collapsing sand column, of elastic-balls in collision and of roller, all "
    "in draft; the error is the distance from the converged solution of the defaults. The paper gives no numbers; with "
    "our defaults the error must fall by a factor of 100 in the elastic scenes. (The tests check that ADMM converges "
    "to the solution of Newton's method, to 1e-6.)",
    run,
)
