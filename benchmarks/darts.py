"""Dart throwing: 100,000 points in a sphere, in a disc, and as seeds of a dry foam. `python -m benchmarks.darts`

CPU time of one thread, the best of three.
"""

import math
import time

import numba
import numpy as np

from benchmarks.timing import best_of, machine
from spume.dryfoam.network.seeds import poisson_disk_seeds
from spume.geometry.filling.fill import fill
from spume.geometry.shapes import Circle, Sphere

COUNT = 100_000


def main() -> None:
    """Print the time of each."""
    numba.set_num_threads(1)
    sphere, disc = Sphere(center=(0.0, 0.0, 0.0), radius=1.0), Circle(center=(0.0, 0.0), radius=1.0)
    ball_cell, disc_cell = (4 / 3 * math.pi / COUNT) ** (1 / 3), (math.pi / COUNT) ** 0.5
    found = best_of(
        {
            "points in a sphere": lambda: fill(sphere, 3, ball_cell, "poisson-disk", points_per_axis=1),
            "points in a disc": lambda: fill(disc, 2, disc_cell, "poisson-disk", points_per_axis=1),
            "seeds of a dry foam": lambda: poisson_disk_seeds(COUNT, np.random.default_rng(1)),
        },
        rounds=3,
        clock=time.process_time,
    )
    print(machine())
    for name, seconds in found.items():
        print(f"{COUNT:,} {name}: {seconds:.2f} s")


if __name__ == "__main__":
    main()
