"""What no sphere covers of a bin: a tree of cells, and darts thrown into those that are left. [Yue15] algorithm 3

A cell is done when one sphere of radius α covers all of it, or when the interpolated distance is above −depth at all
its corners. Every other cell is hit by a dart at random and split. Cells are split four times along each axis, two
levels of the paper's tree at once: that the farthest corner from a point separates by axis makes testing all 4^d parts
against a point one short loop. A dart lands in each of the 2^d parts in between, as in the paper.

The search ends at parts of 4^−LEVELS: what is then still undecided lies within 1e-8 of a sphere.
"""

import numpy as np

from spume.numerics.jit import compiled
from spume.numerics.random import mix, uniform

LEVELS = 13
"""Depth of the tree: the smallest cells are 4^−13 = 1.5e-8 wide [r]."""


@compiled(inline="always")
def interpolate(D, corner, x, y, z):
    """The distance at (x, y, z) in the bin from its corners, z fastest (the plane has only those at z = 0)."""
    if D == 3:
        c00 = corner[0] + z * (corner[1] - corner[0])
        c01 = corner[2] + z * (corner[3] - corner[2])
        c10 = corner[4] + z * (corner[5] - corner[4])
        c11 = corner[6] + z * (corner[7] - corner[6])
    else:
        c00, c01, c10, c11 = corner[0], corner[2], corner[4], corner[6]
    c0 = c00 + y * (c01 - c00)
    c1 = c10 + y * (c11 - c10)
    return c0 + x * (c1 - c0)


@compiled
def _is_deep_somewhere(D, corner, depth, x, y, z, w):
    """Whether the distance falls below −depth in a cell: an interpolant is smallest at a corner."""
    for c in range(8 if D == 3 else 4):
        if D == 3:
            d = interpolate(D, corner, x + w * (c >> 2), y + w * (c >> 1 & 1), z + w * (c & 1))
        else:
            d = interpolate(D, corner, x + w * (c >> 1), y + w * (c & 1), z)
        if d < -depth:
            return True
    return False


@compiled
def _is_covered(points, count, alpha, x, y, z):
    for q in range(count):
        dx, dy, dz = points[0, q] - x, points[1, q] - y, points[2, q] - z
        if dx * dx + dy * dy + dz * dz < alpha * alpha:
            return True
    return False


@compiled
def _keep_near(D, parent, count, alpha, x, y, z, w, near):
    """Points of `parent` whose spheres touch a cell, to `near`; returns how many, or −1 when one covers all of it."""
    half = 0.5 * w
    cx, cy, cz = x + half, y + half, z + half if D == 3 else z
    kept = 0
    least = np.inf
    for q in range(count):
        px, py, pz = parent[0, q], parent[1, q], parent[2, q]
        dx, dy = abs(px - cx), abs(py - cy)
        far = (dx + half) * (dx + half) + (dy + half) * (dy + half)
        nx, ny = max(dx - half, 0.0), max(dy - half, 0.0)
        close = nx * nx + ny * ny
        if D == 3:
            dz = abs(pz - cz)
            nz = max(dz - half, 0.0)
            far += (dz + half) * (dz + half)
            close += nz * nz
        least = min(least, far)
        near[0, kept], near[1, kept], near[2, kept] = px, py, pz
        kept += close < alpha * alpha
    return kept if least > alpha * alpha else -1


@compiled
def _is_covered_together(D, points, count, alpha, x, y, z, w):
    """Whether the spheres together certainly cover a cell that none covers alone.

    With c the middle of the cell and d_q = q − c, for any weights λ_q ≥ 0 of sum one and any place y of the cell

        min_q |y − q|² ≤ Σ λ_q |y − q|² = |y − c|² − 2 (y − c)·Σ λ_q d_q + Σ λ_q |d_q|²
                       ≤ D w²/4 + w |Σ λ_q d_q|₁ + Σ λ_q |d_q|².

    The nearest points of the corners, with equal weights, make the middle term small. The bound misses by the square of
    the cell's width, where a test of spheres one by one misses by the width.
    """
    if count == 0:
        return False
    corners = 1 << D
    half = 0.5 * w
    cx, cy, cz = x + half, y + half, z + half if D == 3 else z
    sx = sy = sz = ss = 0.0
    for corner in range(corners):
        ex = half if corner & 1 else -half
        ey = half if corner & 2 else -half
        ez = (half if corner & 4 else -half) if D == 3 else 0.0
        least = np.inf
        best = 0
        for q in range(count):
            dx, dy, dz = points[0, q] - cx - ex, points[1, q] - cy - ey, points[2, q] - cz - ez
            s = dx * dx + dy * dy + dz * dz
            if s < least:
                least = s
                best = q
        dx, dy, dz = points[0, best] - cx, points[1, best] - cy, points[2, best] - cz
        sx += dx
        sy += dy
        sz += dz
        ss += dx * dx + dy * dy + dz * dz
    spread = w * (abs(sx) + abs(sy) + abs(sz)) + ss
    return spread / corners + 0.25 * D * w * w <= alpha * alpha


