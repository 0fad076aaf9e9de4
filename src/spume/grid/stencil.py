"""Common parts of the transfers in both directions: the layout of a column of cells and the products of the weights.

Optimisation: points are visited column by column, where a column is a row of cells of a block along the last axis. The
tensor product is computed in two stages: first the *plane* of the other axes (16 products for cubic splines), then the
last axis, with one or two multiply-adds per node and quantity. All cells of a column have the same nodes in the plane,
so their sums share one scratch array, in vectorised loops of constant length over the plane. The scratch array is
exchanged once per column with a *tile*: the nodes in the stencils of a block of cells.
"""

from spume.numerics.jit import compiled


@compiled
def column_at(D, BX, BY, BZ, margin, blocks, block, column):
    """Start of a column along the first, second and last axis [cells].

    It is computed from the cell into which points were sorted, not from positions, so that rounding makes no
    difference.
    """
    i, j = (column // BY, column % BY) if D == 3 else (column, 0)
    last = blocks[block, 2] * BZ if D == 3 else blocks[block, 1] * BY
    return blocks[block, 0] * BX + i + margin, blocks[block, 1] * BY + j + margin, last + margin


@compiled(inline="always")
def plane_into(s, D, K, slopes, affine, w0, d0, reach0, w1, d1, reach1):
    """Write products over the plane to the start of s, one part after the other: w w; for slopes = 1 also dw w and w
    dw; for affine = 1 also w w times the distance of the nodes from the point [cells] along either axis. In 2D the
    plane is one axis."""
    P = K * K if D == 3 else K
    if D == 3:
        for i in range(K):
            for j in range(K):
                n = i * K + j
                s[n] = w0[i] * w1[j]
                if slopes == 1:
                    s[P + n] = d0[i] * w1[j]
                    s[2 * P + n] = w0[i] * d1[j]
                if affine == 1:
                    s[3 * P + n] = w0[i] * w1[j] * (i - reach0)
                    s[4 * P + n] = w0[i] * w1[j] * (j - reach1)
    else:
        for i in range(K):
            s[i] = w0[i]
            if slopes == 1:
                s[P + i] = d0[i]
            if affine == 1:
                s[3 * P + i] = w0[i] * (i - reach0)
