"""What ranks exchange in a step, counted for Hilbert's curve and Morton's order without running any rank.

    python -m benchmarks.rank_surface [FRAME.safetensors ...]

Without frames: a box of 24³ blocks of cells, and the dollop of `shaving-cream`. A frame gives the blocks that its
points occupy, with the cell of its run. Prints, for 2 to 64 ranks, the slots (`ranks/halo.py`) that the
busiest rank sends for each sum, as a fraction of the blocks it owns, and its peers.
"""

import sys
from pathlib import Path

import numpy as np

from spume.grid.blocks import pack
from spume.grid.cells import STENCIL_OFFSET, Cells
from spume.ranks.curve import morton_places, places
from spume.ranks.cuts import costs
from spume.ranks.surface import exchanged

SIZES = (2, 4, 8, 16, 32, 64)
CURVES = {"Hilbert": places, "Morton": morton_places}


def report(name, keys, counts, dimension):
    """Print the table of one arrangement of blocks."""
    cost = costs(counts)
    print(f"{name}: {keys.size} blocks, {counts.sum():,} points, {dimension}D")
    print("  ranks   blocks/rank    Hilbert: slots/block  peers    Morton: slots/block  peers")
    for size in SIZES:
        line = f"  {size:5}   {keys.size / size:11.0f}"
        for curve in CURVES.values():
            place = curve(keys, dimension)
            order = np.argsort(place)
            owner = np.empty(keys.size, np.int64)
            owner[order] = np.minimum(np.cumsum(cost[order]) * size // cost.sum(), size - 1)
            sent, peers = exchanged(keys, owner, size, dimension)
            owned = np.bincount(owner, minlength=size)
            line += f"    {(sent / np.maximum(owned, 1)).max():20.2f}  {peers.max():5}"
        print(line)


def blocks_of(frame: Path):
    """Keys of the occupied blocks of a frame, their points, and the dimension."""
    from spume.runs.manifest import Manifest
    from spume.runs.storage import read_arrays

    scene = Manifest.read(frame.parent.parent / "manifest.json").scene
    x = read_arrays(frame)["points/x"]
    cells = Cells(x.shape[1], scene["grid"]["cell"], STENCIL_OFFSET[3])
    cells.sort(x)
    return cells.keys, np.diff(cells.cell_start[::64]), x.shape[1]


def dollop():
    """The initial points of a built-in scene, likewise."""
    from spume.matter.sources import sources_of
    from spume.scene.loading import load_scene

    scene = load_scene("shaving-cream", ["grid.cell=0.001"])
    cells = Cells(3, scene.cell, STENCIL_OFFSET[3])
    cells.sort(np.concatenate([source.points(0)["x"] for source in sources_of(scene)]))
    return cells.keys, np.diff(cells.cell_start[::64]), 3


def main(frames: list[str]) -> None:
    """Measure the frames, or a box."""
    for frame in frames:
        report(frame, *blocks_of(Path(frame)))
    if not frames:
        index = np.stack(np.meshgrid(*[np.arange(-12, 12)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
        keys = np.sort(pack(*index.T))
        report("box of 24³ blocks", keys, np.full(keys.size, 512), 3)
        report("dollop of shaving-cream with cells of 1 mm", *dollop())


if __name__ == "__main__":
    main(sys.argv[1:])
