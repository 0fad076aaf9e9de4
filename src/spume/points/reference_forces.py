"""Forces and deformation of points from a reference configuration: derivatives of a discrete energy.

Each point i has a reference place X_i, at which it has its neighbours, the points with weight w = (1 − R²/h²)³ > 0, at
the distance R of `neighbours.Pairs`. The deformation since the reference is the least-squares fit to the present
places x,

    F_i = (Σ_j w x_ij X_ijᵀ) A_i⁻¹,    A_i = Σ_j w X_ij X_ijᵀ

and the energy of the points is

    Σ_i V_i Ψ(F_i) + ½ Σ_i c_i Σ_j w |x_ij − F_i X_ij|²,    c_i = α V_i μ_i d/tr A_i

The second sum is what the fit does not see: with the shear modulus μ it resists non-affine motion (the hourglass modes
of [Ganzenmuller15]). F_i minimises it, so its derivative does not contain that of F_i, and the force on point i is

    Σ_j w ((G_i + G_j) X_ij + (c_i + c_j) x_ij),    G = V τ F⁻ᵀ A⁻¹ − c F

It conserves momentum and angular momentum and leaves affine motion alone, and its work is the change of energy as long
as the reference stays the same. A viscosity ν acts on the rate of the non-affine part h_ij = x_ij − F_i X_ij, as seen
by an observer who turns with the point:

    ν_i w (v_ij − Ḟ_i X_ij − W_i h_ij),    W = skew(Ḟ F⁻¹)

so that rigid rotation is not damped. Ḟ is the fit to the velocities. An artificial viscosity adds the stress

    τ_v = 2 η dev D + ζ tr D I,    D = sym(Ḟ F⁻¹)

to τ; its work is −V τ_v : D ≤ 0.

Weights and A⁻¹ do not change until the reference does. SPH pressure and viscosity are those of `forces`.
"""

from numba import prange

from spume.materials.kinematics import load, load_sym, store
from spume.numerics.jit import compiled
from spume.numerics.lanes import (
    LANES,
    gather_rows,
    load_lanes,
    sum_each,
    sum_lanes,
    where_less,
    zero_lanes,
)
from spume.numerics.tensor3 import det, inverse, inverse_sym, multiply, transpose
from spume.points.deformation import (
    CRUSHED,
    FAR,
    FITTED,
    ILL_CONDITIONED,
    INVERTED,
    POINTS_PER_TASK,
    TOO_FEW,
    well_conditioned,
)
from spume.points.kernels import elastic_kernel, elastic_kernels, elastic_slopes
from spume.points.neighbours import pair_square

# columns of the rows that neighbours read, see `numerics.lanes`
REFERENCE, X, V, G, STIFFNESS, RESISTANCE, SPIN = 0, 3, 6, 9, 18, 19, 20
WIDTH = 24


@compiled(inline="always")
def _full(s):
    return (s[0], s[3], s[4], s[3], s[1], s[5], s[4], s[5], s[2])


@compiled(parallel=True)
def find_weights(
    start, neighbour, x, metric, dimension, h, least, condition, weight, places, divisor, spread, number, quality
):
    """Write the weight of each entry of the lists, and for each point A⁻¹, tr A/d [m²], the number of neighbours and
    whether it has a fit. x, metric: places and metric of the reference, also of ghosts; places: rows with the
    former."""
    inverse_square = 1.0 / (h * h)
    n = quality.size
    for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
        for i in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1))):
            x0, x1, x2 = places[i, 0], places[i, 1], places[i, 2]
            for entry in range(start[i], start[i + 1]):
                j = neighbour[entry]
                w = 0.0
                if j < x.shape[0]:  # no padding
                    dz = x[j, 2] - x[i, 2] if dimension == 3 else 0.0
                    s = pair_square(metric, i, j, x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], dz)
                    w = max(0.0, 1.0 - s * inverse_square)
                weight[entry] = w * w * w
            sxx = syy = szz = sxy = sxz = syz = within = zero_lanes()
            for group in range(start[i], start[i + 1], LANES):
                px, py, pz, _, _, _, _, _ = gather_rows(places, 0, neighbour, group)
                dx, dy, dz = px - x0, py - x1, pz - x2
                w = load_lanes(weight, group)
                within += where_less(0.0, w, 1.0, 0.0)
                wx, wy, wz = w * dx, w * dy, w * dz
                sxx += wx * dx
                syy += wy * dy
                szz += wz * dz
                sxy += wx * dy
                sxz += wx * dz
                syz += wy * dz
            axx, ayy, azz, axy, axz, ayz, near, _ = sum_each(sxx, syy, szz, sxy, sxz, syz, within, within)
            number[i] = near
            spread[i] = (axx + ayy + azz) / dimension
            if dimension == 2:
                azz = 0.5 * (axx + ayy)  # makes the third axis neutral for the condition number
            A = (axx, ayy, azz, axy, axz, ayz)
            quality[i] = FITTED
            result = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            if near < least:
                quality[i] = TOO_FEW
            elif not well_conditioned(A, condition):
                quality[i] = ILL_CONDITIONED
            else:
                result = inverse_sym(A)
            for q in range(6):
                divisor[i, q] = result[q]


