"""Deformation of the points in a step, by the least-squares fit of [Gerszewski09] eqs. (6) and (7).

With x the positions at the start of the step, y those at its end and u = y − x, the affine map that fits the neighbours
best is, for weights w,

    f = (Σ w² y_ij x_ijᵀ) A⁻¹ = I + (Σ w² u_ij x_ijᵀ) A⁻¹,    A = Σ w² x_ij x_ijᵀ

The second form loses no digits in small steps. A point whose fit cannot be trusted is not deformed (section 4 of the
paper); the reasons are counted.
"""

from typing import Any

from numba import prange

from spume.materials.kinematics import store
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigenvalues_sym
from spume.numerics.tensor3 import det, inverse_sym
from spume.points.kernels import squared_weight

FITTED, TOO_FEW, ILL_CONDITIONED, INVERTED = range(4)
"""What became of the fit of a point: used, fewer neighbours than demanded, A ill-conditioned, det f not positive."""
OUTCOMES = ("fitted", "too_few_neighbours", "ill_conditioned", "inverted")


def _make_fit(D: int) -> Any:
    @compiled(parallel=True)
    def fit(start, neighbour, x, y, h, least, condition, deformation, number, outcome):
        """Write f, the number of neighbours within h, and the outcome of each point. A point that is not fitted gets
        f = I.

        x, y: positions at the start and the end of the step [m]; h: radius of the weights [m]; least: fewest
        neighbours; condition: largest condition number of A.
        """
        inverse_square = 1.0 / (h * h)
        for i in prange(x.shape[0]):
            axx = ayy = azz = axy = axz = ayz = 0.0
            b0 = b1 = b2 = b3 = b4 = b5 = b6 = b7 = b8 = 0.0
            near = 0
            for entry in range(start[i], start[i + 1]):
                j = neighbour[entry]
                dx, dy = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2] if D == 3 else 0.0
                w = squared_weight(dx * dx + dy * dy + dz * dz, inverse_square)
                if w > 0.0:
                    near += 1
                    ux, uy = (y[j, 0] - y[i, 0] - dx) * w, (y[j, 1] - y[i, 1] - dy) * w
                    axx += w * dx * dx
                    ayy += w * dy * dy
                    axy += w * dx * dy
                    b0 += ux * dx
                    b1 += ux * dy
                    b3 += uy * dx
                    b4 += uy * dy
                    if D == 3:
                        uz = (y[j, 2] - y[i, 2] - dz) * w
                        azz += w * dz * dz
                        axz += w * dx * dz
                        ayz += w * dy * dz
                        b2 += ux * dz
                        b5 += uy * dz
                        b6 += uz * dx
                        b7 += uz * dy
                        b8 += uz * dz
            number[i] = near
            f = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
            result = FITTED
            if D == 2:
                azz = 0.5 * (axx + ayy)  # the third axis neither deforms nor counts in the condition number
            if near < least:
                result = TOO_FEW
            else:
                high, _, low = eigenvalues_sym((axx, ayy, azz, axy, axz, ayz))
                if not low * condition > high:
                    result = ILL_CONDITIONED
                else:
                    cxx, cyy, czz, cxy, cxz, cyz = inverse_sym((axx, ayy, azz, axy, axz, ayz))
                    g = (
                        1.0 + b0 * cxx + b1 * cxy + b2 * cxz, b0 * cxy + b1 * cyy + b2 * cyz,
                        b0 * cxz + b1 * cyz + b2 * czz,
                        b3 * cxx + b4 * cxy + b5 * cxz, 1.0 + b3 * cxy + b4 * cyy + b5 * cyz,
                        b3 * cxz + b4 * cyz + b5 * czz,
                        b6 * cxx + b7 * cxy + b8 * cxz, b6 * cxy + b7 * cyy + b8 * cyz,
                        1.0 + b6 * cxz + b7 * cyz + b8 * czz,
                    )  # fmt: skip
                    # the stretches of f F, F having positive ones, are positive exactly when det f is
                    if det(g) > 0.0:
                        f = g
                    else:
                        result = INVERTED
            outcome[i] = result
            store(deformation, i, f)

    return fit


fit_deformation = {2: _make_fit(2), 3: _make_fit(3)}
"""By dimension."""
