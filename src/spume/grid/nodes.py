"""Nodes: sparse blocks of grid nodes that cover the stencils of all species, and named fields on them.

Nodes are at integer multiples of the cell size, in an unbounded domain. A stencil that begins in a block of cells
extends only into the next block along each axis, so a block of cells needs 2^d blocks of nodes. Blocks are sorted by
key; each has 64 nodes. Fields are arrays of shape (blocks, components, 64).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import BLOCK, NODES_PER_BLOCK, corner_steps, pack, unpack
from spume.grid.border import NO_BORDER, Border
from spume.grid.cells import Cells
from spume.grid.generations import new_generation
from spume.numerics.jit import compiled
from spume.numerics.sums import block_dots


class Nodes:
    """Blocks of nodes that cover the stencils of one or several species."""

    def __init__(self, dimension: int, cell: float, order: int) -> None:
        self.dimension = dimension
        self.cell = cell
        """Distance between nodes [m]."""
        self.order = order
        """Order of the B-splines: 2 quadratic, 3 cubic."""
        self.keys = np.empty(0, np.int64)
        """Keys of the blocks, in ascending order."""
        self.blocks = np.empty((0, 3), np.int64)
        """Coordinates of the blocks."""
        self.generation = new_generation()
        """Number that changes when the listed blocks change."""
        self.border: Border = NO_BORDER
        """What other processes have of the nodes."""
        self._covered: tuple[int, ...] = ()

    def __len__(self) -> int:
        """Number of blocks."""
        return int(self.keys.size)

    @property
    def second_moment(self) -> float:
        """Σ_i w (x_i − x_p)² along each axis [m²]: D of [Jiang15]."""
        return self.cell**2 / (4.0 if self.order == 2 else 3.0)

    def cover(self, species: Sequence[Cells]) -> None:
        """List the blocks of nodes that cover the stencils of the cells of all `species`."""
        generations = tuple(cells.generation for cells in species)
        if generations == self._covered:
            return
        self._covered = generations
        steps = corner_steps(self.dimension)
        keys = np.unique(np.concatenate([(cells.keys[:, None] + steps).ravel() for cells in species]))
        if not np.array_equal(keys, self.keys):
            self.keys, self.blocks = keys, unpack(keys)
            self.generation = new_generation()

    def corner_blocks(self, cells: Cells) -> NDArray[np.int32]:
        """Blocks of nodes at the 2^d corners of each occupied block of `cells`, shape (blocks, 8): entry 4 i + 2 j + k
        is the block i, j, k further along the axes. In 2D only the even entries are used."""
        steps = corner_steps(self.dimension)
        corners = np.zeros((len(cells), 8), np.int32)
        corners[:, :: 8 // steps.size] = np.searchsorted(self.keys, cells.keys[:, None] + steps)
        return corners

    def positions(self) -> NDArray[np.float64]:
        """Positions of the nodes [m], shape (blocks, 64, d)."""
        side = BLOCK[self.dimension]
        local = np.stack(np.unravel_index(np.arange(NODES_PER_BLOCK), side), axis=1)
        index = self.blocks[:, None, :] * np.array(side) + local
        return np.asarray(self.cell * index[:, :, : self.dimension].astype(np.float64))

    def places(self, node: NDArray[np.int64]) -> NDArray[np.float64]:
        """Positions [m] of the nodes with the given flat indices (64 per block), shape (n, d)."""
        side = BLOCK[self.dimension]
        local = np.stack(np.unravel_index(node % NODES_PER_BLOCK, side), axis=1)
        index = self.blocks[node // NODES_PER_BLOCK] * np.array(side) + local
        return np.asarray(self.cell * index[:, : self.dimension].astype(np.float64))

    def around(self, places: NDArray[np.float64]) -> NDArray[np.int64]:
        """Flat indices (64 per block), ascending, of the listed nodes at the corners of the cells that contain `places`
        [m], shape (n, d)."""
        if not len(self.keys):
            return np.empty(0, np.int64)
        d, side = self.dimension, np.array(BLOCK[self.dimension])
        first = np.zeros((len(places), 3), np.int64)
        first[:, :d] = np.floor(places / self.cell)
        steps = [range(2 if axis < d else 1) for axis in range(3)]
        index = np.unique((first[:, None, :] + np.array(list(product(*steps)))).reshape(-1, 3), axis=0)
        keys = pack(*(index // side).T)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        local = np.ravel_multi_index(tuple((index % side).T), tuple(side))
        return np.sort((NODES_PER_BLOCK * place + local)[self.keys[place] == keys])


class NodeFields:
    """Named fields on nodes, stored in one array of shape (blocks, channels, 64).

    A field has one meaning at a time. A stage that replaces one quantity by another in the same memory (momentum by
    velocity) renames the field; using the old name is then an error.

    >>> fields = NodeFields(mass=0, momentum=3)
    >>> fields.first("momentum"), fields.channels
    (1, 4)
    >>> fields.rename(momentum="velocity")
    >>> list(fields.components)
    ['mass', 'velocity']
    """

    def __init__(self, **components: int) -> None:
        """Number of components of each field by name, in the order of storage; 0 is a scalar of shape (blocks, 64)."""
        self.components = components
        self.channels = sum(max(count, 1) for count in components.values())
        self._storage = np.empty((0, self.channels, NODES_PER_BLOCK))
        self._blocks = self._room = 0

    def fit(self, nodes: Nodes) -> None:
        """Resize to the blocks of `nodes`. Values are undefined if the blocks or their border have changed."""
        self._blocks, self._room = len(nodes), nodes.border.blocks(len(nodes))
        if len(self._storage) < self._room:
            self._storage = np.zeros((self._room + self._room // 4, self.channels, NODES_PER_BLOCK))

    def rename(self, **names: str) -> None:
        """Rename fields (old name = new name) whose contents have been replaced by another quantity."""
        self.components = {names.get(name, name): count for name, count in self.components.items()}

    def first(self, name: str) -> int:
        """First channel of a field."""
        names = list(self.components)
        if name not in names:
            raise KeyError(f"the nodes hold no '{name}' at present; they hold {', '.join(names)}")
        return sum(max(self.components[before], 1) for before in names[: names.index(name)])

    @property
    def array(self) -> NDArray[np.float64]:
        """All fields, shape (blocks, channels, 64)."""
        return self._storage[: self._blocks]

    @property
    def room(self) -> NDArray[np.float64]:
        """`array`, and behind it the blocks that sums on its nodes need, see `Border.room`."""
        return self._storage[: self._room]

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """View of a field, shape (blocks, components, 64); (blocks, 64) for a scalar."""
        first = self.first(name)
        count = self.components[name]
        return self.array[:, first : first + count] if count else self.array[:, first]


@dataclass(frozen=True)
class DegreesOfFreedom:
    """Numbering of the active nodes, which have mass. Unknowns of solvers are arrays of shape (count, components)."""

    node: NDArray[np.int64]
    """Flat index (64 per block) of each active node, ascending."""
    number: NDArray[np.int32]
    """Number of each node of the grid, −1 if it is not active, shape (blocks, 64)."""
    border: Border = NO_BORDER
    """That of the nodes."""

    def __len__(self) -> int:
        return int(self.node.size)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Number of the first active node of each block, then the number of active nodes."""
        return np.searchsorted(self.node, NODES_PER_BLOCK * np.arange(len(self.number) + 1))

    def dots(self, pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> list[float]:
        """Inner products of pairs of vectors of unknowns, shape (count, components)."""
        return block_dots(pairs, self.starts, self.border.all_blocks)

    @cached_property
    def counted(self) -> NDArray[np.bool_] | slice:
        """Which of the active nodes this process counts in sums over those of all processes."""
        return self.border.counts(self.node)

    def take(self, field: NDArray[np.float64]) -> NDArray[np.float64]:
        """Values of a node field (blocks, components, 64) or (blocks, 64) at the active nodes, (count, components) or
        (count,)."""
        block, local = self.node // NODES_PER_BLOCK, self.node % NODES_PER_BLOCK
        return np.ascontiguousarray(field[block, local] if field.ndim == 2 else field[block, :, local])

    def put(self, values: NDArray[np.float64], field: NDArray[np.float64]) -> None:
        """Write `values` (count, components) to a node field (blocks, components, 64); the other nodes become zero."""
        _put(self.number, values, field)


def number_active(mass: NDArray[np.float64], border: Border = NO_BORDER) -> DegreesOfFreedom:
    """Number the nodes whose `mass` (blocks, 64) is positive, block by block. `border` is that of the nodes."""
    node = np.flatnonzero(mass > 0.0)
    number = np.full(mass.shape, -1, np.int32)
    number.ravel()[node] = np.arange(node.size, dtype=np.int32)
    return DegreesOfFreedom(node, number, border)


@compiled(parallel=True)
def _put(number, values, field):
    for block in prange(field.shape[0]):
        for c in range(field.shape[1]):
            for local in range(field.shape[2]):
                n = number[block, local]
                field[block, c, local] = values[n, c] if n >= 0 else 0.0
