"""Places of blocks along a space-filling curve, so that a range of places is a compact region.

The curve is Hilbert's: consecutive blocks are neighbours. docs/ranks.md compares its surfaces with those of
Morton's order.
"""

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import unpack

Integers = NDArray[np.int64]
BITS = {2: 21, 3: 20}
"""Digits per coordinate: all of them in a 64-bit integer. In 3D blocks beyond ±2¹⁹ share places with others."""


def places(keys: Integers, dimension: int) -> Integers:
    """Place of each block, by its key, along Hilbert's curve."""
    return hilbert(_positive(keys, dimension), BITS[dimension])


def morton_places(keys: Integers, dimension: int) -> Integers:
    """Place of each block, by its key, in Morton's order."""
    return _interleaved(_positive(keys, dimension), BITS[dimension])


def _positive(keys: Integers, dimension: int) -> Integers:
    """Coordinates (n, d) of blocks, moved so that none is negative."""
    half = 1 << (BITS[dimension] - 1)
    return (unpack(keys)[:, :dimension] + half) & ((1 << BITS[dimension]) - 1)


def hilbert(coordinates: Integers, bits: int) -> Integers:
    """Place along Hilbert's curve of cells with the given coordinates (n, d), each of so many bits. [Skilling04]"""
    x = coordinates.T.copy()
    last = len(x) - 1
    for digit in range(bits - 1, 0, -1):
        Q = 1 << digit
        P = Q - 1
        for axis in range(len(x)):
            inverted = (x[axis] & Q) != 0
            swap = np.where(inverted, 0, (x[0] ^ x[axis]) & P)
            x[0] ^= np.where(inverted, P, swap)
            x[axis] ^= swap
    for axis in range(1, len(x)):
        x[axis] ^= x[axis - 1]
    t = np.zeros_like(x[0])
    for digit in range(bits - 1, 0, -1):
        t ^= np.where((x[last] & (1 << digit)) != 0, (1 << digit) - 1, 0)
    return _interleaved((x ^ t).T, bits)


def _interleaved(coordinates: Integers, bits: int) -> Integers:
    """The digits of all coordinates in turn, those of the first coordinate first."""
    d = coordinates.shape[1]
    found = np.zeros(len(coordinates), np.int64)
    for digit in range(bits):
        for axis in range(d):
            found |= ((coordinates[:, axis] >> digit) & 1) << (digit * d + d - 1 - axis)
    return found
