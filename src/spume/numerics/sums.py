"""Sums over all points or all unknowns, with the same bits for any number of threads.

Every sum over a whole array uses this module: the array is cut into chunks of a fixed length, the chunks are summed in
parallel, and the partial sums are added in order. If arrays are ever distributed over machines, partial sums are
gathered here and nowhere else.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.numerics.jit import compiled

CHUNK = 4096
"""Numbers per partial sum."""


@compiled(parallel=True)
def _partial_sums(a, result):
    for chunk in prange(result.size):
        s = 0.0
        for n in range(chunk * CHUNK, min(a.size, (chunk + 1) * CHUNK)):
            s += a[n]
        result[chunk] = s


@compiled(parallel=True)
def _partial_products(a, b, result):
    for chunk in prange(result.size):
        s = 0.0
        for n in range(chunk * CHUNK, min(a.size, (chunk + 1) * CHUNK)):
            s += a[n] * b[n]
        result[chunk] = s


@compiled
def _product_of_chunk(a, b):
    s = 0.0
    for n in range(a.size):
        s += a[n] * b[n]
    return s


@compiled(fastmath=False)
def _add_up(partial):
    s = 0.0
    for n in range(partial.size):
        s += partial[n]
    return s


def total(a: NDArray[np.float64]) -> float:
    """Sum of all entries of `a`."""
    flat = np.ascontiguousarray(a, np.float64).reshape(-1)
    partial = np.empty(-(-flat.size // CHUNK))
    _partial_sums(flat, partial)
    return float(_add_up(partial))


def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Sum of the products of corresponding entries of two arrays of the same shape.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if a.shape != b.shape:
        raise ValueError(f"the arrays have shapes {a.shape} and {b.shape}, which must be equal")
    first = np.ascontiguousarray(a, np.float64).reshape(-1)
    second = np.ascontiguousarray(b, np.float64).reshape(-1)
    if first.size <= CHUNK:  # starting the threads would take longer
        return float(_product_of_chunk(first, second))
    partial = np.empty(-(-first.size // CHUNK))
    _partial_products(first, second, partial)
    return float(_add_up(partial))


def weighted_total(weights: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_p w_p q_p for weights (n,) and values (n, …)."""
    columns = values.reshape(len(values), int(np.prod(values.shape[1:])))
    return np.array([dot(weights, column) for column in columns.T]).reshape(values.shape[1:])
