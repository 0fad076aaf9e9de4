"""Several ranks: the verbs of `ranks.py` by messages."""

import hashlib
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SpumeError
from spume.grid.blocks import NODES_PER_BLOCK, around_steps, keys_of_cells, neighbour_table
from spume.grid.cells import Cells
from spume.grid.nodes import DegreesOfFreedom, Nodes
from spume.grid.transfers import Transfers
from spume.numerics.sums import totals
from spume.ranks.communicator import Bytes, Communicator
from spume.ranks.cuts import UNEVEN, Cuts, costs, even_cuts, imbalance
from spume.ranks.ghosts import Ghosts, GhostsOfPeers
from spume.ranks.halo import Halo
from spume.ranks.medians import median
from spume.ranks.migration import pack, unpack_points
from spume.ranks.mirrors import RankMirrors
from spume.ranks.nearby import Nearby, NearbyOfPeers
from spume.ranks.places import places
from spume.ranks.ranks import Arrays, Integers, Movable, Ranks
from spume.ranks.row_links import RowLinks
from spume.ranks.surroundings import RankSurroundings
from spume.ranks.unions import united

Floats = NDArray[np.float64]
EVERY = 20
"""Steps between two looks at the balance."""
MANY = 50_000
"""Points leaving a rank from which on they leave field by field: with all fields at once, the first settlement, where
most points leave, would need several times the memory of the points."""