@compiled(inline="always")
def _least_far(outside, w):
    """Distance along an axis from a point, `outside` by so much, to the far side of the nearest quarter of a cell."""
    return outside + 0.25 * w if outside > 0.0 else 0.125 * w


@compiled
def _split_in_space(points, count, alpha, x, y, z, w):
    """The parts of a cell, of 4³, that no single sphere covers: bit 16 i + 4 j + k stands for part (i, j, k)."""
    h = 0.125 * w
    covered = np.uint64(0)
    for q in range(count):
        x0, y0, z0 = points[0, q] - x, points[1, q] - y, points[2, q] - z
        nx = _least_far(max(-x0, x0 - w), w)
        ny = _least_far(max(-y0, y0 - w), w)
        nz = _least_far(max(-z0, z0 - w), w)
        if nx * nx + ny * ny + nz * nz > alpha * alpha:
            continue
        z1, z2, z3 = abs(z0 - 3.0 * h) + h, abs(z0 - 5.0 * h) + h, abs(z0 - 7.0 * h) + h
        z0 = abs(z0 - h) + h
        z0, z1, z2, z3 = z0 * z0, z1 * z1, z2 * z2, z3 * z3
        for i in range(4):
            dx = abs(x0 - (2 * i + 1) * h) + h
            for j in range(4):
                dy = abs(y0 - (2 * j + 1) * h) + h
                s = alpha * alpha - dx * dx - dy * dy
                row = (z0 <= s) + 2 * (z1 <= s) + 4 * (z2 <= s) + 8 * (z3 <= s)
                covered |= np.uint64(row) << np.uint64(16 * i + 4 * j)
    return ~covered


@compiled
def _split_in_plane(points, count, alpha, x, y, w):
    """The parts of a cell, of 4², that no single disc covers: bit 4 i + j stands for part (i, j)."""
    h = 0.125 * w
    covered = np.uint64(0)
    for q in range(count):
        x0, y0 = points[0, q] - x, points[1, q] - y
        y1, y2, y3 = abs(y0 - 3.0 * h) + h, abs(y0 - 5.0 * h) + h, abs(y0 - 7.0 * h) + h
        y0 = abs(y0 - h) + h
        y0, y1, y2, y3 = y0 * y0, y1 * y1, y2 * y2, y3 * y3
        for i in range(4):
            dx = abs(x0 - (2 * i + 1) * h) + h
            s = alpha * alpha - dx * dx
            row = (y0 <= s) + 2 * (y1 <= s) + 4 * (y2 <= s) + 8 * (y3 <= s)
            covered |= np.uint64(row) << np.uint64(4 * i)
    return ~covered & np.uint64(0xFFFF)


_DE_BRUIJN = 0x03F79D71B4CB0A89
_BIT_OF = np.zeros(64, np.int64)
for _bit in range(64):
    _BIT_OF[(_DE_BRUIJN << _bit & 0xFFFFFFFFFFFFFFFF) >> 58] = _bit


@compiled(inline="always")
def _lowest_bit(mask):
    """Index of the lowest bit set: the top six bits of the de Bruijn number differ for every shift of it."""
    lowest = mask & (~mask + np.uint64(1))
    return _BIT_OF[(lowest * np.uint64(_DE_BRUIJN)) >> np.uint64(58)]


