"""Sparse symmetric factorisation L D Lᵀ without pivoting, by dense fronts along a tree of nested dissection.

The Newton system of a foam is symmetric and quasi-definite near equilibrium (positive in the vertices, negative in the
pressures), so that every order of elimination works; the caller checks the residual all the same.
"""

import math

import numpy as np
from scipy.sparse import csc_matrix

from spume.dryfoam.dissection import dissect
from spume.dryfoam.network import Floats, Integers
from spume.numerics.jit import compiled

PANEL = 16
"""Columns eliminated together."""


@compiled
def _node_graph(indptr, indices, vertices, nodes, starts, neighbours):
    """Adjacency of vertices (two unknowns each) and further nodes (one each), from the pattern of the matrix."""
    n = 0
    for i in range(nodes):
        starts[i] = n
        column = 2 * i if i < vertices else i + vertices
        for p in range(indptr[column], indptr[column + 1]):
            r = indices[p]
            j = r // 2 if r < 2 * vertices else r - vertices
            if j != i and (r >= 2 * vertices or r % 2 == 0):
                neighbours[n] = j
                n += 1
    starts[nodes] = n


@compiled
def _symbolic(indptr, indices, place, unknown, begin, end, order, left, right, border_start, border, grow):
    """Border of each front: later unknowns that it touches, sorted. Returns its total size, or -1 if `border` is full,
    with the largest front and the room the stack of updates needs."""
    parts = len(order)
    mark = np.full(len(place), -1, dtype=np.int64)
    total, largest, stack, room = 0, 0, 0, 0
    for q in range(parts):
        t = order[q]
        border_start[t, 0] = total
        for position in range(begin[t], end[t]):
            column = unknown[position]
            for p in range(indptr[column], indptr[column + 1]):
                r = place[indices[p]]
                if r >= end[t] and mark[r] != t:
                    mark[r] = t
                    if total >= len(border):
                        return -1, 0, 0
                    border[total] = r
                    total += 1
        for child in (left[t], right[t]):
            if child < 0:
                continue
            for p in range(border_start[child, 0], border_start[child, 1]):
                r = border[p]
                if r >= end[t] and mark[r] != t:
                    mark[r] = t
                    if total >= len(border):
                        return -1, 0, 0
                    border[total] = r
                    total += 1
            width = border_start[child, 1] - border_start[child, 0]
            stack -= width * width
        border_start[t, 1] = total
        border[border_start[t, 0] : total] = np.sort(border[border_start[t, 0] : total])
        width = total - border_start[t, 0]
        largest = max(largest, width + end[t] - begin[t])
        stack += width * width
        room = max(room, stack)
        grow[t] = (width + end[t] - begin[t]) * (end[t] - begin[t])
    return total, largest, room


@compiled
def _update(front, rows, p, stop, size):
    """Subtracts L D Lᵀ of the panel's columns from the rest of the lower front, two rows and eight columns at a time.

    Of the pair of rows the first one reaches one entry above the diagonal, where nothing is kept.
    """
    width = stop - p
    i = stop
    while i + 1 < size:
        k = 0
        while k + 7 < width:
            q = p + k
            a0, a1, a2, a3 = front[i, q], front[i, q + 1], front[i, q + 2], front[i, q + 3]
            a4, a5, a6, a7 = front[i, q + 4], front[i, q + 5], front[i, q + 6], front[i, q + 7]
            b0, b1, b2, b3 = front[i + 1, q], front[i + 1, q + 1], front[i + 1, q + 2], front[i + 1, q + 3]
            b4, b5, b6, b7 = front[i + 1, q + 4], front[i + 1, q + 5], front[i + 1, q + 6], front[i + 1, q + 7]
            upper, lower = front[i, stop : i + 2], front[i + 1, stop : i + 2]
            r0, r1, r2, r3 = rows[k, stop:], rows[k + 1, stop:], rows[k + 2, stop:], rows[k + 3, stop:]
            r4, r5, r6, r7 = rows[k + 4, stop:], rows[k + 5, stop:], rows[k + 6, stop:], rows[k + 7, stop:]
            for j in range(i + 2 - stop):
                x0, x1, x2, x3, x4, x5, x6, x7 = r0[j], r1[j], r2[j], r3[j], r4[j], r5[j], r6[j], r7[j]
                upper[j] -= a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3 + a4 * x4 + a5 * x5 + a6 * x6 + a7 * x7
                lower[j] -= b0 * x0 + b1 * x1 + b2 * x2 + b3 * x3 + b4 * x4 + b5 * x5 + b6 * x6 + b7 * x7
            k += 8
        while k < width:
            a0, b0 = front[i, p + k], front[i + 1, p + k]
            for j in range(stop, i + 2):
                front[i, j] -= a0 * rows[k, j]
                front[i + 1, j] -= b0 * rows[k, j]
            k += 1
        i += 2
    if i < size:
        for k in range(width):
            a0 = front[i, p + k]
            for j in range(stop, i + 1):
                front[i, j] -= a0 * rows[k, j]


