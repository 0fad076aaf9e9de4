"""Rounds of darts, one from each cell that is not full, with the same result for any number of threads.

In each round every cell searches a free place, among those not covered by the points and darts so far (`search.py`). A
cell that has none is full and takes no further part. The darts of a round then land as if thrown one after another in a
random order, given by the priorities of the cells: a dart lands unless it is too close to one of higher priority that
has landed. Cells settle this at the same time: a dart waits until all close ones of higher priority are decided, which
takes a few passes [Blelloch12].

In the first rounds a cell is hit anywhere, once a round: it gets a point with a probability given by its free volume,
as when darts are thrown anywhere, one after another. Then darts are thrown at all its uncovered boxes of the first
level of the tree, or, if none lands, of the second, and one of those that landed is taken; below 1/16 of a cell the
first is taken.
"""

from typing import Any, NamedTuple

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.geometry.darts.cells import DartCells, offsets
from spume.geometry.darts.coverage import keep_if_near
from spume.geometry.darts.links import NO_LINKS, Links
from spume.geometry.darts.search import ALL, make_scratch, make_search
from spume.numerics.jit import compiled
from spume.numerics.random import mix, uniform

NUMBERS = 9
"""Room for what `Domain.prepare` writes."""
COARSE = 2
"""Levels of the tree whose boxes are all thrown at."""
TRIES = 4
"""Darts at such a box."""
_MISSED, _WAITING, _LANDED, _FULL = 0, 1, 2, 3


class Domain(NamedTuple):
    """Where darts may land: compiled functions. `arrays` is what the caller of `Thrower.throw` hands over."""

    near_points: Any
    """(arrays, cell, alpha, points) → count: writes the existing points whose spheres touch a cell, relative to its
    corner, to points[:, :count]."""
    prepare: Any
    """(arrays, cell, numbers) → bool: writes up to `NUMBERS` numbers that the other two need; whether the domain
    contains the whole cell."""
    contains: Any
    """(arrays, numbers, x, y, z) → bool: whether the domain contains a place."""
    reaches: Any
    """(arrays, numbers, x, y, z, w) → bool: False only if the domain has no place in the box of the corner (x, y, z)
    and the width w."""


