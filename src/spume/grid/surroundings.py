"""Points and unknowns around those of one process, for sums over pairs of nodes that share points. Here: none, because
one process has all of them.

`ranks/surroundings.py` has those of a process that shares nodes with others.
"""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spume.grid.cells import Cells
from spume.grid.nodes import DegreesOfFreedom, Nodes
from spume.grid.transfers import Transfers

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Surroundings(Protocol):
    """Everything that adds to the rows of the own unknowns, in a step: own points and those of adjacent blocks, and
    the nodes that their stencils reach. Own points and unknowns come first and keep their indices."""

    @property
    def cells(self) -> Cells:
        """The cells of the points."""

    @property
    def keys(self) -> Integers:
        """Keys of the blocks of nodes, ascending."""

    @property
    def corners(self) -> NDArray[np.int32]:
        """Blocks of nodes at the corners of each block of cells, see `Nodes.corner_blocks`."""

    @property
    def number(self) -> NDArray[np.int32]:
        """Number of the unknown of each node, shape (blocks, 64); −1 if it has none."""

    @property
    def node(self) -> Integers:
        """Flat index (64 per block) of the node of each own unknown."""

    def points(self, values: NDArray[Any]) -> NDArray[Any]:
        """Values of all points, from those of the own ones."""

    def unknowns(self, values: Floats) -> Floats:
        """Values (unknowns, d) of all unknowns, from those of the own ones; valid until the next call."""


class NoSurroundings:
    """The surroundings of a process that has everything."""

    def __init__(self, transfers: Transfers, nodes: Nodes, dofs: DegreesOfFreedom) -> None:
        self.cells, self.keys, self.corners = transfers.cells, nodes.keys, transfers.node_block_of_corner
        self.number, self.node = dofs.number, dofs.node

    def points(self, values: NDArray[Any]) -> NDArray[Any]:
        """See `Surroundings`."""
        return values

    def unknowns(self, values: Floats) -> Floats:
        """See `Surroundings`."""
        return values
