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
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.kinematics import load, load_sym
from spume.numerics.jit import compiled
from spume.numerics.row_gather import LANES, gather_rows
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import compose_sym, inverse, inverse_sym, multiply, transpose
from spume.points.deformation import FAR, POINTS_PER_TASK, well_conditioned
from spume.points.kernels import elastic_constant, elastic_kernel, elastic_slope, squared_weight
from spume.points.neighbours import NeighbourLists

StressForm = Literal["first-piola", "printed"]
GradientForm = Literal["corrected", "plain", "least-squares"]

# What a point shows its neighbours stands in one row, see `numerics.row_gather`. PLACE is where elastic forces act:
# the positions at rest in the rest-configuration formulation, else the present ones.
PLACE, SIZE, VOLUME, MASS, WAVE, PRESSURE, B, METRIC, VELOCITY, RATE = 0, 3, 4, 5, 6, 7, 8, 17, 23, 26
PRESENT = METRIC
"""With the weights of the fit there is no metric: the present position stands in its place."""
WIDTH = 32


@compiled(inline="always")
def _full(s):
    return (s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2])


@compiled(inline="always")
def _square(table, p, first, dx, dy, dz):
    """xᵀ C x with the symmetric tensor C in row p of `table` from column `first` on."""
    return (
        table[p, first] * dx * dx
        + table[p, first + 1] * dy * dy
        + table[p, first + 2] * dz * dz
        + 2.0 * (table[p, first + 3] * dx * dy + table[p, first + 4] * dx * dz + table[p, first + 5] * dy * dz)
    )


@compiled(inline="always")
def _square_in_columns(s, first, e, dx, dy, dz):
    """As `_square`, with the tensor in column e of `s` from line `first` on."""
    return (
        s[first, e] * dx * dx
        + s[first + 1, e] * dy * dy
        + s[first + 2, e] * dz * dz
        + 2.0 * (s[first + 3, e] * dx * dy + s[first + 4, e] * dx * dz + s[first + 5, e] * dy * dz)
    )


@compiled(parallel=True)
def _pack(place, x, volume, size, mass, wave, material, metric, v, rate, fit, rows):
    """Write all but B and the pressure to the rows of the points; the last row is beyond every radius."""
    n, d = x.shape
    for p in prange(n):
        for q in range(d):
            rows[p, PLACE + q], rows[p, VELOCITY + q] = place[p, q], v[p, q]
        rows[p, SIZE], rows[p, VOLUME], rows[p, MASS], rows[p, WAVE] = size[p], volume[p], mass[p], wave[material[p]]
        if fit:
            for q in range(d):
                rows[p, PRESENT + q] = x[p, q]
        else:
            for q in range(6):
                rows[p, METRIC + q] = metric[p, q]
        for q in range(6):
            rows[p, RATE + q] = rate[p, q]
    for q in range(d):
        rows[n, PLACE + q] = rows[n, PRESENT + q] = FAR


