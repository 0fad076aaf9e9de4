"""Sums of the elastic kernel over the neighbours of a point in a cubic lattice.

A cloud of a few dozen neighbours does not have the integrals of the kernel. The sums over the lattice that bodies start
from replace them wherever a coefficient should have the size its unit says.
"""

import math

import numpy as np
from numpy.typing import NDArray

from spume.points.kernels import elastic_constant, elastic_kernel, elastic_slope


def neighbour_squares(dimension: int, spacing: float, h: float, count: int) -> NDArray[np.float64]:
    """Squared distances [m²] of the `count` nearest neighbours within h, without those as far as the next one (see
    `neighbours`)."""
    reach = math.ceil(h / spacing)
    axes = np.meshgrid(*[np.arange(-reach, reach + 1) ** 2] * dimension)
    squares = np.sort(np.sum(axes, axis=0).ravel())[1:]
    squares = squares[squares * spacing**2 < h * h]
    if len(squares) > count:
        squares = squares[squares < squares[count]]
    return squares * spacing**2


def lattice_density(dimension: int, spacing: float, h: float, count: int) -> float:
    """Σ V W with the point itself, about 1."""
    c = elastic_constant(dimension, h)
    squares = (0.0, *neighbour_squares(dimension, spacing, h, count))
    return float(spacing**dimension * sum(elastic_kernel(square, h, c) for square in squares))


def lattice_slope(dimension: int, spacing: float, h: float, count: int) -> float:
    """Σ V g x² along an axis, about 1."""
    c = elastic_constant(dimension, h)
    squares = neighbour_squares(dimension, spacing, h, count)
    return float(spacing**dimension * sum(square * elastic_slope(square, h, c) for square in squares)) / dimension
