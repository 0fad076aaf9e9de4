"""Density on the grid of a frame, and its interior nodes."""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Array = NDArray[np.float64]

DEPTH = 3
"""A node is interior if all cells within this many cells of it contain points: two for the reach of its spline, and one
for the outermost layer of occupied cells, which contains the surface."""


def interior_densities(x: Array, mass: Array, cell: float) -> Array:
    """Density of the interior nodes [kg/m³]: their mass, by cubic B-splines, over the volume of a cell.

    Voids enclosed by the material count as interior, so that a density missing there is detected.
    """
    position = x / cell
    first = np.floor(position.min(axis=0)).astype(int) - DEPTH
    position = position - first
    shape = tuple(np.floor(position.max(axis=0)).astype(int) + 2 + DEPTH)
    occupied = np.zeros(shape, bool)
    occupied[tuple(np.floor(position).astype(int).T)] = True
    # node i is the lower corner of cell i: around it are the cells i − DEPTH … i + DEPTH − 1
    whole = ndimage.minimum_filter(
        ndimage.binary_fill_holes(occupied), size=2 * DEPTH, origin=0, mode="constant", cval=False
    )
    return node_masses(position, mass, shape)[whole] / cell**3


def node_masses(position: Array, mass: Array, shape: tuple[int, ...]) -> Array:
    """Mass of every node by cubic B-splines; positions in cells."""
    base = np.floor(position).astype(int)
    t = position - base
    s = 1.0 - t
    weights = (s**3 / 6, 2 / 3 - t**2 * (1 - t / 2), 2 / 3 - s**2 * (1 - s / 2), t**3 / 6)
    total = np.zeros(int(np.prod(shape)))
    for offset in np.ndindex(4, 4, 4):
        node = np.ravel_multi_index(tuple((base + np.array(offset) - 1).T), shape)
        weight = np.prod([weights[o][:, axis] for axis, o in enumerate(offset)], axis=0)
        total += np.bincount(node, weights=mass * weight, minlength=total.size)
    return total.reshape(shape)