def _make_prepare(stress_form: StressForm, gradient_form: GradientForm, rest: bool) -> Any:
    PRINTED, FIT, PLAIN, REST = stress_form == "printed", gradient_form == "least-squares", gradient_form == "plain", rest

    @compiled(parallel=True)
    def prepare(
        start, neighbour, longest, dimension, stress, metric, rest_F, h, c, least, condition, stiffness, lattice, rows
    ):  # fmt: skip
        """Write V B and the SPH pressure [Pa] to the rows of the points; returns how many had to do without K."""
        missing = 0
        inverse_square = 1.0 / (h * h)
        n = stress.shape[0]
        for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
            s = np.empty((2 * LANES, longest))
            for i in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1))):
                groups = (start[i + 1] - start[i]) // LANES
                for g in range(groups):
                    gather_rows(rows, PLACE, neighbour, start[i] + LANES * g, s, 0, LANES * g)
                    if FIT and stiffness > 0.0:
                        gather_rows(rows, PRESENT, neighbour, start[i] + LANES * g, s, LANES, LANES * g)
                x0, x1, x2 = rows[i, PLACE], rows[i, PLACE + 1], rows[i, PLACE + 2]
                kxx = kyy = kzz = kxy = kxz = kyz = 0.0
                near = 0.0
                if not PLAIN:
                    for e in range(LANES * groups):
                        dx, dy, dz = s[PLACE, e] - x0, s[PLACE + 1, e] - x1, s[PLACE + 2, e] - x2
                        if FIT:
                            g = squared_weight(dx * dx + dy * dy + dz * dz, inverse_square)
                        else:
                            g = s[SIZE, e] * elastic_slope(_square(rows, i, METRIC, dx, dy, dz), h, c)
                        near += 1.0 if g > 0.0 else 0.0
                        gx, gy, gz = g * dx, g * dy, g * dz
                        kxx += gx * dx
                        kyy += gy * dy
                        kzz += gz * dz
                        kxy += gx * dy
                        kxz += gx * dz
                        kyz += gy * dz
                pressure = 0.0
                if stiffness > 0.0:
                    AT = LANES if FIT else PLACE
                    if FIT:
                        x0, x1, x2 = rows[i, PRESENT], rows[i, PRESENT + 1], rows[i, PRESENT + 2]
                    dense = rows[i, VOLUME] * elastic_kernel(0.0, h, c)
                    for e in range(LANES * groups):
                        dx, dy, dz = s[AT, e] - x0, s[AT + 1, e] - x1, s[AT + 2, e] - x2
                        dense += s[VOLUME, e] * elastic_kernel(dx * dx + dy * dy + dz * dz, h, c)
                    pressure = stiffness * max(0.0, dense / lattice - 1.0)
                rows[i, PRESSURE] = pressure
                scale = rows[i, VOLUME]
                divisor = load_sym(metric, i) if PLAIN else (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
                if not PLAIN:
                    K = (kxx, kyy, 0.5 * (kxx + kyy) if dimension == 2 else kzz, kxy, kxz, kyz)
                    if (near >= least or not FIT) and well_conditioned(K, condition):
                        divisor = inverse_sym(K)
                    else:
                        missing += 1
                        if FIT:
                            scale = 0.0
                tau = _full(load_sym(stress, i))
                if PRINTED:
                    # from first Piola to the printed form: τ √b K⁻¹ for τ K⁻¹, τ √b b⁻¹ for τ b⁻¹
                    squares, V = eigen_sym(load_sym(metric, i))
                    tau = multiply(
                        tau, _full(compose_sym((squares[0] ** -0.5, squares[1] ** -0.5, squares[2] ** -0.5), V))
                    )
                if REST:
                    tau = multiply(tau, transpose(inverse(load(rest_F, i))))
                T = multiply(tau, _full(divisor))
                rows[i, B], rows[i, B + 1], rows[i, B + 2] = scale * T[0], scale * T[1], scale * T[2]
                rows[i, B + 3], rows[i, B + 4], rows[i, B + 5] = scale * T[3], scale * T[4], scale * T[5]
                rows[i, B + 6], rows[i, B + 7], rows[i, B + 8] = scale * T[6], scale * T[7], scale * T[8]
        return missing

    return prepare


_REST_FORM = ("first-piola", "least-squares")
_prepare: dict[tuple[StressForm, GradientForm, bool], Any] = {
    (stress, gradient, rest): _make_prepare(stress, gradient, rest)
    for stress in ("first-piola", "printed")
    for gradient in ("corrected", "plain", "least-squares")
    for rest in (False, True)
    if not rest or (stress, gradient) == _REST_FORM
}


def _make_accelerate(fit: bool) -> Any:
    FIT = fit
    AT = PRESENT if fit else PLACE

    @compiled(parallel=True)
    def accelerate(start, neighbour, longest, rows, dimension, h, c, viscosity, damping, sph, acceleration):
        """Write the acceleration [m/s²] of each point by all pair forces. sph: whether there is pressure or
        viscosity."""
        inverse_square = 1.0 / (h * h)
        n = acceleration.shape[0]
        viscous = 2.0 * (dimension + 2) * viscosity
        resistance = 0.5 * damping / h
        for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
            s = np.empty((WIDTH, longest))
            for i in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1))):
                groups = (start[i + 1] - start[i]) // LANES
                for g in range(groups):
                    for first in range(0, WIDTH, LANES):
                        gather_rows(rows, first, neighbour, start[i] + LANES * g, s, first, LANES * g)
                x0, x1, x2 = rows[i, PLACE], rows[i, PLACE + 1], rows[i, PLACE + 2]
                own = rows[i, SIZE]
                sx = sy = sz = 0.0  # Σ v_j g_i x_ij
                fx = fy = fz = 0.0
                for e in range(LANES * groups):
                    dx, dy, dz = s[PLACE, e] - x0, s[PLACE + 1, e] - x1, s[PLACE + 2, e] - x2
                    if FIT:
                        gi = squared_weight(dx * dx + dy * dy + dz * dz, inverse_square)
                        gj = gi
                    else:
                        gi = s[SIZE, e] * elastic_slope(_square(rows, i, METRIC, dx, dy, dz), h, c)
                        gj = own * elastic_slope(_square_in_columns(s, METRIC, e, dx, dy, dz), h, c)
                    sx += gi * dx
                    sy += gi * dy
                    sz += gi * dz
                    dx, dy, dz = gj * dx, gj * dy, gj * dz
                    fx += s[B, e] * dx + s[B + 1, e] * dy + s[B + 2, e] * dz
                    fy += s[B + 3, e] * dx + s[B + 4, e] * dy + s[B + 5, e] * dz
                    fz += s[B + 6, e] * dx + s[B + 7, e] * dy + s[B + 8, e] * dz
                fx += rows[i, B] * sx + rows[i, B + 1] * sy + rows[i, B + 2] * sz
                fy += rows[i, B + 3] * sx + rows[i, B + 4] * sy + rows[i, B + 5] * sz
                fz += rows[i, B + 6] * sx + rows[i, B + 7] * sy + rows[i, B + 8] * sz
                # forces along the present x_ij
                x0, x1, x2 = rows[i, AT], rows[i, AT + 1], rows[i, AT + 2]
                v0, v1, v2 = rows[i, VELOCITY], rows[i, VELOCITY + 1], rows[i, VELOCITY + 2]
                if sph:
                    volume, pressure = rows[i, VOLUME], rows[i, PRESSURE]
                    for e in range(LANES * groups):
                        dx, dy, dz = s[AT, e] - x0, s[AT + 1, e] - x1, s[AT + 2, e] - x2
                        square = dx * dx + dy * dy + dz * dz
                        along = (s[VELOCITY, e] - v0) * dx + (s[VELOCITY + 1, e] - v1) * dy + (
                            s[VELOCITY + 2, e] - v2
                        ) * dz  # fmt: skip
                        g = volume * s[VOLUME, e] * elastic_slope(square, h, c)  # 0 where the points coincide
                        central = g * (
                            viscous * along / (square if square > 0.0 else 1.0) - (pressure + s[PRESSURE, e])
                        )
                        fx += central * dx
                        fy += central * dy
                        fz += central * dz
                if damping > 0.0:
                    mass, wave = rows[i, MASS], rows[i, WAVE]
                    for e in range(LANES * groups):
                        dx, dy, dz = s[AT, e] - x0, s[AT + 1, e] - x1, s[AT + 2, e] - x2
                        square = dx * dx + dy * dy + dz * dz
                        along = (s[VELOCITY, e] - v0) * dx + (s[VELOCITY + 1, e] - v1) * dy + (
                            s[VELOCITY + 2, e] - v2
                        ) * dz  # fmt: skip
                        stretching = _square(rows, i, RATE, dx, dy, dz) + _square_in_columns(s, RATE, e, dx, dy, dz)
                        weight = max(0.0, 1.0 - square * inverse_square) * mass * s[MASS, e] * (wave + s[WAVE, e])
                        total = (mass + s[MASS, e]) * square
                        central = resistance * weight * (along - 0.5 * stretching) / (total if total > 0.0 else 1.0)
                        fx += central * dx
                        fy += central * dy
                        fz += central * dz
                inverse_mass = 1.0 / rows[i, MASS]
                acceleration[i, 0], acceleration[i, 1] = fx * inverse_mass, fy * inverse_mass
                if dimension == 3:
                    acceleration[i, 2] = fz * inverse_mass

    return accelerate