class Thrower:
    """Throws darts at a kind of domain in 2D or 3D.

    levels: bounds the search; gaps below 4^−levels of a cell may be overlooked.
    rounds: in how many rounds a cell is hit anywhere before it is searched.
    """

    def __init__(self, dimension: int, domain: Domain, levels: int, rounds: int) -> None:
        self.dimension = dimension
        self.search = make_search(dimension, domain.contains, domain.reaches)
        self._propose = _make_propose(dimension, domain, self.search, levels, rounds)

    def throw(
        self,
        cells: DartCells,
        arrays: Any,
        alpha: float,
        state: np.uint64,
        fixed: int = 0,
        limit: int | None = None,
        links: Links = NO_LINKS,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Darts in the domain, no two closer than `alpha` ≤ 1, until there are no free places or `limit` darts. Returns
        the cell of each, ascending, and its place relative to the corner of the cell, in cell widths, shape (n, 3).

        `fixed`: the most that `near_points` writes for one cell; `state`: a random state (`numerics.random`).

        `links`: to the processes that throw at the other cells of a domain, which must have no limit. Each has its own
        cells and copies of those beside them, in one order for all, and returns the darts in its own.
        """
        d = self.dimension
        # cubes of the diagonal α: each can contain one dart
        most = int(np.ceil(np.sqrt(d) / alpha)) ** d
        places = np.empty((len(cells), most, 3))
        count = np.zeros(len(cells), np.int64)
        thrown = np.zeros(len(cells), np.uint8)
        status = np.zeros(len(cells), np.uint8)
        proposal = np.zeros((len(cells), 3))
        priority = np.zeros(len(cells))
        tasks = 4 * numba.get_num_threads()
        active = np.delete(np.arange(len(cells)), links.copies)
        total, turn = 0, 0
        while links.any(active.size > 0) and (limit is None or total < limit):
            self._propose(
                arrays, active, cells.index, cells.neighbours, alpha, state, turn, min(tasks, active.size),
                fixed + 3**d * most + 1, places, count, thrown, status, proposal, priority,
            )  # fmt: skip
            active = active[status[active] != _FULL]
            waiting = active[status[active] == _WAITING]
            links.fill(status, proposal, priority)
            while links.any(waiting.size > 0):
                decided = np.empty(waiting.size, np.uint8)
                _settle(waiting, cells.neighbours, _OFFSETS[d], alpha, status, proposal, priority, decided)
                status[waiting] = decided
                waiting = waiting[decided == _WAITING]
                links.fill(status)
            listed = np.concatenate([active, links.copies])
            landed = listed[status[listed] == _LANDED]
            status[listed] = _MISSED
            if limit is not None and landed.size > limit - total:
                landed = landed[np.argsort(-priority[landed], kind="stable")[: limit - total]]
            places[landed, count[landed]] = proposal[landed]
            count[landed] += 1
            active = active[count[active] < most]
            total += landed.size
            turn += 1
        count[links.copies] = 0
        taken = np.arange(most) < count[:, None]
        return np.repeat(np.arange(len(cells)), count), places[taken]


_OFFSETS = {d: offsets(d).astype(np.float64) for d in (2, 3)}


def _make_propose(D: int, domain: Domain, search: Any, levels: int, rounds: int) -> Any:
    near_points, prepare = domain.near_points, domain.prepare

    @compiled
    def near_darts(neighbours, n, alpha, places, count, points, found):
        """Appends the darts whose spheres touch cell n to points[:, :found]; returns how many there are then."""
        for code in range(neighbours.shape[1]):
            m = neighbours[n, code]
            if m >= 0:
                if D == 3:
                    dx, dy, dz = code // 9 - 1, code // 3 % 3 - 1, code % 3 - 1
                else:
                    dx, dy, dz = code // 3 - 1, code % 3 - 1, 0
                for q in range(count[m]):
                    x, y, z = places[m, q, 0] + dx, places[m, q, 1] + dy, places[m, q, 2] + dz
                    found = keep_if_near(alpha, x, y, z, points, found)
        return found

    @compiled
    def find_dart(arrays, numbers, whole, near, alpha, own, anywhere, scratch, dart):
        """A dart in a cell, thrown anywhere or where the search finds room; returns the status of the cell."""
        # not literals, for which `search` would be compiled once more
        zero, one, tries, every = np.int64(0), np.int64(1), np.int64(TRIES), np.int64(ALL)
        finer, finest = np.int64(COARSE + 1), np.int64(levels)
        if anywhere:
            landed, _ = search(arrays, numbers, whole, near, alpha, own, zero, zero, one, one, scratch, dart)
            return _WAITING if landed > 0 else _MISSED
        landed, unfinished = 0, True
        for level in range(1, COARSE + 1):
            if landed == 0 and unfinished:
                landed, unfinished = search(
                    arrays, numbers, whole, near, alpha, own, level, level, tries, every, scratch, dart
                )
        if landed == 0 and unfinished:
            landed, _ = search(arrays, numbers, whole, near, alpha, own, finer, finest, one, one, scratch, dart)
        return _WAITING if landed > 0 else _FULL

    @compiled(parallel=True)
    def propose(
        arrays, active, index, neighbours, alpha, state, turn, tasks, room, places, count, thrown, status, proposal,
        priority,
    ):  # fmt: skip
        """A dart from each active cell that is not full; thrown: how often each has been hit anywhere."""
        for task in prange(tasks):
            scratch = make_scratch(levels, room)
            numbers, dart = np.empty(NUMBERS), np.empty(3)
            for t in range(task, active.size, tasks):
                n = active[t]
                whole = prepare(arrays, n, numbers)
                near = near_points(arrays, n, alpha, scratch[0][0])
                near = near_darts(neighbours, n, alpha, places, count, scratch[0][0], near)
                own = mix(state, turn)
                for axis in range(3):
                    own = mix(own, index[n, axis])
                status[n] = find_dart(arrays, numbers, whole, near, alpha, own, thrown[n] < rounds, scratch, dart)
                thrown[n] = min(thrown[n] + 1, rounds)
                if status[n] == _WAITING:
                    priority[n] = uniform(mix(own, 200))
                    for axis in range(3):
                        proposal[n, axis] = dart[axis]

    return propose


@compiled(parallel=True)
def _settle(waiting, neighbours, offset, alpha, status, proposal, priority, decided):
    """Decide for each waiting cell whether its dart lands, misses, or still waits for others."""
    for t in prange(waiting.size):
        n = waiting[t]
        decided[t] = _LANDED
        for code in range(neighbours.shape[1]):
            m = neighbours[n, code]
            if m < 0 or m == n or (status[m] != _WAITING and status[m] != _LANDED):
                continue
            if priority[m] < priority[n] or (priority[m] == priority[n] and m > n):
                continue
            s = 0.0
            for axis in range(3):
                s += (proposal[m, axis] + offset[code, axis] - proposal[n, axis]) ** 2
            if s < alpha * alpha:
                if status[m] == _LANDED:
                    decided[t] = _MISSED
                    break
                decided[t] = _WAITING