@compiled(parallel=True)
def pack_places(reference, x, places):
    """Write a row with reference place and displacement for each point, and a last row beyond every radius."""
    n, d = x.shape
    for p in prange(n):
        places[p, 5] = 0.0
        for q in range(d):
            places[p, q], places[p, 3 + q] = reference[p, q], x[p, q] - reference[p, q]
    last = places.shape[0] - 1
    for q in range(d):
        places[last, q], places[last, 3 + q] = FAR, 0.0


@compiled(parallel=True)
def pack_sph(x, v, volume, places):
    """Write a row (x, V, v, 0) for each point, and a last row beyond every radius."""
    n, d = x.shape
    for p in prange(n):
        for q in range(d):
            places[p, q], places[p, 4 + q] = x[p, q], v[p, q]
        places[p, 3], places[p, 7] = volume[p], 0.0
    last = places.shape[0] - 1
    places[last, 3] = 0.0
    for q in range(d):
        places[last, q] = FAR


@compiled(parallel=True)
def fit_gradient(start, neighbour, weight, places, divisor, gradient):
    """Write Σ w u_ij X_ijᵀ A⁻¹ of each point, for the displacements or velocities u in the rows."""
    n = gradient.shape[0]
    for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
        for i in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1))):
            x0, x1, x2, u0, u1, u2 = (
                places[i, 0], places[i, 1], places[i, 2], places[i, 3], places[i, 4], places[i, 5],
            )  # fmt: skip
            t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = t8 = zero_lanes()
            for group in range(start[i], start[i + 1], LANES):
                x, y, z, ux, uy, uz, _, _ = gather_rows(places, 0, neighbour, group)
                w = load_lanes(weight, group)
                dx, dy, dz = w * (x - x0), w * (y - x1), w * (z - x2)
                vx, vy, vz = ux - u0, uy - u1, uz - u2
                t0 += vx * dx
                t1 += vx * dy
                t2 += vx * dz
                t3 += vy * dx
                t4 += vy * dy
                t5 += vy * dz
                t6 += vz * dx
                t7 += vz * dy
                t8 += vz * dz
            b0, b1, b2, b3, b4, b5, b6, b7 = sum_each(t0, t1, t2, t3, t4, t5, t6, t7)
            T = (b0, b1, b2, b3, b4, b5, b6, b7, sum_lanes(t8))
            store(gradient, i, multiply(T, _full(load_sym(divisor, i))))


