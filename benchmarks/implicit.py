"""Implicit steps by ADMM, compared with the authors' code, the paper's table, and explicit steps."""

import math
import time

import numba
import numpy as np

from spume import Scene
from spume.scene.loading import load_scene
from spume.simulation import Simulation

PLAIN = ["implicit.anderson_memory=0", "implicit.tolerance=1e-300", "implicit.accepted_residual=1e300"]
"""All iterations, and none of them accelerated, as in the authors' code, which has no stopping test."""
ALL_LINEAR = "implicit.linear_tolerance=1e-300"
CASES = {
    "sand column, 15 × 15 iterations": (
        "sand-column-implicit", 81_254, 1.3e4, 0.00333,
        ["grid.cell=0.01", "implicit.iterations=15", "implicit.linear_iterations=15"],
    ),
    "silicone, 40 × 11 iterations": (
        "silicone", 26_997, 3.8e3, 0.00425,
        ["grid.cell=0.02", "implicit.iterations=40", "implicit.linear_iterations=11"],
    ),
}  # fmt: skip
"""Scene, points of the authors' run, point-steps per CPU second of their code on a similar machine, dt [s], changes."""
PAPER_CORES = 8
PAPER = {
    "silicone": (82.1, 0.65e6, 8.5e-3, 1 / 24, 40),
    "coil": (26.0, 0.16e6, 4.0e-3, 1 / 24, 30),
    "twisting": (58.4, 0.20e6, 5.0e-3, 1 / 24, 30),
    "cars": (64.2, 0.22e6, 3.5e-3, 1 / 24, 30),
}
"""Table 2 of [Fang19], on eight cores of an i9-9900K: seconds per frame, points, dt [s], and, from the authors'
released scenes, length of a frame [s] and ADMM iterations."""


def measure(steps: int = 3) -> list[dict]:
    """Point-steps per CPU second on one thread, at the authors' number of points."""
    rows = []
    for name, (scene, points, authors, dt, changes) in CASES.items():
        sim = Simulation(load_scene(scene, [*changes, *PLAIN, ALL_LINEAR]))
        thin_out(sim, points)
        rate = len(sim.particles) / _best_step(sim.method, dt, steps)
        rows.append({"name": name, "points": len(sim.particles), "rate": rate, "authors": authors})
    return rows


def thin_out(sim: Simulation, points: int) -> None:
    """Keep `points` randomly chosen points in the same cells, and give them the mass and volume of the removed ones."""
    p = sim.particles
    kept = np.sort(np.random.default_rng(0).permutation(len(p))[:points])
    share = len(p) / len(kept)
    p.take(kept)
    p.mass[:] *= share
    p.volume[:] *= share


def paper_table(steps: int = 2, cells: float = 1.0) -> list[dict]:
    """Point-steps per CPU second on one thread, and those per core of table 2. `cells` is the cell size relative to the
    scene; a source of material is first run until it has released some."""
    rows = []
    for scene, (seconds, points, dt, frame, iterations) in PAPER.items():
        loaded = load_scene(scene)
        changes = [f"grid.cell={cells * loaded.grid.cell}", f"implicit.iterations={iterations}", *PLAIN]
        sim = Simulation(load_scene(scene, changes))
        if loaded.emitter:
            sim.advance(0.5)
        rate = len(sim.particles) / _best_step(sim.method, dt, steps)
        theirs = points * (frame / dt) / (seconds * PAPER_CORES)
        rows.append({"name": scene, "points": len(sim.particles), "rate": rate, "paper": theirs})
    return rows


STIFFNESSES = (1e4, 1e5, 1e6, 1e7, 1e8, 1e9)
"""Young's moduli of the comparison with explicit steps [Pa]."""
SAG = 0.1
"""Height from which the block falls [m]; the simulated time is twice the time of the fall."""


def against_explicit(stiffnesses: tuple[float, ...] = STIFFNESSES, cells: int = 8) -> list[dict]:
    """CPU seconds per simulated second of a rubber block that falls onto the ground, with explicit steps and with the
    largest implicit steps whose error is at most BOUND."""
    rows = []
    for E in stiffnesses:
        reference = _landed(E, cells, {"integrator": "explicit", "courant": 0.1})
        explicit = _landed(E, cells, {"integrator": "explicit"})
        row = {"stiffness": E, "explicit": explicit["cost"], "explicit error": _error(explicit, reference)}
        for dt in (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4):
            implicit = _landed(E, cells, {"integrator": "implicit", "dt": dt})
            row |= {"implicit": implicit["cost"], "implicit dt": dt, "implicit error": _error(implicit, reference)}
            if row["implicit error"] <= BOUND:
                break
        rows.append(row)
    return rows


def beside_newton(cells: int = 20, steps: int = 10) -> dict | None:
    """Point-steps per CPU second of an elastic block that hits the ground, on average over `steps` steps that follow
    the first two, with the default solver settings of spume and of Newton; None if Newton is not installed."""
    size, E, dt, speed = 0.02 * cells, 1e6, 1 / 300, 2.0
    try:
        from benchmarks.peer_newton import measure as measure_newton
    except ImportError:
        return None
    theirs = measure_newton(cells, size, E, dt, steps, speed)
    sim = Simulation(_block(E, cells, size, 0.0, {"integrator": "implicit", "dt": dt}, 1.0))
    sim.particles.v[:, 1] = -speed
    rate = len(sim.particles) / float(np.mean(_step_times(sim.method, dt, steps)))
    return {"points": len(sim.particles), "rate": rate, "newton points": theirs["points"], "newton": theirs["rate"]}


BOUND = 0.01
"""Error of the height of the centre of mass at the end, relative to the height of the fall [1]."""


def _block(E: float, cells: int, size: float, gap: float, stepping: dict, duration: float) -> Scene:
    """A cube of rubber above the ground, with `cells` cells along its edge."""
    return Scene(
        title="landing", method="mpm", dimension=3, duration=duration, frame_rate=1.0 / duration,
        grid={"cell": size / cells, "spline": "quadratic"}, time=stepping,
        material={"m": {"law": "hencky", "density": 1000.0, "youngs_modulus": E, "poisson_ratio": 0.3}},
        body=[{"material": "m", "shape": {"box": {"center": [0.0, size / 2 + gap, 0.0], "size": [size, size, size]}}}],
        obstacle=[{"shape": {"half_space": {"point": [0.0, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]}},
                   "contact": "stick"}],
    )  # fmt: skip


def _landed(E: float, cells: int, stepping: dict) -> dict:
    end = 2.0 * math.sqrt(2.0 * SAG / 9.81)
    sim = Simulation(_block(E, cells, 0.2, SAG, stepping, end))
    sim.method.take_step(1e-9)  # compiles
    start = time.process_time()
    sim.advance(end - sim.time)
    return {"cost": (time.process_time() - start) / end, "height": float(sim.particles.x[:, 1].mean())}


def _error(found: dict, reference: dict) -> float:
    return abs(found["height"] - reference["height"]) / SAG


def _best_step(method, dt: float, steps: int) -> float:
    """CPU time of the fastest of `steps` steps on one thread [s], after two that compile and warm up."""
    return min(_step_times(method, dt, steps))


def _step_times(method, dt: float, steps: int) -> list[float]:
    """CPU times of steps on one thread [s], after two that compile and warm up."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        for _ in range(2):
            method.take_step(dt)
        return [_processor_time(method, dt) for _ in range(steps)]
    finally:
        numba.set_num_threads(threads)


def _processor_time(method, dt: float) -> float:
    start = time.process_time()
    method.take_step(dt)
    return time.process_time() - start
