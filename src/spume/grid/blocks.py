"""Blocks of 64 cells or nodes: their keys, their neighbours, and the indices of cells in and around them.

A block has 4×4×4 cells in 3D and 8×8 in 2D, and as many nodes; node i is the lower corner of cell i. The three integer
coordinates of a block are packed into one integer, its *key*. Keys are ordered like the coordinates, so sorted arrays
of keys replace a hash table. In 2D the third coordinate is always 0.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from spume.numerics.jit import compiled
from spume.numerics.sorted_keys import places_of_shifted

BLOCK = {2: (8, 8, 1), 3: (4, 4, 4)}
"""Cells, and nodes, per side of a block, by dimension."""
CELLS_PER_BLOCK = 64
NODES_PER_BLOCK = CELLS_PER_BLOCK

_BITS = 21
_OFFSET = 1 << (_BITS - 1)
_MASK = (1 << _BITS) - 1
KEY_STEP = (1 << (2 * _BITS), 1 << _BITS, 1)
"""Difference of the keys of adjacent blocks along each axis."""
REACH_IN_BLOCKS = _OFFSET - 2
"""Largest distance of a point from the origin, in blocks: block coordinates are packed into 21 bits each."""

_BITS_IN_SPACE = BLOCK[3][0].bit_length() - 1
_BITS_IN_PLANE = BLOCK[2][0].bit_length() - 1
LAYER_BITS = _BITS_IN_SPACE
"""k >> LAYER_BITS is the layer of blocks that contains cell k, counted from the corner of a 3D block."""


@compiled(fastmath=False)
def pack(i, j, k):
    """Key of the block with the coordinates (i, j, k)."""
    return ((i + _OFFSET) << (2 * _BITS)) | ((j + _OFFSET) << _BITS) | (k + _OFFSET)


def unpack(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Block coordinates of keys, shape (n, 3)."""
    return np.stack([((keys >> (2 * _BITS)) & _MASK), ((keys >> _BITS) & _MASK), keys & _MASK], axis=1) - _OFFSET


def keys_of_cells(index: NDArray[np.int64], dimension: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys of the blocks of the cells with the coordinates `index` (n, 3), and the places of the cells in them."""
    bits = np.array([size.bit_length() - 1 for size in BLOCK[dimension]])
    block, within = index >> bits, index & ((1 << bits) - 1)
    keys = ((block[:, 0] + _OFFSET) << (2 * _BITS)) | ((block[:, 1] + _OFFSET) << _BITS) | (block[:, 2] + _OFFSET)
    return keys, (within[:, 0] << (bits[1] + bits[2])) + (within[:, 1] << bits[2]) + within[:, 2]


def corner_steps(dimension: int) -> NDArray[np.int64]:
    """Differences of keys from a block to itself and the next blocks along each axis: 2^d values, z fastest."""
    last = 2 if dimension == 3 else 1
    a, b, c = KEY_STEP
    return np.array([i * a + j * b + k * c for i in (0, 1) for j in (0, 1) for k in range(last)], np.int64)


def around_steps(dimension: int) -> NDArray[np.int64]:
    """Differences of keys from a block to itself and all adjacent blocks: 3^d values."""
    a, b, c = KEY_STEP
    deep = (-1, 0, 1) if dimension == 3 else (0,)
    return np.array([i * a + j * b + k * c for i in (-1, 0, 1) for j in (-1, 0, 1) for k in deep], np.int64)


def with_surrounding_blocks(keys: NDArray[np.int64], dimension: int) -> NDArray[np.int64]:
    """Sorted keys of the blocks in `keys` and of all blocks adjacent to them."""
    for step in KEY_STEP[:dimension]:
        keys = np.unique(np.concatenate([keys - step, keys, keys + step]))
    return keys


def neighbour_table(keys: NDArray[np.int64]) -> NDArray[np.int32]:
    """Indices of the 27 neighbours of each of the sorted `keys`, itself in the middle, z fastest; −1 for a neighbour
    that is not listed. Shape (n, 27)."""
    a, b, c = KEY_STEP
    return places_of_shifted(keys, np.array([i * a + j * b + k * c for i, j, k in product((-1, 0, 1), repeat=3)]))


@compiled(inline="always")
def cell_at(D, neighbours, block, i, j, k):
    """Flat index (64 per block) of the cell or node (i, j, k), counted from the corner of `block`; −1 if its block is
    not listed. The indices may lie up to one block beyond `block` on each side; in 2D k is 0."""
    if D == 3:
        S = _BITS_IN_SPACE
        other = neighbours[block, ((i >> S) + 1) * 9 + ((j >> S) + 1) * 3 + (k >> S) + 1]
        local = ((i & ((1 << S) - 1)) << (2 * S)) + ((j & ((1 << S) - 1)) << S) + (k & ((1 << S) - 1))
    else:
        S = _BITS_IN_PLANE
        other = neighbours[block, ((i >> S) + 1) * 9 + ((j >> S) + 1) * 3 + 1]
        local = ((i & ((1 << S) - 1)) << S) + (j & ((1 << S) - 1))
    return other * 64 + local if other >= 0 else -1


@compiled(inline="always")
def cell_in_block(D, cell):
    """Block of a flat cell index, and the cell's indices (i, j, k) in it."""
    if D == 3:
        S = _BITS_IN_SPACE
        local = cell & 63
        return cell >> 6, local >> (2 * S), (local >> S) & ((1 << S) - 1), local & ((1 << S) - 1)
    S = _BITS_IN_PLANE
    local = cell & 63
    return cell >> 6, local >> S, local & ((1 << S) - 1), 0


@compiled(inline="always")
def run_of_cells(D, neighbours, cell_start, block, i, j, k_first, k_last, layer):
    """Entries (first, one past the last) of those cells (i, j, k_first to k_last), counted from the corner of `block`,
    that lie in the `layer` of blocks along the last axis (−1, 0 or 1), whose points are contiguous.

    Loop over layers from k_first >> bits to k_last >> bits with `LAYER_BITS`; in 2D k and the layer are 0.
    """
    if D == 3:
        S = _BITS_IN_SPACE
        other = neighbours[block, ((i >> S) + 1) * 9 + ((j >> S) + 1) * 3 + layer + 1]
        if other < 0:
            return 0, 0
        row = other * 64 + ((i & ((1 << S) - 1)) << (2 * S)) + ((j & ((1 << S) - 1)) << S)
        first = max(k_first - (layer << S), 0)
        last = min(k_last - (layer << S), (1 << S) - 1)
        return cell_start[row + first], cell_start[row + last + 1]
    cell = cell_at(D, neighbours, block, i, j, 0)
    if cell < 0:
        return 0, 0
    return cell_start[cell], cell_start[cell + 1]