@compiled(parallel=True)
def compose_step(gradient, quality, J, least_volume, per_time, F, rate, deformation, outcome):
    """From the gradient of the displacements since the reference, write f = F_new F_old⁻¹, F_new and Ḟ of each point.

    J: volume ratio before the step. Points without a fit, and those that would be inverted or compressed to less than
    `least_volume`, keep F."""
    for p in prange(outcome.size):
        old = load(F, p)
        g = load(gradient, p)
        new = (1.0 + g[0], g[1], g[2], g[3], 1.0 + g[4], g[5], g[6], g[7], 1.0 + g[8])
        change = (
            new[0] - old[0], new[1] - old[1], new[2] - old[2], new[3] - old[3], new[4] - old[4], new[5] - old[5],
            new[6] - old[6], new[7] - old[7], new[8] - old[8],
        )  # fmt: skip
        step = multiply(change, inverse(old))
        f = (
            1.0 + step[0], step[1], step[2], step[3], 1.0 + step[4], step[5], step[6], step[7], 1.0 + step[8],
        )  # fmt: skip
        volume = det(f)
        result = quality[p]
        if result == FITTED:
            if not volume > 0.0:
                result = INVERTED
            elif volume < 1.0 and J[p] * volume < least_volume:
                result = CRUSHED
        outcome[p] = result
        if result == FITTED:
            store(F, p, new)
            store(deformation, p, f)
        else:
            store(deformation, p, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
        for a in range(3):
            for b in range(3):
                rate[p, a, b] = change[3 * a + b] * per_time if result == FITTED else 0.0


@compiled(parallel=True)
def prepare_rows(
    reference, x, v, volume, stress, F, rate, divisor, stiffness, resistance, shear_viscosity, bulk_viscosity, rows
):
    """Write what neighbours read of each point; the last row is beyond every radius, with zero weight."""
    n, d = x.shape
    for p in prange(n):
        for q in range(d):
            rows[p, REFERENCE + q], rows[p, X + q], rows[p, V + q] = reference[p, q], x[p, q], v[p, q]
        c, nu = stiffness[p], resistance[p]
        deformed, speed = load(F, p), load(rate, p)
        undeformed = inverse(deformed)
        L = multiply(speed, undeformed)
        two_eta = 2.0 * shear_viscosity[p]
        pressure = (bulk_viscosity[p] - two_eta / 3.0) * (L[0] + L[4] + L[8])
        t = load_sym(stress, p)
        t = (
            t[0] + pressure + two_eta * L[0], t[1] + pressure + two_eta * L[4], t[2] + pressure + two_eta * L[8],
            t[3] + 0.5 * two_eta * (L[1] + L[3]), t[4] + 0.5 * two_eta * (L[2] + L[6]),
            t[5] + 0.5 * two_eta * (L[5] + L[7]),
        )  # fmt: skip
        T = multiply(multiply(_full(t), transpose(undeformed)), _full(load_sym(divisor, p)))
        s0, s1, s2 = 0.5 * nu * (L[7] - L[5]), 0.5 * nu * (L[2] - L[6]), 0.5 * nu * (L[3] - L[1])
        turned = multiply((0.0, -s2, s1, s2, 0.0, -s0, -s1, s0, 0.0), deformed)  # ν W F
        for q in range(9):
            rows[p, G + q] = volume[p] * T[q] - c * deformed[q] - nu * speed[q] + turned[q]
        rows[p, STIFFNESS], rows[p, RESISTANCE] = c, nu
        rows[p, SPIN], rows[p, SPIN + 1], rows[p, SPIN + 2] = s0, s1, s2
    last = rows.shape[0] - 1
    for q in range(d):
        rows[last, X + q] = FAR


@compiled(parallel=True)
def find_pressure(start, neighbour, places, volume, h, c, stiffness, lattice, pressure):
    """SPH pressure [Pa] of each point. places: rows with places and, in column 3, volumes."""
    for i in prange(volume.size):
        x0, x1, x2 = places[i, 0], places[i, 1], places[i, 2]
        crowd = zero_lanes()
        for group in range(start[i], start[i + 1], LANES):
            x_j, y_j, z_j, volumes, _, _, _, _ = gather_rows(places, 0, neighbour, group)
            dx, dy, dz = x_j - x0, y_j - x1, z_j - x2
            crowd += volumes * elastic_kernels(dx * dx + dy * dy + dz * dz, h, c)
        dense = sum_lanes(crowd) + volume[i] * elastic_kernel(0.0, h, c)
        pressure[i] = stiffness * max(0.0, dense / lattice - 1.0)


@compiled(parallel=True)
def accelerate_points(start, neighbour, weight, rows, mass, dimension, acceleration):
    """Compute the acceleration [m/s²] of each point by the forces of the reference."""
    n = acceleration.shape[0]
    for task in prange((n + POINTS_PER_TASK - 1) // POINTS_PER_TASK):
        for i in range(POINTS_PER_TASK * task, min(n, POINTS_PER_TASK * (task + 1))):
            r0, r1, r2 = rows[i, REFERENCE], rows[i, REFERENCE + 1], rows[i, REFERENCE + 2]
            x0, x1, x2 = rows[i, X], rows[i, X + 1], rows[i, X + 2]
            v0, v1, v2 = rows[i, V], rows[i, V + 1], rows[i, V + 2]
            sx = sy = sz = zero_lanes()  # Σ w X_ij
            cx = cy = cz = zero_lanes()  # Σ w x_ij
            wx = wy = wz = zero_lanes()  # Σ w v_ij
            fx = fy = fz = zero_lanes()
            for group in range(start[i], start[i + 1], LANES):
                a, b, c, x, y, z, vx, vy = gather_rows(rows, 0, neighbour, group)
                vz, g0, g1, g2, g3, g4, g5, g6 = gather_rows(rows, LANES, neighbour, group)
                g7, g8, stiffness, resistance, s0, s1, s2, _ = gather_rows(rows, 2 * LANES, neighbour, group)
                w = load_lanes(weight, group)
                ax, ay, az = w * (a - r0), w * (b - r1), w * (c - r2)
                dx, dy, dz = w * (x - x0), w * (y - x1), w * (z - x2)
                ux, uy, uz = w * (vx - v0), w * (vy - v1), w * (vz - v2)
                sx += ax
                sy += ay
                sz += az
                cx += dx
                cy += dy
                cz += dz
                wx += ux
                wy += uy
                wz += uz
                fx += g0 * ax + g1 * ay + g2 * az + stiffness * dx + resistance * ux - (s1 * dz - s2 * dy)
                fy += g3 * ax + g4 * ay + g5 * az + stiffness * dy + resistance * uy - (s2 * dx - s0 * dz)
                fz += g6 * ax + g7 * ay + g8 * az + stiffness * dz + resistance * uz - (s0 * dy - s1 * dx)
            k, nu = rows[i, STIFFNESS], rows[i, RESISTANCE]
            w0, w1, w2 = rows[i, SPIN], rows[i, SPIN + 1], rows[i, SPIN + 2]
            fx += sx * rows[i, G] + sy * rows[i, G + 1] + sz * rows[i, G + 2] + cx * k + wx * nu
            fy += sx * rows[i, G + 3] + sy * rows[i, G + 4] + sz * rows[i, G + 5] + cy * k + wy * nu
            fz += sx * rows[i, G + 6] + sy * rows[i, G + 7] + sz * rows[i, G + 8] + cz * k + wz * nu
            fx += cy * w2 - cz * w1
            fy += cz * w0 - cx * w2
            fz += cx * w1 - cy * w0
            inverse_mass = 1.0 / mass[i]
            acceleration[i, 0] = sum_lanes(fx) * inverse_mass
            acceleration[i, 1] = sum_lanes(fy) * inverse_mass
            if dimension == 3:
                acceleration[i, 2] = sum_lanes(fz) * inverse_mass


@compiled(parallel=True)
def add_sph_forces(start, neighbour, places, volume, mass, dimension, h, c, viscosity, acceleration):
    """Add the accelerations of SPH pressure and viscosity. places: rows with x, V, v and the pressure."""
    viscous = 2.0 * (dimension + 2) * viscosity
    for i in prange(volume.size):
        x0, x1, x2, pressure = places[i, 0], places[i, 1], places[i, 2], places[i, 7]
        v0, v1, v2 = places[i, 4], places[i, 5], places[i, 6]
        fx = fy = fz = zero_lanes()
        for group in range(start[i], start[i + 1], LANES):
            x, y, z, volumes, vx, vy, vz, pressures = gather_rows(places, 0, neighbour, group)
            dx, dy, dz = x - x0, y - x1, z - x2
            square = dx * dx + dy * dy + dz * dz
            along = (vx - v0) * dx + (vy - v1) * dy + (vz - v2) * dz
            rate = along * viscous / where_less(0.0, square, square, 1.0)
            force = elastic_slopes(square, h, c) * volumes * (rate - (pressures + pressure))
            fx += force * dx
            fy += force * dy
            fz += force * dz
        scale = volume[i] / mass[i]
        acceleration[i, 0] += sum_lanes(fx) * scale
        acceleration[i, 1] += sum_lanes(fy) * scale
        if dimension == 3:
            acceleration[i, 2] += sum_lanes(fz) * scale


@compiled(parallel=True)
def non_affine_energy(start, neighbour, weight, reference, x, F, stiffness, energy):
    """Write the energy ½ c Σ w |x_ij − F X_ij|² [J] of each point. reference, x: also of ghosts."""
    n, d = x.shape
    for i in prange(energy.size):
        total = 0.0
        for entry in range(start[i], start[i + 1]):
            j = neighbour[entry]
            if j == n:
                break  # padding from here on
            for a in range(d):
                residual = x[j, a] - x[i, a]
                for b in range(d):
                    residual -= F[i, a, b] * (reference[j, b] - reference[i, b])
                total += weight[entry] * residual * residual
        energy[i] = 0.5 * stiffness[i] * total