@compiled(inline="always")
def _throw(D, state, dart, x, y, z, w):
    """Where dart number `dart` hits a cell: the first anywhere, the others each in one of the 2^d parts."""
    if dart > 0:
        w = 0.5 * w
        part = dart - 1
        if D == 3:
            x, y, z = x + w * (part >> 2), y + w * (part >> 1 & 1), z + w * (part & 1)
        else:
            x, y = x + w * (part >> 1), y + w * (part & 1)
    a = mix(state, 100 + dart)
    b = mix(a, 1)
    c = mix(b, 2)
    return x + w * uniform(a), y + w * uniform(b), z + w * uniform(c) if D == 3 else z


@compiled
def make_scratch(capacity):
    """Room for a search among at most `capacity` points, darts included, per level of the tree:
    the points near the cell and how many they are; its corner; the parts of it left to look at; its random state.
    """
    return (
        np.empty((LEVELS + 1, 3, capacity)),
        np.empty(LEVELS + 1, np.int64),
        np.zeros((LEVELS + 1, 3)),
        np.empty(LEVELS + 1, np.uint64),
        np.empty(LEVELS + 1, np.uint64),
    )


@compiled
def _hit_cell(D, level, w, corner, depth, alpha, darts, accepted, limit, scratch, found):
    """Throw darts into a cell; those that lie deep and outside all spheres are accepted and become spheres."""
    near, counts, origin, _, states = scratch
    for dart in range(darts):
        x, y, z = _throw(D, states[level], dart, origin[level, 0], origin[level, 1], origin[level, 2], w)
        if _is_covered(near[level], counts[level], alpha, x, y, z) or interpolate(D, corner, x, y, z) >= -depth:
            continue
        found[accepted, 0], found[accepted, 1], found[accepted, 2] = x, y, z
        accepted += 1
        for l in range(level + 1):
            q = counts[l]
            near[l, 0, q], near[l, 1, q], near[l, 2, q] = x, y, z
            counts[l] += 1
        if accepted == limit:
            break
    return accepted


@compiled
def search_bin(D, count, corner, depth, alpha, state, first, last, darts, limit, scratch, found):
    """Throw darts into what is left uncovered and deep of the bin [0, 1]^d.

    count: how many points stand in the scratch's level 0; corner: distances at the bin's corners; state: random state
    of the bin. Cells of the levels `first` to `last` get `darts` each, until `limit` have been accepted.
    Returns how many have been, their places in `found`, and whether something may be left below level `last`.
    """
    near, counts, origin, left, states = scratch
    whole = True
    for c in range(8):
        whole = whole and corner[c] < -depth
    counts[0], states[0] = count, state
    # Not literals: the compiler would make a second version of `_hit_cell` for a level that is the constant 0.
    accepted, level = np.int64(0), np.int64(0)
    unfinished = False
    w = 1.0
    entering = True
    while level >= 0:
        x, y, z = origin[level, 0], origin[level, 1], origin[level, 2]
        if entering:
            if level >= first:
                accepted = _hit_cell(D, level, w, corner, depth, alpha, darts, accepted, limit, scratch, found)
                if accepted == limit:
                    return accepted, True
            if level == last:
                unfinished = True
                left[level] = 0
            elif D == 3:
                left[level] = _split_in_space(near[level], counts[level], alpha, x, y, z, w)
            else:
                left[level] = _split_in_plane(near[level], counts[level], alpha, x, y, w)
        entering = False
        if left[level] == 0:
            level -= 1
            w *= 4.0
            continue
        part = _lowest_bit(left[level])
        left[level] &= left[level] - np.uint64(1)
        v = 0.25 * w
        if D == 3:
            x, y, z = x + v * (part >> 4), y + v * (part >> 2 & 3), z + v * (part & 3)
        else:
            x, y = x + v * (part >> 2), y + v * (part & 3)
        if not whole and not _is_deep_somewhere(D, corner, depth, x, y, z, v):
            continue
        kept = _keep_near(D, near[level], counts[level], alpha, x, y, z, v, near[level + 1])
        if kept >= 0 and not _is_covered_together(D, near[level + 1], kept, alpha, x, y, z, v):
            states[level + 1] = mix(states[level], part)
            level += 1
            w = v
            origin[level, 0], origin[level, 1], origin[level, 2], counts[level] = x, y, z, kept
            entering = True
    return accepted, unfinished
