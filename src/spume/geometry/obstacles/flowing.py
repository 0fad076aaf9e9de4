"""Obstacles out of whose surface material flows: their surface has the velocity of the flow along its normals.

Contact then pushes what is outside as the flow does, so that the next layer of points finds its place empty. The
velocities are written into the arrays that hold those of obstacles that deform, while the shape stays as it is.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances, distances_and_gradients
from spume.geometry.shapes import ShapeModel
from spume.geometry.shapes.extent import bounds

Floats = NDArray[np.float64]
MOST_SAMPLES = 2_000_000
"""Largest number of places of a lattice of normals."""


class SurfaceFlow(NamedTuple):
    """A flow out of the surface of an obstacle."""

    speed: Callable[[float], float]
    """along the normals at a time [s] [m/s]"""
    within: ShapeModel | None
    """the part of the surface that it leaves, in the obstacle's own frame; all of it if None"""
    spacing: float
    """of the lattice of normals, larger for large obstacles [m]"""


class FlowingSurface:
    """The velocities of the surface of an obstacle, on a lattice around it."""

    def __init__(self, shape: ShapeModel, flow: SurfaceFlow, dimension: int, folder: Path | None) -> None:
        lower, upper = bounds(shape, dimension, folder)
        h = max(flow.spacing, float(np.prod((upper - lower) / MOST_SAMPLES ** (1 / dimension)) ** (1 / dimension)))
        counts = np.ceil((upper - lower) / h).astype(int) + 3
        middle = 0.5 * (lower + upper)
        axes = [(np.arange(n) - 0.5 * (n - 1)) * h + m for n, m in zip(counts, middle)]
        x = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
        _, normals = distances_and_gradients(compile_shape(shape, dimension, folder), x)
        if flow.within is not None:
            depth = distances(compile_shape(flow.within, dimension, folder), x)
            normals = normals * np.clip(0.5 - depth / h, 0.0, 1.0)[:, None]
        first = np.array([axis[0] for axis in axes])
        if dimension == 2:  # a lattice has two layers at least
            normals = np.repeat(np.pad(normals, ((0, 0), (0, 1))), 2, axis=0)
            first, counts = np.append(first, 0.0), np.append(counts, 2)
        self._normals, self._speed = normals, flow.speed
        self._set = 0.0
        self.size = len(normals)
        """Number of places."""
        self.numbers = (*np.zeros(3), *np.eye(3).ravel(), *first, h, *counts)
        """Origin, rotation, first place, spacing and counts of the lattice, as in `ObstacleArrays.lattices`."""

    def flow(self, time: float, currents: Floats) -> bool:
        """Write the velocities at a time [s] to `currents` (size, 3) [m/s]; returns whether anything flows."""
        speed = self._speed(time)
        if speed != self._set:
            np.multiply(self._normals, speed, out=currents)
            self._set = speed
        return speed > 0.0