_accelerate = {fit: _make_accelerate(fit) for fit in (False, True)}


@dataclass(frozen=True)
class PairForces:
    """The forces of a scene: their forms and coefficients."""

    dimension: int
    h: float
    """Radius of the kernels [m]."""
    stress: StressForm
    gradient: GradientForm
    rest: bool
    """Whether elastic forces act between the positions at rest."""
    least_neighbours: int
    condition: float
    """Largest condition number of K and A [1]."""
    pressure: float
    """Stiffness of the SPH pressure [Pa]."""
    viscosity: float
    """[Pa s]"""
    damping: float
    """[1]"""
    lattice: float
    """n₀ of a cubic lattice of the scene's spacing, see `lattice_density` [1]."""

    def accelerations(
        self,
        lists: NeighbourLists,
        points: Mapping[str, NDArray[Any]],
        size: NDArray[np.float64],
        metric: NDArray[np.float64],
        wave: NDArray[np.float64],
        rows: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], int]:
        """Acceleration [m/s²] of each point by all pair forces, and how many points had to do without K.

        size: volume of each point in the space of the metric [m³]; metric: b⁻¹, shape (n, 6); neither is read with the
        weights of the fit and first-piola stress. wave: speed of waves of each material [m/s]. rows: memory, shape
        (n + 1, WIDTH), zero when it is new.
        """
        place, rest_F = (points["rest_x"], points["rest_F"]) if self.rest else (points["x"], np.empty((0, 3, 3)))
        fit = self.gradient == "least-squares"
        _pack(
            place, points["x"], points["volume"], size, points["mass"], wave, points["material"], metric, points["v"],
            points["rate"], fit, rows,
        )  # fmt: skip
        c = elastic_constant(self.dimension, self.h)
        arguments = lists.start, lists.neighbour, lists.longest
        missing = _prepare[self.stress, self.gradient, self.rest](
            *arguments, self.dimension, points["stress"], metric, rest_F, self.h, c, self.least_neighbours,
            self.condition, self.pressure, self.lattice, rows,
        )  # fmt: skip
        acceleration = np.empty((len(size), self.dimension))
        _accelerate[fit](
            *arguments, rows, self.dimension, self.h, c, self.viscosity, self.damping,
            self.pressure > 0.0 or self.viscosity > 0.0, acceleration,
        )  # fmt: skip
        return acceleration, missing


def lattice_density(dimension: int, spacing: float, h: float) -> float:
    """n₀ = Σ V W of the elastic kernel over a cubic lattice, about 1."""
    reach = math.ceil(h / spacing)
    steps = range(-reach, reach + 1)
    squares = [
        (i * i + j * j + k * k) * spacing**2 for i in steps for j in steps for k in (steps if dimension == 3 else (0,))
    ]
    c = elastic_constant(dimension, h)
    return float(spacing**dimension * sum(elastic_kernel(square, h, c) for square in squares))
