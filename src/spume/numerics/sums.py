"""Sums whose bits depend neither on the number of threads nor on the order of the summands.

`total` and `dot` sum over points. Each number x is split by adding and subtracting a large σ, q = (σ + x) − σ, into a
multiple q of a unit that is fixed by the largest number, and a remainder, which is split again [Demmel15]. Sums of
such multiples are exact, so their order does not matter: points may be stored in any order, on any number of machines.

`block_dots` are the faster inner products of solvers. Their unknowns are numbered by block; the products of each block
are summed first, and then the blocks, in the order of their keys.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.numerics.jit import compiled

CHUNK = 4096
"""Numbers per partial sum. The result does not depend on it."""
HEADROOM = 31
"""Binary digits that sums may grow by: they are exact for up to 2³⁰ numbers."""
DIGITS = 53 - HEADROOM
"""Binary digits of a number that each of three splits keeps."""
LARGEST_EXPONENT = 960
"""Larger numbers are summed by `math.fsum`: σ would overflow."""


@compiled(parallel=True, fastmath=False)
def _largest(a, b, result):
    """Largest |a b| of each chunk; NaN if one is NaN."""
    for chunk in prange(result.size):
        most = 0.0
        for n in range(chunk * CHUNK, min(a.size, (chunk + 1) * CHUNK)):
            size = abs(a[n] * b[n])
            if not size <= most:
                most = size
        result[chunk] = most


@compiled(parallel=True, fastmath=False)
def _split_sums(a, b, sigma, result):
    """Sums of the three parts of all a b in each chunk."""
    for chunk in prange(result.shape[0]):
        s0 = s1 = s2 = 0.0
        for n in range(chunk * CHUNK, min(a.size, (chunk + 1) * CHUNK)):
            x = a[n] * b[n]
            q = (sigma[0] + x) - sigma[0]
            s0 += q
            x -= q
            q = (sigma[1] + x) - sigma[1]
            s1 += q
            x -= q
            s2 += (sigma[2] + x) - sigma[2]
        result[chunk, 0] = s0
        result[chunk, 1] = s1
        result[chunk, 2] = s2


def _most(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The largest |a b| of two flat arrays."""
    largest = np.empty(-(-a.size // CHUNK))
    _largest(a, b, largest)
    return float(largest.max(initial=0.0))


def _split(a: NDArray[np.float64], b: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """The three parts of Σ a b, where no |a b| reaches 2^exponent. They are exact."""
    # 1.5: neither sign of a number changes the unit of σ + x
    sigma = np.array([math.ldexp(1.5, max(exponent + HEADROOM - DIGITS * k, -1000)) for k in range(3)])
    parts = np.empty((-(-a.size // CHUNK), 3))
    _split_sums(a, b, sigma, parts)
    return np.asarray(parts.sum(axis=0))


def _summed(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Σ a b of two flat arrays."""
    most = _most(a, b)
    if most == 0.0:
        return 0.0
    if not math.isfinite(most):
        return float(np.sum(a * b))
    exponent = math.frexp(most)[1]
    if exponent > LARGEST_EXPONENT:
        return math.fsum(a * b)
    first, second, third = _split(a, b, exponent)
    return float(first + (second + third))


def totals(
    arrays: Sequence[NDArray[np.float64]],
    maximum: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    summed: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> list[float]:
    """Sum of all entries of each array, of which other processes have further entries: the bits are those of `total`
    for all entries in one array. `maximum` and `summed` combine arrays entry by entry over all processes.

    For numbers above 2^LARGEST_EXPONENT the order of the processes matters.
    """
    flat = [np.ascontiguousarray(a, np.float64).reshape(-1) for a in arrays]
    ones = [np.ones(a.size) for a in flat]
    own = np.array([_most(a, one) for a, one in zip(flat, ones)])
    most = maximum(np.where(np.isnan(own), np.inf, own))
    parts = np.zeros((len(flat), 3))
    for k, (a, one) in enumerate(zip(flat, ones)):
        exponent = math.frexp(most[k])[1] if math.isfinite(most[k]) else LARGEST_EXPONENT + 1
        if most[k] > 0.0:
            parts[k] = _split(a, one, exponent) if exponent <= LARGEST_EXPONENT else (np.sum(a), 0.0, 0.0)
    return [float(first + (second + third)) for first, second, third in summed(parts)]


def total(a: NDArray[np.float64]) -> float:
    """Sum of all entries of `a`."""
    flat = np.ascontiguousarray(a, np.float64).reshape(-1)
    return _summed(flat, np.ones(flat.size))


def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """Sum of the products of corresponding entries of two arrays of the same shape.

    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if a.shape != b.shape:
        raise ValueError(f"the arrays have shapes {a.shape} and {b.shape}, which must be equal")
    return _summed(np.ascontiguousarray(a, np.float64).reshape(-1), np.ascontiguousarray(b, np.float64).reshape(-1))


def weighted_total(weights: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ_p w_p q_p for weights (n,) and values (n, …)."""
    columns = values.reshape(len(values), int(np.prod(values.shape[1:])))
    return np.array([dot(weights, column) for column in columns.T]).reshape(values.shape[1:])


@compiled(fastmath=False)
def _product(a, b, first, last):
    """Sum of a b from `first` to `last`, in four interleaved sums: one order, which processors can vectorise."""
    s0 = s1 = s2 = s3 = 0.0
    whole = last - (last - first) % 4
    for n in range(first, whole, 4):
        s0 += a[n] * b[n]
        s1 += a[n + 1] * b[n + 1]
        s2 += a[n + 2] * b[n + 2]
        s3 += a[n + 3] * b[n + 3]
    for n in range(whole, last):
        s0 += a[n] * b[n]
    return (s0 + s1) + (s2 + s3)


@compiled(parallel=True, fastmath=False)
def _products_of_blocks(a, b, starts, width, result):
    for block in prange(result.size):
        result[block] = _product(a, b, starts[block] * width, starts[block + 1] * width)


@compiled(fastmath=False)
def _few_products_of_blocks(a, b, starts, width, result):
    for block in range(result.size):
        result[block] = _product(a, b, starts[block] * width, starts[block + 1] * width)


@compiled(fastmath=False)
def _in_order(partial):
    s = 0.0
    for n in range(partial.size):
        s += partial[n]
    return s


def block_dots(
    pairs: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    starts: NDArray[np.int64],
    all_blocks: Callable[[NDArray[np.float64]], NDArray[np.float64]] | None = None,
) -> list[float]:
    """Inner products of pairs of vectors of unknowns, shape (n, components), whose blocks begin at `starts`, which ends
    with n.

    all_blocks: returns the sums (pairs, blocks) of all blocks, in their order, from those of the blocks of this
    process.
    """
    partial = np.empty((len(pairs), len(starts) - 1))
    for (a, b), sums in zip(pairs, partial):
        # with few unknowns, starting the threads would take longer than the sum
        kernel = _few_products_of_blocks if a.size <= CHUNK else _products_of_blocks
        kernel(a.reshape(-1), b.reshape(-1), starts, a.shape[1], sums)
    return [float(_in_order(sums)) for sums in (partial if all_blocks is None else all_blocks(partial))]
