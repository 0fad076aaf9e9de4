"""The point-based method: point-steps per second of processor time, one thread, 30 neighbours at the most."""

import time

import numba
import numpy as np

from spume.points.method import PointBased
from spume.scene.common import Scene

PAPER = 36_000
"""Point-steps/s of figure 1 of [Gerszewski09], on one core of a Xeon E5410: 52,316 points, 0.5 ms, 96.5 s a frame."""
DT = 5e-5


def clay_block(per_axis: int, gradient: str) -> PointBased:
    """A block of modelling clay of per_axis³ points, sheared in free space."""
    spacing = 0.005
    scene = Scene(
        title="benchmark", method="point-based", duration=1000.0, gravity=[0.0, 0.0, 0.0],
        points={"spacing": spacing}, time={"dt": DT}, forces={"gradient": gradient},
        body=[{
            "material": "modelling clay", "fill": {"jitter": 0.2},
            "shape": {"box": {"center": [0.0, 0.0, 0.0], "size": [per_axis * spacing] * 3}},
        }],
    )  # fmt: skip
    method = PointBased(scene)
    method.particles.v[:, 0] = 30.0 * method.particles.x[:, 1]
    return method


def measure(per_axis: int = 30, steps: int = 40, rounds: int = 3) -> list[dict]:
    """For each form of the forces the best of several stretches, and the share of each stage."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    rows = []
    try:
        for gradient in ("corrected", "least-squares"):
            method = clay_block(per_axis, gradient)
            best = np.inf
            for k in range(rounds + 1):
                if k == 1:  # the first stretch compiles
                    method.state.seconds.clear()
                start = time.process_time()
                for _ in range(steps):
                    method.step(DT)
                if k > 0:
                    best = min(best, time.process_time() - start)
            seconds = method.state.seconds
            total = sum(seconds.values())
            rows.append(
                {
                    "gradient": gradient,
                    "points": len(method.particles),
                    "neighbours": float(method.particles.neighbours.mean()),
                    "rate": len(method.particles) * steps / best,
                    "share": {stage: spent / total for stage, spent in seconds.items()},
                }
            )
    finally:
        numba.set_num_threads(threads)
    return rows


if __name__ == "__main__":
    for row in measure():
        print(row, f"{row['rate'] / PAPER:.1f}× the paper")
