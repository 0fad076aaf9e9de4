"""The points of all transfer benchmarks: a jittered lattice of eight points per cell."""

import numpy as np

CELL = 0.01


def lattice(per_axis: int, seed: int = 0) -> np.ndarray:
    """per_axis³ positions [m], two per cell along each axis, jittered by a tenth of a cell."""
    rng = np.random.default_rng(seed)
    ticks = (np.arange(per_axis) + 0.5) * CELL / 2
    x = np.stack(np.meshgrid(ticks, ticks, ticks, indexing="ij"), -1).reshape(-1, 3)
    return x + rng.uniform(-0.1, 0.1, x.shape) * CELL
