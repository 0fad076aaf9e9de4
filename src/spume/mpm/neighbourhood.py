"""Neighbours of the points of elastic bodies: the points that were nearest at the start, wherever they are now.

They are found once, and again if there are other points. On several ranks, each finds those of its own points among its
own and those of others that were near at the start, and receives the values of neighbours that others have now.
"""

import numpy as np
from numpy.typing import NDArray

from spume.grid.cells import Cells
from spume.matter.particles import Particles
from spume.mpm.world import GridWorld
from spume.ranks.ghosts import NO_GHOSTS, Ghosts
from spume.ranks.ranks import Ranks

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
REACH = 1.5
"""Distance of neighbours at the start, in spacings: those at the faces and edges of a lattice."""
MOST = {2: 12, 3: 22}
"""Most neighbours of a point; a lattice has 8 and 18."""
LAST = np.iinfo(np.int64).max


class Neighbourhood:
    """Neighbours of the points of a species."""

    def __init__(self, elastic: NDArray[np.bool_], bodies: int) -> None:
        """`elastic`: which materials have neighbours; `bodies`: number of bodies, which come before emitters."""
        self._elastic, self._bodies = elastic, bodies
        self._generation = 0
        self._all = (0, 0)
        """Number of the points with neighbours on all ranks, and the sum of their ids: no other set of points, since
        ids are never used again."""
        self._reach = np.empty(0)
        """Distance of neighbours at the start, for each body [m]."""
        self._ids = np.empty(0, np.int64)
        self._near = np.empty((0, 1), np.int64)
        """Points whose neighbours are known, ascending, and the ids of these, −1 where there are no more."""
        self.ghosts = NO_GHOSTS
        """Neighbours of own points on other ranks."""
        self.points = np.empty(0, np.int64)
        """Indices of the points with neighbours."""
        self.neighbours = np.empty((0, 1), np.int64)
        """Indices of their neighbours among own points and ghosts, −1 where there are no more."""

    def find(self, world: GridWorld, p: Particles) -> None:
        """Find the neighbours of the points `p`."""
        ranks = world.ranks
        if not ranks.any(self._generation != p.generation):
            return
        self._generation = p.generation
        elastic = self._elastic[p.material] & (p.body < self._bodies)
        self.points = np.flatnonzero(elastic)
        own = p.id[self.points]
        number, total = ranks.counts(len(own), int(own.sum()))
        if self._all != (number, total):
            self._all, self._ids, self._near = (number, total), self._ids[:0], self._near[:0]
            self._reach = self._reaches(ranks, p)
        cells = Cells(world.dimension, max(world.cell, float(self._reach.max(initial=0.0))), 0.0)
        cells.sort(p.reference, p.id)
        ghosts = ranks.ghosts(cells)
        ids = ghosts.extended(p.id)
        self._add_new(own, np.where(ghosts.extended(elastic), ids, -1), p, ghosts)
        self._place(own, ids, len(p), ghosts)

    def _reaches(self, ranks: Ranks, p: Particles) -> Floats:
        """REACH spacings of the points of each body."""
        volumes = [p.volume[self.points][p.body[self.points] == body] for body in range(self._bodies)]
        counts = ranks.counts(*(len(volume) for volume in volumes))
        mean = np.array(ranks.totals(volumes)) / np.maximum(counts, 1)
        return np.asarray(REACH * mean ** (1.0 / p.x.shape[1]))

    def _add_new(self, own: Integers, ids: Integers, p: Particles, ghosts: Ghosts) -> None:
        """Find the neighbours of those of the points `own` (ids) that have none yet, and forget those of others.
        `ids`: of own points and ghosts, −1 without neighbours."""
        d = p.x.shape[1]
        X, body = ghosts.extended(p.reference), ghosts.extended(p.body)
        new = self.points[~np.isin(own, self._ids)]
        kept = np.isin(self._ids, own)
        all_ids = np.concatenate([self._ids[kept], ids[new]])
        near = np.concatenate([self._near[kept].reshape(-1, MOST[d]), nearest(ids, X, body, new, self._reach)])
        order = np.argsort(all_ids)
        self._ids, self._near = all_ids[order], near[order]

    def _place(self, own: Integers, ids: Integers, count: int, ghosts: Ghosts) -> None:
        """Find the indices of the neighbours of the points `own` among `ids`, of which `count` are own ones, and keep
        only the ghosts among them."""
        near = self._near[np.searchsorted(self._ids, own)]
        order = np.argsort(ids)
        place = np.searchsorted(ids, near.reshape(-1), sorter=order).reshape(near.shape)
        found = np.append(order, -1)[np.where(near >= 0, place, -1)]
        needed = np.zeros(len(ids), np.bool_)
        needed[found[found >= 0]] = True
        self.ghosts = ghosts.reduced(needed[count:])
        index = np.concatenate([np.arange(count), count - 1 + np.cumsum(needed[count:]), [-1]])
        self.neighbours = index[found]


def nearest(ids: Integers, X: Floats, body: NDArray[np.int32], chosen: Integers, reaches: Floats) -> Integers:
    """Ids of the points of the same body nearest to each of the `chosen` points within the reach of the body, at most
    MOST, ascending, −1 where there are no more. Points with the id −1 are no neighbours."""
    from scipy.spatial import cKDTree  # takes a third of a second to import

    d = X.shape[1]
    found = np.full((len(chosen), MOST[d]), -1)
    for number in np.unique(body[chosen]):
        reach, rows = reaches[number], np.flatnonzero(body[chosen] == number)
        x = X[chosen[rows]]
        inside = (x.min(axis=0) - reach <= X).all(axis=1) & (x.max(axis=0) + reach >= X).all(axis=1)
        around = np.flatnonzero(inside & (body == number) & (ids >= 0))
        k = min(MOST[d] + 1, len(around))
        near = cKDTree(X[around]).query(x, k=k, distance_upper_bound=reach)[1].reshape(len(rows), k)
        near = np.append(ids[around], LAST)[near]
        near[near == ids[chosen[rows], None]] = LAST  # not itself
        near.sort(axis=1)
        found[rows, : k - 1] = np.where(near == LAST, -1, near)[:, : k - 1]
    return found
