"""Filling a shape with points.

"lattice": the points (k + 1/2) · cell / points_per_axis of one lattice for all bodies, so that bodies that touch fit
together. "poisson-disk": random points with a minimum distance r, found by throwing darts until no room is left. Points
can be on the very surface, beyond which there are none, so such a packing has as many points as the shape dilated by a
part of r has at the density of the bulk. The first r follows from this; it is corrected by the number of points found
until there are points_per_axis^dimension points per cell, within 2 %.

All points have the same volume; the sum is the volume of the shape.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.filling.darts import throw_darts
from spume.geometry.filling.lattice import lattice_within
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.sdf.operations import ShapeProgram
from spume.geometry.shapes import ShapeModel
from spume.geometry.shapes.combinations import NAMES
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.volume import volume

Pattern = Literal["lattice", "poisson-disk"]

THIN = 0.1
"""Largest accepted relative difference between the points' volume and the shape's."""
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

    positions: NDArray[np.float64]
    """[m], shape (n, dimension)"""
    volume: NDArray[np.float64]
    """[m³, m² in 2D], shape (n,); the sum is shape_volume"""
    shape_volume: float
    """[m³, m² in 2D]"""
    lattice_error: float
    """(points × volume of a lattice cell − shape_volume) / shape_volume: how far the points alone miss the volume"""


def fill(
    shape: ShapeModel,
    dimension: int,
    cell: float,
    pattern: Pattern = "lattice",
    points_per_axis: int = 2,
    jitter: float = 0.0,
    rng: np.random.Generator | int = 0,
    folder: Path | None = None,
) -> Filling:
    """Fill `shape` with points_per_axis^dimension points per grid cell of size `cell` [m].

    jitter [1] moves each point of a lattice at random, along each axis by up to that part of half the lattice spacing
    (1: anywhere in its lattice cell); a move that would leave the shape is halved until it does not. `rng` is a
    generator or a seed. Raises SceneError for a shape that is unbounded, has no volume, or is too thin for the cell.
    """
    if not cell > 0 or points_per_axis < 1 or not 0.0 <= jitter <= 1.0:
        raise SceneError(
            f"filling needs cell > 0, points_per_axis ≥ 1 and jitter between 0 and 1, and got cell = {cell}, "
            f"points_per_axis = {points_per_axis}, jitter = {jitter}"
        )
    if pattern not in get_args(Pattern):
        raise SceneError(f"the pattern of a filling is 'lattice' or 'poisson-disk', and got '{pattern}'")
    generator = np.random.default_rng(rng)
    total = volume(shape, dimension, folder)
    program = compile_shape(shape, dimension, folder)
    lower, upper = bounds(shape, dimension, folder)
    spacing = cell / points_per_axis
    if pattern == "lattice":
        positions = _lattice_positions(program, lower, upper, spacing)
        if jitter > 0.0:
            positions = _jittered(program, positions, jitter * spacing / 2, generator)
    else:
        positions = _scattered(program, lower, upper, spacing, total, generator)
    error = len(positions) * spacing**dimension / total - 1.0
    if abs(error) > THIN:
        raise SceneError(_too_thin(shape, program, lower, upper, spacing, cell, total, error))
    return Filling(positions, np.full(len(positions), total / len(positions)), total, error)


def _lattice_positions(
    program: ShapeProgram, lower: NDArray[np.float64], upper: NDArray[np.float64], spacing: float
) -> NDArray[np.float64]:
    indices = lattice_within(program, lower, upper, spacing, 0.0)[:, : len(lower)].astype(np.float64)
    return (indices + 0.5) * spacing


def _jittered(
    program: ShapeProgram, positions: NDArray[np.float64], reach: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    moves = rng.uniform(-reach, reach, positions.shape)
    out = np.flatnonzero(distances(program, positions + moves) >= 0.0)
    for _ in range(20):
        moves[out] *= 0.5
        out = out[distances(program, positions[out] + moves[out]) >= 0.0]
    moves[out] = 0.0
    return positions + moves


def _scattered(
    program: ShapeProgram,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    spacing: float,
    total: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    d = len(lower)
    wanted = total / spacing**d
    r = SATURATION[d] ** (1 / d) * spacing
    for _ in range(2):
        dilated = len(lattice_within(program, lower, upper, spacing, DILATION * r)) * spacing**d
        r = (SATURATION[d] * dilated / wanted) ** (1 / d)
    seed = int(rng.integers(2**63))
    for _ in range(CORRECTIONS):
        positions = throw_darts(program, lower, upper, r, seed)
        if abs(len(positions) - wanted) <= max(COUNT_TOLERANCE * wanted, 1.0):
            break
        r *= (max(len(positions), 1) / wanted) ** (1 / d)
    return positions


def _too_thin(
    shape: ShapeModel,
    program: ShapeProgram,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    spacing: float,
    cell: float,
    total: float,
    error: float,
) -> str:
    name = NAMES[type(shape)]
    d = len(lower)
    found = (
        f"the points that fill the shape '{name}' at cell = {cell:g} m represent {100 * (1 + error):.3g} % of its "
        "volume, because it, or a part of it, is too small or too thin"
    )
    for halvings in range(1, 12):
        finer = spacing / 2**halvings
        if total / finer**d > 2e6:
            break
        count = len(_lattice_positions(program, lower, upper, finer))
        if abs(count * finer**d / total - 1.0) <= THIN:
            return f"{found}; cell = {cell / 2**halvings:g} would do"
    return f"{found}; make it thicker"
