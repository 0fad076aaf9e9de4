"""What the stages of a step ask of the ranks, and the answers of a process that is alone.

Stages call these verbs and do not know how many ranks there are. With one process they return what they are given.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spume.geometry.darts import NO_LINKS, Links
from spume.grid.cells import Cells
from spume.grid.mirrors import Mirrors, NoMirrors
from spume.grid.nodes import DegreesOfFreedom, Nodes
from spume.grid.surroundings import NoSurroundings, Surroundings
from spume.grid.transfers import Transfers
from spume.numerics.sums import dot, total, weighted_total
from spume.ranks.ghosts import NO_GHOSTS, Ghosts
from spume.ranks.nearby import Nearby

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Arrays = dict[str, NDArray[Any]]


class Movable(Protocol):
    """Points that can move to another rank, sorted by cell."""

    @property
    def cells(self) -> Cells:
        """The cells of the points."""

    def sort(self) -> None:
        """Sort the points by cell."""

    def point_arrays(self) -> Arrays:
        """All arrays of the points, by name."""

    def swap_points(self, gone: Integers, arrived: Callable[[str], NDArray[Any]]) -> None:
        """Remove the points `gone`, ascending, and add those that arrived: `arrived` has the values of each field,
        and is called once for each, in the order of `point_arrays`."""


class Ranks:
    """One process that has everything."""

    rank = 0
    size = 1

    @property
    def waited(self) -> float:
        """Time spent in messages since the start, waiting included [s]."""
        return 0.0

    def part(self, count: int) -> slice:
        """Which of `count` new points, listed alike on every rank, this rank adds; they move to their owners when they
        are sorted."""
        return slice(0, count)

    def share_of_machine(self) -> float:
        """Part of all ranks that are on this machine."""
        return 1.0

    def settle(self, species: Sequence[Movable], dimension: int, steps: int) -> None:
        """Move sorted points to the ranks that own their blocks; `steps` is the number of steps since the start."""

    def join(self, nodes: Nodes, cells: Sequence[Cells]) -> None:
        """Find out which nodes, which cover these cells, other ranks have as well."""

    def bring_home(self, species: Sequence[Movable], dimension: int, steps: int) -> None:
        """`settle` for points that have moved since they were sorted, outside of a step."""

    def border(self, nodes: Nodes, cells: Cells) -> None:
        """`join` for nodes outside of a step, which cover the cells of points that are at home."""

    def beside(self, nodes: Nodes, values: Floats) -> tuple[Integers, Floats, NDArray[np.bool_]]:
        """Values (blocks, n) of the blocks of nodes that this rank owns and of those adjacent to these: keys ascending,
        values, and which of them it owns. The values of a block are the same wherever it is."""
        return nodes.keys, values, np.ones(len(values), np.bool_)

    def of_blocks(self, keys: Integers, rows: Arrays) -> Arrays:
        """Of the rows of all ranks, each of which belongs to the block whose key it has as "block", at least those of
        the blocks with the given keys."""
        return rows

    def sent(self, target: Integers, rows: Arrays) -> Arrays:
        """The rows of all ranks that these send to this one; `target` is the rank to which each own row is sent."""
        return rows

    def apart(self) -> "Ranks":
        """The same ranks, to divide points among them otherwise than those of the steps."""
        return self

    def collected(self, arrays: Arrays, ids: Integers | None = None) -> Arrays | None:
        """Some points of all ranks on one rank, None on the others: those with the given ids, which `arrays` have as
        "id", or all of them. With one process others may be among them."""
        return arrays

    def around(self, cells: Cells, ids: Integers, arrays: Arrays) -> tuple[Cells, Arrays]:
        """The points in `cells`, with their `ids`, and those of other ranks in adjacent blocks: their cells, and their
        `arrays`. Own points keep their indices, the others follow."""
        return cells, arrays

    def nearby(self, cells: Cells, x: Floats, reach: int, margin: float | None = None) -> Nearby:
        """Rows of a table, such as points, at the positions `x` [m], and copies of those of other ranks that are at
        most `reach` cells, no more than a block has, from a block that this rank owns. `cells`: their lattice. With a
        `margin` [m] only those blocks count that have rows of any rank in them, or nearer than this."""
        return Nearby(len(x))

    def divided(self, cells: Cells, x: Floats) -> "Ranks":
        """The same ranks with other cuts: of the blocks of points at `x` [m], in a lattice of `cells`. Points need not
        be on the ranks that own their blocks, but most are where possible."""
        return self

    def owns(self, cells: Cells, x: Floats) -> NDArray[np.bool_]:
        """Which of the positions `x` [m] are in blocks that this rank owns."""
        return np.ones(len(x), np.bool_)

    def ghosts(self, cells: Cells) -> Ghosts:
        """The points of other ranks that are in the same blocks as the own points in `cells`, which are sorted, or in
        adjacent ones, whoever owns these blocks."""
        return NO_GHOSTS

    def surroundings(
        self, transfers: Transfers, nodes: Nodes, dofs: DegreesOfFreedom, x: Floats, ids: Integers
    ) -> Surroundings:
        """Points and unknowns that add to the rows of the own unknowns; `x` [m] and `ids` are those of the points of
        the transfers."""
        return NoSurroundings(transfers, nodes, dofs)

    def mirrors(self, nodes: Nodes, index: Integers) -> Mirrors:
        """Ties of own nodes to the nodes with the coordinates `index` (n, k, d)."""
        return NoMirrors(nodes, index)

    def united(self, labels: Integers, others: Integers) -> Integers:
        """The least of all labels that mean the same: two do if they stand at the same place in `labels` and `others`
        on any rank."""
        return labels

    def border_nodes(self, nodes: Nodes, chosen: Integers) -> Integers:
        """Flat indices (64 per block), ascending, of the nodes that any rank has chosen, of those that this one has."""
        return chosen

    def totals_by(self, labels: Integers, counts: Integers) -> tuple[Integers, Integers]:
        """The different labels of all ranks, ascending, and the sums of their counts; those of a rank are ascending."""
        return labels, counts

    def all_blocks(self, cells: Cells, flags: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
        """The neighbours (see `neighbour_table`) of the occupied blocks of all ranks, and their flags (blocks, n)."""
        return cells.neighbours, flags

    def total(self, values: Floats) -> float:
        """Sum of all entries on all ranks."""
        return total(values)

    def totals(self, arrays: Sequence[Floats]) -> list[float]:
        """Sums of all entries of each array on all ranks."""
        return [total(values) for values in arrays]

    def dot(self, a: Floats, b: Floats) -> float:
        """Sum of the products of corresponding entries on all ranks."""
        return dot(a, b)

    def dots(self, pairs: Sequence[tuple[Floats, Floats]]) -> list[float]:
        """Sums of the products of corresponding entries of each pair of arrays, on all ranks."""
        return [dot(a, b) for a, b in pairs]

    def links(self, numbers: Integers, owner: Integers) -> Links:
        """Links of rows to those of the ranks `owner`; rows have the same `numbers`, ascending here, on all ranks."""
        return NO_LINKS

    def places(self, numbers: Integers) -> Integers:
        """Places of different numbers, ascending here and not negative, among those of all ranks in ascending order."""
        return np.arange(len(numbers))

    def weighted_total(self, weights: Floats, values: Floats) -> Floats:
        """Σ w q for weights (n,) and values (n, …) on all ranks."""
        return weighted_total(weights, values)

    def median(self, values: Floats) -> float:
        """Median of all numbers on all ranks, of which there is at least one."""
        return float(np.median(values))

    def count(self, number: int) -> int:
        """Sum of a number over all ranks."""
        return number

    def counts(self, *numbers: int) -> tuple[int, ...]:
        """Sums of several numbers over all ranks."""
        return numbers

    def largest(self, number: float) -> float:
        """Largest of a number over all ranks; NaN if it is NaN on one."""
        return number

    def maxima(self, values: Floats) -> Floats:
        """Largest of each of several numbers over all ranks; NaN where it is NaN on one."""
        return values

    def least(self, number: float) -> float:
        """Smallest of a number over all ranks; NaN if it is NaN on one."""
        return number

    def either(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which of several flags are set on any rank."""
        return flags

    def any(self, flag: bool) -> bool:
        """Whether a flag is set on any rank."""
        return flag

    @contextmanager
    def agreed(self, speaking: bool = False) -> Iterator[None]:
        """An error for the user that is raised in the `with` block on any rank is raised on all. A rank with an error
        would not answer the others, so the block must not use any verb, unless it is `speaking`: it then agrees by
        itself on errors that occur before its last verb."""
        yield


ALONE = Ranks()
