"""Places of blocks along a space-filling curve, so that a range of places is a compact region.

The curve is Hilbert's: consecutive blocks are neighbours. docs/ranks.md compares its surfaces with those of
Morton's order.
"""

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import unpack
from spume.numerics.jit import compiled

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
    transposed = np.array(coordinates, np.int64)
    _transpose(transposed, bits)
    return _interleaved(transposed, bits)


@compiled(fastmath=False)
def _transpose(x, bits):
    """Replace coordinates by the digits of the places, in turn."""
    for n in range(x.shape[0]):
        for digit in range(bits - 1, 0, -1):
            lower = (1 << digit) - 1
            for axis in range(x.shape[1]):
                if x[n, axis] >> digit & 1:
                    x[n, 0] ^= lower
                else:
                    swap = (x[n, 0] ^ x[n, axis]) & lower
                    x[n, 0] ^= swap
                    x[n, axis] ^= swap
        for axis in range(1, x.shape[1]):
            x[n, axis] ^= x[n, axis - 1]
        inverted = 0
        for digit in range(bits - 1, 0, -1):
            if x[n, x.shape[1] - 1] >> digit & 1:
                inverted ^= (1 << digit) - 1
        for axis in range(x.shape[1]):
            x[n, axis] ^= inverted


def _interleaved(coordinates: Integers, bits: int) -> Integers:
    """The digits of all coordinates in turn, those of the first coordinate first."""
    found = np.empty(len(coordinates), np.int64)
    _interleave(coordinates, bits, found)
    return found


@compiled(fastmath=False)
def _interleave(coordinates, bits, found):
    d = coordinates.shape[1]
    for n in range(found.size):
        place = 0
        for digit in range(bits):
            for axis in range(d):
                place |= (coordinates[n, axis] >> digit & 1) << (digit * d + d - 1 - axis)
        found[n] = place
