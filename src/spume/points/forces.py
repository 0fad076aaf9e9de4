"""Forces between points.

Elastic forces, [Gerszewski09] eqs. (10) to (13). In terms of the metric b⁻¹ and the slope g(s) = −W'(s)/s of the
elastic kernel, s² = x_ijᵀ b_i⁻¹ x_ij, the average of f_ij and −f_ji that acts on point i is

    Σ_j (V_i v_j g_i(s) B_i + V_j v_i g_j(s) B_j) x_ij

with rest volumes V and v the volumes in the space of the metric. It changes sign with i and j, so momentum is
conserved. B is, for the Kirchhoff stress τ of the law,

    stress = "first-piola"   gradient = "plain"       τ b⁻¹           U P̂ Vᵀ ∇W, with P = τ Fe⁻ᵀ
    stress = "first-piola"   gradient = "corrected"   τ K⁻¹           K = Σ_j v_j g_i(s) x_ij x_ijᵀ
    stress = "printed"       gradient = "plain"       τ b^(−1/2)      U F̂ P̂ Vᵀ ∇W as in eq. (10)
    stress = "printed"       gradient = "corrected"   τ b^(1/2) K⁻¹

K is b for a dense cloud that fills the whole radius. At surfaces, and for a few dozen neighbours, it is not; dividing
by it instead makes the force of a uniformly stressed body that of the stress at every point, and the moment of the pair
forces of a point symmetric, so that angular momentum is conserved. Where K is ill-conditioned the plain form is used.

gradient = "least-squares" takes the weights w² of the fit for v g: V τ A⁻¹ w² x_ij is the derivative of the energy V Ψ
of a point by the place of its neighbour, the deformation being that of the fit. So energy is conserved but for the
order of the step. Where the fit is refused the energy does not change with the places, and there is no force. With
positions at rest in place of x and τ F⁻ᵀ in place of τ these are the forces of the rest-configuration formulation.

Further forces, each zero when its coefficient is:

    pressure   −V_i V_j (p_i + p_j) g x_ij, p = k max(0, n/n₀ − 1), n = Σ V W and n₀ its value in a cubic lattice
    viscosity  2 (d + 2) μ V_i V_j g (v_ij·x̂) x̂  [Monaghan05]
    damping    of what the velocities of neighbours differ by beyond their common affine motion: the fit does not see
               such motion, so no stress holds it. D (c/h) (1 − r²/h²) m_ij (x̂·(v_ij − ½ (L_i + L_j) x_ij)) x̂, m_ij the
               reduced mass, c the mean speed of waves; only the symmetric part of L, the rate, counts along x̂

All but the elastic forces act along x_ij, and none acts on an affine motion but viscosity.
"""

import math
from typing import Any, Literal, get_args

from numba import prange

from spume.materials.kinematics import load, load_sym, store
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym, eigenvalues_sym
from spume.numerics.tensor3 import compose_sym, inverse_sym, multiply
from spume.points.kernels import elastic_kernel, elastic_slope, squared_weight

StressForm = Literal["first-piola", "printed"]
GradientForm = Literal["corrected", "plain", "least-squares"]


@compiled(inline="always")
def _full(s):
    return (s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2])


@compiled(inline="always")
def _square(metric, p, dx, dy, dz):
    """xᵀ C x with the symmetric tensor C of point p."""
    return (
        metric[p, 0] * dx * dx
        + metric[p, 1] * dy * dy
        + metric[p, 2] * dz * dz
        + 2.0 * (metric[p, 3] * dx * dy + metric[p, 4] * dx * dz + metric[p, 5] * dy * dz)
    )


def _make_prepare(D: int, stress_form: StressForm, gradient_form: GradientForm) -> Any:
    PRINTED, FIT, PLAIN = stress_form == "printed", gradient_form == "least-squares", gradient_form == "plain"

    @compiled(parallel=True)
    def prepare(
        start, neighbour, place, x, volume, size, metric, stress, h, c, least, condition, stiffness, lattice, B,
        pressure,
    ):  # fmt: skip
        """Write V B of each point, shape (n, 3, 3), and its SPH pressure [Pa]; returns how many points had to do
        without K.

        place: the positions between which elastic forces act [m], those of rest or the present ones `x`.
        """
        missing = 0
        inverse_square = 1.0 / (h * h)
        for i in prange(x.shape[0]):
            kxx = kyy = kzz = kxy = kxz = kyz = 0.0
            dense = 0.0
            near = 0
            for entry in range(start[i], start[i + 1]):
                j = neighbour[entry]
                if not PLAIN:
                    dx, dy = place[j, 0] - place[i, 0], place[j, 1] - place[i, 1]
                    dz = place[j, 2] - place[i, 2] if D == 3 else 0.0
                    if FIT:
                        g = squared_weight(dx * dx + dy * dy + dz * dz, inverse_square)
                    else:
                        g = size[j] * elastic_slope(_square(metric, i, dx, dy, dz), h, c)
                    near += 1 if g > 0.0 else 0
                    kxx += g * dx * dx
                    kyy += g * dy * dy
                    kxy += g * dx * dy
                    if D == 3:
                        kzz += g * dz * dz
                        kxz += g * dx * dz
                        kyz += g * dy * dz
                if stiffness > 0.0:
                    dx, dy = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
                    dz = x[j, 2] - x[i, 2] if D == 3 else 0.0
                    dense += volume[j] * elastic_kernel(dx * dx + dy * dy + dz * dz, h, c)
            pressure[i] = 0.0
            if stiffness > 0.0:
                dense += volume[i] * elastic_kernel(0.0, h, c)
                pressure[i] = stiffness * max(0.0, dense / lattice - 1.0)
            C = load_sym(metric, i)
            inverse = C
            scale = volume[i]
            if not PLAIN:
                if D == 2:
                    kzz = 0.5 * (kxx + kyy)
                high, _, low = eigenvalues_sym((kxx, kyy, kzz, kxy, kxz, kyz))
                if low * condition > high and (near >= least or not FIT):
                    inverse = inverse_sym((kxx, kyy, kzz, kxy, kxz, kyz))
                else:
                    missing += 1
                    if FIT:
                        scale = 0.0
            T = multiply(load(stress, i), _full(inverse))
            if PRINTED:
                # from first Piola to the printed form: τ √b K⁻¹ for τ K⁻¹, τ √b b⁻¹ for τ b⁻¹
                squares, V = eigen_sym(C)
                root = compose_sym((squares[0] ** -0.5, squares[1] ** -0.5, squares[2] ** -0.5), V)
                T = multiply(multiply(load(stress, i), _full(root)), _full(inverse))
            store(
                B, i,
                (scale * T[0], scale * T[1], scale * T[2], scale * T[3], scale * T[4], scale * T[5], scale * T[6],
                 scale * T[7], scale * T[8]),
            )  # fmt: skip
        return missing

    return prepare


