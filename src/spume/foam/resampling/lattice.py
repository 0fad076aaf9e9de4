"""Addresses of bins and nodes around a block."""

from spume.mpm.transfers import BLOCK
from spume.numerics.jit import compiled

_BITS_IN_SPACE = BLOCK[3][0].bit_length() - 1
_BITS_IN_PLANE = BLOCK[2][0].bit_length() - 1


@compiled(inline="always")
def address(D, neighbours, block, i, j, k):
    """Flat index (64 a block) of bin or node (i, j, k) counted from the corner of `block`; −1 where none is listed.

    The indices may reach one block beyond `block` on each side; in the plane k is 0.
    """
    if D == 3:
        S = _BITS_IN_SPACE
        other = neighbours[block, ((i >> S) + 1) * 9 + ((j >> S) + 1) * 3 + (k >> S) + 1]
        local = ((i & ((1 << S) - 1)) << (2 * S)) + ((j & ((1 << S) - 1)) << S) + (k & ((1 << S) - 1))
    else:
        S = _BITS_IN_PLANE
        other = neighbours[block, ((i >> S) + 1) * 9 + ((j >> S) + 1) * 3 + 1]
        local = ((i & ((1 << S) - 1)) << S) + (j & ((1 << S) - 1))
    return other * 64 + local if other >= 0 else -1
