"""What ranks exchange in a step, counted for Hilbert's curve and Morton's order without running any rank.

    python -m benchmarks.rank_surface [FRAME.safetensors ...]

Without frames: a box of 24³ blocks of cells, and the dollop of `shaving-cream`. A frame gives the blocks that its
points occupy, with the cell of its run. Prints, for 2 to 64 ranks, the nodes (of `ranks/slots.py`) that the
busiest rank sends for each sum, per node of the blocks it owns, and its peers, and the largest share
of blocks that a rank adds before it sends, with Hilbert's curve; then the efficiency that this
predicts for boxes with 216 blocks of each rank on a cluster with the network stated below.
"""

import sys
from pathlib import Path

import numpy as np

from spume.grid.blocks import NODES_PER_BLOCK, corner_steps, pack, unpack
from spume.grid.cells import STENCIL_OFFSET, Cells
from spume.ranks.curve import morton_places, places
from spume.ranks.cuts import costs
from spume.ranks.slots import Contributions, colours, with_earlier
from spume.ranks.surface import exchanged

SIZES = (2, 4, 8, 16, 32, 64)
PREDICTED = (64, 1024)
BLOCKS_PER_RANK = 216
SECONDS_PER_POINT = 150e-9
"""Measured time of a step on one thread (`benchmarks.ranks 79`)."""
NODE = 7 * 8
"""Bytes of a node with mass, momentum and force in 3D."""
BANDWIDTH, LATENCY = 12.5e9, 2e-6
"""Of the network: bytes per second and node, seconds per message."""
RANKS_PER_NODE = 32
"""They share the bandwidth of a node."""
AGREEMENTS = 8
"""Numbers that all ranks agree on in a step, by a tree of messages each."""
CURVES = {"Hilbert": places, "Morton": morton_places}


def report(name, keys, counts, dimension):
    """Print the table of one arrangement of blocks."""
    print(f"{name}: {keys.size} blocks, {counts.sum():,} points, {dimension}D")
    print("  ranks   blocks/rank    Hilbert: nodes/node   peers    Morton: nodes/node   peers  added first")
    for size in SIZES:
        line = f"  {size:5}   {keys.size / size:11.0f}"
        first = added_first(keys, owners(keys, counts, size, dimension), dimension)
        for curve in CURVES.values():
            owner = owners(keys, counts, size, dimension, curve)
            sent, peers = exchanged(keys, owner, size, dimension)
            owned = np.bincount(owner, minlength=size)
            line += f"    {(sent / NODES_PER_BLOCK / np.maximum(owned, 1)).max():20.2f}  {peers.max():5}"
        print(f"{line}    {first:7.2f}")


def owners(keys, counts, size, dimension, curve=places):
    """The rank that owns each block."""
    cost, place = costs(counts), curve(keys, dimension)
    order = np.argsort(place)
    owner = np.empty(keys.size, np.int64)
    owner[order] = np.minimum(np.cumsum(cost[order]) * size // cost.sum(), size - 1)
    return owner


def added_first(keys, owner, dimension):
    """Share of the blocks of the busiest rank that it adds before it sends: those whose sums other ranks wait for, and
    those that must come before them."""
    steps = corner_steps(dimension)
    node, place = np.unique((keys[:, None] + steps).reshape(-1), return_inverse=True)
    rank = np.repeat(owner, steps.size)
    low, high = np.full(node.size, owner.max() + 1), np.full(node.size, -1)
    np.minimum.at(low, place, rank)
    np.maximum.at(high, place, rank)
    shared = (low != high)[place]
    corner, cell = np.tile(np.arange(0, 8, 8 // steps.size), keys.size), np.repeat(np.arange(keys.size), steps.size)
    own = np.flatnonzero(~shared)
    own = own[np.argsort(place[own], kind="stable")]
    first = with_earlier(
        Contributions(place[own], corner[own], cell[own]),
        colours(corner[own], unpack(node[place[own]]) & 1),
        shared.reshape(-1, steps.size).any(axis=1),
    )
    return (np.bincount(owner, first) / np.bincount(owner)).max()


def box(side):
    """Keys of the blocks of a full cube, and their points."""
    half = side // 2
    index = np.stack(np.meshgrid(*[np.arange(side) - half] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    keys = np.sort(pack(*index.T))
    return keys, np.full(keys.size, 512)


def predict():
    """Print the predicted efficiency: the time of the points over that of points, slots and messages. The slots cost
    least if those between ranks of one node take no time and each crosses the network once, most if all cross it."""
    print(f"predicted, {RANKS_PER_NODE} ranks per node, {BANDWIDTH / 1e9} GB/s per node, {LATENCY * 1e6} µs a message")
    for size in PREDICTED:
        keys, counts = box(round((BLOCKS_PER_RANK * size) ** (1 / 3)))
        owner = owners(keys, counts, size, 3)
        sent, peers = exchanged(keys, owner, size, 3)
        between, _ = exchanged(keys, owner // RANKS_PER_NODE, size // RANKS_PER_NODE, 3)
        points = 512 * np.bincount(owner).max() * SECONDS_PER_POINT
        waits = (peers.max() + AGREEMENTS * 2 * np.log2(size)) * LATENCY
        print(f"  {size:5} ranks, {counts.sum():,} points: {1e3 * points:.1f} ms, messages {1e3 * waits:.2f} ms")
        for name, crossing in (("least", between.max()), ("most", RANKS_PER_NODE * sent.max())):
            slots = crossing * NODE / BANDWIDTH
            efficiency = points / (points + slots + waits)
            print(f"      slots {name} {1e3 * slots:.1f} ms: efficiency {100 * efficiency:.0f} %")


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
        report("box of 24³ blocks", *box(24), 3)
        report("dollop of shaving-cream with cells of 1 mm", *dollop())
        predict()


if __name__ == "__main__":
    main(sys.argv[1:])
