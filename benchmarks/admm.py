"""Errors of ADMM after a number of iterations, and its cost: `python -m benchmarks.admm [TABLE ...] [SCENE ...]` with
the tables `options`, `penalty` and `newton`.

One step of drafts of built-in scenes in which bodies are in contact, deform and flow. The error is that of the node
velocities in the norm of the kinetic energy, relative to that of the velocities without stress. The reference is the
solution of up to 3,000 accelerated iterations. CPU time on one thread. The table `newton` compares ADMM and Newton's
method on a tube of rubber, at several stiffnesses, by the impulses that are left.
"""

import sys
import time

import numba
from rich.console import Console
from rich.table import Table
from validation.admm import SAND, Study

from spume.mpm.implicit.admm import solve_by_admm
from spume.mpm.implicit.step import SOLVERS

STEPS: dict[str, tuple[float, tuple[str, ...]]] = {
    "elastic-balls": (0.35, ()),
    "roller": (1.0, ()),
    "alien": (0.8, ()),
    "twisting-elastic": (0.5, ()),
    "faceless": (1.0, ()),
    "panda": (0.8, ()),
    "silicone": (0.8, ()),
    "cherries": (0.5, ()),
    "coil": (1.2, ()),
    "warrior": (1.5, ()),
    "cars": (0.5, ()),
    "twisting": (0.5, ("gravity=[0.0, -1.0, 0.0]",)),
    "slumping-cream-implicit": (0.1, ("time.max_dt=0.004",)),
    "sand-column-implicit": (0.4, SAND),
}
"""Time of the step [s] and changes of each scene. Without gravity, nothing but stress would act in `twisting`."""
OPTIONS = {
    "defaults": (),
    "anderson_memory = 0": ("implicit.anderson_memory=0",),
    "anderson_memory = 1": ("implicit.anderson_memory=1",),
    "anderson_memory = 4": ("implicit.anderson_memory=4",),
    'start = "free"': ("implicit.start='free'",),
    "over_relaxation = 1.6": ("implicit.over_relaxation=1.6",),
    'balancing = "residual"': ("implicit.balancing='residual'",),
    'weights = "bulk-modulus"': ("implicit.weights='bulk-modulus'",),
    'weights = "ruiz"': ("implicit.weights='ruiz'",),
}
PENALTIES = (1.0, 0.6, 0.3, 0.15, 0.075, 0.0375)
ITERATIONS = (5, 10, 20, 40)
REFERENCE = ("implicit.iterations=3000", "implicit.tolerance=1e-9", "implicit.linear_tolerance=0.05")
REACHED = 1e-3
"""Largest unbalanced impulses of the reference, relative to those of the first guess."""
CAP = 200
"""Most iterations to the tolerance of the scene."""
STIFFNESSES = (5e4, 5e6, 5e8)
"""Young's moduli [Pa] of the tube in the comparison with Newton's method."""
GOALS = (1e-2, 1e-6)
"""Unbalanced impulses, relative to those of the first guess, at which the two are compared."""
COUNTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
"""Numbers of iterations that are tried."""


def rows(scene: str, variants: dict[str, tuple[str, ...]]) -> list[list[str]]:
    """Errors after ITERATIONS iterations of each variant, and iterations and time [ms] to the scene's tolerance."""
    at, changes = STEPS[scene]
    study = Study(scene, changes, at)
    exact, left = study.solved(REFERENCE)
    if left > REACHED:
        raise SystemExit(f"{scene}: the reference has not converged: {left:.1e} of the impulses are left")
    made = []
    for label, own in variants.items():
        errors = []
        for count in ITERATIONS:
            v, _ = study.solved((*own, f"implicit.iterations={count}", "implicit.tolerance=1e-12"))
            errors.append(f"{study.distance(v, exact):.1e}")
        method, problem = study.problem((*own, f"implicit.iterations={CAP}"))
        started = time.process_time()
        outcome = solve_by_admm(problem, method.scene.implicit_settings)
        taken = f"{1e3 * (time.process_time() - started):.0f}"
        count = str(len(outcome.primal)) if outcome.converged else f"> {CAP}"
        made.append([label, *errors, count, taken])
    return made


def until(study: Study, solver: str, goal: float) -> str:
    """CPU time [ms], iterations and linear iterations of a solver to unbalanced impulses below `goal`."""
    for count in COUNTS:
        own = (f"implicit.solver={solver!r}", f"implicit.iterations={count}", "implicit.tolerance=1e-12")
        method, problem = study.problem(own)
        started = time.process_time()
        outcome = SOLVERS[solver](problem, method.scene.implicit_settings)
        taken = 1e3 * (time.process_time() - started)
        if study.unbalanced(method, problem, outcome.v) <= goal * study.first:
            return f"{taken:.0f} ms, {len(outcome.primal)} ({outcome.linear_iterations})"
    return f"> {COUNTS[-1]} iterations"


def beside_newton() -> Table:
    """Table of ADMM and Newton's method to each goal."""
    shown = Table(title="twisting-elastic: newton", title_justify="left")
    for column in ("Young's modulus", *(f"to {goal:g}: {solver}" for goal in GOALS for solver in SOLVERS)):
        shown.add_column(column, justify="right")
    for E in STIFFNESSES:
        study = Study("twisting-elastic", (f"material.rubber.youngs_modulus={E}", "gravity=[0.0, -1.0, 0.0]"), 0.5)
        for solver in SOLVERS:
            until(study, solver, 1.0)  # compiles
        shown.add_row(f"{E:g} Pa", *(until(study, solver, goal) for goal in GOALS for solver in SOLVERS))
    return shown


def main() -> None:
    """Print the tables and the scenes named on the command line, or all."""
    numba.set_num_threads(1)
    words = sys.argv[1:]
    kinds = {"options": OPTIONS, "penalty": {f"rho = {rho:g}": (f"implicit.rho={rho}",) for rho in PENALTIES}}
    if unknown := set(words) - set(STEPS) - {*kinds, "newton"}:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join([*kinds, 'newton', *STEPS])}")
    scenes = [word for word in words if word in STEPS] or list(STEPS)
    tables = [word for word in words if word not in STEPS] or [*kinds, *([] if words else ["newton"])]
    console = Console(width=130)
    if "newton" in tables:
        console.print(beside_newton())
    for scene in scenes:
        for name in [name for name in tables if name in kinds]:
            shown = Table(title=f"{scene}: {name}", title_justify="left")
            for column in (name, *(f"after {count}" for count in ITERATIONS), "iterations", "time [ms]"):
                shown.add_column(column, justify="left" if column == name else "right")
            for row in rows(scene, kinds[name]):
                shown.add_row(*row)
            console.print(shown)


if __name__ == "__main__":
    main()
