"""Contact of pieces: a common velocity at the nodes around touching points, as if these shared one field.

These are the corners of the cell of the middle between two such points, which have most of the weight there; material
a cell or two away moves on. Elsewhere the fields of two pieces do not know each other, so a gap closes as if the other
piece were not there. Points extend half their spacing, as at obstacles (`grid/gaps.py`). The common velocity keeps the
momentum of the nodes.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.foam.pieces.layers import Storage, divide
from spume.grid.blocks import BLOCK, cell_at, cell_in_block
from spume.grid.contacts import TOUCH
from spume.mpm.species import Bond, GridSpecies
from spume.mpm.step import accelerate, rasterize, sort_points
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled


def bond_layers(world: GridWorld, dt: float, storage: Storage) -> None:
    """Give the layers a common velocity at the nodes around points that touch another layer."""
    species = world.only
    if len(species.layers) == 1:
        return
    node = _shared(touching_nodes(world, storage.layer), species)
    if not node.size:
        return
    block, local = node // 64, node % 64
    masses = [layer.fields["mass"][block, local][:, None] for layer in species.layers]
    velocities = [layer.fields["velocity"][block, :, local] for layer in species.layers]
    common = sum(m * v for m, v in zip(masses, velocities)) / sum(masses)
    for k, (layer, m, v) in enumerate(zip(species.layers, masses, velocities)):
        own = np.flatnonzero(m[:, 0] > 0.0)
        change = (common - v)[own]
        layer.fields["velocity"][block[own], :, local[own]] += change
        layer.fields["change"][block[own], :, local[own]] += change
        species.bonds.append(Bond(k, node[own], m[own] * change))


def rehearse_bonds(world: GridWorld, dt: float, storage: Storage) -> None:
    """Divide the points into halves that touch."""
    p = world.particles
    if len(p) > 1:
        p.piece[:] = 1 + (p.x[:, 0] > np.median(p.x[:, 0]))
        sort_points(world)
        divide(world, dt, storage)
        rasterize(world)
        accelerate(world, dt)
        bond_layers(world, dt, storage)


def _shared(node: NDArray[np.int64], species: GridSpecies) -> NDArray[np.int64]:
    """The nodes with mass of several layers."""
    count = np.zeros(node.size, np.int64)
    for layer in species.layers:
        count += layer.fields["mass"][node // 64, node % 64] > 0.0
    return node[count > 1]


def touching_nodes(world: GridWorld, layer: NDArray[np.int64]) -> NDArray[np.int64]:
    """Flat indices (64 per block), ascending, of the nodes of cells that contain the middle between two touching
    points of different layers."""
    p = world.particles
    cells, near = world.ranks.around(world.only.cells, p.id, {"x": p.x, "volume": p.volume, "layer": layer})
    x, layer = near["x"], near["layer"]
    size = np.asarray(near["volume"] ** (1.0 / world.dimension))
    fewer = np.flatnonzero(layer)
    touch = TOUCH * world.cell
    largest = world.ranks.largest(float(size.max(initial=0.0)))
    reach = min(math.ceil((largest + touch) * cells.inverse_size), BLOCK[3][0])
    find, pairs = _find_touching[world.dimension], np.empty((0, 2), np.int64)
    arguments = (
        cells.neighbours, cells.cell_start, cells.sorted_points, cells.of_points(), fewer, x, size, layer, touch, reach,
    )  # fmt: skip
    pairs = np.empty((find(*arguments, pairs), 2), np.int64)
    find(*arguments, pairs)
    own = world.nodes.around(0.5 * (x[pairs[:, 0]] + x[pairs[:, 1]]))
    return world.ranks.border_nodes(world.nodes, own)


def _make_find(D: int) -> Any:
    deep_too = BLOCK[D][2] > 1

    @compiled(fastmath=False)
    def find(neighbours, cell_start, sorted_points, cell_of, fewer, x, size, layer, touch, reach, pairs):
        """Count the touching pairs, and list them if `pairs` has space."""
        deep = reach if deep_too else 0
        count = 0
        for n in range(fewer.size):
            p = fewer[n]
            block, i, j, k = cell_in_block(D, cell_of[p])
            for a in range(i - reach, i + reach + 1):
                for b in range(j - reach, j + reach + 1):
                    for c in range(k - deep, k + deep + 1):
                        here = cell_at(D, neighbours, block, a, b, c)
                        if here < 0:
                            continue
                        for entry in range(cell_start[here], cell_start[here + 1]):
                            q = sorted_points[entry]
                            if layer[q] >= layer[p]:
                                continue
                            square = 0.0
                            for axis in range(D):
                                square += (x[p, axis] - x[q, axis]) ** 2
                            near = 0.5 * (size[p] + size[q]) + touch
                            if square <= near * near:
                                if pairs.shape[0] > 0:
                                    pairs[count, 0], pairs[count, 1] = p, q
                                count += 1
        return count

    return find


_find_touching = {d: _make_find(d) for d in (2, 3)}
