"""The linearised equilibrium of a foam: residuals and the sparse symmetric system of one Newton step.

Equilibrium is a stationary point of  Σ T ℓ - Σ p_f (A_f - A_f*)  in vertex positions, half angles and pressures: its
derivatives are the net film tension at a vertex (zero at 120°), the law of Laplace-Young for each film, and the area
constraints, [DryFoam] eqs. (5), (6). The half angle of a film couples to nothing but that film, so it is eliminated
before the sparse solve, except near and beyond half circles, where it cannot be and stays an unknown.
"""

import math

import numpy as np
from scipy.sparse import csc_matrix

from spume.dryfoam.arcs import arc_factors, film_energy
from spume.dryfoam.network import Floats, Integers, Network
from spume.numerics.jit import compiled

# Second derivatives are taken at the pressure difference that the film's own curvature implies, 2T sin θ / c: the same
# in equilibrium, and never of the wrong sign far from it. ∂²/∂θ² is then 2 cos θ T c S'; films with 2 cos θ below this
# keep their half angle as an unknown.
EXPLICIT = 0.3
ENTRIES = 64
"""Room for the matrix entries of one film: up to 4 coordinates, 2 pressures and a half angle, squared."""


@compiled
def residual_kernel(chords, half_angles, origin, cell, pressures, tension, force, bend, swell):
    """Adds the derivative to vertex positions (V, 2), to half angles (E,), and each film's c (in swell) [m]."""
    force[:] = 0.0
    for e in range(len(half_angles)):
        i, j = cell[2 * e], cell[2 * e + 1]
        dp = (pressures[i] if i >= 0 else 0.0) - (pressures[j] if j >= 0 else 0.0)
        dx, dy = chords[e, 0], chords[e, 1]
        c = math.hypot(dx, dy)
        _, g, f_theta, _, _, _ = film_energy(c, half_angles[e], tension, dp)
        a, b = origin[2 * e], origin[2 * e + 1]
        # the polygon under the chord adds (dy, -dx)/2 to the left cell's area gradient at both ends
        force[a, 0] += -g * dx - 0.5 * dp * dy
        force[a, 1] += -g * dy + 0.5 * dp * dx
        force[b, 0] += g * dx - 0.5 * dp * dy
        force[b, 1] += g * dy + 0.5 * dp * dx
        bend[e] = f_theta
        swell[e] = c


@compiled
def assemble_kernel(
    chords, half_angles, origin, cell, pressures, tension, damping, extra, vertices, cells, rows, columns, values, right
):
    """Entries of the Newton system, and the right side less the films' own residuals.

    Unknowns: 2 v + k for coordinate k of vertex v, 2 V + f for the pressure of cell f, 2 V + F + extra[e] for the half
    angle of film e where extra[e] >= 0. Returns the number of entries.
    """
    n = 0
    vars_ = np.empty(7, dtype=np.int64)
    row = np.empty((7, 7))
    for e in range(len(half_angles)):
        i, j = cell[2 * e], cell[2 * e + 1]
        dp = (pressures[i] if i >= 0 else 0.0) - (pressures[j] if j >= 0 else 0.0)
        dx, dy = chords[e, 0], chords[e, 1]
        c = math.hypot(dx, dy)
        theta = half_angles[e]
        _, dL, _, S, dS, _ = arc_factors(theta)
        f_t = tension * c * dL - dp * c * c * dS
        _, g, _, h_cc, h, f_tt = film_energy(c, theta, tension, 2.0 * tension * math.sin(theta) / c)
        # second derivatives to the chord, to (chord, Δp) and to Δp; the half angle condensed unless explicit
        hd = h_cc
        dp_chord = -2.0 * S
        t_p = -c * c * dS
        pp = 0.0
        explicit = extra[e] >= 0
        if not explicit:
            hd -= h * h / f_tt
            dp_chord -= h * t_p / f_tt
            pp = -t_p * t_p / f_tt
        xx, xy, yy = g + hd * dx * dx, hd * dx * dy, g + hd * dy * dy
        px, py = dp_chord * dx, dp_chord * dy
        a, b = origin[2 * e], origin[2 * e + 1]
        vars_[0], vars_[1], vars_[2], vars_[3] = 2 * a, 2 * a + 1, 2 * b, 2 * b + 1
        vars_[4] = 2 * vertices + i if i >= 0 else -1
        vars_[5] = 2 * vertices + j if j >= 0 else -1
        vars_[6] = 2 * vertices + cells + extra[e] if explicit else -1
        row[:] = 0.0
        row[0, 0], row[0, 1], row[1, 1] = xx, xy, yy
        row[2, 2], row[2, 3], row[3, 3] = xx, xy, yy
        row[0, 2], row[1, 3] = -xx, -yy
        row[0, 3], row[1, 2] = -xy - 0.5 * dp, -xy + 0.5 * dp
        row[0, 4], row[1, 4] = -px - 0.5 * dy, -py + 0.5 * dx
        row[2, 4], row[3, 4] = px - 0.5 * dy, py + 0.5 * dx
        for k in range(4):
            row[k, 5] = -row[k, 4]
        row[4, 4], row[5, 5], row[4, 5] = pp, pp, -pp
        if explicit:
            row[0, 6], row[1, 6], row[2, 6], row[3, 6] = -h * dx, -h * dy, h * dx, h * dy
            row[4, 6], row[5, 6] = t_p, -t_p
            row[6, 6] = f_tt
            right[vars_[6]] -= f_t
        else:
            ratio = f_t / f_tt
            right[2 * a] -= h * dx * ratio
            right[2 * a + 1] -= h * dy * ratio
            right[2 * b] += h * dx * ratio
            right[2 * b + 1] += h * dy * ratio
            if i >= 0:
                right[vars_[4]] += t_p * ratio
            if j >= 0:
                right[vars_[5]] -= t_p * ratio
        for k in range(7):
            if vars_[k] < 0:
                continue
            for m in range(k, 7):
                if vars_[m] < 0:
                    continue
                rows[n], columns[n], values[n] = vars_[k], vars_[m], row[k, m]
                n += 1
                if m != k:
                    rows[n], columns[n], values[n] = vars_[m], vars_[k], row[k, m]
                    n += 1
    for v in range(vertices):
        for k in range(2):
            rows[n], columns[n], values[n] = 2 * v + k, 2 * v + k, damping[v]
            n += 1
    return n


