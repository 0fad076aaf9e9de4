"""What a rank resamples: the places in its own blocks, with copies of the points of other ranks around them.

A pair of points is merged by the rank in whose blocks its first point is, and a dart thrown by the one that owns its
bin: a bin lies in one cell, and so in one block. Ranks exchange what they have decided after each pass, so the result
is that of one process.

A new point depends on points within three cells by its averages, and by its depth on those within 6 r: the surface is
searched within 4 r, on nodes with points up to 2 r away. A criterion must not look farther than that. Points move by
less than r when they are merged.

Blocks that no rank has points in, nor gets any when pairs are merged, need no copies: no bin in them is open, since
every node in such a block or on its faces has a neighbour in it that is at least r from all points.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.grid.cells import Cells
from spume.matter.species import Species
from spume.mpm.species import GridSpecies
from spume.ranks.nearby import Nearby
from spume.ranks.ranks import ALONE, Ranks

REACH = 4
"""Distance up to which points around the own blocks are needed [cells]: three cells, and the way of merged points."""
ROUNDING = 1e-3
"""Added to the distance by which merging moves points when blocks without points are found [cells]."""
AVERAGED = 3
"""Distance of the cells with the points over which fields of a new point are averaged [cells]."""
SEEN = ("x", "id", "material", "body")
"""Fields of copies that are always known."""


@dataclass
class Territory:
    """The rows of the points, and the lattice of cells of which the blocks of ranks consist."""

    ranks: Ranks
    cells: Cells
    """Of the size 2 r; only their lattice matters."""
    rows: Nearby

    def near(self, x: NDArray[np.float64], places: NDArray[np.float64], reach: int) -> NDArray[np.bool_]:
        """Which copies, of the points at `x`, are in cells at most `reach` from those of `places` [m]."""
        found = np.zeros(len(x), np.bool_)
        copies = self.rows.copies
        if copies.size and len(places):
            keys = _key(self.cells.coordinates(places))
            for axis in range(self.cells.dimension):
                step = int(_key(np.eye(3, dtype=np.int64)[axis : axis + 1])[0])
                keys = np.unique(keys[:, None] + step * np.arange(-reach, reach + 1))
            found[copies] = np.isin(_key(self.cells.coordinates(x[copies])), keys)
        return found


def _key(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for each cell; those of cells 2²⁰ apart may be the same."""
    return np.asarray((index[:, 0] << 42) + (index[:, 1] << 21) + index[:, 2])


def alone(cells: Cells, count: int) -> Territory:
    """That of a process which has all points."""
    return Territory(ALONE, cells, Nearby(count))


def enter(
    ranks: Ranks, species: Species, cells: Cells, merge_distance: float, seen: tuple[str, ...] = SEEN
) -> Territory:  # fmt: skip
    """Append copies of the points of other ranks to those of a species. Of their fields those in `seen` are known.
    `merge_distance`: largest distance of points that are merged [r]."""
    p = species.particles
    # the centre of mass of a pair is at most half its distance from one of its points
    margin = (0.25 * merge_distance + ROUNDING) * cells.size
    rows, count = ranks.nearby(cells, p.x, REACH, margin), len(p)
    if rows.any(rows.copies.size > 0):
        known = rows.extended({name: p.arrays()[name] for name in seen})
        fields = {field.name: field for field in p.fields}

        def arrived(name: str) -> NDArray[Any]:
            return known[name][count:] if name in known else fields[name].allocate(rows.copies.size)

        species.exchange_points(np.ones(count, np.bool_), arrived)
    return Territory(ranks, cells, rows)


def arrange(species: GridSpecies, territory: Territory) -> None:
    """Reorder the points by cell and id: what is merged and inserted follows the order of the arrays."""
    if territory.rows.copies.size == 0:
        species.arrange()
        order = species.cells.sorted_points
    else:  # the blocks of the species stay those of its own points
        cells = Cells(territory.cells.dimension, territory.cells.size, territory.cells.offset)
        cells.sort(species.weighted_at, species.particles.id)
        order = cells.sorted_points
        species.reorder(order)
    territory.rows.reorder(order)


def leave(species: Species, territory: Territory) -> None:
    """Drop the copies."""
    if territory.rows.copies.size:
        none = {name: array[:0] for name, array in species.point_arrays().items()}
        species.exchange_points(territory.rows.own, none.__getitem__)
