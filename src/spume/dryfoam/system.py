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
from spume.dryfoam.geometry import area_with_segments, half_edge_vector
from spume.dryfoam.network import Floats, Integers, Network
from spume.dryfoam.region import Mask, Region
from spume.numerics.jit import compiled

# Second derivatives are taken at the pressure difference that the film's own curvature implies, 2T sin θ / c: the same
# in equilibrium, and never of the wrong sign far from it. ∂²/∂θ² is then 2 cos θ T c S'; films with 2 cos θ below this
# keep their half angle as an unknown.
EXPLICIT = 0.3
ENTRIES = 49
"""Room for the matrix entries of one film: up to 4 coordinates, 2 pressures and a half angle, squared."""


@compiled
def _difference(e, cell, pressures):
    """Pressure left minus right of film e; the outside of a free foam has none."""
    i, j = cell[2 * e], cell[2 * e + 1]
    return (pressures[i] if i >= 0 else 0.0) - (pressures[j] if j >= 0 else 0.0)


@compiled
def residual_kernel(
    films, vertex_index, positions, half_angles, origin, cell, shift, lattice, pressures, tension,
    force, bend, chords, lengths, segments,
):  # fmt: skip
    """Derivative to the positions of the indexed vertices (V, 2) and, per film of `films`, to its half angle, with its
    chord vector, chord [m] and the area of its segment [m²]."""
    force[:] = 0.0
    for k in range(len(films)):
        e = films[k]
        dp = _difference(e, cell, pressures)
        dx, dy = half_edge_vector(2 * e, positions, origin, shift, lattice)
        c = math.sqrt(dx * dx + dy * dy)
        L, dL, _, S, dS, _ = arc_factors(half_angles[e])
        g = tension * L / c - 2.0 * dp * S
        a, b = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
        # the polygon under the chord adds (dy, -dx)/2 to the left cell's area gradient at both ends
        if a >= 0:
            force[a, 0] += -g * dx - 0.5 * dp * dy
            force[a, 1] += -g * dy + 0.5 * dp * dx
        if b >= 0:
            force[b, 0] += g * dx - 0.5 * dp * dy
            force[b, 1] += g * dy + 0.5 * dp * dx
        bend[k] = tension * c * dL - dp * c * c * dS
        segments[k] = c * c * S
        chords[k, 0], chords[k, 1], lengths[k] = dx, dy, c


@compiled
def area_kernel(first, segments, film_index, positions, origin, next_, shift, lattice, areas):
    for f in range(len(first)):
        areas[f] = area_with_segments(first[f], segments, film_index, positions, origin, next_, shift, lattice)


@compiled
def _unknowns(e, number, origin, cell, vertex_index, cell_index, vertices, cells, vars_):
    """Numbers of the unknowns that film e couples, -1 for what stands still: 2 v + k for coordinate k of vertex v,
    2 V + f for the pressure of cell f, 2 V + F + `number` for its own half angle where that is not negative."""
    a, b = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
    i, j = cell[2 * e], cell[2 * e + 1]
    for k in range(2):
        vars_[k] = 2 * a + k if a >= 0 else -1
        vars_[2 + k] = 2 * b + k if b >= 0 else -1
    vars_[4] = 2 * vertices + cell_index[i] if i >= 0 and cell_index[i] >= 0 else -1
    vars_[5] = 2 * vertices + cell_index[j] if j >= 0 and cell_index[j] >= 0 else -1
    vars_[6] = 2 * vertices + cells + number if number >= 0 else -1


