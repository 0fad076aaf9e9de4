"""Points for the cells of a lattice: each stands for what its cell has of the shape.

A cell that lies in the shape has a point in its middle. A cell that the surface crosses is divided into `PARTS` along
each axis, the parts give the volume and the centroid of what is inside, and the point has both. If that is less than
half a cell, it goes to the points of the neighbours that have at least half, in proportion to the squares of their
volumes. Where no neighbour has half a cell, the shape is thin, and even small volumes keep points of their own; less
than a tenth of a cell goes to neighbours that have more.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.evaluation import distance_and_gradient
from spume.geometry.sdf.operations import ShapeProgram
from spume.geometry.shapes.moments_by_tree import covered_part
from spume.numerics.jit import compiled

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

PARTS = 4
"""Parts of a cell along each axis in which the covered part is measured."""
HALF, TENTH = 0.5 - 1e-6, 0.1 - 1e-6
"""Parts of a cell that count as half and a tenth of it: rounding must not decide where symmetry gives one half."""
NOTHING = 1e-6
"""Part of a cell that is rounding."""
REACH = 4
"""Number of cells up to which a point depends on other cells: what a small cell gives to a neighbour follows from which
of its own neighbours take it, and these from theirs."""
STRETCH = (1.0 + 1.0e-10, 1.0 + 1.4142e-10, 1.0 + 1.7320e-10)
"""Places are stretched a little about the origin before distances are taken. A place as far from one face as from
another would have the gradient of either, by rounding."""


class CellPoints(NamedTuple):
    """Points of the cells that have any."""

    positions: Floats
    """In cells from the corner of the cell with index 0, shape (n, dimension)."""
    volume: Floats
    """In cells, shape (n,)."""
    whole: Flags
    """Whether the cell lies in the shape and has received nothing."""
    thin: Flags
    """Whether less than half of the cell is in the shape."""
    cell: NDArray[np.int64]
    """Places of the cells among those given."""

    def of(self, chosen: Flags) -> "CellPoints":
        """Those that are chosen."""
        positions, volume, whole, thin, cell = self
        return CellPoints(positions[chosen], volume[chosen], whole[chosen], thin[chosen], cell[chosen])


def points_of_cells(program: ShapeProgram, index: NDArray[np.int64], first: Floats, step: Floats) -> CellPoints:
    """Points for the cells `index` (n, 3), which contain all cells that the shape reaches. Cell k begins at
    first + k · step [m]."""
    d = len(first)
    origin, steps = np.zeros(3), np.zeros(3)
    origin[:d], steps[:d] = first, step
    covered, moment = np.empty(len(index)), np.empty((len(index), 3))
    _cover(program, index, origin, steps, covered, moment)
    some = covered > NOTHING
    index, covered, moment = index[some], covered[some], moment[some]
    if not len(index):
        return CellPoints(np.empty((0, d)), covered, covered > 0.0, covered > 0.0, np.flatnonzero(some))
    kept, content = _gather(index[:, :d], covered, moment[:, :d])
    volume = content[kept, 0]
    positions = index[kept, :d] + 0.5 + content[kept, 1:] / volume[:, None]
    whole = (covered[kept] == 1.0) & (volume == 1.0)
    return CellPoints(positions, volume, whole, covered[kept] < HALF, np.flatnonzero(some)[kept])


@compiled
def _cover(program, index, first, step, covered, moment):
    """Fraction of each cell that is inside and its first moment about the middle of the cell, in cells."""
    d = 3 if program.dimension == 3 else 2
    nz = PARTS if d == 3 else 1
    hx, hy, hz = 0.5 * step[0] / PARTS, 0.5 * step[1] / PARTS, 0.5 * step[2] / nz
    inside = np.sqrt((PARTS * hx) ** 2 + (PARTS * hy) ** 2 + (nz * hz) ** 2)
    for n in range(len(index)):
        x = first[0] + (index[n, 0] + 0.5) * step[0]
        y = first[1] + (index[n, 1] + 0.5) * step[1]
        z = first[2] + (index[n, 2] + 0.5) * step[2] if d == 3 else 0.0
        covered[n] = 0.0
        for axis in range(3):
            moment[n, axis] = 0.0
        s, gx, gy, gz = distance_and_gradient(program, x, y, z)
        if s <= -inside:
            covered[n] = 1.0
            continue
        if s >= inside:
            continue
        for part in range(PARTS * PARTS * nz):
            u, v = 2 * (part % PARTS) + 1 - PARTS, 2 * (part // PARTS % PARTS) + 1 - PARTS
            w = 2 * (part // (PARTS * PARTS)) + 1 - nz
            a, b, c = x + u * hx, y + v * hy, z + w * hz
            a, b, c = a * STRETCH[0], b * STRETCH[1], c * STRETCH[2]
            s, gx, gy, gz = distance_and_gradient(program, a, b, c)
            inner = 1.0 if s < 0.0 else 0.0
            if s * s < hx * hx + hy * hy + hz * hz:
                inner = covered_part(program, a, b, c, hx, hy, hz, s, gx, gy, gz)
            inner /= PARTS * PARTS * nz
            covered[n] += inner
            moment[n, 0] += inner * u / (2 * PARTS)
            moment[n, 1] += inner * v / (2 * PARTS)
            moment[n, 2] += inner * w / (2 * nz)
        if covered[n] > 1.0 - NOTHING:
            covered[n] = 1.0
            for axis in range(3):
                moment[n, axis] = 0.0


def _gather(index: NDArray[np.int64], covered: Floats, moment: Floats) -> tuple[Flags, Floats]:
    """Which cells have points, and volume and first moment about the middle of its cell of each cell's point."""
    d = index.shape[1]
    content = np.concatenate([covered[:, None], moment], axis=1)
    kept = covered >= HALF
    codes = _Codes(index)
    face = np.concatenate([np.eye(d, dtype=np.int64), -np.eye(d, dtype=np.int64)])
    around = np.stack(np.meshgrid(*[[-1, 0, 1]] * d, indexing="ij"), axis=-1).reshape(-1, d)
    around = around[np.abs(around).sum(axis=1) > 0]
    left = np.flatnonzero(~kept)
    left = left[np.argsort(codes.of(index[left]))]
    half = np.where(kept, covered, 0.0)
    beside, left = _find_takers(left, face, index, codes, half)
    near, left = _find_takers(left, around, index, codes, half)
    thick = left[covered[left] >= TENTH]
    # the smallest ones, as in a tip, give to thick ones, or to those that pass it on
    others = np.zeros(len(index))
    for taking in (thick, beside.giving, near.giving):
        others[taking] = covered[taking]
    tips, alone = _find_takers(left[covered[left] < TENTH], around, index, codes, others)
    for gifts in (tips, near, beside):
        gifts.give(content)
    kept[thick] = True
    kept[alone] = True
    return kept, content


