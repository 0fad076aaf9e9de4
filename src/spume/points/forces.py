"""Forces between points.

Elastic forces, [Gerszewski09] eqs. (10) to (13). In terms of the metric b⁻¹ and the slope g(s) = −W'(s)/s of the elastic
kernel, s² = x_ijᵀ b_i⁻¹ x_ij, the average of f_ij and −f_ji that acts on point i is

    Σ_j (V_i v_j g_i(s) B_i + V_j v_i g_j(s) B_j) x_ij

with rest volumes V and v the volumes in the space of the metric. It changes sign with i and j, so momentum is conserved.
B is, for the Kirchhoff stress τ of the law,

    stress = "first-piola"   gradient = "plain"       τ b⁻¹           U P̂ Vᵀ ∇W, with P = τ Fe⁻ᵀ
    stress = "first-piola"   gradient = "corrected"   τ K⁻¹           K = Σ_j v_j g_i(s) x_ij x_ijᵀ
    stress = "printed"       gradient = "plain"       τ b^(−1/2)      U F̂ P̂ Vᵀ ∇W as in eq. (10)
    stress = "printed"       gradient = "corrected"   τ b^(1/2) K⁻¹

K is b for a dense cloud that fills the whole radius. At surfaces, and for a few dozen neighbours, it is not; dividing by
it instead makes the force of a uniformly stressed body that of the stress at every point, and the moment of the pair
forces of a point symmetric, so that angular momentum is conserved. Where K is ill-conditioned the plain form is used.

Further forces, each zero when its coefficient is:

    pressure   −V_i V_j (p_i + p_j) g x_ij, p = k max(0, n/n₀ − 1), n = Σ V W and n₀ its value in a cubic lattice
    viscosity  2 (d + 2) μ V_i V_j g (v_ij·x̂) x̂  [Monaghan05]
    damping    of what the velocities of neighbours differ by beyond their common affine motion: the fit does not see
               such motion, so no stress holds it. D (c/h) (1 − r²/h²) m_ij (x̂·(v_ij − ½ (L_i + L_j) x_ij)) x̂, m_ij the
               reduced mass, c the mean speed of waves

All but the elastic forces act along x_ij, and none acts on an affine motion but viscosity.
"""

import math
from typing import Any, Literal

from numba import prange

from spume.materials.kinematics import load_sym, store
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym, eigenvalues_sym
from spume.numerics.tensor3 import compose_sym, inverse_sym, multiply
from spume.points.kernels import elastic_kernel, elastic_slope

StressForm = Literal["first-piola", "printed"]
GradientForm = Literal["corrected", "plain"]


@compiled(inline="always")
def _full(s):
    return (s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2])


@compiled(inline="always")
def _square(metric, p, dx, dy, dz):
    """xᵀ C x with the metric C of point p."""
    return (
        metric[p, 0] * dx * dx
        + metric[p, 1] * dy * dy
        + metric[p, 2] * dz * dz
        + 2.0 * (metric[p, 3] * dx * dy + metric[p, 4] * dx * dz + metric[p, 5] * dy * dz)
    )


def _make_prepare(D: int, stress_form: StressForm, gradient_form: GradientForm) -> Any:
    PRINTED, CORRECTED = stress_form == "printed", gradient_form == "corrected"

    @compiled(parallel=True)
    def prepare(start, neighbour, x, volume, size, metric, stress, h, c, condition, stiffness, lattice, B, pressure):
        """Write V B of each point [Pa m³ or Pa m], shape (n, 3, 3), and its SPH pressure [Pa]; returns how many points
        had to do without the correction of the gradient."""
        uncorrected = 0
        for i in prange(x.shape[0]):
            kxx = kyy = kzz = kxy = kxz = kyz = 0.0
            dense = 0.0
            for entry in range(start[i], start[i + 1]):
                j = neighbour[entry]
                dx, dy = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2] if D == 3 else 0.0
                if CORRECTED:
                    g = size[j] * elastic_slope(_square(metric, i, dx, dy, dz), h, c)
                    kxx += g * dx * dx
                    kyy += g * dy * dy
                    kxy += g * dx * dy
                    if D == 3:
                        kzz += g * dz * dz
                        kxz += g * dx * dz
                        kyz += g * dy * dz
                if stiffness > 0.0:
                    dense += volume[j] * elastic_kernel(dx * dx + dy * dy + dz * dz, h, c)
            pressure[i] = 0.0
            if stiffness > 0.0:
                dense += volume[i] * elastic_kernel(0.0, h, c)
                pressure[i] = stiffness * max(0.0, dense / lattice - 1.0)
            C = load_sym(metric, i)
            corrected = False
            inverse = C
            if CORRECTED:
                if D == 2:
                    kzz = 0.5 * (kxx + kyy)
                high, _, low = eigenvalues_sym((kxx, kyy, kzz, kxy, kxz, kyz))
                corrected = low * condition > high
                if corrected:
                    inverse = inverse_sym((kxx, kyy, kzz, kxy, kxz, kyz))
                else:
                    uncorrected += 1
            T = multiply(_full(load_sym(stress, i)), _full(inverse))
            if PRINTED:
                # from first Piola to the printed form: τ √b K⁻¹ for τ K⁻¹, τ √b b⁻¹ for τ b⁻¹
                squares, V = eigen_sym(C)
                root = compose_sym((squares[0] ** -0.5, squares[1] ** -0.5, squares[2] ** -0.5), V)
                T = multiply(multiply(_full(load_sym(stress, i)), _full(root)), _full(inverse))
            V0 = volume[i]
            store(
                B, i, (V0 * T[0], V0 * T[1], V0 * T[2], V0 * T[3], V0 * T[4], V0 * T[5], V0 * T[6], V0 * T[7], V0 * T[8])
            )
        return uncorrected

    return prepare


