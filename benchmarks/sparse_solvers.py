"""Sparse solvers on the Newton systems of dry foams: ours compared with SuperLU, QDLDL and CHOLMOD.

`python -m benchmarks.sparse_solvers` generates the systems of periodic foams near equilibrium, then measures the
solvers in turn, each in its own process, `--rounds` times. It prints the medians of the CPU time of analysis
(elimination order and symbolic factor), numerical factorization and solution for one right-hand side; the growth of the
process's memory; and the relative residual. A Newton iteration repeats the factorization while the pattern is
unchanged. QDLDL (package qdldl) and CHOLMOD (package cvxopt) are included if they are installed.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, triu

SIZES = (1_000, 10_000, 100_000)
"""cells"""


def make_system(cells: int, folder: Path) -> Path:
    """Write the Newton system of a periodic foam near equilibrium and its elimination order to a file."""
    from spume.dryfoam import Foam
    from spume.dryfoam.equilibrium.linear_solver import _elimination
    from spume.dryfoam.equilibrium.region import Region
    from spume.dryfoam.equilibrium.system import NewtonSystem, Residual

    path = folder / f"system-{cells}.npz"
    if path.exists():
        return path
    foam = Foam.voronoi(cells, "periodic", seed=5, seeds="poisson-disk")
    foam.equilibrate(tolerance=1e-2)
    n = foam.network
    region = Region.of(n)
    residual = Residual(n, 1.0, region)
    system = NewtonSystem(n, region, residual, np.full(n.vertices, 1e-10), np.full(n.cells, 1e-10))
    order = _elimination(system).tree.unknown
    matrix = system.matrix
    np.savez(path, data=matrix.data, indices=matrix.indices, indptr=matrix.indptr, right=system.right(residual),
             order=order, **{f"network_{name}": array for name, array in n.arrays().items()})  # fmt: skip
    return path


def _ours(stored: Any, matrix: csc_matrix) -> tuple[Callable[[], Any], Callable[[Any], Any], Callable]:
    from spume.dryfoam.equilibrium.linear_solver import _elimination
    from spume.dryfoam.equilibrium.multifrontal import Memory
    from spume.dryfoam.equilibrium.region import Region
    from spume.dryfoam.equilibrium.system import NewtonSystem, Residual
    from spume.dryfoam.network import Network

    names = [name for name in stored.files if name.startswith("network_")]
    n = Network(**{name.removeprefix("network_"): stored[name] for name in names})
    region = Region.of(n)
    residual = Residual(n, 1.0, region)
    system = NewtonSystem(n, region, residual, np.full(n.vertices, 1e-10), np.full(n.cells, 1e-10))
    memory = Memory()
    return (
        lambda: _elimination(system),
        lambda found: found.factorize(system.matrix, memory),
        lambda factor, right: factor.solve(right),
    )


def _superlu(stored: Any, matrix: csc_matrix) -> tuple[Callable[[], Any], Callable[[Any], Any], Callable]:
    from scipy.sparse.linalg import splu

    options = {"SymmetricMode": True}
    return (
        lambda: None,
        lambda _: splu(matrix.copy(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options),
        lambda factor, right: factor.solve(right),
    )


def _superlu_dissected(stored: Any, matrix: csc_matrix) -> tuple[Callable[[], Any], Callable[[Any], Any], Callable]:
    from scipy.sparse.linalg import splu

    order = stored["order"]
    options = {"SymmetricMode": True}

    def solve(factor: Any, right: np.ndarray) -> np.ndarray:
        solution = np.empty_like(right)
        solution[order] = factor.solve(right[order])
        return solution

    return (
        lambda: csc_matrix(matrix[order][:, order]),
        lambda turned: splu(turned, permc_spec="NATURAL", diag_pivot_thresh=0.0, options=options),
        solve,
    )


def _qdldl(stored: Any, matrix: csc_matrix) -> tuple[Callable[[], Any], Callable[[Any], Any], Callable]:
    import qdldl

    upper = csc_matrix(triu(matrix, format="csc"))

    def refactor(solver: Any) -> Any:
        solver.update(upper, upper=True)
        return solver

    return lambda: qdldl.Solver(upper, upper=True), refactor, lambda solver, right: solver.solve(right)


def _cholmod(stored: Any, matrix: csc_matrix, dissected: bool) -> tuple[Callable, Callable, Callable]:
    from cvxopt import cholmod, spmatrix
    from cvxopt import matrix as dense

    cholmod.options["supernodal"] = 0  # the supernodal method supports only positive definite matrices
    coo = csc_matrix(triu(matrix, format="csc")).tocoo()
    lower = spmatrix(coo.data, coo.col.astype(int), coo.row.astype(int), matrix.shape)
    order = dense(stored["order"].astype(int).tolist())

    def refactor(factor: Any) -> Any:
        cholmod.numeric(lower, factor)
        return factor

    def solve(factor: Any, right: np.ndarray) -> np.ndarray:
        solution = dense(right)
        cholmod.solve(factor, solution)
        return np.array(solution).ravel()

    if dissected:
        cholmod.options["nmethods"] = 1
        return lambda: cholmod.symbolic(lower, p=order), refactor, solve
    return lambda: cholmod.symbolic(lower), refactor, solve


SOLVERS: dict[str, Callable] = {
    "multifrontal, nested dissection (ours)": _ours,
    "SuperLU, minimum degree": _superlu,
    "SuperLU, our dissection": _superlu_dissected,
    "QDLDL, AMD": _qdldl,
    "CHOLMOD simplicial, AMD": lambda stored, matrix: _cholmod(stored, matrix, dissected=False),
    "CHOLMOD simplicial, our dissection": lambda stored, matrix: _cholmod(stored, matrix, dissected=True),
}


def _memory(entry: str) -> int:
    """Present (VmRSS) or peak (VmHWM) memory of this process [bytes]."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(entry))


