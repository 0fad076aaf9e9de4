"""Points and unknowns of other ranks around those of one, for the stored matrices of implicit steps.

The row of an unknown is summed from the points whose stencils contain its node. These are in the own blocks of cells
and in adjacent ones, whose owners send them; sorted by cell and id, they are visited in the order of one process. So
each rank has whole rows, with the same bits, for all of its nodes, also for those that others have. The columns of a
row may be nodes that this rank does not have: the owner of a block of cells that reaches them sends their values before
every product.
"""

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK, corner_steps
from spume.grid.cells import Cells
from spume.grid.nodes import DegreesOfFreedom, Nodes
from spume.grid.transfers import Transfers
from spume.ranks.communicator import Communicator
from spume.ranks.cuts import Cuts
from spume.ranks.ghosts import GhostsOfPeers

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class RankSurroundings:
    """See `grid.surroundings.Surroundings`. All ranks make theirs at the same time."""

    def __init__(
        self, messages: Communicator, cuts: Cuts, transfers: Transfers, nodes: Nodes, blocks: Integers,
        dofs: DegreesOfFreedom, x: Floats, ids: Integers,
    ) -> None:  # fmt: skip
        """`x`, `ids`: of the own points, to which the `transfers` belong; `blocks`: keys of the blocks with own points
        of all species, whose stencils the nodes cover."""
        self._messages = messages
        own = transfers.cells
        self.points = GhostsOfPeers(messages, own, blocks).extended
        """See `Surroundings`."""
        self.cells = Cells(own.dimension, own.size, own.offset)
        self.cells.sort(self.points(x), self.points(ids))
        steps = corner_steps(nodes.dimension)
        reached = self.cells.keys[:, None] + steps
        self.keys = np.union1d(nodes.keys, reached.reshape(-1))
        self.corners = np.zeros((len(self.cells), 8), np.int32)
        self.corners[:, :: 8 // steps.size] = np.searchsorted(self.keys, reached)
        place = np.searchsorted(self.keys, nodes.keys)
        """Own blocks of nodes among all."""
        self.node = NODES_PER_BLOCK * place[dofs.node // NODES_PER_BLOCK] + dofs.node % NODES_PER_BLOCK
        self.number = np.full((self.keys.size, NODES_PER_BLOCK), -1, np.int32)
        self.number[place] = dofs.number
        self._add_unknowns(nodes, dofs, cuts, reached)

    def _add_unknowns(self, nodes: Nodes, dofs: DegreesOfFreedom, cuts: Cuts, reached: Integers) -> None:
        """Number the unknowns of others, and agree with these on what they send."""
        owner = np.repeat(cuts.owners(self.cells.keys), reached.shape[1])
        wanted, block_owner = _first_owners(reached.reshape(-1), owner, nodes.keys)
        asked = {int(peer): wanted[block_owner == peer] for peer in np.unique(block_owner)}
        requests = self._messages.exchange({peer: keys.view(np.uint8) for peer, keys in asked.items()})
        self._rows: dict[int, Integers] = {}
        """Own unknowns that each peer needs."""
        answers = {}
        for peer, request in requests.items():
            block = np.searchsorted(nodes.keys, request.view(np.int64))
            numbers = dofs.number[block]
            self._rows[peer] = numbers[numbers >= 0].astype(np.int64)
            answers[peer] = (numbers >= 0).reshape(-1).view(np.uint8)
        present = self._messages.exchange(answers)
        self._count = len(dofs)
        self._received: dict[int, slice] = {}
        """Unknowns of each peer."""
        last = self._count
        for peer, keys in asked.items():
            active = present[peer].view(np.bool_).reshape(-1, NODES_PER_BLOCK)
            first, last = last, last + int(active.sum())
            numbers = np.full(active.shape, -1, np.int32)
            numbers[active] = np.arange(first, last)
            self.number[np.searchsorted(self.keys, keys)] = numbers
            self._received[peer] = slice(first, last)
        self._room = np.empty((last, nodes.dimension))

    def unknowns(self, values: Floats) -> Floats:
        """See `Surroundings`."""
        room = self._room
        room[: self._count] = values
        self._messages.swap(
            [(peer, values[rows]) for peer, rows in self._rows.items() if rows.size],
            [(peer, room[rows]) for peer, rows in self._received.items() if rows.stop > rows.start],
        )
        return room


def _first_owners(reached: Integers, owner: Integers, own: Integers) -> tuple[Integers, Integers]:
    """The different keys in `reached` that are not in `own`, ascending, and the lowest `owner` of each."""
    other = ~np.isin(reached, own)
    order = np.lexsort((owner[other], reached[other]))
    keys, first = np.unique(reached[other][order], return_index=True)
    return keys, owner[other][order][first]