class Team(Ranks):
    """This process and its peers."""

    def __init__(
        self, communicator: Communicator, every: int = EVERY, uneven: float = UNEVEN, many: int = MANY
    ) -> None:
        """`every`, `uneven`, `many`: see EVERY, `cuts.UNEVEN` and MANY."""
        self.messages = communicator
        self.rank, self.size = communicator.rank, communicator.size
        self.cuts: Cuts | None = None
        self.imbalance = 1.0
        """Cost of the costliest rank over the mean at the last look."""
        self._every, self._uneven, self._many = every, uneven, many
        self._looked_at = -1
        """The interval of `every` steps in which the balance was last looked at."""
        self._joined: tuple[int, ...] = ()
        """Generations of the cells of all species when the border was last found."""
        self._to_join = True
        """Whether blocks of any rank have appeared or disappeared since then."""
        self._new_points = True
        self._known_owners: dict[int, tuple[int, Cuts, Integers]] = {}

    @property
    def waited(self) -> float:
        """See `Ranks`."""
        return self.messages.waited

    def part(self, count: int) -> slice:
        """See `Ranks`: an equal share."""
        self._new_points = True
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def share_of_machine(self) -> float:
        """See `Ranks`."""
        name = hashlib.sha256(platform.node().encode()).digest()[:8]
        names = self.messages.everyone(np.frombuffer(name, np.int64))
        return sum(int(each[0]) == int(names[self.rank][0]) for each in names) / self.size

    def forget(self) -> None:
        """The points are those of another state."""
        self.cuts, self._new_points, self._to_join = None, True, True

    def settle(self, species: Sequence[Movable], dimension: int, steps: int) -> None:
        """See `Ranks`."""
        interval = steps // self._every
        if self._new_points or interval != self._looked_at:
            self._balance(species, dimension)
            self._new_points, self._looked_at = False, interval
        owners = [self._owners(each.cells) for each in species]
        away = [owner != self.rank for owner in owners]
        leave = sum(int(each.cells.counts[gone].sum()) for each, gone in zip(species, away) if gone.any())
        found = self.messages.start_maximum(np.array([1 + leave if leave else int(self._changed(species))]))
        if not leave:
            for each in species:  # in most steps no points come, and the order is needed: find it while others answer
                each.cells.find_order()
        news = int(found()[0])
        if news > 1:
            for each, owner in zip(species, owners):
                self._migrate(each, owner, by_field=news > 1 + self._many)
            news = int(self.any(self._changed(species)))
        self._to_join = self._to_join or news > 0

    def _changed(self, species: Sequence[Movable]) -> bool:
        """Whether blocks of this rank have appeared or disappeared since the border was found."""
        return self._joined != tuple(each.cells.generation for each in species)

    def _owners(self, cells: Cells) -> Integers:
        """Owner of each block of cells."""
        assert self.cuts is not None
        known = self._known_owners.get(id(cells))
        if known is None or known[0] != cells.generation or known[1] is not self.cuts:
            known = cells.generation, self.cuts, self.cuts.owners(cells.keys)
            self._known_owners[id(cells)] = known
        return known[2]

    def _balance(self, species: Sequence[Movable], dimension: int) -> None:
        """Move the cuts if the ranks have too different costs: decided from the numbers of points in the blocks."""
        keys = np.concatenate([each.cells.keys for each in species])
        points = np.concatenate([each.cells.counts for each in species])
        everyone = self.messages.everyone(np.stack([keys, points], axis=1).reshape(-1))
        keys, counts = _summed(np.concatenate(everyone).reshape(-1, 2))
        cost = costs(counts)
        if self.cuts is None or imbalance(cost, self.cuts.owners(keys), self.size) > self._uneven:
            self.cuts = even_cuts(keys, cost, self.size, dimension)
            self._to_join = True
        self.imbalance = imbalance(cost, self.cuts.owners(keys), self.size)

    def _migrate(self, species: Movable, owner: NDArray[np.int64], by_field: bool) -> None:
        """Send the points of blocks that other ranks own to these, `by_field` or all at once."""
        gone, block = species.cells.points_in(owner != self.rank)
        target = owner[block]
        chosen = {int(rank): gone[target == rank] for rank in np.unique(target)}
        like = {name: array[:0].copy() for name, array in species.point_arrays().items()}

        def fetch(names: Sequence[str]) -> Arrays:
            arrays = species.point_arrays()
            sent = {name: arrays[name] for name in names}
            incoming = self.messages.exchange({rank: pack(sent, index) for rank, index in chosen.items()})
            return unpack_points({name: like[name] for name in names}, list(incoming.values()))

        to_fetch = [[name] for name in like] if by_field else [list(like)]
        found = fetch(to_fetch.pop(0))

        def arrived(name: str) -> NDArray[Any]:
            return found.pop(name) if name in found else fetch(to_fetch.pop(0))[name]

        if chosen or len(next(iter(found.values()))):
            species.swap_points(gone, arrived)
            species.sort()
        else:
            for names in to_fetch:  # others exchange points
                fetch(names)

    def join(self, nodes: Nodes, cells: Sequence[Cells]) -> None:
        """See `Ranks`."""
        if not self._to_join:
            return
        self._to_join = False
        self._joined = tuple(each.generation for each in cells)
        self._find_border(nodes, np.unique(np.concatenate([each.keys for each in cells])))

    def _find_border(self, nodes: Nodes, keys: Integers) -> None:
        assert self.cuts is not None
        nodes.border = Halo(self.messages, self.cuts, nodes, keys)

    def border(self, nodes: Nodes, cells: Cells) -> None:
        """See `Ranks`."""
        self._find_border(nodes, cells.keys)

    def bring_home(self, species: Sequence[Movable], dimension: int, steps: int) -> None:
        """See `Ranks`."""
        for each in species:
            each.sort()
        self.settle(species, dimension, steps)

    def beside(self, nodes: Nodes, values: Floats) -> tuple[Integers, Floats, NDArray[np.bool_]]:
        """See `Ranks`. The first rank that has a block sends it to its owner and to those of adjacent blocks."""
        assert self.cuts is not None
        assert isinstance(nodes.border, Halo)
        held = np.flatnonzero(nodes.border.counts(np.arange(len(nodes.keys)) * NODES_PER_BLOCK))
        keys, width = nodes.keys[held], values.shape[1]
        steps = around_steps(nodes.dimension)
        owners = self.cuts.owners((keys[:, None] + steps).reshape(-1)).reshape(-1, steps.size)
        outgoing = {}
        for peer in np.unique(owners):
            sent = (owners == peer).any(axis=1)
            outgoing[int(peer)] = pack({"key": keys[sent], "values": values[held[sent]]})
        like = {"key": keys[:0], "values": np.empty((0, width))}
        own = outgoing.pop(self.rank, None)
        parts = [*self.messages.exchange(outgoing).values(), *([] if own is None else [own])]
        found = unpack_points(like, parts)
        order = np.argsort(found["key"])
        keys = found["key"][order]
        return keys, found["values"][order], self.cuts.owners(keys) == self.rank

    def of_blocks(self, keys: Integers, rows: Arrays) -> Arrays:
        """See `Ranks`. The owner of a block finds the rows for those who want them."""
        assert self.cuts is not None
        own = self.sent(self.cuts.owners(rows["block"]), rows)
        owner = self.cuts.owners(keys)
        wanted = self._by_rank({int(peer): keys[owner == peer].view(np.uint8) for peer in np.unique(owner)})
        answers = {peer: pack(own, np.isin(own["block"], part.view(np.int64))) for peer, part in wanted.items()}
        return unpack_points(rows, list(self._by_rank(answers).values()))

    def sent(self, target: Integers, rows: Arrays) -> Arrays:
        """See `Ranks`."""
        parts = self._by_rank({int(peer): pack(rows, target == peer) for peer in np.unique(target)})
        return unpack_points(rows, list(parts.values()))

    def _by_rank(self, parts: dict[int, Bytes]) -> dict[int, Bytes]:
        """What all ranks have for this one, itself included."""
        own = parts.pop(self.rank, None)
        received = self.messages.exchange(parts)
        return received if own is None else received | {self.rank: own}

    def apart(self) -> "Team":
        """See `Ranks`."""
        return Team(self.messages)

    def collected(self, arrays: Arrays, ids: Integers | None = None) -> Arrays | None:
        """See `Ranks`."""
        parts = self.messages.gather(pack(arrays, slice(None) if ids is None else np.isin(arrays["id"], ids)))
        return None if parts is None else unpack_points(arrays, parts)

    def around(self, cells: Cells, ids: Integers, arrays: Arrays) -> tuple[Cells, Arrays]:
        """See `Ranks`."""
        assert self.cuts is not None
        sent = arrays | {"id": ids}
        steps = around_steps(cells.dimension)
        owners = self.cuts.owners((cells.keys[:, None] + steps).reshape(-1)).reshape(-1, steps.size)
        counts = cells.counts
        outgoing = {}
        for peer in np.unique(owners):
            if peer != self.rank:
                near = np.repeat((owners == peer).any(axis=1), counts)
                outgoing[int(peer)] = pack(sent, cells.sorted_points[near])
        ghosts = unpack_points(sent, list(self.messages.exchange(outgoing).values()))
        whole = {name: np.concatenate([array, ghosts[name]]) for name, array in sent.items()}
        sorted_cells = Cells(cells.dimension, cells.size, cells.offset)
        sorted_cells.sort(whole["x"], whole["id"])
        return sorted_cells, whole

    def nearby(self, cells: Cells, x: Floats, reach: int, margin: float | None = None) -> Nearby:
        """See `Ranks`."""
        assert self.cuts is not None
        occupied = None if margin is None else _blocks_within(cells, x, margin)
        return NearbyOfPeers(self.messages, self.cuts, cells.coordinates(x), reach, occupied)

    def divided(self, cells: Cells, x: Floats) -> "Team":
        """See `Ranks`."""
        cells.sort(x)
        table = np.stack([cells.keys, cells.counts], axis=1).reshape(-1)
        tables = [each.reshape(-1, 2) for each in self.messages.everyone(table)]
        keys, counts = _summed(np.concatenate(tables))
        team = Team(self.messages)
        cuts = even_cuts(keys, costs(counts), self.size, cells.dimension)
        team.cuts = cuts.for_holders([(each[:, 0], each[:, 1]) for each in tables])
        return team

    def owns(self, cells: Cells, x: Floats) -> NDArray[np.bool_]:
        """See `Ranks`."""
        assert self.cuts is not None
        keys, place = np.unique(keys_of_cells(cells.coordinates(x), cells.dimension)[0], return_inverse=True)
        return (self.cuts.owners(keys) == self.rank)[place]

    def ghosts(self, cells: Cells) -> Ghosts:
        """See `Ranks`."""
        return GhostsOfPeers(self.messages, cells)

    def surroundings(
        self, transfers: Transfers, nodes: Nodes, dofs: DegreesOfFreedom, x: Floats, ids: Integers
    ) -> RankSurroundings:
        """See `Ranks`."""
        assert self.cuts is not None
        assert isinstance(nodes.border, Halo)
        return RankSurroundings(self.messages, self.cuts, transfers, nodes, nodes.border.cells, dofs, x, ids)

    def mirrors(self, nodes: Nodes, index: Integers) -> RankMirrors:
        """See `Ranks`."""
        assert self.cuts is not None
        return RankMirrors(self.messages, self.cuts, nodes, index)

    def united(self, labels: Integers, others: Integers) -> Integers:
        """See `Ranks`."""
        pairs = np.unique(np.stack([labels, others], axis=1)[labels != others], axis=0)
        return united(labels, np.concatenate(self.messages.everyone(pairs.reshape(-1))).reshape(-1, 2))

    def border_nodes(self, nodes: Nodes, chosen: Integers) -> Integers:
        """See `Ranks`."""
        assert isinstance(nodes.border, Halo)
        return nodes.border.chosen_by_any(chosen)

    def totals_by(self, labels: Integers, counts: Integers) -> tuple[Integers, Integers]:
        """See `Ranks`."""
        own = np.stack([labels, counts], axis=1).reshape(-1)
        return _summed(np.concatenate(self.messages.everyone(own)).reshape(-1, 2))

    def all_blocks(self, cells: Cells, flags: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """See `Ranks`."""
        block, flag = np.nonzero(flags)
        own = np.stack([cells.keys[block], flag], axis=1)
        found = np.concatenate(self.messages.everyone(own.reshape(-1))).reshape(-1, 2)
        keys, place = np.unique(found[:, 0], return_inverse=True)
        everywhere = np.zeros((keys.size, flags.shape[1]), np.bool_)
        everywhere[place, found[:, 1]] = True
        return neighbour_table(keys), everywhere

    def total(self, values: Floats) -> float:
        """See `Ranks`."""
        return self.totals([values])[0]

    def totals(self, arrays: Sequence[Floats]) -> list[float]:
        """See `Ranks`."""
        return totals(arrays, self.messages.maximum, self.messages.sum)

    def dot(self, a: Floats, b: Floats) -> float:
        """See `Ranks`."""
        return self.total(a * b)

    def dots(self, pairs: Sequence[tuple[Floats, Floats]]) -> list[float]:
        """See `Ranks`."""
        return self.totals([a * b for a, b in pairs])

    def links(self, numbers: Integers, owner: Integers) -> RowLinks:
        """See `Ranks`."""
        return RowLinks(self.messages, numbers, owner)

    def places(self, numbers: Integers) -> Integers:
        """See `Ranks`."""
        return places(numbers, self.messages)

    def weighted_total(self, weights: Floats, values: Floats) -> Floats:
        """See `Ranks`."""
        columns = values.reshape(len(values), int(np.prod(values.shape[1:])))
        return np.array(self.totals([weights * column for column in columns.T])).reshape(values.shape[1:])

    def median(self, values: Floats) -> float:
        """See `Ranks`."""
        return median(values, self.messages)

    def count(self, number: int) -> int:
        """See `Ranks`."""
        return self.counts(number)[0]

    def counts(self, *numbers: int) -> tuple[int, ...]:
        """See `Ranks`."""
        return tuple(int(found) for found in self.messages.sum(np.array(numbers, np.int64)))

    def largest(self, number: float) -> float:
        """See `Ranks`."""
        return float(self.messages.maximum(np.array([number]))[0])

    def maxima(self, values: Floats) -> Floats:
        """See `Ranks`."""
        return self.messages.maximum(values)

    def least(self, number: float) -> float:
        """See `Ranks`."""
        return -self.largest(-number)

    def either(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """See `Ranks`."""
        return self.messages.maximum(flags.astype(np.int64)) > 0

    def any(self, flag: bool) -> bool:
        """See `Ranks`."""
        return bool(self.messages.maximum(np.array([flag], np.int64))[0])

    @contextmanager
    def agreed(self, speaking: bool = False) -> Iterator[None]:
        """See `Ranks`: the error of the lowest rank that has one."""
        error: SpumeError | None = None
        before, self.messages.silent = self.messages.silent, not speaking
        try:
            yield
        except SpumeError as raised:
            error = raised
        finally:
            self.messages.silent = before
        lowest = self.size - int(self.messages.maximum(np.array([0 if error is None else self.size - self.rank]))[0])
        if lowest < self.size:
            found: Any = self.messages.broadcast(error, lowest)
            raise found


def _summed(table: Integers) -> tuple[Integers, Integers]:
    """The different numbers in the first column, ascending, and the sums of those in the second."""
    different, place = np.unique(table[:, 0], return_inverse=True)
    sums = np.zeros(different.size, np.int64)
    np.add.at(sums, place, table[:, 1])
    return different, sums


def _blocks_within(cells: Cells, x: Floats, margin: float) -> Integers:
    """Keys of the blocks with positions `x` [m] in them, or nearer than `margin` along each axis."""
    d = cells.dimension
    low, high = (keys_of_cells(cells.coordinates(x + side), d)[0] for side in (-margin, margin))
    several = x[low != high]
    corners = np.stack(np.unravel_index(np.arange(2**d), (2,) * d), axis=1) * (2.0 * margin) - margin
    places = (several[:, None, :] + corners).reshape(-1, d)
    return np.unique(np.concatenate([low, keys_of_cells(cells.coordinates(places), d)[0]]))