@compiled
def explicit_kernel(half_angles, extra):
    """Numbers the films whose half angle stays an unknown; returns how many."""
    count = 0
    for e in range(len(half_angles)):
        extra[e] = -1
        if 2.0 * math.cos(half_angles[e]) < EXPLICIT:
            extra[e] = count
            count += 1
    return count


@compiled
def half_angle_steps(chords, half_angles, origin, cell, pressures, tension, extra, move, dpressure, steps):
    """Step of each condensed half angle that belongs to the vertex and pressure steps."""
    for e in range(len(half_angles)):
        if extra[e] >= 0:
            continue
        i, j = cell[2 * e], cell[2 * e + 1]
        dp = (pressures[i] if i >= 0 else 0.0) - (pressures[j] if j >= 0 else 0.0)
        ddp = (dpressure[i] if i >= 0 else 0.0) - (dpressure[j] if j >= 0 else 0.0)
        dx, dy = chords[e, 0], chords[e, 1]
        c = math.hypot(dx, dy)
        theta = half_angles[e]
        _, dL, _, _, dS, _ = arc_factors(theta)
        f_t = tension * c * dL - dp * c * c * dS
        _, _, _, _, h, f_tt = film_energy(c, theta, tension, 2.0 * tension * math.sin(theta) / c)
        a, b = origin[2 * e], origin[2 * e + 1]
        along = dx * (move[b, 0] - move[a, 0]) + dy * (move[b, 1] - move[a, 1])
        steps[e] = -(f_t + h * along - c * c * dS * ddp) / f_tt


class NewtonSystem:
    """Matrix and right side of one Newton step at the network's present state."""

    def __init__(
        self, network: Network, tension: float, damping: Floats, force: Floats, area_error: Floats, softness: Floats
    ) -> None:
        n = network
        self.network, self.tension = n, tension
        self.chords = n.chords()
        self.extra: Integers = np.empty(n.films, dtype=np.int64)
        count = explicit_kernel(n.half_angles, self.extra)
        self.size = 2 * n.vertices + n.cells + count
        room = ENTRIES * n.films + 2 * n.vertices
        rows, columns = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        values = np.empty(room)
        self.right = np.zeros(self.size)
        self.right[: 2 * n.vertices] = -force.ravel()
        self.right[2 * n.vertices : 2 * n.vertices + n.cells] = area_error
        used = assemble_kernel(
            self.chords, n.half_angles, n.origin, n.cell, n.pressures, tension, damping, self.extra,
            n.vertices, n.cells, rows, columns, values, self.right,
        )  # fmt: skip
        matrix = csc_matrix((values[:used], (rows[:used], columns[:used])), shape=(self.size, self.size))
        diagonal = np.zeros(self.size)
        diagonal[2 * n.vertices : 2 * n.vertices + n.cells] = -softness
        matrix.setdiag(matrix.diagonal() + diagonal)
        self.matrix = matrix

    def split(self, solution: Floats) -> tuple[Floats, Floats, Floats]:
        """Vertex moves (V, 2), pressure steps (F,) and half angle steps (E,) of a solution."""
        n = self.network
        moves = solution[: 2 * n.vertices].reshape(-1, 2)
        dpressure = solution[2 * n.vertices : 2 * n.vertices + n.cells]
        return moves, dpressure, self.half_angle_steps(moves, dpressure, solution[2 * n.vertices + n.cells :])

    def half_angle_steps(self, moves: Floats, dpressure: Floats, explicit: Floats) -> Floats:
        n = self.network
        steps = np.zeros(n.films)
        half_angle_steps(
            self.chords, n.half_angles, n.origin, n.cell, n.pressures, self.tension, self.extra, moves, dpressure, steps
        )
        chosen = self.extra >= 0
        steps[chosen] = explicit[self.extra[chosen]]
        return steps
