"""The point-based method: point-steps per second of CPU time on one thread.

`measure` uses a sheared block of clay with all features: corrected gradient, SPH pressure and viscosity, damping,
resampling. `table_1` uses the scenes of Table 1 of [Gerszewski09] with its numbers of points and time steps. `memory`
measures the memory of a point and its neighbour list.
"""

import time

import numba
import numpy as np

from spume import load_scene
from spume.points.method import PointBased
from spume.scene.common import Scene

PAPER = 36_000
"""Point-steps/s of figure 1 of [Gerszewski09], on one core of a Xeon E5410: 52,316 points, 0.5 ms, 96.5 s per frame."""
SPLISHSPLASH = 144_000
"""Point-steps per second of CPU time of an SPH elastic solid of another package: SPlisHSPlasH 2.15.1, a clamped cube of
6,859 points with the method of Becker et al. 2009, which keeps a rest configuration; one thread of a similar machine.
Measured once: importing that package here (2.15.1 and 2.19.0) causes a segmentation fault.
"""
PYSPH = 199_000
"""Point-steps per second of CPU time of an elastic solid of PySPH 1.0b2 on this kind of machine, one thread: its
example `solid_mech.rings`, two rings of 17,592 points in the plane, cubic splines of radius 3 spacings; 200 steps of a
predictor and a corrector took 17.7 s. It has no wheel; building it takes several minutes and a C++ compiler.
"""
DT = 5e-5
EVERYTHING = {"pressure": 1e5, "viscosity": 5.0, "damping": 0.2}
TABLE_1 = [  # rows of Table 1: figure, scene, points, dt [s], seconds per frame of 1/30 s
    ("1", "armadillo", 52_316, 5e-4, 96.4888),
    ("4", "bunny-on-sphere", 40_556, 1e-4, 379.065),
    ("2, mean of three", "three-cylinders", 16_770, 1e-4, 139.252),
    ("5, mean of two", "boxes", 665, 1e-4, 4.826),
    ("7, mean of six", "box-parameters", 12_152, 1e-4, 93.600),
]
"""Each of our scenes contains all bodies of a row's figures: three cylinders, two boxes, six boxes."""


def clay_block(per_axis: int, gradient: str) -> PointBased:
    """A block of modelling clay with per_axis³ points, sheared in free space, with all features."""
    spacing = 0.005
    scene = Scene(
        title="benchmark", method="point-based", duration=1000.0, gravity=[0.0, 0.0, 0.0],
        points={"spacing": spacing}, time={"dt": DT}, forces={"gradient": gradient, **EVERYTHING},
        resampling={"enabled": True},
        body=[{
            "material": "modelling clay", "fill": {"jitter": 0.2},
            "shape": {"box": {"center": [0.0, 0.0, 0.0], "size": [per_axis * spacing] * 3}},
        }],
    )  # fmt: skip
    method = PointBased(scene)
    method.particles.v[:, 0] = 30.0 * method.particles.x[:, 1]
    return method


def _rate(method: PointBased, dt: float, steps: int, rounds: int) -> float:
    """Point-steps per second of CPU time, the best of several rounds; the first one compiles."""
    best = np.inf
    for k in range(rounds + 1):
        if k == 1:
            method.world.seconds.clear()
        start = time.process_time()
        for _ in range(steps):
            method.take_step(dt)
        if k > 0:
            best = min(best, time.process_time() - start)
    return float(len(method.particles) * steps / best)


def measure(per_axis: int = 30, steps: int = 40, rounds: int = 3) -> list[dict]:
    """Rate of each form of the forces, the best of several rounds, and the share of each stage."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    rows = []
    try:
        for gradient in ("reference", "corrected", "least-squares"):
            method = clay_block(per_axis, gradient)
            rate = _rate(method, DT, steps, rounds)
            seconds = method.world.seconds
            total = sum(seconds.values())
            rows.append(
                {
                    "gradient": gradient,
                    "points": len(method.particles),
                    "neighbours": float(method.particles.neighbours.mean()),
                    "rate": rate,
                    "share": {stage: spent / total for stage, spent in seconds.items()},
                }
            )
    finally:
        numba.set_num_threads(threads)
    return rows


def elastic_sheet(per_axis: int = 133, steps: int = 40, rounds: int = 3) -> dict:
    """An elastic square in the plane with kernels of radius 3 spacings, to compare with `PYSPH`."""
    spacing, dt = 0.01, 1e-5
    scene = Scene(
        title="benchmark", method="point-based", dimension=2, duration=1000.0, gravity=[0.0, 0.0],
        points={"spacing": spacing, "radius": 3.0, "neighbours": 30}, time={"dt": dt},
        material={"rubber": {
            "law": "corotated-plastic", "density": 1200.0, "youngs_modulus": 1e7, "poisson_ratio": 0.3975,
            "flow_rate": 0.0, "yield_stress": 1e9,
        }},
        body=[{
            "material": "rubber",
            "shape": {"rectangle": {"center": [0.0, 0.0], "size": [per_axis * spacing] * 2}},
        }],
    )  # fmt: skip
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        method = PointBased(scene)
        method.particles.v[:, 0] = 0.5 * np.sin(3.0 * method.particles.x[:, 1])
        rate = _rate(method, dt, steps, rounds)
    finally:
        numba.set_num_threads(threads)
    return {"points": len(method.particles), "neighbours": float(method.particles.neighbours.mean()), "rate": rate}


def table_1(steps: int = 20, rounds: int = 2) -> list[dict]:
    """Rows of Table 1: the paper's point-steps/s on one core, and ours on one thread in the first steps."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    rows = []
    try:
        for figure, name, points, dt, seconds in TABLE_1:
            method = PointBased(load_scene(name, preset="paper"))
            longest = method.world.time_step.choose(method.world.speed, 0.0)  # viscosity may need shorter steps
            rate = _rate(method, min(dt, longest), steps, rounds)
            rows.append(
                {
                    "figure": figure, "scene": name, "paper points": points, "points": len(method.particles),
                    "paper": points / 30 / dt / seconds, "rate": rate,
                }
            )  # fmt: skip
    finally:
        numba.set_num_threads(threads)
    return rows


def memory(per_axis: int = 30) -> dict:
    """Bytes per point in a step, without its neighbour list, and bytes of the list."""
    method = clay_block(per_axis, "corrected")
    method.take_step(DT)
    state = method.world
    n = len(state.particles)
    fields = sum(array.nbytes for array in state.particles.arrays().values())
    tables = (
        sum(rows.nbytes for rows in state.rows.values()) + state.deformation.nbytes + state.only.clear_until().nbytes
    )
    # metric and size, the positions before the move, accelerations, outcomes
    temporary = n * 8 * (6 + 1 + 3 + 3 + 1)
    lists = state.lists
    listed = sum(a.nbytes for a in (lists.start, lists.neighbour, lists.reverse, lists.memory_for_weights()))
    return {"points": n, "bytes": (fields + tables + temporary) / n, "neighbour bytes": listed / n}


if __name__ == "__main__":
    for row in measure():
        print(row, f"{row['rate'] / PAPER:.1f}× the paper")
    sheet = elastic_sheet()
    print(sheet, f"{sheet['rate'] / PYSPH:.1f}× PySPH")
    print(memory())
    for row in table_1():
        print(row, f"{row['rate'] / row['paper']:.1f}× the paper")
