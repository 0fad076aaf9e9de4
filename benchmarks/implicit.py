"""Implicit steps by ADMM at the sizes, steps and iterations at which the authors' own code was measured."""

import time

import numba

from spume.scene.loading import load_scene
from spume.simulation import Simulation

FIXED = ["implicit.tolerance=1e-300", "implicit.linear_tolerance=1e-300", "implicit.accepted_residual=1e300"]
"""All iterations are done, as in the authors' code, which has no stopping test."""
CASES = {
    "sand column, 15 × 15 iterations": (
        "sand-column-implicit", 1.3e4, 0.00694,
        ["grid.cell=0.01", "implicit.iterations=15", "implicit.linear_iterations=15"],
    ),
    "silicone, 40 × 11 iterations": (
        "silicone", 3.8e3, 0.00425,
        ["grid.cell=0.02", "implicit.iterations=40", "implicit.linear_iterations=11"],
    ),
}  # fmt: skip
"""Scene, point-steps per processor second of the authors' code on this kind of machine, dt [s], changes."""


def measure(steps: int = 3) -> list[dict]:
    """Point-steps per processor second on one thread, after two steps that compile and warm up."""
    rows = []
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        for name, (scene, authors, dt, changes) in CASES.items():
            sim = Simulation(load_scene(scene, [*changes, *FIXED]))
            method = sim.method
            for _ in range(2):
                method.step(dt)
            best = min(_processor_time(method, dt) for _ in range(steps))
            rate = len(sim.particles) / best
            rows.append({"name": name, "points": len(sim.particles), "rate": rate, "authors": authors})
    finally:
        numba.set_num_threads(threads)
    return rows


def _processor_time(method, dt: float) -> float:
    start = time.process_time()
    method.step(dt)
    return time.process_time() - start
