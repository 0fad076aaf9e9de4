"""Forces between points.

Elastic forces, [Gerszewski09] eqs. (10) to (13). In terms of the metric b⁻¹ and the slope g(s) = −W'(s)/s of the
elastic kernel, s² = x_ijᵀ b_i⁻¹ x_ij, the average of f_ij and −f_ji that acts on point i is

    Σ_j (V_i v_j g_i(s) B_i + V_j v_i g_j(s) B_j) x_ij

with the rest volumes V and the volumes v in the space of the metric. It changes sign when i and j are exchanged, so
momentum is conserved. For the Kirchhoff stress τ of the law, B is

    stress = "first-piola"   gradient = "plain"       τ b⁻¹           U P̂ Vᵀ ∇W, with P = τ Fe⁻ᵀ
    stress = "first-piola"   gradient = "corrected"   τ K⁻¹           K = Σ_j v_j g_i(s) x_ij x_ijᵀ
    stress = "printed"       gradient = "plain"       τ b^(−1/2)      U F̂ P̂ Vᵀ ∇W as in eq. (10)
    stress = "printed"       gradient = "corrected"   τ b^(1/2) K⁻¹

For a dense cloud of points that fills the whole radius, K = b. This does not hold at surfaces or for a few dozen
neighbours. With K, the forces in a uniformly stressed body are those of the stress at every point, and the moment
tensor of a point's pair forces is symmetric, so that angular momentum is conserved. A point with too few neighbours or
an ill-conditioned K exerts no elastic forces: its fit is usually rejected, too, so that its stress would not follow the
motion but accelerate the neighbours for as long as they are near.

gradient = "least-squares" uses the weights w² of the fit instead of v g: V τ A⁻¹ w² x_ij is the derivative of the
energy V Ψ of a point with respect to the position of its neighbour, for the deformation of the fit. So energy is
conserved to the order of the time step. With rest positions instead of x and τ F⁻ᵀ instead of τ, these are the forces
of the rest-configuration formulation.

Further forces, each zero if its coefficient is zero:

    pressure   −V_i V_j (p_i + p_j) g x_ij, p = k max(0, n/n₀ − 1), n = Σ V W and n₀ its value in a cubic lattice
    viscosity  2 (d + 2) μ/k V_i V_j g (v_ij·x̂) x̂  [Monaghan05], k = Σ V g x² in a cubic lattice, instead of 1
    damping    (D/h) (1 − r²/h²) z_ij (x̂·(v_ij − ½ (L_i + L_j) x_ij)) x̂ with 1/z_ij = 1/z_i + 1/z_j, z being mass
               times wave speed. It damps the part of the relative velocity of neighbours that is not affine, which
               the fit ignores and no stress resists. Only the symmetric part of L, the rate, counts along x̂

All forces except the elastic ones act along x_ij; of these, only viscosity acts on an affine motion.
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
from spume.numerics.lanes import (
    LANES,
    gather_lanes,
    gather_rows,
    load_lanes,
    root_of_lanes,
    store_lanes,
    sum_each,
    sum_lanes,
    where_less,
    zero_lanes,
)
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import compose_sym, inverse, inverse_sym, multiply, transpose
from spume.points.deformation import FAR, POINTS_PER_TASK, well_conditioned
from spume.points.kernels import (
    LARGEST_PHASE,
    cos_root,
    elastic_constant,
    elastic_kernel,
    elastic_kernels,
    elastic_slopes,
    squared_weights,
)
from spume.points.neighbours import NeighbourLists

StressForm = Literal["first-piola", "printed"]
GradientForm = Literal["reference", "corrected", "plain", "least-squares"]

# Data that neighbours read are stored in rows, see `numerics.lanes`: one table for the weights, one for the
# forces. PLACE is the position used by elastic forces: the rest position in the rest-configuration formulation, else
# the present one.
PLACE, PRESENT, SIZE, VOLUME = 0, 3, 6, 7
X, V, B, RATE, OWN_VOLUME, IMPEDANCE, PRESSURE = 0, 3, 6, 15, 21, 22, 23
WIDTH = 24


@compiled(inline="always")
def _full(s):
    return (s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2])


@compiled(inline="always")
def _square(C, dx, dy, dz):
    """xᵀ C x for a symmetric tensor C."""
    return C[0] * dx * dx + C[1] * dy * dy + C[2] * dz * dz + 2.0 * (C[3] * dx * dy + C[4] * dx * dz + C[5] * dy * dz)


@compiled(parallel=True)
def _pack(place, x, v, volume, size, mass, wave, material, rate, places, rows):
    """Write all data except B and the pressure to the rows of the points; the last rows are beyond every radius."""
    n, d = x.shape
    for p in prange(n):
        for q in range(d):
            places[p, PLACE + q], places[p, PRESENT + q] = place[p, q], x[p, q]
            rows[p, X + q], rows[p, V + q] = x[p, q], v[p, q]
        places[p, SIZE], places[p, VOLUME] = size[p], volume[p]
        rows[p, OWN_VOLUME], rows[p, IMPEDANCE] = volume[p], mass[p] * wave[material[p]]
        for q in range(6):
            rows[p, RATE + q] = rate[p, q]
    last = rows.shape[0] - 1
    for q in range(d):
        places[last, PLACE + q] = places[last, PRESENT + q] = rows[last, X + q] = FAR


def _make_prepare(stress_form: StressForm, gradient_form: GradientForm, rest: bool) -> Any:
    PRINTED, FIT, PLAIN, REST = (
        stress_form == "printed",
        gradient_form == "least-squares",
        gradient_form == "plain",
        rest,
    )

    @compiled(parallel=True)
    def prepare(
        start, neighbour, dimension, stress, metric, rest_F, h, c, least, condition, stiffness, lattice,
        places, weight, rows,
    ):  # fmt: skip
        """Write V B and the SPH pressure [Pa] to the rows of the points, and the weight v_j g_i of each entry of the
        lists; return the number of points without a usable K."""
        missing = 0
        inverse_square = 1.0 / (h * h)
        n = stress.shape[0]
        for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
            for i in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1))):
                C = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0) if FIT and not PRINTED else load_sym(metric, i)
                x0, x1, x2 = places[i, PLACE], places[i, PLACE + 1], places[i, PLACE + 2]
                y0, y1, y2 = places[i, PRESENT], places[i, PRESENT + 1], places[i, PRESENT + 2]
                sxx = syy = szz = sxy = sxz = syz = within = crowd = zero_lanes()
                for group in range(start[i], start[i + 1], LANES):
                    x, y, z, px, py, pz, size, volume = gather_rows(places, 0, neighbour, group)
                    dx, dy, dz = x - x0, y - x1, z - x2
                    if FIT:
                        g = squared_weights(dx * dx + dy * dy + dz * dz, inverse_square)
                    else:
                        g = size * elastic_slopes(_square(C, dx, dy, dz), h, c)
                    store_lanes(weight, group, g)
                    if not PLAIN:
                        within += where_less(0.0, g, 1.0, 0.0)
                        gx, gy, gz = g * dx, g * dy, g * dz
                        sxx += gx * dx
                        syy += gy * dy
                        szz += gz * dz
                        sxy += gx * dy
                        sxz += gx * dz
                        syz += gy * dz
                    if stiffness > 0.0:
                        qx, qy, qz = px - y0, py - y1, pz - y2
                        crowd += volume * elastic_kernels(qx * qx + qy * qy + qz * qz, h, c)
                kxx, kyy, kzz, kxy, kxz, kyz, near, dense = sum_each(sxx, syy, szz, sxy, sxz, syz, within, crowd)
                scale = places[i, VOLUME]
                divisor = C
                if not PLAIN:
                    K = (kxx, kyy, 0.5 * (kxx + kyy) if dimension == 2 else kzz, kxy, kxz, kyz)
                    if near >= least and well_conditioned(K, condition):
                        divisor = inverse_sym(K)
                    else:
                        missing += 1
                        scale = 0.0
                pressure = 0.0
                if stiffness > 0.0:
                    dense += places[i, VOLUME] * elastic_kernel(0.0, h, c)
                    pressure = stiffness * max(0.0, dense / lattice - 1.0)
                rows[i, PRESSURE] = pressure
                tau = _full(load_sym(stress, i))
                if PRINTED:
                    # from first Piola to the printed form: τ √b K⁻¹ for τ K⁻¹, τ √b b⁻¹ for τ b⁻¹
                    squares, Q = eigen_sym(C)
                    tau = multiply(
                        tau, _full(compose_sym((squares[0] ** -0.5, squares[1] ** -0.5, squares[2] ** -0.5), Q))
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


def _make_accelerate(rest: bool) -> Any:
    REST = rest

    @compiled(parallel=True)
    def accelerate(
        start, neighbour, reverse, places, weight, rows, mass, dimension, h, c, viscosity, damping, central,
        acceleration,
    ):  # fmt: skip
        """Compute the acceleration [m/s²] of each point by all pair forces. central: whether there are other forces
        than the elastic ones."""
        inverse_square = 1.0 / (h * h)
        k = 0.5 * math.pi / h
        n = acceleration.shape[0]
        viscous = 2.0 * (dimension + 2) * viscosity
        resistance = damping / h
        for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
            for i in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1))):
                x0, x1, x2 = rows[i, X], rows[i, X + 1], rows[i, X + 2]
                v0, v1, v2 = rows[i, V], rows[i, V + 1], rows[i, V + 2]
                r0, r1, r2 = rows[i, RATE], rows[i, RATE + 1], rows[i, RATE + 2]
                r3, r4, r5 = rows[i, RATE + 3], rows[i, RATE + 4], rows[i, RATE + 5]
                volume, impedance, pressure = rows[i, OWN_VOLUME], rows[i, IMPEDANCE], rows[i, PRESSURE]
                sx = sy = sz = zero_lanes()  # Σ v_j g_i x_ij
                fx = fy = fz = zero_lanes()
                for group in range(start[i], start[i + 1], LANES):
                    x, y, z, vx, vy, vz, b0, b1 = gather_rows(rows, X, neighbour, group)
                    b2, b3, b4, b5, b6, b7, b8, d0 = gather_rows(rows, X + LANES, neighbour, group)
                    d1, d2, d3, d4, d5, volumes, impedances, pressures = gather_rows(
                        rows, X + 2 * LANES, neighbour, group
                    )
                    dx, dy, dz = x - x0, y - x1, z - x2
                    gi, gj = load_lanes(weight, group), gather_lanes(weight, reverse, group)
                    if REST:
                        ax, ay, az, _, _, _, _, _ = gather_rows(places, PLACE, neighbour, group)
                        ex, ey, ez = ax - places[i, PLACE], ay - places[i, PLACE + 1], az - places[i, PLACE + 2]
                    else:
                        ex, ey, ez = dx, dy, dz
                    sx += gi * ex
                    sy += gi * ey
                    sz += gi * ez
                    hx, hy, hz = gj * ex, gj * ey, gj * ez
                    fx += b0 * hx + b1 * hy + b2 * hz
                    fy += b3 * hx + b4 * hy + b5 * hz
                    fz += b6 * hx + b7 * hy + b8 * hz
                    if central:  # forces along the present x_ij
                        square = dx * dx + dy * dy + dz * dz
                        q = square * (k * k)
                        q = where_less(q, LARGEST_PHASE, q, 0.0)
                        inside = where_less(0.0, q, q, 1.0)
                        root, both = root_of_lanes(inside), impedances + impedance
                        both = where_less(0.0, both, both, 1.0)
                        # one division for 1/√q and 1/both
                        inverse = 1.0 / (root * both)
                        per_root, per_both = inverse * both, inverse * root
                        per_square = per_root * per_root * (k * k)
                        slope = where_less(0.0, q, cos_root(inside) * per_root, 0.0) * volumes * (volume * c * k)
                        near = 1.0 - square * inverse_square
                        near = where_less(0.0, near, near, 0.0)
                        along = (vx - v0) * dx + (vy - v1) * dy + (vz - v2) * dz
                        rate = _square((d0 + r0, d1 + r1, d2 + r2, d3 + r3, d4 + r4, d5 + r5), dx, dy, dz)
                        damped = near * impedances * per_both * (along - 0.5 * rate) * (resistance * impedance)
                        force = (slope * along * viscous + damped) * per_square - slope * (pressures + pressure)
                        fx += force * dx
                        fy += force * dy
                        fz += force * dz
                # V_i B_i of all neighbours at once
                fx += sx * rows[i, B] + sy * rows[i, B + 1] + sz * rows[i, B + 2]
                fy += sx * rows[i, B + 3] + sy * rows[i, B + 4] + sz * rows[i, B + 5]
                fz += sx * rows[i, B + 6] + sy * rows[i, B + 7] + sz * rows[i, B + 8]
                inverse_mass = 1.0 / mass[i]
                acceleration[i, 0] = sum_lanes(fx) * inverse_mass
                acceleration[i, 1] = sum_lanes(fy) * inverse_mass
                if dimension == 3:
                    acceleration[i, 2] = sum_lanes(fz) * inverse_mass

    return accelerate


_accelerate = {rest: _make_accelerate(rest) for rest in (False, True)}


@dataclass(frozen=True)
class PairForces:
    """Forms and coefficients of the forces of a scene."""

    dimension: int
    h: float
    """Radius of the kernels [m]."""
    stress: StressForm
    gradient: GradientForm
    rest: bool
    """Whether elastic forces are computed from rest positions."""
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
    """n₀, see `lattice_density` [1]."""
    slope: float
    """k, see `lattice_slope` [1]."""

    def accelerations(
        self,
        lists: NeighbourLists,
        points: Mapping[str, NDArray[Any]],
        size: NDArray[np.float64],
        metric: NDArray[np.float64],
        wave: NDArray[np.float64],
        places: NDArray[np.float64],
        rows: NDArray[np.float64],
    ) -> tuple[NDArray[np.float64], int]:
        """Acceleration [m/s²] of each point by all pair forces, and the number of points without a usable K.

        size: volume of each point in the space of the metric [m³]; metric: b⁻¹, shape (n, 6); neither is read with
        least-squares weights and first-piola stress. wave: wave speed of each material [m/s]. places, rows: work space
        with a row of 8 and of WIDTH for each point and ghost, and one more, initially zero.
        """
        place, rest_F = (points["rest_x"], points["rest_F"]) if self.rest else (points["x"], np.empty((0, 3, 3)))
        mass = points["mass"]
        _pack(
            place, points["x"], points["v"], points["volume"], size, mass, wave, points["material"], points["rate"],
            places, rows,
        )  # fmt: skip
        lists.ghosts.fill(places)
        c = elastic_constant(self.dimension, self.h)
        weight = lists.memory_for_weights()
        missing = _prepare[self.stress, self.gradient, self.rest](
            lists.start, lists.neighbour, self.dimension, points["stress"], metric, rest_F, self.h, c,
            self.least_neighbours, self.condition, self.pressure, self.lattice, places, weight, rows,
        )  # fmt: skip
        lists.ghosts.fill(rows)
        lists.complete_weights(weight)
        acceleration = np.empty((len(mass), self.dimension))
        _accelerate[self.rest](
            lists.start, lists.neighbour, lists.reverse, places, weight, rows, mass, self.dimension,
            self.h, c, self.viscosity / self.slope, self.damping,
            max(self.pressure, self.viscosity, self.damping) > 0.0, acceleration,
        )  # fmt: skip
        return acceleration, missing