def measure(name: str, path: Path) -> dict[str, float]:
    """Times and memory of one solver on one system, in this process."""
    small = np.load(path.parent / "system-1000.npz")
    stored = np.load(path)

    def matrix_of(found: Any) -> csc_matrix:
        size = len(found["indptr"]) - 1
        matrix = csc_matrix((found["data"], found["indices"], found["indptr"]), shape=(size, size))
        matrix.sort_indices()
        return matrix

    analyse, factorize, solve = SOLVERS[name](small, matrix_of(small))  # loads kernels and libraries
    solve(factorize(analyse()), small["right"])
    matrix, right = matrix_of(stored), stored["right"]
    analyse, factorize, solve = SOLVERS[name](stored, matrix)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak memory
    before = _memory("VmRSS")
    began = time.process_time()
    analysis = analyse()
    analysed = time.process_time()
    factor = factorize(analysis)
    if "SuperLU" not in name:  # again, reusing the memory, as in a Newton iteration
        analysed_once = analysed - began
        again = time.process_time()
        factor = factorize(analysis)
        seconds = time.process_time() - again
    else:
        analysed_once, seconds = analysed - began, time.process_time() - analysed
    at = time.process_time()
    solution = solve(factor, right)
    solved = time.process_time() - at
    error = float(np.linalg.norm(matrix @ solution - right) / np.linalg.norm(right))
    grown = _memory("VmHWM") - before
    return {"analysis": analysed_once, "factor": seconds, "solve": solved, "memory": grown, "residual": error}


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sparse_solvers", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--solvers", nargs="+", default=list(SOLVERS), choices=list(SOLVERS), metavar="SOLVER")
    parser.add_argument("--limit", type=float, default=600.0, help="time limit of one solver on one system [s]")
    parser.add_argument("--folder", type=Path, default=Path("out/sparse-solvers"))
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(measure(given.measure[0], Path(given.measure[1]))))
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    make_system(1000, given.folder)
    print("| cells | solver | analysis [ms] | factor [ms] | factor / ours | solve [ms] | memory [MB] | residual |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for cells in given.sizes:
        path = make_system(cells, given.folder)
        found: dict[str, list[dict[str, float]]] = {name: [] for name in given.solvers}
        for _ in range(given.rounds):
            for name in given.solvers:
                command = [sys.executable, "-m", "benchmarks.sparse_solvers", "--measure", name, str(path)]
                try:
                    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=given.limit)
                except subprocess.TimeoutExpired:
                    continue
                if done.returncode == 0:
                    found[name].append(json.loads(done.stdout))
        ours = None
        for name, runs in found.items():
            if not runs:
                print(f"| {cells} | {name} | failed, took too long, or is not installed | | | | | |", flush=True)
                continue
            middle = {key: float(np.median([run[key] for run in runs])) for key in runs[0]}
            ours = ours or middle["factor"]
            print(
                f"| {cells} | {name} | {1e3 * middle['analysis']:.1f} | {1e3 * middle['factor']:.1f} | "
                f"{middle['factor'] / ours:.2f} | {1e3 * middle['solve']:.1f} | {middle['memory'] / 1e6:.0f} | "
                f"{middle['residual']:.1g} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
