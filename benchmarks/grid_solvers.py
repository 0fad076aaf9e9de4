"""Solvers for the grid step of ADMM: `python -m benchmarks.grid_solvers [SCENE ...]`.

The matrix is that of the first step of a scene with all its points, stored or applied by transfers; the solver is
conjugate gradients, preconditioned by the diagonal or by smoothed aggregation (pyamg). CPU time of one thread.
"""

import sys
import time

import numba
import numpy as np
import pyamg
import scipy.sparse as sparse
from numba import prange
from rich.console import Console
from rich.table import Table

import spume.mpm.implicit.admm as admm
from spume.mpm.implicit.step import Integrator
from spume.numerics.jit import compiled
from spume.numerics.krylov import conjugate_gradient
from spume.scene.loading import load_scene
from spume.simulation import Simulation

SCENES = {
    "twisting": ("grid.cell=0.02", "time.max_dt=0.0104"),
    "sand-column-implicit": ("grid.cell=0.012",),
    "silicone": ("grid.cell=0.02", "body.0.fill.points_per_axis=2"),
}
"""Changes of the scenes: 10,000 to 50,000 points."""
TOLERANCES = (0.2, 1e-2, 1e-6)


def grid_step(scene: str, changes: tuple[str, ...]) -> dict:
    """Matrix, right-hand side and problem of the last grid step of a scene's second step."""
    sim = Simulation(load_scene(scene, [*changes, "implicit.iterations=5", "implicit.accepted_residual=1e9"]))
    kept: dict = {}
    solve, metric = admm.conjugate_gradient, admm.Branches.metric

    def keep_system(matrix, right, **options):
        kept.update(matrix=matrix, right=right.copy())
        return solve(matrix, right, **options)

    def keep_metric(self, rho):
        kept.update(problem=self.problem, metric=metric(self, rho))
        return kept["metric"]

    admm.conjugate_gradient, admm.Branches.metric = keep_system, keep_metric
    try:
        for _ in range(2):
            sim.method.take_step(sim.scene.time.max_dt)
    finally:
        admm.conjugate_gradient, admm.Branches.metric = solve, metric
    sim.method.part(Integrator).last = None
    return kept | {"points": len(sim.particles), "sim": sim}


@compiled(parallel=True)
def _answer(L, B, volume, T):
    """T = L B/V, the tensor whose divergence is the stiffness times the velocities of L."""
    for p in prange(L.shape[0]):
        for i in range(3):
            x, y, z = L[p, i, 0] / volume[p], L[p, i, 1] / volume[p], L[p, i, 2] / volume[p]
            T[p, i, 0] = x * B[p, 0] + y * B[p, 3] + z * B[p, 4]
            T[p, i, 1] = x * B[p, 3] + y * B[p, 1] + z * B[p, 5]
            T[p, i, 2] = x * B[p, 4] + y * B[p, 5] + z * B[p, 2]


class Transfers:
    """The same matrix, applied by two transfers."""

    def __init__(self, kept: dict) -> None:
        self.problem, self.metric, self.matrix = kept["problem"], kept["metric"], kept["matrix"]
        n = len(self.metric)
        self.L, self.T = np.zeros((n, 3, 3)), np.zeros((n, 3, 3))

    def multiply(self, x):
        self.problem.gradient(x, self.L)
        _answer(self.L, self.metric, self.problem.species.particles.volume, self.T)
        return self.problem.mass[:, None] * x + self.problem.impulse(self.T)


class Preconditioned:
    """The stored matrix with another preconditioner."""

    def __init__(self, matrix, hierarchy) -> None:
        self.multiply, self.project = matrix.multiply, matrix.project
        self.cycle = hierarchy.aspreconditioner(cycle="V")

    def precondition(self, r):
        return np.stack([self.cycle.matvec(np.ascontiguousarray(r[:, k])) for k in range(r.shape[1])], axis=1)


def csr(matrix) -> sparse.csr_matrix:
    """The stored matrix in SciPy's format."""
    n, width = matrix.values.shape
    made = sparse.csr_matrix(
        (matrix.values.ravel().copy(), matrix.columns.ravel().copy(), np.arange(0, n * width + 1, width)), (n, n)
    )
    made.sum_duplicates()
    made.eliminate_zeros()
    return made


def timed(function, repeats: int = 5) -> tuple[float, object]:
    """Shortest CPU time [s] and the last result."""
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.process_time()
        result = function()
        best = min(best, time.process_time() - start)
    return best, result


def measure(scene: str, changes: tuple[str, ...]) -> list[dict]:
    """A row per solver and tolerance."""
    kept = grid_step(scene, changes)
    matrix, right, problem = kept["matrix"], kept["right"], kept["problem"]
    x = problem.species.particles.x
    by_transfers = Transfers(kept)
    assembly, _ = timed(lambda: matrix.assemble(x, kept["metric"], problem.mass), 3)
    stored, product = timed(lambda: matrix.multiply(right))
    moved, same = timed(lambda: by_transfers.multiply(right))
    if np.abs(same - product).max() > 1e-9 * np.abs(product).max():
        raise ArithmeticError(f"{scene}: the stored matrix and the transfers do not agree")
    converted = csr(matrix)
    setup, hierarchy = timed(lambda: pyamg.smoothed_aggregation_solver(converted, max_coarse=100), 1)
    rows = []
    for name, system, before in (
        ("diagonal", matrix, assembly), ("smoothed aggregation", Preconditioned(matrix, hierarchy), assembly + setup),
    ):  # fmt: skip
        for tolerance in TOLERANCES:
            taken, solution = timed(
                lambda system=system, tolerance=tolerance: conjugate_gradient(
                    system, right, tolerance=tolerance, limit=5000
                ),
                2,
            )
            rows.append(
                {"scene": scene, "points": kept["points"], "nodes": len(right), "stored": stored, "transfers": moved,
                 "solver": name, "setup": before, "tolerance": tolerance, "iterations": solution.iterations,
                 "seconds": taken}
            )  # fmt: skip
    return rows


def main() -> None:
    """Measure and print."""
    numba.set_num_threads(1)
    console = Console(width=140)
    table = Table(
        "scene", "points", "nodes", "product stored / by transfers [ms]", "preconditioner", "set up a step [ms]",
        "tolerance", "iterations", "solve [ms]",
    )  # fmt: skip
    for scene in sys.argv[1:] or SCENES:
        for row in measure(scene, SCENES[scene]):
            table.add_row(
                row["scene"], f"{row['points']:,}", f"{row['nodes']:,}",
                f"{1e3 * row['stored']:.2f} / {1e3 * row['transfers']:.2f}", row["solver"],
                f"{1e3 * row['setup']:.0f}", f"{row['tolerance']:g}", str(row["iterations"]),
                f"{1e3 * row['seconds']:.1f}",
            )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    main()
