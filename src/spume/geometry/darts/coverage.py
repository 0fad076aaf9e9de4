"""What spheres of radius α around points cover of a box: the corner (x, y, z), the width w, in 2D z = 0.

Points are arrays (3, count). Boxes are split four times along each axis, two levels of a tree of halves at once: that
the farthest corner from a point separates by axis makes testing all 4^d parts against a point one short loop.
"""

import numpy as np

from spume.numerics.jit import compiled


@compiled(inline="always")
def keep_if_near(alpha, x, y, z, points, count):
    """Append a point to `points` when its sphere touches the unit cube; returns the new count."""
    dx, dy, dz = max(-x, 0.0, x - 1.0), max(-y, 0.0, y - 1.0), max(-z, 0.0, z - 1.0)
    points[0, count], points[1, count], points[2, count] = x, y, z
    return count + (dx * dx + dy * dy + dz * dz < alpha * alpha)


@compiled
def is_covered(points, count, alpha, x, y, z):
    for q in range(count):
        dx, dy, dz = points[0, q] - x, points[1, q] - y, points[2, q] - z
        if dx * dx + dy * dy + dz * dz < alpha * alpha:
            return True
    return False


@compiled
def keep_near(D, parent, count, alpha, x, y, z, w, near):
    """Points of `parent` whose spheres touch a box, to `near`; returns how many, or −1 when one covers all of it."""
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
def is_covered_together(D, points, count, alpha, x, y, z, w):
    """Whether the spheres together certainly cover a box that none covers alone.

    With c the middle of the box and d_q = q − c, for any weights λ_q ≥ 0 of sum one and any place y of the box

        min_q |y − q|² ≤ Σ λ_q |y − q|² = |y − c|² − 2 (y − c)·Σ λ_q d_q + Σ λ_q |d_q|²
                       ≤ D w²/4 + w |Σ λ_q d_q|₁ + Σ λ_q |d_q|².

    The nearest points of the corners, with equal weights, make the middle term small. The bound misses by the square of
    the box's width, where a test of spheres one by one misses by the width.
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
    """Distance along an axis from a point, `outside` by so much, to the far side of the nearest quarter of a box."""
    return outside + 0.25 * w if outside > 0.0 else 0.125 * w


@compiled
def uncovered_in_space(points, count, alpha, x, y, z, w):
    """The parts of a box, of 4³, that no single sphere covers: bit 16 i + 4 j + k stands for part (i, j, k)."""
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
def uncovered_in_plane(points, count, alpha, x, y, w):
    """The parts of a box, of 4², that no single disc covers: bit 4 i + j stands for part (i, j)."""
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
def lowest_bit(mask):
    """Index of the lowest bit set: the top six bits of the de Bruijn number differ for every shift of it."""
    lowest = mask & (~mask + np.uint64(1))
    return _BIT_OF[(lowest * np.uint64(_DE_BRUIJN)) >> np.uint64(58)]