prepare_forces = {
    (D, stress, gradient): _make_prepare(D, stress, gradient)
    for D in (2, 3)
    for stress in get_args(StressForm)
    for gradient in get_args(GradientForm)
}
"""By dimension, form of the stress and form of the gradient."""


def _make_accelerate(D: int, fit: bool) -> Any:
    FIT = fit

    @compiled(parallel=True)
    def accelerate(
        start, neighbour, place, x, v, mass, volume, size, metric, B, pressure, rate, wave, material, h, c, viscosity,
        damping, acceleration,
    ):  # fmt: skip
        """Write the acceleration [m/s²] of each point by all pair forces. `wave` has the speed of waves of each
        material [m/s], `rate` the symmetric part of the velocity gradient of each point [1/s]."""
        inverse_square = 1.0 / (h * h)
        for i in prange(x.shape[0]):
            sx = sy = sz = 0.0  # Σ v_j g_i x_ij
            fx = fy = fz = 0.0
            for entry in range(start[i], start[i + 1]):
                j = neighbour[entry]
                dx, dy = place[j, 0] - place[i, 0], place[j, 1] - place[i, 1]
                dz = place[j, 2] - place[i, 2] if D == 3 else 0.0
                if FIT:
                    gi = gj = squared_weight(dx * dx + dy * dy + dz * dz, inverse_square)
                else:
                    gi = size[j] * elastic_slope(_square(metric, i, dx, dy, dz), h, c)
                    gj = size[i] * elastic_slope(_square(metric, j, dx, dy, dz), h, c)
                sx += gi * dx
                sy += gi * dy
                sz += gi * dz
                fx += gj * (B[j, 0, 0] * dx + B[j, 0, 1] * dy + B[j, 0, 2] * dz)
                fy += gj * (B[j, 1, 0] * dx + B[j, 1, 1] * dy + B[j, 1, 2] * dz)
                if D == 3:
                    fz += gj * (B[j, 2, 0] * dx + B[j, 2, 1] * dy + B[j, 2, 2] * dz)
                # forces along the present x_ij
                dx, dy = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1]
                dz = x[j, 2] - x[i, 2] if D == 3 else 0.0
                square = dx * dx + dy * dy + dz * dz
                if square * inverse_square >= 1.0 or square <= 0.0:
                    continue
                along = (v[j, 0] - v[i, 0]) * dx + (v[j, 1] - v[i, 1]) * dy
                if D == 3:
                    along += (v[j, 2] - v[i, 2]) * dz
                central = 0.0  # times the square
                if pressure[i] + pressure[j] > 0.0 or viscosity > 0.0:
                    g = volume[i] * volume[j] * elastic_slope(square, h, c)
                    central += g * (2.0 * (D + 2) * viscosity * along - (pressure[i] + pressure[j]) * square)
                if damping > 0.0:
                    rest = along - 0.5 * (_square(rate, i, dx, dy, dz) + _square(rate, j, dx, dy, dz))
                    speed = 0.5 * (wave[material[i]] + wave[material[j]])
                    reduced = mass[i] * mass[j] / (mass[i] + mass[j])
                    central += damping * speed / h * (1.0 - square * inverse_square) * reduced * rest
                central /= square
                fx += central * dx
                fy += central * dy
                fz += central * dz
            inverse_mass = 1.0 / mass[i]
            acceleration[i, 0] = (fx + B[i, 0, 0] * sx + B[i, 0, 1] * sy + B[i, 0, 2] * sz) * inverse_mass
            acceleration[i, 1] = (fy + B[i, 1, 0] * sx + B[i, 1, 1] * sy + B[i, 1, 2] * sz) * inverse_mass
            if D == 3:
                acceleration[i, 2] = (fz + B[i, 2, 0] * sx + B[i, 2, 1] * sy + B[i, 2, 2] * sz) * inverse_mass

    return accelerate


accelerate_points = {
    (D, weights): _make_accelerate(D, weights == "fit") for D in (2, 3) for weights in ("elastic kernel", "fit")
}
"""By dimension and the weights of the elastic forces."""


def lattice_density(dimension: int, spacing: float, h: float, c: float) -> float:
    """n₀ = Σ V W of the elastic kernel over a cubic lattice, about 1."""
    reach = math.ceil(h / spacing)
    steps = range(-reach, reach + 1)
    squares = [
        (i * i + j * j + k * k) * spacing**2 for i in steps for j in steps for k in (steps if dimension == 3 else (0,))
    ]
    return float(spacing**dimension * sum(elastic_kernel(square, h, c) for square in squares))
