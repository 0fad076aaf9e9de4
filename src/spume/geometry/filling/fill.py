"""Filling a shape with points.

"lattice": a lattice along the shape's own axes. Along each axis a whole number of cells, with edges as close to
cell / points_per_axis as that allows, spans the shape from end to end, so the outermost points of a box lie half a cell
inside its faces. Each point has the volume and the centroid of what its cell contains of the shape (`cells.py`). Parts
of a union that do not overlap, and copies, have lattices of their own.

"poisson-disk": random points with a minimum distance r, found by throwing darts until no room is left. Points
can be on the very surface, beyond which there are none, so such a packing has as many points as the shape dilated by a
part of r has at the density of the bulk. The first r follows from this; it is corrected by the number of points found
until there are points_per_axis^dimension points per cell, within 2 %. Points have the volume that they have in the
bulk, those near the surface less.

Finally the volumes change slightly, so that their sum is the volume of the shape and the centroid of the points is that
of the shape (`moments.py`). All this is done in a frame of the shape's own (`frame.py`): where the shape stands and how
it is turned does not matter.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.filling.cells import REACH, CellPoints, points_of_cells
from spume.geometry.filling.darts import Darts, throw_darts
from spume.geometry.filling.frame import Frame, own_frame, pieces
from spume.geometry.filling.lattice import count_within, slab_within
from spume.geometry.filling.moments import with_moments
from spume.geometry.filling.sharing import ALONE, Sharers
from spume.geometry.filling.tight_box import tight_box
from spume.geometry.sdf.evaluation import distances, distances_and_gradients
from spume.geometry.sdf.operations import ShapeProgram
from spume.geometry.shapes import ShapeModel
from spume.geometry.shapes.combinations import NAMES
from spume.geometry.shapes.placement import HERE
from spume.geometry.shapes.volume import Moments, moments

Floats = NDArray[np.float64]
Pattern = Literal["lattice", "poisson-disk"]

THIN = 0.5
"""Largest part of a shape that may be thinner than half the spacing of the points."""
TIE = 1e-4
"""Where a length is between n and n + 1 spacings, n + 1 points stand for it from n + 1/2 − TIE on."""
CHUNK = 1 << 16
"""Points whose random numbers are made at a time."""
SATURATION = {2: 0.705, 3: 0.747}
"""Points per volume r^dimension in the bulk when there is no room for further darts with minimum distance r, measured.
Darts anywhere, one after another, give 0.6966 and 0.7336 [Zhang13]; one in turn from each cell, a bit more."""
DILATION = 0.34
"""By how much of r a shape is dilated that has as many points at the density of the bulk, measured."""
COUNT_TOLERANCE = 0.02
CORRECTIONS = 8


@dataclass(frozen=True)
class Filling:
    """Points that represent a shape."""

    positions: Floats
    """[m], shape (n, dimension)"""
    volume: Floats
    """[m³, m² in 2D], shape (n,); the sum is that of the shape"""
    shape: Moments
    """Volume and centroid of the shape, and of the points."""
    places: NDArray[np.int64]
    """Numbers of these points among those of all processes, shape (n,)."""
    count: int
    """Number of points of all processes."""


def fill(
    shape: ShapeModel,
    dimension: int,
    cell: float,
    pattern: Pattern = "lattice",
    points_per_axis: int = 2,
    jitter: float = 0.0,
    rng: np.random.Generator | int = 0,
    folder: Path | None = None,
    sharers: Sharers = ALONE,
) -> Filling:
    """Fill `shape` with about points_per_axis^dimension points per grid cell of size `cell` [m].

    jitter [1] moves each point of a lattice at random, along each axis by up to that part of half the lattice spacing;
    a move that would leave the shape is halved until it does not. `rng` is a generator or a seed. Each of several
    `sharers` gets some of the points; those of a lattice are made by it alone. Raises SceneError for a shape that is
    unbounded, has no volume, or is too thin for the cell.
    """
    if not cell > 0 or points_per_axis < 1 or not 0.0 <= jitter <= 1.0:
        raise SceneError(
            f"filling needs cell > 0, points_per_axis ≥ 1 and jitter between 0 and 1, and got cell = {cell}, "
            f"points_per_axis = {points_per_axis}, jitter = {jitter}"
        )
    if pattern not in get_args(Pattern):
        raise SceneError(f"the pattern of a filling is 'lattice' or 'poisson-disk', and got '{pattern}'")
    generator = np.random.default_rng(rng)
    whole = moments(shape, dimension, folder)
    spacing = cell / points_per_axis
    parts = list(_lattices(shape, dimension, spacing, folder, sharers))
    thin = _thin_part(parts, whole)
    if thin > THIN:
        raise SceneError(_too_thin(shape, dimension, cell, points_per_axis, whole, thin, folder))
    if pattern == "poisson-disk":
        frame = own_frame(shape, HERE, dimension, folder)
        darts, r = _scattered(frame, spacing, generator, sharers)
        depth = -distances(frame.program, darts.positions)
        volumes = _scattered_volumes(depth, r, dimension, frame.moments.volume, sharers)
        x, volumes = _completed(frame, darts.positions, volumes, spacing, sharers)
        return Filling(x, volumes, whole, sharers.places(darts.numbers), sharers.count(len(x)))
    filled, places, count = [], [], 0
    for part in parts:
        for points in _points_of(part, spacing, jitter, generator, sharers):
            filled.append(points)
            places.append(count + part.places)
            count += part.count
    positions, volumes = (np.concatenate(arrays) for arrays in zip(*filled))
    return Filling(positions, volumes, whole, np.concatenate(places), count)


@dataclass(frozen=True)
class Lattice:
    """The lattice of a piece of a shape, or the part of it that this process has."""

    frame: Frame
    points: CellPoints
    places: NDArray[np.int64]
    """Numbers of the points among those of all processes."""
    count: int
    """Number of points of all processes."""
    first: Floats
    """Corner of the cell with index 0 [m], shape (dimension,)."""
    step: Floats
    """Edges of a cell [m]."""
    copies: Floats
    """Displacements of the copies of the piece [m], shape (copies, 3)."""
    thin: float
    """Volume that is thinner than half a spacing, for each copy [m³]."""


def _lattices(
    shape: ShapeModel, dimension: int, spacing: float, folder: Path | None, sharers: Sharers = ALONE
) -> Iterator[Lattice]:
    for piece, placement, copies in pieces(shape, HERE, dimension, folder):
        frame = own_frame(piece, placement, dimension, folder)
        lower, upper = frame.lower, frame.upper
        if frame.loose:
            lower, upper = tight_box(frame.program, lower, upper, spacing)
        step = (upper - lower) / _cells_along(upper - lower, spacing)
        reach = 0.5 * float(np.linalg.norm(step))
        slab = slab_within(
            frame.program, frame.lower, frame.upper, step, reach, lower, sharers.rank, sharers.size, REACH
        )
        points = points_of_cells(frame.program, slab.index, lower, step)
        points = points.of(slab.owner[points.cell] == sharers.rank)
        order = slab.order[points.cell] if slab.order.size else points.cell
        count = sharers.count(len(order))
        thin = float(sharers.total(points.volume[points.thin]) * np.prod(step))
        if step.min() < 0.5 * spacing or count == 0:
            thin = frame.moments.volume
        yield Lattice(frame, points, sharers.places(order), count, lower, step, copies, thin)


def _cells_along(size: Floats, spacing: float) -> Floats:
    """Number of cells of the lattice along each axis of a box of `size` [m]."""
    return np.maximum(np.floor(size / spacing + (0.5 + TIE)), 1.0)


def expected_points(
    shape: ShapeModel, dimension: int, spacing: float, pattern: Pattern, folder: Path | None = None
) -> float:
    """About how many points `fill` makes, without making them."""
    if pattern == "poisson-disk":
        return moments(shape, dimension, folder).volume / spacing**dimension
    total = 0.0
    for piece, placement, copies in pieces(shape, HERE, dimension, folder):
        frame = own_frame(piece, placement, dimension, folder)
        step = (frame.upper - frame.lower) / _cells_along(frame.upper - frame.lower, spacing)
        total += len(copies) * frame.moments.volume / float(np.prod(step))
    return total


def _points_of(
    lattice: Lattice, spacing: float, jitter: float, rng: np.random.Generator, sharers: Sharers
) -> Iterator[tuple[Floats, Floats]]:
    """Positions and volumes of the points of each copy."""
    frame, points = lattice.frame, lattice.points
    y = _inside(frame.program, lattice.first + points.positions * lattice.step, spacing)
    volume = points.volume * np.prod(lattice.step)
    d = y.shape[1]
    if jitter == 0.0:
        x, volume = _completed(frame, y, volume, spacing, sharers, ~points.whole)
        for copy in lattice.copies:
            yield x + copy[:d], volume
    else:
        for copy in lattice.copies:
            moves = _random_rows(rng, lattice.places, lattice.count, d) * (0.5 * jitter * lattice.step)
            x, changed = _completed(frame, _jittered(frame.program, y, moves), volume, spacing, sharers)
            yield x + copy[:d], changed


def _completed(
    frame: Frame, y: Floats, volume: Floats, spacing: float, sharers: Sharers, free: NDArray[np.bool_] | None = None
) -> tuple[Floats, Floats]:
    """Positions in the world and volumes, with the moments of the shape; `free`: the points whose volumes may change,
    all if None."""
    y, volume = with_moments(
        y, volume, np.ones(len(y), bool) if free is None else free, frame.moments, spacing, sharers
    )
    return frame.world(y), volume


def _inside(program: ShapeProgram, y: Floats, spacing: float) -> Floats:
    """Points moved onto the surface from outside, where the centroid of a bent part of a shape can lie."""
    s, gradient = distances_and_gradients(program, y)
    out = s >= 0.0
    y[out] -= (s[out] + 1e-6 * spacing)[:, None] * gradient[out]
    return y


def _random_rows(rng: np.random.Generator, places: NDArray[np.int64], count: int, d: int) -> Floats:
    """The rows `places`, ascending, of `count` rows of random numbers between −1 and 1."""
    found = np.empty((len(places), d))
    for first in range(0, count, CHUNK):
        rows = rng.uniform(-1.0, 1.0, (min(CHUNK, count - first), d))
        low, high = np.searchsorted(places, (first, first + len(rows)))
        found[low:high] = rows[places[low:high] - first]
    return found


def _jittered(program: ShapeProgram, positions: Floats, moves: Floats) -> Floats:
    """Positions moved, by less where they would leave the shape."""
    out = np.flatnonzero(distances(program, positions + moves) >= 0.0)
    for _ in range(20):
        moves[out] *= 0.5
        out = out[distances(program, positions[out] + moves[out]) >= 0.0]
    moves[out] = 0.0
    return positions + moves


def _scattered(frame: Frame, spacing: float, rng: np.random.Generator, sharers: Sharers) -> tuple[Darts, float]:
    """Random points and their least distance r [m]."""
    program, lower, upper = frame.program, frame.lower, frame.upper
    d = len(lower)
    wanted = frame.moments.volume / spacing**d
    r = SATURATION[d] ** (1 / d) * spacing
    for _ in range(2):
        near = count_within(program, lower, upper, np.full(d, spacing), DILATION * r)
        r = (SATURATION[d] * near / wanted) ** (1 / d) * spacing
    seed = int(rng.integers(2**63))
    for _ in range(CORRECTIONS):
        darts = throw_darts(program, lower, upper, r, seed, sharers)
        count = sharers.count(len(darts.positions))
        if abs(count - wanted) <= max(COUNT_TOLERANCE * wanted, 1.0):
            break
        r *= (max(count, 1) / wanted) ** (1 / d)
    return darts, r


def _scattered_volumes(depth: Floats, r: float, dimension: int, total: float, sharers: Sharers) -> Floats:
    """Volumes of random points at a `depth` [m] below the surface: V in the bulk, and V (1 + depth/a)/2 within a of the
    surface, as if each had a cell of the width 2 a that the surface cuts off. The width follows from the sum."""
    bulk = r**dimension / SATURATION[dimension]

    def volumes(a: float) -> Floats:
        return bulk * np.minimum(1.0, 0.5 + 0.5 * depth / a)

    low, high = 0.0, 2.0 * r
    count = sharers.count(len(depth))
    # too few points for statistics, or a thin shape
    if bulk * count <= total or sharers.total(volumes(high)) >= total:
        return np.full(len(depth), total / count)
    for _ in range(40):
        a = 0.5 * (low + high)
        low, high = (a, high) if sharers.total(volumes(a)) > total else (low, a)
    return volumes(high)


def _thin_part(parts: list[Lattice], whole: Moments) -> float:
    """Fraction of a shape that is thinner than half the spacing."""
    return min(sum(part.thin * len(part.copies) for part in parts) / whole.volume, 1.0)


def _too_thin(
    shape: ShapeModel, dimension: int, cell: float, points_per_axis: int, whole: Moments, thin: float,
    folder: Path | None,
) -> str:  # fmt: skip
    found = (
        f"{100 * thin:.3g} % of the shape '{NAMES[type(shape)]}' is thinner than half the spacing of its points at "
        f"cell = {cell:g} m, because it, or a part of it, is too small or too thin"
    )
    for halvings in range(1, 12):
        spacing = cell / points_per_axis / 2**halvings
        if whole.volume / spacing**dimension > 2e6:
            break
        if _thin_part(list(_lattices(shape, dimension, spacing, folder)), whole) <= THIN:
            return f"{found}; cell = {cell / 2**halvings:g} would do"
    return f"{found}; make it thicker"
