"""The motion of a group of points, and its correction after their masses have changed.

A group has a mass M, a centre X, a velocity V, a spin S (its angular momentum about X), an inertia I and an energy E of
the motion relative to V. With APIC, the affine velocity C of each point contributes: a point of mass m adds m D (C −
Cᵀ) to the spin and ½ m D |C|² to the energy, where D is the second moment of the spline [Jiang15].

Suppose that a change of the masses keeps M and X, and changes V, S, I and E to V′, S′, I′ and E′. The motion

    v ← V + Ω × (x − X) + s (v − V′ − Ω′ × (x − X)),     I′ Ω = S,  I′ Ω′ = S′

has the old momentum and the old spin for any s, because the term multiplied by s has neither; likewise for C. Its
energy is ½ S·Ω + s² (E′ − ½ S′·Ω′), since rigid motions are orthogonal to all motions without momentum and spin. We
take s = 1 if that energy is at most E, otherwise the s that gives E. If even s = 0 exceeds E, the group rotated almost
like a rigid body and its inertia became smaller; the same spin then requires more energy for any motion of the points.
"""

import numpy as np

from spume.numerics.jit import compiled

MASS, CENTRE, VELOCITY, SPIN, INERTIA, ENERGY, SIZE = 0, 1, 4, 7, 10, 19, 20
"""Positions of the quantities in the array of a motion; vectors have three components, the inertia nine."""
COLLINEAR = 1e-14
"""Added to the inertia, relative to its trace: points on a line have neither inertia nor spin about that line."""


@compiled(fastmath=False)
def _spin_of(D, C, p):
    """(C − Cᵀ) as a vector."""
    if D == 2:
        return 0.0, 0.0, C[p, 1, 0] - C[p, 0, 1]
    return C[p, 2, 1] - C[p, 1, 2], C[p, 0, 2] - C[p, 2, 0], C[p, 1, 0] - C[p, 0, 1]


@compiled(fastmath=False)
def measure_motion(members, mass, x, v, C, moment, motion):
    """Write the motion of the points `members` to `motion`. `C` is empty if points have none; `moment`: D [m²]."""
    D = x.shape[1]
    motion[:] = 0.0
    for p in members:
        motion[MASS] += mass[p]
        for a in range(D):
            motion[CENTRE + a] += mass[p] * x[p, a]
            motion[VELOCITY + a] += mass[p] * v[p, a]
    for a in range(D):
        motion[CENTRE + a] /= motion[MASS]
        motion[VELOCITY + a] /= motion[MASS]
    r, u = np.zeros(3), np.zeros(3)
    for p in members:
        for a in range(D):
            r[a] = x[p, a] - motion[CENTRE + a]
            u[a] = v[p, a] - motion[VELOCITY + a]
        square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
        motion[SPIN] += mass[p] * (r[1] * u[2] - r[2] * u[1])
        motion[SPIN + 1] += mass[p] * (r[2] * u[0] - r[0] * u[2])
        motion[SPIN + 2] += mass[p] * (r[0] * u[1] - r[1] * u[0])
        motion[ENERGY] += 0.5 * mass[p] * (u[0] * u[0] + u[1] * u[1] + u[2] * u[2])
        own = 0.0
        if C.shape[0] > 0:
            own = 2.0 * moment
            sx, sy, sz = _spin_of(D, C, p)
            motion[SPIN] += mass[p] * moment * sx
            motion[SPIN + 1] += mass[p] * moment * sy
            motion[SPIN + 2] += mass[p] * moment * sz
            for a in range(D):
                for b in range(D):
                    motion[ENERGY] += 0.5 * mass[p] * moment * C[p, a, b] * C[p, a, b]
        for a in range(3):
            for b in range(3):
                motion[INERTIA + 3 * a + b] -= mass[p] * r[a] * r[b]
            motion[INERTIA + 4 * a] += mass[p] * (square + own)


@compiled(fastmath=False)
def _angular_velocity(D, inertia, spin, omega):
    """Solve I ω = S; in 2D only the z components differ from zero."""
    omega[:] = 0.0
    if D == 2:
        if inertia[8] > 0.0:
            omega[2] = spin[2] / inertia[8]
        return
    a, b, c, e, f, i = inertia[0], inertia[1], inertia[2], inertia[4], inertia[5], inertia[8]
    small = COLLINEAR * (a + e + i)
    a, e, i = a + small, e + small, i + small
    A, B, C = e * i - f * f, c * f - b * i, b * f - c * e
    det = a * A + b * B + c * C
    if det > 0.0:
        omega[0] = (A * spin[0] + B * spin[1] + C * spin[2]) / det
        omega[1] = (B * spin[0] + (a * i - c * c) * spin[1] + (b * c - a * f) * spin[2]) / det
        omega[2] = (C * spin[0] + (b * c - a * f) * spin[1] + (a * e - b * b) * spin[2]) / det


@compiled(fastmath=False)
def restore_motion(members, mass, x, v, C, moment, wanted):
    """Give the points `members`, which have the mass and centre of the motion `wanted`, its velocity and spin, and, if
    possible, no more than its energy."""
    D = x.shape[1]
    present = np.empty(SIZE)
    measure_motion(members, mass, x, v, C, moment, present)
    inertia = present[INERTIA : INERTIA + 9]
    turn, had = np.empty(3), np.empty(3)
    _angular_velocity(D, inertia, wanted[SPIN : SPIN + 3], turn)
    _angular_velocity(D, inertia, present[SPIN : SPIN + 3], had)
    rest, free = wanted[ENERGY], present[ENERGY]
    for a in range(3):
        rest -= 0.5 * wanted[SPIN + a] * turn[a]
        free -= 0.5 * present[SPIN + a] * had[a]
    s = 1.0
    if free > rest:
        s = np.sqrt(max(rest, 0.0) / free)
    r = np.zeros(3)
    for a in range(3):
        turn[a] -= s * had[a]
    for p in members:
        for a in range(D):
            r[a] = x[p, a] - present[CENTRE + a]
        sweep = (turn[1] * r[2] - turn[2] * r[1], turn[2] * r[0] - turn[0] * r[2], turn[0] * r[1] - turn[1] * r[0])
        for a in range(D):
            v[p, a] = wanted[VELOCITY + a] + s * (v[p, a] - present[VELOCITY + a]) + sweep[a]
            if C.shape[0] > 0:
                for b in range(D):
                    C[p, a, b] *= s
        if C.shape[0] > 0:
            C[p, 1, 0] += turn[2]
            C[p, 0, 1] -= turn[2]
            if D == 3:
                C[p, 2, 1] += turn[0]
                C[p, 1, 2] -= turn[0]
                C[p, 0, 2] += turn[1]
                C[p, 2, 0] -= turn[1]