prepare_forces = {
    (D, stress, gradient): _make_prepare(D, stress, gradient)
    for D in (2, 3)
    for stress in ("first-piola", "printed")
    for gradient in ("corrected", "plain")
}
"""By dimension, form of the stress and form of the gradient."""


def _make_accelerate(D: int) -> Any:
    @compiled(parallel=True)
    def accelerate(
        start, neighbour, x, v, mass, volume, size, metric, B, pressure, gradient, wave, material, h, c, viscosity,
        damping, acceleration,
    ):  # fmt: skip
        """Write the acceleration [m/s²] of each point by all pair forces. `wave` has the speed of waves of each
        material [m/s]."""
        for i in prange(x.shape[0]):
            sx = sy = sz = 0.0  # Σ v_j g_i x_ij
            fx = fy = fz = 0.0
            for entry in range(start[i], start[i + 1]):
                j = neighbour[entry]
                dx, dy = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2] if D == 3 else 0.0
                gi = size[j] * elastic_slope(_square(metric, i, dx, dy, dz), h, c)
                gj = size[i] * elastic_slope(_square(metric, j, dx, dy, dz), h, c)
                sx += gi * dx
                sy += gi * dy
                sz += gi * dz
                fx += gj * (B[j, 0, 0] * dx + B[j, 0, 1] * dy + B[j, 0, 2] * dz)
                fy += gj * (B[j, 1, 0] * dx + B[j, 1, 1] * dy + B[j, 1, 2] * dz)
                if D == 3:
                    fz += gj * (B[j, 2, 0] * dx + B[j, 2, 1] * dy + B[j, 2, 2] * dz)
                square = dx * dx + dy * dy + dz * dz
                if square >= h * h or square <= 0.0:
                    continue
                central = 0.0  # force along x_ij, over x_ij
                vx, vy = v[j, 0] - v[i, 0], v[j, 1] - v[i, 1]
                vz = v[j, 2] - v[i, 2] if D == 3 else 0.0
                if pressure[i] + pressure[j] > 0.0 or viscosity > 0.0:
                    g = volume[i] * volume[j] * elastic_slope(square, h, c)
                    central -= g * (pressure[i] + pressure[j])
                    approach = (vx * dx + vy * dy + vz * dz) / square
                    central += 2.0 * (D + 2) * viscosity * g * approach
                if damping > 0.0:
                    lx = (
                        (gradient[i, 0, 0] + gradient[j, 0, 0]) * dx
                        + (gradient[i, 0, 1] + gradient[j, 0, 1]) * dy
                        + (gradient[i, 0, 2] + gradient[j, 0, 2]) * dz
                    )
                    ly = (
                        (gradient[i, 1, 0] + gradient[j, 1, 0]) * dx
                        + (gradient[i, 1, 1] + gradient[j, 1, 1]) * dy
                        + (gradient[i, 1, 2] + gradient[j, 1, 2]) * dz
                    )
                    lz = 0.0
                    if D == 3:
                        lz = (
                            (gradient[i, 2, 0] + gradient[j, 2, 0]) * dx
                            + (gradient[i, 2, 1] + gradient[j, 2, 1]) * dy
                            + (gradient[i, 2, 2] + gradient[j, 2, 2]) * dz
                        )
                    rest = (vx - 0.5 * lx) * dx + (vy - 0.5 * ly) * dy + (vz - 0.5 * lz) * dz
                    reduced = mass[i] * mass[j] / (mass[i] + mass[j])
                    speed = 0.5 * (wave[material[i]] + wave[material[j]])
                    central += damping * speed / h * (1.0 - square / (h * h)) * reduced * rest / square
                fx += central * dx
                fy += central * dy
                fz += central * dz
            inverse_mass = 1.0 / mass[i]
            acceleration[i, 0] = (fx + B[i, 0, 0] * sx + B[i, 0, 1] * sy + B[i, 0, 2] * sz) * inverse_mass
            acceleration[i, 1] = (fy + B[i, 1, 0] * sx + B[i, 1, 1] * sy + B[i, 1, 2] * sz) * inverse_mass
            if D == 3:
                acceleration[i, 2] = (fz + B[i, 2, 0] * sx + B[i, 2, 1] * sy + B[i, 2, 2] * sz) * inverse_mass

    return accelerate


accelerate_points = {2: _make_accelerate(2), 3: _make_accelerate(3)}
"""By dimension."""


def lattice_density(dimension: int, spacing: float, h: float, c: float) -> float:
    """n₀ = Σ V W of the elastic kernel over a cubic lattice, about 1."""
    reach = math.ceil(h / spacing)
    steps = range(-reach, reach + 1)
    squares = [
        (i * i + j * j + k * k) * spacing**2 for i in steps for j in steps for k in (steps if dimension == 3 else (0,))
    ]
    return float(spacing**dimension * sum(elastic_kernel(square, h, c) for square in squares))
