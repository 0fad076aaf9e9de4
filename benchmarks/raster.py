"""The rasterizer of pictures: a ball of 74,000 triangles at 960 × 540. `python -m benchmarks.raster`

CPU time of one thread, the best of five.
"""

import time

import numba
import numpy as np

from benchmarks.timing import best_of, machine
from spume.look.pictures.camera import View
from spume.look.pictures.raster import ShadedMesh, rasterize

RINGS, SECTORS = 152, 244
"""Rings and sectors of the ball: 2 · 152 · 244 = 74,176 triangles, those of zero area at the poles included."""


def ball() -> ShadedMesh:
    """A unit ball of white triangles."""
    polar, around = np.linspace(0.0, np.pi, RINGS + 1), np.linspace(0.0, 2 * np.pi, SECTORS + 1)
    theta, phi = np.meshgrid(polar, around, indexing="ij")
    vertices = np.stack([np.sin(theta) * np.cos(phi), np.cos(theta), np.sin(theta) * np.sin(phi)], -1).reshape(-1, 3)
    corner = (np.arange(RINGS)[:, None] * (SECTORS + 1) + np.arange(SECTORS)).ravel()
    right, below = corner + 1, corner + SECTORS + 1
    triangles = np.concatenate([np.stack([corner, right, below], -1), np.stack([right, below + 1, below], -1)])
    return ShadedMesh(vertices, triangles.astype(np.int32), np.full((len(vertices), 3), 0.8))


def main() -> None:
    """Print the time of a picture."""
    numba.set_num_threads(1)
    mesh = ball()
    view = View(np.array([0.0, 0.5, 4.0]), np.zeros(3), np.array([0.0, 1.0, 0.0]), 30.0)
    draw = {"a picture": lambda: rasterize([mesh], view, (960, 540), (0.1, 0.1, 0.1))}
    seconds = best_of(draw, rounds=5, clock=time.process_time)["a picture"]
    print(machine())
    print(f"{len(mesh.triangles):,} triangles at 960 × 540: {seconds:.2f} s")


if __name__ == "__main__":
    main()
