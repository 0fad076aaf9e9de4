"""P2G and G2P alone, ours beside Taichi's and Warp's: 216,000 points, cubic splines, space."""

import numba
import numpy as np
from spume.mpm.grid import SparseGrid

from benchmarks.cloud import CELL, lattice
from benchmarks.timing import best_of


def ours(x: np.ndarray):
    """Our two transfers as functions without arguments, float64."""
    rng = np.random.default_rng(1)
    grid = SparseGrid(3, CELL, 3, affine=False)
    grid.find_cells(x)
    x = x[grid.order_of]
    grid.find_cells(x)
    n = len(x)
    v, stress = rng.normal(size=(n, 3)), rng.normal(size=(n, 6))
    ones, gradient, none = np.ones(n), np.zeros((n, 3, 3)), np.zeros((0, 1, 1))
    return (
        lambda: grid.add_points(x, v, ones, ones, stress, none),
        lambda: grid.gather(x, 0.95, v, gradient, none),
    )


def measure(per_axis: int = 60) -> list[dict]:
    """A row per implementation and number of threads: million points per second."""
    x = lattice(per_axis)
    rows = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        pairs = {"spume float64": ours(x)}
        if threads == 1:
            pairs |= _peers(x)
        for name in pairs:
            times = best_of({"P2G": pairs[name][0], "G2P": pairs[name][1]})
            rows.append({"name": name, "threads": threads, **{k: len(x) / t / 1e6 for k, t in times.items()}})
    return rows


def _peers(x: np.ndarray) -> dict:
    found = {}
    try:
        from benchmarks import peer_taichi

        *pair, version = peer_taichi.build(x, CELL, threads=1)
        found[f"Taichi {'.'.join(map(str, version))} float32"] = pair
    except ImportError:
        print("Taichi is not installed: pip install 'spume[peers]'")
    try:
        from benchmarks import peer_warp

        *pair, version = peer_warp.build(x, CELL)
        found[f"Warp {version} float32"] = pair
    except ImportError:
        print("Warp is not installed: pip install 'spume[peers]'")
    return found