@compiled
def _eliminate(front, size, own, rows, tiny):
    """Eliminates the first `own` unknowns of the dense lower front in place; returns how many pivots were replaced."""
    replaced = 0
    for p in range(0, own, PANEL):
        stop = min(p + PANEL, own)
        for c in range(p, stop):
            d = front[c, c]
            if abs(d) < tiny:
                d = math.copysign(tiny, d)
                front[c, c] = d
                replaced += 1
            # the column keeps l d until the panel is done, and rows holds a copy of it
            column = rows[c - p]
            for i in range(c + 1, size):
                column[i] = front[i, c]
            inverse = 1.0 / d
            for i in range(c + 1, size):
                l = column[i] * inverse
                for j in range(c + 1, min(stop, i + 1)):
                    front[i, j] -= l * column[j]
        # rows holds l d by column; front becomes l
        for c in range(p, stop):
            d = front[c, c]
            for i in range(c + 1, size):
                front[i, c] /= d
        _update(front, rows, p, stop, size)
    return replaced


@compiled
def _factorize(
    indptr, indices, data, place, unknown, begin, end, order, left, right, border_start, border,
    factor_start, factor, largest, stack, tiny,
):  # fmt: skip
    """Numerical factorisation into `factor`: per part the rows (own + border) by own columns, D on the diagonal."""
    local = np.empty(len(place), dtype=np.int64)
    replaced, top = 0, 0
    work = np.empty(largest * largest)
    panel = np.empty(PANEL * largest)
    for q in range(len(order)):
        t = order[q]
        own = end[t] - begin[t]
        size = own + border_start[t, 1] - border_start[t, 0]
        front = work[: size * size].reshape(size, size)
        rows = panel[: PANEL * size].reshape(PANEL, size)
        for i in range(size):
            for j in range(i + 1):
                front[i, j] = 0.0
        for i in range(own):
            local[begin[t] + i] = i
        for p in range(border_start[t, 0], border_start[t, 1]):
            local[border[p]] = own + p - border_start[t, 0]
        for position in range(begin[t], end[t]):
            column = unknown[position]
            for p in range(indptr[column], indptr[column + 1]):
                r = place[indices[p]]
                if r >= position:
                    front[local[r], local[position]] += data[p]
        for child in (right[t], left[t]):
            if child < 0:
                continue
            first, stop = border_start[child, 0], border_start[child, 1]
            width = stop - first
            top -= width * width
            update = stack[top : top + width * width].reshape(width, width)
            for i in range(width):
                a = local[border[first + i]]
                for j in range(i + 1):
                    front[a, local[border[first + j]]] += update[i, j]
        replaced += _eliminate(front, size, own, rows, tiny)
        kept = factor[factor_start[t] : factor_start[t] + size * own].reshape(size, own)
        for i in range(size):
            for j in range(min(own, i + 1)):
                kept[i, j] = front[i, j]
        width = size - own
        update = stack[top : top + width * width].reshape(width, width)
        for i in range(width):
            for j in range(i + 1):
                update[i, j] = front[own + i, own + j]
        top += width * width
    return replaced