class _Gifts(NamedTuple):
    """Cells that give away their contents, by share."""

    giving: NDArray[np.int64]
    offsets: NDArray[np.int64]
    taking: NDArray[np.int64]
    """Cell at each offset from each giving cell."""
    share: Floats

    def give(self, content: Floats) -> None:
        for offset, taking, share in zip(self.offsets, self.taking.T, self.share.T):
            to = share > 0.0
            moved = content[self.giving[to]]
            moved[:, 1:] -= moved[:, :1] * offset  # from the middle of the taking cell
            np.add.at(content, taking[to], share[to, None] * moved)


def _find_takers(
    giving: NDArray[np.int64], offsets: NDArray[np.int64], index: NDArray[np.int64], codes: "_Codes", weight: Floats
) -> tuple[_Gifts, NDArray[np.int64]]:
    """The cells among `giving` that have neighbours with a weight, which take their contents in proportion to its
    square, and those that have none."""
    d = index.shape[1]
    place = codes.find((index[giving, None] + offsets).reshape(-1, d)).reshape(len(giving), len(offsets))
    share = np.where(place >= 0, weight[place], 0.0) ** 2
    total = share.sum(axis=1)
    some = total > 0.0
    return _Gifts(giving[some], offsets, place[some], share[some] / total[some, None]), giving[~some]


class _Codes:
    """Numbers of cells, ascending with their indices, by which they are found."""

    def __init__(self, index: NDArray[np.int64]) -> None:
        self.lower, self.upper = index.min(axis=0) - 1, index.max(axis=0) + 1
        sizes = self.upper - self.lower + 1
        self.strides = np.append(np.cumprod(sizes[:0:-1])[::-1], 1)
        own = self.of(index)
        self.order = np.argsort(own)
        self.sorted = own[self.order]

    def of(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.asarray((index - self.lower) @ self.strides)

    def find(self, index: NDArray[np.int64]) -> NDArray[np.int64]:
        """Places of cells in the array of all, −1 for those that are not in it."""
        codes = self.of(index)
        place = np.minimum(np.searchsorted(self.sorted, codes), len(self.sorted) - 1)
        return np.where(self.sorted[place] == codes, self.order[place], -1)
