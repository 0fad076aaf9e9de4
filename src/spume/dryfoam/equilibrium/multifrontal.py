"""Sparse symmetric factorisation L D Lᵀ without pivoting, with dense fronts along the tree of a nested dissection.

The Newton system of a foam is symmetric and quasi-definite near equilibrium (positive in the vertices, negative in the
pressures), so that every elimination order works; the caller still checks the residual.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix

from spume.dryfoam.equilibrium.dissection import dissect
from spume.dryfoam.equilibrium.pattern import Pattern
from spume.dryfoam.network.half_edges import Floats, Integers, Mask
from spume.numerics.jit import compiled

PANEL = 64
"""Number of columns eliminated together."""
COLUMNS = 48
"""Number of columns updated together: 48 rows of a panel fill most of the level-1 cache."""

KEPT = 2_000_000
"""Length of an array up to which it is kept even if much less is needed."""


class Tree(NamedTuple):
    """Elimination order of n unknowns and the fronts along the tree of a dissection with P parts, as kernels take
    them."""

    place: Integers
    """Position of each unknown in the elimination order, shape (n,)."""
    unknown: Integers
    """Unknown at each position, shape (n,)."""
    begin: Integers
    """First position of each part, shape (P,)."""
    end: Integers
    order: Integers
    """Parts in the order of their elimination, children first, shape (P,)."""
    left: Integers
    """One half of each part, -1 for none, shape (P,)."""
    right: Integers
    border_start: Integers
    """First and last entry of each part in `border`, shape (P, 2)."""
    border: Integers
    """Positions of the later unknowns that are coupled to each part, sorted."""
    factor_start: Integers
    """Index of the first entry of each part in the factor, shape (P,)."""


@compiled
def _symbolic(indptr, indices, tree, grow):
    """Find the border of each front: the later unknowns coupled to it, sorted. Returns its total size, or -1 if
    `border` is too short, with the size of the largest front and of the stack of updates."""
    place, unknown, begin, end, order, left, right, border_start, border, _ = tree
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
def _update(front, scaled, p, stop, size):
    """Subtract L (L D)ᵀ of the panel's columns from the rest of the lower front, in tiles of four rows by three columns
    whose sums stay in registers; blocks of columns stay in the level-1 cache."""
    width = stop - p
    for begin in range(stop, size, COLUMNS):
        end = min(begin + COLUMNS, size)
        i = begin
        while i + 3 < size:
            a0, a1 = front[i, p:stop], front[i + 1, p:stop]
            a2, a3 = front[i + 2, p:stop], front[i + 3, p:stop]
            last = min(end, i + 4)
            j = begin
            while j + 2 < last:
                b0, b1, b2 = scaled[j, :width], scaled[j + 1, :width], scaled[j + 2, :width]
                s00, s01, s02, s10, s11, s12 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                s20, s21, s22, s30, s31, s32 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
                for k in range(width):
                    x0, x1, x2 = b0[k], b1[k], b2[k]
                    s00 += a0[k] * x0
                    s01 += a0[k] * x1
                    s02 += a0[k] * x2
                    s10 += a1[k] * x0
                    s11 += a1[k] * x1
                    s12 += a1[k] * x2
                    s20 += a2[k] * x0
                    s21 += a2[k] * x1
                    s22 += a2[k] * x2
                    s30 += a3[k] * x0
                    s31 += a3[k] * x1
                    s32 += a3[k] * x2
                # entries above the diagonal are written, too, but never read
                front[i, j] -= s00
                front[i, j + 1] -= s01
                front[i, j + 2] -= s02
                front[i + 1, j] -= s10
                front[i + 1, j + 1] -= s11
                front[i + 1, j + 2] -= s12
                front[i + 2, j] -= s20
                front[i + 2, j + 1] -= s21
                front[i + 2, j + 2] -= s22
                front[i + 3, j] -= s30
                front[i + 3, j + 1] -= s31
                front[i + 3, j + 2] -= s32
                j += 3
            while j < last:
                b0 = scaled[j, :width]
                s00, s10, s20, s30 = 0.0, 0.0, 0.0, 0.0
                for k in range(width):
                    x0 = b0[k]
                    s00 += a0[k] * x0
                    s10 += a1[k] * x0
                    s20 += a2[k] * x0
                    s30 += a3[k] * x0
                front[i, j] -= s00
                front[i + 1, j] -= s10
                front[i + 2, j] -= s20
                front[i + 3, j] -= s30
                j += 1
            i += 4
        while i < size:
            a0 = front[i, p:stop]
            for j in range(begin, min(end, i + 1)):
                b0 = scaled[j, :width]
                s00 = 0.0
                for k in range(width):
                    s00 += a0[k] * b0[k]
                front[i, j] -= s00
            i += 1


@compiled
def _panel(front, scaled, p, stop, size, tiny):
    """Compute columns p to stop of L, with D on the diagonal, and L D in `scaled`. Smaller pivots are set to `tiny`."""
    inverse = np.empty(PANEL)
    for i in range(p, stop):
        w = scaled[i]
        for c in range(p, i + 1):
            l = front[c, p:c]
            s = 0.0
            for k in range(c - p):
                s += w[k] * l[k]
            w[c - p] = front[i, c] - s
            if c < i:
                front[i, c] = w[c - p] * inverse[c - p]
        d = scaled[i, i - p]
        if abs(d) < tiny:
            d = math.copysign(tiny, d)
        front[i, i] = d
        inverse[i - p] = 1.0 / d
    i = stop
    while i < size:  # four rows at a time; the last four may overlap the previous ones, with the same result
        i0 = max(min(i, size - 4), stop)
        i1, i2, i3 = min(i0 + 1, size - 1), min(i0 + 2, size - 1), min(i0 + 3, size - 1)
        w0, w1, w2, w3 = scaled[i0], scaled[i1], scaled[i2], scaled[i3]
        for c in range(stop - p):
            l = front[p + c, p : p + c]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for k in range(c):
                s0 += w0[k] * l[k]
                s1 += w1[k] * l[k]
                s2 += w2[k] * l[k]
                s3 += w3[k] * l[k]
            w0[c] = front[i0, p + c] - s0
            w1[c] = front[i1, p + c] - s1
            w2[c] = front[i2, p + c] - s2
            w3[c] = front[i3, p + c] - s3
        i = i0 + 4
    for i in range(stop, size):
        for c in range(stop - p):
            front[i, p + c] = scaled[i, c] * inverse[c]


@compiled
def _eliminate(front, size, own, scaled, tiny):
    """Eliminate the first `own` unknowns of the dense lower front in place."""
    for p in range(0, own, PANEL):
        stop = min(p + PANEL, own)
        _panel(front, scaled, p, stop, size, tiny)
        _update(front, scaled, p, stop, size)


@compiled
def _factorize(indptr, indices, data, tree, factor, stack, work, scaled, tiny):
    """Numerical factorisation into `factor`: for each part (own + border) rows by own columns, with D on the diagonal.
    stack, work and scaled are work space. Returns the number of negative pivots."""
    place, unknown, begin, end, order, left, right, border_start, border, factor_start = tree
    local = np.empty(len(place), dtype=np.int64)
    negative, top = 0, 0
    into = np.empty(len(scaled), dtype=np.int64)
    for q in range(len(order)):
        t = order[q]
        own = end[t] - begin[t]
        size = own + border_start[t, 1] - border_start[t, 0]
        front = work[: size * size].reshape(size, size)
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
                into[i] = local[border[first + i]]
            for i in range(width):
                row, added = front[into[i]], update[i]
                for j in range(i + 1):
                    row[into[j]] += added[j]
        _eliminate(front, size, own, scaled, tiny)
        for i in range(own):
            if front[i, i] < 0.0:
                negative += 1
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
    return negative


@compiled
def _substitute(tree, factor, x):
    """Solve L D Lᵀ x = b in place, with x in the elimination order."""
    _, _, begin, end, order, _, _, border_start, border, factor_start = tree
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
    """Elimination order and fronts of a pattern.

    `places` (n, 2): coordinates of its nodes; `last` (n,): nodes to be eliminated with the root.
    """

    def __init__(self, pattern: Pattern, places: Floats, last: Mask) -> None:
        nodes, vertices = pattern.nodes, pattern.vertices
        weight = np.where(np.arange(nodes) < vertices, 2, 1)
        perm, along_y = (np.argsort(places[:, axis], kind="stable") for axis in range(2))
        begin, end, left, right = (np.empty(2 * nodes + 2, dtype=np.int64) for _ in range(4))
        parts = dissect(places, weight, pattern.columns, last, perm, along_y, begin, end, left, right)
        begin, end = begin[:parts], end[:parts]
        width = weight[perm]
        offset = np.concatenate([[0], np.cumsum(width)])
        first = np.where(perm < vertices, 2 * perm, perm + vertices)
        unknown = np.repeat(first, width) + (np.arange(offset[-1]) - np.repeat(offset[:-1], width))
        place = np.empty_like(unknown)
        place[unknown] = np.arange(len(unknown))
        grow = np.zeros(parts, dtype=np.int64)
        tree = Tree(
            place, unknown, offset[begin], offset[end], np.lexsort((-np.arange(parts), end)), left[:parts],
            right[:parts], np.zeros((parts, 2), dtype=np.int64), np.empty(8 * len(unknown), dtype=np.int64), grow,
        )  # fmt: skip
        while True:
            total, self.largest, self.stack = _symbolic(pattern.columns.indptr, pattern.indices, tree, grow)
            if total >= 0:
                break
            tree = tree._replace(border=np.empty(2 * len(tree.border), dtype=np.int64))
        self.tree = tree._replace(factor_start=np.concatenate([[0], np.cumsum(grow)[:-1]]))
        self.factor_size = int(grow.sum())

    def factorize(self, matrix: csc_matrix, memory: "Memory | None" = None) -> "Factor":
        """Factors of a matrix of this pattern. They overwrite earlier factors in the same `memory`."""
        room = memory or Memory()
        factor = room.take("factor", self.factor_size)
        negative = _factorize(
            matrix.indptr, matrix.indices, matrix.data, self.tree, factor, room.take("stack", self.stack),
            room.take("work", self.largest**2), room.take("scaled", self.largest * PANEL).reshape(-1, PANEL),
            1e-14 * float(np.max(np.abs(matrix.data))),
        )  # fmt: skip
        return Factor(self, factor, int(negative))


class Memory:
    """Arrays for factors, reused between factorisations, because new memory pages from the operating system cost nearly
    as much time as the arithmetic."""

    def __init__(self) -> None:
        self.arrays: dict[str, Floats] = {}

    def take(self, name: str, size: int) -> Floats:
        """Return the array `name` with `size` numbers, not initialised."""
        kept = self.arrays.get(name)
        if kept is None or len(kept) < size or len(kept) > max(4 * size, KEPT):
            kept = self.arrays[name] = np.empty(size + size // 8)
        return kept[:size]


class Factor:
    """Factors L and D of a matrix. By Sylvester's law of inertia it has as many `negative` eigenvalues as D."""

    def __init__(self, elimination: Elimination, values: Floats, negative: int) -> None:
        self.elimination, self.values, self.negative = elimination, values, negative

    def solve(self, right: Floats) -> Floats:
        tree = self.elimination.tree
        x = right[tree.unknown]
        _substitute(tree, self.values, x)
        solution = np.empty_like(x)
        solution[tree.unknown] = x
        return solution