@compiled
def _substitute(begin, end, order, border_start, border, factor_start, factor, x):
    """Solves L D Lᵀ x = b in place, x in the order of elimination."""
    parts = len(order)
    for q in range(parts):
        t = order[q]
        own, a = end[t] - begin[t], begin[t]
        size = own + border_start[t, 1] - border_start[t, 0]
        kept = factor[factor_start[t] : factor_start[t] + size * own].reshape(size, own)
        for i in range(own):
            s = x[a + i]
            for j in range(i):
                s -= kept[i, j] * x[a + j]
            x[a + i] = s
        for i in range(own, size):
            s = 0.0
            for j in range(own):
                s += kept[i, j] * x[a + j]
            x[border[border_start[t, 0] + i - own]] -= s
        for i in range(own):
            x[a + i] /= kept[i, i]
    for q in range(parts - 1, -1, -1):
        t = order[q]
        own, a = end[t] - begin[t], begin[t]
        size = own + border_start[t, 1] - border_start[t, 0]
        kept = factor[factor_start[t] : factor_start[t] + size * own].reshape(size, own)
        for i in range(own, size):
            value = x[border[border_start[t, 0] + i - own]]
            for j in range(own):
                x[a + j] -= kept[i, j] * value
        for i in range(own - 1, -1, -1):
            value = x[a + i]
            for j in range(i):
                x[a + j] -= kept[i, j] * value


class Elimination:
    """Order of elimination and fronts of a pattern: 2 unknowns for each of the first `vertices` nodes, 1 for the rest.

    `places` (n, 2): coordinates of the nodes; `last` (n,): nodes to be eliminated with the root.
    """

    def __init__(self, matrix: csc_matrix, vertices: int, places: Floats, last: Integers) -> None:
        nodes = len(places)
        starts, neighbours = np.empty(nodes + 1, dtype=np.int64), np.empty(matrix.nnz, dtype=np.int64)
        _node_graph(matrix.indptr, matrix.indices, vertices, nodes, starts, neighbours)
        perm = np.empty(nodes, dtype=np.int64)
        begin, end = np.empty(2 * nodes + 2, dtype=np.int64), np.empty(2 * nodes + 2, dtype=np.int64)
        left, right = np.empty_like(begin), np.empty_like(begin)
        parts = dissect(places, starts, neighbours, last, perm, begin, end, left, right)
        begin, end, self.left, self.right = begin[:parts], end[:parts], left[:parts], right[:parts]
        self.order = np.lexsort((-np.arange(parts), end))
        width = np.where(perm < vertices, 2, 1)
        offset = np.concatenate([[0], np.cumsum(width)])
        self.begin, self.end = offset[begin], offset[end]
        first = np.where(perm < vertices, 2 * perm, perm + vertices)
        self.unknown = np.repeat(first, width) + (np.arange(offset[-1]) - np.repeat(offset[:-1], width))
        self.place = np.empty_like(self.unknown)
        self.place[self.unknown] = np.arange(len(self.unknown))
        self.border_start = np.zeros((parts, 2), dtype=np.int64)
        grow = np.zeros(parts, dtype=np.int64)
        room = 8 * len(self.unknown)
        while True:
            self.border = np.empty(room, dtype=np.int64)
            total, self.largest, self.stack = _symbolic(
                matrix.indptr, matrix.indices, self.place, self.unknown, self.begin, self.end, self.order,
                self.left, self.right, self.border_start, self.border, grow,
            )  # fmt: skip
            if total >= 0:
                break
            room *= 2
        self.factor_start = np.concatenate([[0], np.cumsum(grow)[:-1]])
        self.factor_size = int(grow.sum())

    def factorize(self, matrix: csc_matrix) -> "Factor":
        """Factors of a matrix of this pattern."""
        factor = np.empty(self.factor_size)
        _factorize(
            matrix.indptr, matrix.indices, matrix.data, self.place, self.unknown, self.begin, self.end, self.order,
            self.left, self.right, self.border_start, self.border, self.factor_start, factor,
            self.largest, np.empty(self.stack + 1), 1e-14 * float(np.max(np.abs(matrix.data))),
        )  # fmt: skip
        return Factor(self, factor)


class Factor:
    """L, D of one matrix."""

    def __init__(self, elimination: Elimination, values: Floats) -> None:
        self.elimination, self.values = elimination, values

    def solve(self, right: Floats) -> Floats:
        e = self.elimination
        x = right[e.unknown]
        _substitute(e.begin, e.end, e.order, e.border_start, e.border, e.factor_start, self.values, x)
        solution = np.empty_like(x)
        solution[e.unknown] = x
        return solution
