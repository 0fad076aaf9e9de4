"""Products of many short vectors with one matrix or vector, each row by itself.

A matrix product of NumPy rounds a row differently by its place among the others, so a part of the rows would have other
bits than all of them.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def rows_along(rows: Floats, vector: Floats) -> Floats:
    """Inner products of rows (n, d) with a vector (d,)."""
    return np.asarray(sum((rows[:, q] * vector[q] for q in range(1, len(vector))), rows[:, 0] * vector[0]))


def rows_times(rows: Floats, matrix: Floats) -> Floats:
    """Products of rows (n, d) with a matrix (d, m)."""
    return np.stack([rows_along(rows, column) for column in matrix.T], axis=1)
