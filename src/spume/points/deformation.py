"""Deformation of the points in a step, by the least-squares fit of [Gerszewski09] eqs. (6) and (7).

With the positions x at the start of the step and y at its end, u = y − x and weights w, the best affine fit to the
motion of the neighbours is

    f = (Σ w² y_ij x_ijᵀ) A⁻¹ = I + (Σ w² u_ij x_ijᵀ) A⁻¹,    A = Σ w² x_ij x_ijᵀ

The second form loses no digits in small steps. A point whose fit is unreliable is not deformed (section 4 of the
paper); the reasons are counted. Nor is one that would be crushed: the stress of eq. (9) decreases below a stretch of
one half, so that a single point among intact neighbours can collapse.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.kinematics import load, store
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES, gather_rows, sum_each, where_less, zero_lanes
from spume.numerics.spectral3 import eigenvalues_sym
from spume.numerics.tensor3 import det, det_sym, inverse_sym
from spume.points.kernels import squared_weights
from spume.points.neighbours import NeighbourLists

FITTED, TOO_FEW, ILL_CONDITIONED, INVERTED, CRUSHED = range(5)
"""Outcome of the fit of a point: used, too few neighbours, A ill-conditioned, det f not positive, volume too small."""
OUTCOMES = ("fitted", "too_few_neighbours", "ill_conditioned", "inverted", "crushed")
POINTS_PER_TASK = 256
"""Number of points per parallel task, which share its memory."""
FAR = 1e60
"""Coordinate [m] of the row that pads neighbour lists: beyond every radius, with a finite square."""


@compiled
def well_conditioned(s, condition):
    """Whether the positive semidefinite tensor s has a condition number below `condition`."""
    trace = s[0] + s[1] + s[2]
    # the product of the two larger eigenvalues is at most (trace/2)², so the smallest is at least 4 det/trace²; the
    # largest is at most the trace
    if 4.0 * det_sym(s) * condition > trace * trace * trace:
        return True
    high, _, low = eigenvalues_sym(s)
    return low * condition > high


@compiled(parallel=True)
def _pack(x, y, rows):
    """Write a row with position and displacement for each point, and a last row beyond every radius."""
    n, d = x.shape
    for p in prange(n):
        for q in range(d):
            rows[p, q], rows[p, 3 + q] = x[p, q], y[p, q] - x[p, q]
    for q in range(d):
        rows[rows.shape[0] - 1, q] = FAR


def fit_deformation(
    lists: NeighbourLists,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    least: int,
    condition: float,
    rows: NDArray[np.float64],
    deformation: NDArray[np.float64],
    number: NDArray[np.int32],
    outcome: NDArray[np.int64],
) -> None:
    """Compute f, the number of neighbours within h, and the outcome for each point. Points without a fit get f = I.

    x, y: positions at the start and the end of the step [m], shape (n, d); least: smallest number of neighbours;
    condition: largest condition number of A; rows: work space with a row of 8 for each point and ghost, and one more,
    initially zero.
    """
    _pack(x, y, rows)
    lists.ghosts.fill(rows)
    _fit(
        lists.start, lists.neighbour, rows, x.shape[1], lists.radius, least, condition, deformation,
        number, outcome,
    )  # fmt: skip


@compiled(parallel=True)
def _fit(start, neighbour, rows, dimension, h, least, condition, deformation, number, outcome):
    inverse_square = 1.0 / (h * h)
    n = outcome.size
    for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
        for i in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1))):
            x0, x1, x2, u0, u1, u2 = rows[i, 0], rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4], rows[i, 5]
            sxx = syy = szz = sxy = sxz = syz = zero_lanes()
            t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = t8 = zero_lanes()
            within = zero_lanes()
            for group in range(start[i], start[i + 1], LANES):
                x, y, z, ux, uy, uz, _, _ = gather_rows(rows, 0, neighbour, group)
                dx, dy, dz = x - x0, y - x1, z - x2
                w = squared_weights(dx * dx + dy * dy + dz * dz, inverse_square)
                within += where_less(0.0, w, 1.0, 0.0)
                vx, vy, vz = (ux - u0) * w, (uy - u1) * w, (uz - u2) * w
                wx, wy, wz = w * dx, w * dy, w * dz
                sxx += wx * dx
                syy += wy * dy
                szz += wz * dz
                sxy += wx * dy
                sxz += wx * dz
                syz += wy * dz
                t0 += vx * dx
                t1 += vx * dy
                t2 += vx * dz
                t3 += vy * dx
                t4 += vy * dy
                t5 += vy * dz
                t6 += vz * dx
                t7 += vz * dy
                t8 += vz * dz
            axx, ayy, azz, axy, axz, ayz, near, b8 = sum_each(sxx, syy, szz, sxy, sxz, syz, within, t8)
            b0, b1, b2, b3, b4, b5, b6, b7 = sum_each(t0, t1, t2, t3, t4, t5, t6, t7)
            number[i] = near
            f = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
            result = FITTED
            if dimension == 2:
                azz = 0.5 * (axx + ayy)  # makes the third axis neutral for f and for the condition number
            A = (axx, ayy, azz, axy, axz, ayz)
            if near < least:
                result = TOO_FEW
            elif not well_conditioned(A, condition):
                result = ILL_CONDITIONED
            else:
                cxx, cyy, czz, cxy, cxz, cyz = inverse_sym(A)
                fitted = (
                    1.0 + b0 * cxx + b1 * cxy + b2 * cxz, b0 * cxy + b1 * cyy + b2 * cyz,
                    b0 * cxz + b1 * cyz + b2 * czz,
                    b3 * cxx + b4 * cxy + b5 * cxz, 1.0 + b3 * cxy + b4 * cyy + b5 * cyz,
                    b3 * cxz + b4 * cyz + b5 * czz,
                    b6 * cxx + b7 * cxy + b8 * cxz, b6 * cxy + b7 * cyy + b8 * cyz,
                    1.0 + b6 * cxz + b7 * cyz + b8 * czz,
                )  # fmt: skip
                # f F has positive stretches, as F has, exactly if det f is positive
                if det(fitted) > 0.0:
                    f = fitted
                else:
                    result = INVERTED
            outcome[i] = result
            store(deformation, i, f)


@compiled(parallel=True)
def keep_volume(J, least, deformation, outcome):
    """Undo the deformation f of points that it would compress to less than `least` times their rest volume.

    J: volume ratio before the step."""
    for i in prange(J.size):
        f = load(deformation, i)
        volume = det(f)
        if volume < 1.0 and J[i] * volume < least:
            store(deformation, i, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
            outcome[i] = CRUSHED