@compiled
def assemble_kernel(
    films, extra, chords, half_angles, origin, cell, pressures, vertex_index, cell_index, tension, damping, softness,
    rows, columns, values,
):  # fmt: skip
    """Entries of the Newton matrix, rows and columns numbered as in `_unknowns`; returns how many."""
    n, vertices, cells = 0, len(damping), len(softness)
    vars_ = np.empty(7, dtype=np.int64)
    row = np.empty((7, 7))
    for q in range(len(films)):
        e = films[q]
        dp = _difference(e, cell, pressures)
        dx, dy = chords[q, 0], chords[q, 1]
        c = math.sqrt(dx * dx + dy * dy)
        theta = half_angles[e]
        _, _, _, S, dS, _ = arc_factors(theta)
        _, g, _, h_cc, h, f_tt = film_energy(c, theta, tension, 2.0 * tension * math.sin(theta) / c)
        # second derivatives to the chord, to (chord, Δp) and to Δp; the half angle condensed unless explicit
        hd = h_cc
        dp_chord = -2.0 * S
        t_p = -c * c * dS
        pp = 0.0
        explicit = extra[q] >= 0
        if not explicit:
            hd -= h * h / f_tt
            dp_chord -= h * t_p / f_tt
            pp = -t_p * t_p / f_tt
        xx, xy, yy = g + hd * dx * dx, hd * dx * dy, g + hd * dy * dy
        px, py = dp_chord * dx, dp_chord * dy
        _unknowns(e, extra[q], origin, cell, vertex_index, cell_index, vertices, cells, vars_)
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
    for v in range(2 * vertices):
        rows[n], columns[n], values[n] = v, v, damping[v // 2]
        n += 1
    for f in range(cells):
        rows[n], columns[n], values[n] = 2 * vertices + f, 2 * vertices + f, -softness[f]
        n += 1
    return n


@compiled
def right_kernel(
    films, extra, chords, half_angles, origin, cell, pressures, vertex_index, cell_index, tension, vertices, cells,
    right,
):  # fmt: skip
    """Adds the films' own imbalance of Laplace-Young, condensed or explicit, to the right side."""
    vars_ = np.empty(7, dtype=np.int64)
    part = np.empty(7)
    for q in range(len(films)):
        e = films[q]
        dp = _difference(e, cell, pressures)
        dx, dy = chords[q, 0], chords[q, 1]
        c = math.sqrt(dx * dx + dy * dy)
        theta = half_angles[e]
        _, dL, _, _, dS, _ = arc_factors(theta)
        f_t = tension * c * dL - dp * c * c * dS
        _unknowns(e, extra[q], origin, cell, vertex_index, cell_index, vertices, cells, vars_)
        if extra[q] >= 0:
            right[vars_[6]] -= f_t
            continue
        _, _, _, _, h, f_tt = film_energy(c, theta, tension, 2.0 * tension * math.sin(theta) / c)
        ratio = f_t / f_tt
        part[0], part[1], part[2], part[3] = -h * dx, -h * dy, h * dx, h * dy
        part[4], part[5] = -c * c * dS, c * c * dS
        for k in range(6):
            if vars_[k] >= 0:
                right[vars_[k]] += part[k] * ratio


@compiled
def explicit_kernel(films, half_angles, extra):
    """Numbers the films whose half angle stays an unknown; returns how many."""
    count = 0
    for k in range(len(films)):
        extra[k] = -1
        if 2.0 * math.cos(half_angles[films[k]]) < EXPLICIT:
            extra[k] = count
            count += 1
    return count


@compiled
def half_angle_kernel(
    films, extra, chords, half_angles, origin, cell, pressures, vertex_index, cell_index, tension, move, dpressure,
    explicit, steps,
):  # fmt: skip
    """Step of each film's half angle that belongs to the vertex and pressure steps."""
    for q in range(len(films)):
        if extra[q] >= 0:
            steps[q] = explicit[extra[q]]
            continue
        e = films[q]
        i, j = cell[2 * e], cell[2 * e + 1]
        dp = _difference(e, cell, pressures)
        ddp = 0.0
        if i >= 0 and cell_index[i] >= 0:
            ddp += dpressure[cell_index[i]]
        if j >= 0 and cell_index[j] >= 0:
            ddp -= dpressure[cell_index[j]]
        dx, dy = chords[q, 0], chords[q, 1]
        c = math.sqrt(dx * dx + dy * dy)
        theta = half_angles[e]
        _, dL, _, _, dS, _ = arc_factors(theta)
        f_t = tension * c * dL - dp * c * c * dS
        _, _, _, _, h, f_tt = film_energy(c, theta, tension, 2.0 * tension * math.sin(theta) / c)
        a, b = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
        along = 0.0
        if a >= 0:
            along -= dx * move[a, 0] + dy * move[a, 1]
        if b >= 0:
            along += dx * move[b, 0] + dy * move[b, 1]
        steps[q] = -(f_t + h * along - c * c * dS * ddp) / f_tt


class Residual:
    """Imbalances of the present state of a region."""

    def __init__(self, network: Network, tension: float, region: Region) -> None:
        n, r = network, region
        self.region = region
        films = len(r.films)
        self.force, self.bend = np.empty((len(r.vertices), 2)), np.empty(films)
        self.chords, self.chord, segments = np.empty((films, 2)), np.empty(films), np.empty(films)
        residual_kernel(
            r.films, r.vertex_index, n.positions, n.half_angles, n.origin, n.cell, n.shift, n.lattice, n.pressures,
            tension, self.force, self.bend, self.chords, self.chord, segments,
        )  # fmt: skip
        areas = np.empty(len(r.cells))
        area_kernel(r.first, segments, r.film_index, n.positions, n.origin, n.next, n.shift, n.lattice, areas)
        targets = n.targets[r.cells]
        self.area = areas - targets
        self.relative_area = np.abs(self.area) / targets
        self.size = np.sqrt(np.clip(areas, 0.01 * targets, targets))
        self.local = np.hypot(self.force[:, 0], self.force[:, 1]) / tension
        self.force_error = float(np.max(self.local, initial=0.0))
        self.area_error = float(np.max(self.relative_area, initial=0.0))
        self.bend_error = float(np.max(np.abs(self.bend) / (tension * self.chord), initial=0.0))

    def hold(self, pinned: Mask) -> None:
        """Take the forces at the vertices `pinned` (V,) out, for a region of the whole foam."""
        self.force[pinned] = self.local[pinned] = 0.0
        self.force_error = float(np.max(self.local, initial=0.0))

    @property
    def error(self) -> float:
        return max(self.force_error, self.area_error, self.bend_error)


class NewtonSystem:
    """Matrix of a Newton step at the present state of a region, with the right sides of this state and later ones."""

    def __init__(
        self, network: Network, tension: float, region: Region, residual: Residual, damping: Floats, softness: Floats
    ) -> None:
        n, r = network, region
        self.network, self.tension, self.region = n, tension, region
        self.extra: Integers = np.empty(len(r.films), dtype=np.int64)
        count = explicit_kernel(r.films, n.half_angles, self.extra)
        self.size = 2 * len(r.vertices) + len(r.cells) + count
        room = ENTRIES * len(r.films) + 2 * len(r.vertices) + len(r.cells)
        rows, columns = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32)
        values = np.empty(room)
        used = assemble_kernel(
            r.films, self.extra, residual.chords, n.half_angles, n.origin, n.cell, n.pressures,
            r.vertex_index, r.cell_index, tension, damping, softness, rows, columns, values,
        )  # fmt: skip
        self.matrix = csc_matrix((values[:used], (rows[:used], columns[:used])), shape=(self.size, self.size))

    def right(self, residual: Residual) -> Floats:
        """Right side of the present state, whose residual is given."""
        n, r = self.network, self.region
        vertices, cells = len(r.vertices), len(r.cells)
        right = np.zeros(self.size)
        right[: 2 * vertices] = -residual.force.ravel()
        right[2 * vertices : 2 * vertices + cells] = residual.area
        right_kernel(
            r.films, self.extra, residual.chords, n.half_angles, n.origin, n.cell, n.pressures,
            r.vertex_index, r.cell_index, self.tension, vertices, cells, right,
        )  # fmt: skip
        return right

    def split(self, solution: Floats) -> tuple[Floats, Floats, Floats]:
        """Vertex moves (V, 2), pressure steps (F,) and the steps of the half angles that are unknowns."""
        vertices, cells = len(self.region.vertices), len(self.region.cells)
        moves = solution[: 2 * vertices].reshape(-1, 2)
        return moves, solution[2 * vertices : 2 * vertices + cells], solution[2 * vertices + cells :]

    def half_angle_steps(self, residual: Residual, moves: Floats, dpressure: Floats, explicit: Floats) -> Floats:
        """Steps of all half angles of the region (E,)."""
        n, r = self.network, self.region
        steps = np.empty(len(r.films))
        half_angle_kernel(
            r.films, self.extra, residual.chords, n.half_angles, n.origin, n.cell, n.pressures,
            r.vertex_index, r.cell_index, self.tension, moves, dpressure, explicit, steps,
        )  # fmt: skip
        return steps
