"""Ties of nodes to others some cells away (`grid/mirrors.py`), where ranks have only a part of the nodes.

A rank asks those who may own blocks of cells around a block of nodes for the values there. It does not know which nodes
of others are tied to its own: the lowest rank that has such a node tells all who may have those that it is tied to.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK, corner_steps
from spume.grid.mirrors import Rows, flat_indices, places
from spume.grid.nodes import Nodes
from spume.ranks.communicator import Communicator
from spume.ranks.cuts import Cuts
from spume.ranks.migration import pack, unpack_points

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class RankMirrors:
    """See `grid.mirrors.Mirrors`."""

    def __init__(self, messages: Communicator, cuts: Cuts, nodes: Nodes, index: Integers) -> None:
        """`index`: coordinates (n, k, d) of the nodes that n own nodes may be tied to."""
        self._messages, self._cuts, self._nodes = messages, cuts, nodes
        self._keys, self._local = places(nodes, index)
        self.sources = flat_indices(nodes, self._keys, self._local)
        self._end, self._corners = NODES_PER_BLOCK * len(nodes), corner_steps(nodes.dimension).size
        self._ask()

    def _owners(self, keys: Integers) -> Integers:
        """Ranks that may have blocks of nodes: the owners of the blocks of cells that reach them, (…, corners)."""
        steps = corner_steps(self._nodes.dimension)
        around = keys[..., None] - steps
        return self._cuts.owners(around.reshape(-1)).reshape(around.shape)

    def _ask(self) -> None:
        """Find who has the nodes that this rank does not have, and agree on what they send."""
        missing = self.sources < 0
        wanted, place = np.unique(
            np.stack([self._keys[missing], self._local[missing]], axis=1), axis=0, return_inverse=True
        )
        owners = self._owners(wanted[:, 0])
        asked = {
            int(peer): np.flatnonzero((owners == peer).any(axis=1))
            for peer in np.unique(owners)
            if peer != self._messages.rank
        }
        requests = self._messages.exchange(
            {peer: wanted[rows].reshape(-1).view(np.uint8) for peer, rows in asked.items()}
        )
        found = {
            peer: flat_indices(self._nodes, *part.view(np.int64).reshape(-1, 2).T) for peer, part in requests.items()
        }
        answers = self._messages.exchange({peer: (flat >= 0).view(np.uint8) for peer, flat in found.items()})
        giver = np.full(len(wanted), self._messages.size)
        for peer, rows in asked.items():
            has = answers[peer].view(np.bool_)
            giver[rows[has]] = np.minimum(giver[rows[has]], peer)
        chosen = {peer: giver[rows] == peer for peer, rows in asked.items()}
        kept = self._messages.exchange({peer: mask.view(np.uint8) for peer, mask in chosen.items()})
        self._given = {peer: found[peer][mask.view(np.bool_)] for peer, mask in kept.items()}
        """Own nodes whose values each peer wants."""
        self._taken = {peer: asked[peer][mask] for peer, mask in chosen.items()}
        """Places of the values that each peer sends."""
        self._far = len(wanted)
        self.sources[missing] = np.where(giver < self._messages.size, self._end + np.arange(len(wanted)), -1)[
            place.reshape(-1)
        ]

    def at(self, field: Floats, sources: Integers) -> Floats:
        """See `Mirrors`."""
        channels = field.shape[1]
        own = {
            peer: np.ascontiguousarray(field[flat // NODES_PER_BLOCK, :, flat % NODES_PER_BLOCK])
            for peer, flat in self._given.items()
            if flat.size
        }
        parts = {peer: np.empty((rows.size, channels)) for peer, rows in self._taken.items() if rows.size}
        self._messages.swap(list(own.items()), list(parts.items()))
        far = np.zeros((self._far + 1, channels))
        for peer, values in parts.items():
            far[self._taken[peer]] = values
        here = sources < self._end
        flat = np.where(here, sources, 0)
        if not self._end:
            return far[sources - self._end]
        values = field[flat // NODES_PER_BLOCK, :, flat % NODES_PER_BLOCK]
        return np.asarray(np.where(here[..., None], values, far[np.where(here, 0, sources - self._end)]))

    def tie(self, node: Integers, normal: Floats, weights: Floats, chosen: NDArray[np.bool_]) -> None:
        """See `Mirrors`."""
        keys, local = self._keys[chosen], self._local[chosen]
        first = np.searchsorted(node, node)
        arrays: dict[str, NDArray[Any]] = {
            "key": self._nodes.keys[node // NODES_PER_BLOCK], "local": node % NODES_PER_BLOCK,
            "turn": np.arange(node.size) - first, "normal": normal, "weights": weights, "keys": keys, "locals": local,
        }  # fmt: skip
        counted = np.zeros(node.size, np.bool_)
        counted[self._nodes.border.counts(node)] = True
        owners = self._owners(keys).reshape(node.size, keys.shape[1] * self._corners)
        sent = {
            int(peer): np.flatnonzero((owners == peer).any(axis=1) & counted)
            for peer in np.unique(owners[counted])
            if peer != self._messages.rank
        }
        received = self._messages.exchange({peer: pack(arrays, rows) for peer, rows in sent.items()})
        others = {peer: unpack_points(arrays, [part]) for peer, part in received.items()}
        useful = {peer: self._useful(rows) for peer, rows in others.items()}
        kept = self._messages.exchange({peer: mask.view(np.uint8) for peer, mask in useful.items()})
        self._count = node.size
        self._told = {peer: sent[peer][mask.view(np.bool_)] for peer, mask in kept.items()}
        """Own rows whose numbers each peer needs."""
        self._heard = {peer: int(mask.sum()) for peer, mask in useful.items()}
        parts = [
            arrays,
            *({name: array[useful[peer]] for name, array in rows.items()} for peer, rows in others.items()),
        ]
        whole = {name: np.concatenate([part[name] for part in parts]) for name in arrays}
        self._order = np.lexsort((whole["turn"], whole["local"], whole["key"]))
        self._normal, self._weights = whole["normal"][self._order], whole["weights"][self._order]
        self._tied = flat_indices(self._nodes, whole["keys"], whole["locals"])[self._order]

    def _useful(self, rows: dict[str, NDArray[Any]]) -> NDArray[np.bool_]:
        """Which rows of another rank are not own ones, and reach own nodes."""
        known = flat_indices(self._nodes, rows["key"], rows["local"]) >= 0
        return ~known & (flat_indices(self._nodes, rows["keys"], rows["locals"]) >= 0).any(axis=1)

    def rows(self, along: Floats, row: Integers) -> Rows:
        """See `Mirrors`."""
        own = np.zeros((self._count, 2))
        own[row] = np.stack([along, np.ones(len(along))], axis=1)
        outgoing = [(peer, own[rows]) for peer, rows in self._told.items() if rows.size]
        parts = {peer: np.empty((count, 2)) for peer, count in self._heard.items()}
        self._messages.swap(outgoing, [(peer, part) for peer, part in parts.items() if part.size])
        whole = np.concatenate([own, *parts.values()])[self._order]
        present = whole[:, 1] > 0.0
        return Rows(whole[present, 0], self._normal[present], self._weights[present], self._tied[present])
