"""P2G and G2P compared with Taichi and Warp: 216,000 points, cubic splines, 3D."""

import numba
import numpy as np

from benchmarks.cloud import CELL, lattice
from benchmarks.timing import best_of
from spume.grid.nodes import NodeFields, Nodes
from spume.grid.transfers import Transfers

TO_GRID = ("mass", "momentum", "stress divergence")
TO_POINTS = ("flip velocity", "gradient")


def ours(x: np.ndarray):
    """Our two transfers as functions without arguments, float64: mass, momentum and force to the nodes, velocity and
    velocity gradient to the points, like those of the peers."""
    rng = np.random.default_rng(1)
    nodes, transfers = Nodes(3, CELL, 3), Transfers(3, CELL, 3)
    transfers.cells.sort(x)
    x = x[transfers.cells.sorted_points]
    transfers.cells.sort(x)
    nodes.cover([transfers.cells])
    transfers.connect(nodes)
    sums, motion = NodeFields(mass=0, momentum=3, force=3), NodeFields(velocity=3, change=3)
    sums.fit(nodes)
    motion.fit(nodes)
    n = len(x)
    v, stress = rng.normal(size=(n, 3)), rng.normal(size=(n, 6))
    ones, gradient = np.ones(n), np.zeros((n, 3, 3))
    return (
        lambda: transfers.to_grid(TO_GRID, x, sums.array, v=v, mass=ones, volume=ones, stress=stress),
        lambda: transfers.to_points(TO_POINTS, x, motion.array, blend=0.95, v=v, tensor=gradient),
    )


def measure(per_axis: int = 60) -> list[dict]:
    """Million points per second, one row per implementation and number of threads."""
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
