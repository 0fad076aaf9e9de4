"""The linearised equilibrium of a foam: residuals and the sparse symmetric system of one Newton step.

Equilibrium is a stationary point of  Σ T ℓ - Σ p_f (A_f - A_f*)  in vertex positions, half angles and pressures: its
derivatives are the net film tension at a vertex (zero at 120°), the law of Laplace-Young for each film, and the area
constraints, [DryFoam] eqs. (5), (6). The half angle of a film is coupled only to that film, so it is eliminated before
the sparse solve, except near and beyond half circles, where this is impossible and it remains an unknown.

A vertex on a wall moves only along it: forces and second derivatives are projected, and a stiffness across the wall
keeps the matrix regular. Parts of walls contribute neither forces nor derivatives: the area that a sliding vertex moves
from one cell to the next is accounted for at its film.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csc_matrix

from spume.dryfoam.equilibrium.pattern import ENDS, Pattern, film_nodes, offset
from spume.dryfoam.equilibrium.region import Region
from spume.dryfoam.network.arcs import arc_factors, film_energy
from spume.dryfoam.network.geometry import area_with_segments, half_edge_vector, pressure_drop
from spume.dryfoam.network.half_edges import Floats, Integers, Mask, Network
from spume.dryfoam.network.walls import corner_paths, polygon_moments
from spume.numerics.jit import compiled

# Second derivatives are evaluated at the pressure difference implied by the film's curvature, 2T sin θ / c, which is
# the same in equilibrium and never has the wrong sign far from it. ∂²/∂θ² is then 2 cos θ T c S'; the half angle of
# films with 2 cos θ below 0.3 remains an unknown.
EXPLICIT = math.acos(0.15)


class Derivatives(NamedTuple):
    """Derivatives of the Lagrangian at the present state of a region with V vertices and E films, as kernels take them;
    see `Mesh`."""

    force: Floats
    """With respect to the vertex positions [N], shape (V, 2)."""
    bend: Floats
    """With respect to the half angle of each film [J/m], shape (E,)."""
    chords: Floats
    """Chord vector d of each film [m], shape (E, 2)."""
    chord: Floats
    """Its length [m], shape (E,)."""
    segments: Floats
    """Area between each film and its chord [m²], shape (E,)."""
    second: Floats
    """Second derivatives (g, h_cc, h, f_θθ, p_d, p_θ) of each film: g I + h_cc d dᵀ for the chord, h d for chord and
    half angle, f_θθ for the half angle, p_d d for chord and Δp, p_θ for half angle and Δp; shape (E, 6)."""


@compiled
def residual_kernel(n, r, tension, derivatives):
    """Compute the derivatives of a region."""
    films, is_wall, vertex_index = r.films, r.is_wall, r.vertex_index
    force, bend, chords, lengths, segments, second = derivatives
    half_angles, origin = n.half_angles, n.origin
    force[:] = 0.0
    for k in range(len(films)):
        e = films[k]
        theta = half_angles[e]
        dp = pressure_drop(n, 2 * e)
        dx, dy = half_edge_vector(n, 2 * e)
        c = math.sqrt(dx * dx + dy * dy)
        chords[k, 0], chords[k, 1], lengths[k] = dx, dy, c
        if is_wall[k]:
            bend[k], segments[k] = 0.0, 0.0
            second[k] = 0.0
            continue
        factors = arc_factors(theta)
        _, g, bend[k], _, _, _ = film_energy(c, factors, tension, dp)
        a, b = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
        # the polygon under the chord adds (dy, -dx)/2 to the left cell's area gradient at both ends
        if a >= 0:
            force[a, 0] += -g * dx - 0.5 * dp * dy
            force[a, 1] += -g * dy + 0.5 * dp * dx
        if b >= 0:
            force[b, 0] += g * dx - 0.5 * dp * dy
            force[b, 1] += g * dy + 0.5 * dp * dx
        _, second[k, 0], _, second[k, 1], second[k, 2], second[k, 3] = film_energy(
            c, factors, tension, 2.0 * tension * math.sin(theta) / c
        )
        S, dS = factors[3], factors[4]
        second[k, 4], second[k, 5] = -2.0 * S, -c * c * dS
        segments[k] = c * c * S


@compiled
def area_kernel(n, r, segments, areas):
    """Areas of the cells of a region, from those of the segments of its films."""
    first, film_index = r.first, r.film_index
    for f in range(len(first)):
        areas[f] = area_with_segments(n, first[f], segments, film_index)


@compiled
def _film_matrix(dx, dy, dp, second, explicit, m):
    """Second derivatives of a film with respect to the coordinates of its ends, the pressures left and right and its
    half angle, as the upper triangle of m (7, 7). The half angle is eliminated unless explicit."""
    g, h_cc, h, f_tt, p_d, p_t = second
    pp = 0.0
    if not explicit:
        h_cc -= h * h / f_tt
        p_d -= h * p_t / f_tt
        pp = -p_t * p_t / f_tt
    xx, xy, yy = g + h_cc * dx * dx, h_cc * dx * dy, g + h_cc * dy * dy
    px, py = p_d * dx, p_d * dy
    m[0, 0], m[0, 1], m[1, 1] = xx, xy, yy
    m[2, 2], m[2, 3], m[3, 3] = xx, xy, yy
    m[0, 2], m[1, 3] = -xx, -yy
    m[0, 3], m[1, 2] = -xy - 0.5 * dp, -xy + 0.5 * dp
    m[0, 4], m[1, 4] = -px - 0.5 * dy, -py + 0.5 * dx
    m[2, 4], m[3, 4] = px - 0.5 * dy, py + 0.5 * dx
    for k in range(4):
        m[k, 5] = -m[k, 4]
    m[4, 4], m[5, 5], m[4, 5] = pp, pp, -pp
    if explicit:
        m[0, 6], m[1, 6], m[2, 6], m[3, 6] = -h * dx, -h * dy, h * dx, h * dy
        m[4, 6], m[5, 6] = p_t, -p_t
        m[6, 6] = f_tt


@compiled
def _slide(m, k, nx, ny):
    """Remove the direction (nx, ny) from the rows and columns k, k + 1 of a symmetric matrix, given by its upper
    triangle."""
    for i in range(7):
        if i == k or i == k + 1:
            continue
        ax, ay = (m[i, k], m[i, k + 1]) if i < k else (m[k, i], m[k + 1, i])
        across = ax * nx + ay * ny
        if i < k:
            m[i, k], m[i, k + 1] = ax - across * nx, ay - across * ny
        else:
            m[k, i], m[k + 1, i] = ax - across * nx, ay - across * ny
    tx, ty = ny, -nx
    along = m[k, k] * tx * tx + 2.0 * m[k, k + 1] * tx * ty + m[k + 1, k + 1] * ty * ty
    m[k, k], m[k, k + 1], m[k + 1, k + 1] = along * tx * tx, along * tx * ty, along * ty * ty


@compiled
def assemble_kernel(n, r, columns, derivatives, across, damping, softness, data):
    """Compute the values of the Newton matrix in the columns of its pattern; `across` is the stiffness across walls."""
    films, is_wall, normals = r.films, r.is_wall, r.normals
    extra, indptr, chords, second = columns.extra, columns.indptr, derivatives.chords, derivatives.second
    vertices, cells = len(damping), len(softness)
    nodes = np.empty(ENDS, dtype=np.int64)
    m = np.empty((7, 7))
    begin, wide = (0, 2, 4, 5, 6), (2, 2, 1, 1, 1)
    data[:] = 0.0
    for q in range(len(films)):
        if is_wall[q]:
            continue
        e = films[q]
        film_nodes(n, r, e, extra[q], nodes)
        film = second[q, 0], second[q, 1], second[q, 2], second[q, 3], second[q, 4], second[q, 5]
        _film_matrix(chords[q, 0], chords[q, 1], pressure_drop(n, 2 * e), film, extra[q] >= 0, m)
        for k in range(2):
            v = nodes[k]
            if v >= 0 and (normals[v, 0] != 0.0 or normals[v, 1] != 0.0):
                _slide(m, 2 * k, normals[v, 0], normals[v, 1])
        for k in range(ENDS):
            i = nodes[k]
            if i < 0:
                continue
            column = 2 * i if i < vertices else i + vertices
            for l in range(ENDS):
                if nodes[l] < 0:
                    continue
                at = offset(columns, i, nodes[l])
                for b in range(wide[k]):
                    for a in range(wide[l]):
                        row, col = begin[l] + a, begin[k] + b
                        data[indptr[column + b] + at + a] += m[min(row, col), max(row, col)]
    for v in range(vertices):
        nx, ny = normals[v, 0], normals[v, 1]
        data[indptr[2 * v]] += damping[v] + across * nx * nx
        data[indptr[2 * v] + 1] += across * nx * ny
        data[indptr[2 * v + 1]] += across * nx * ny
        data[indptr[2 * v + 1] + 1] += damping[v] + across * ny * ny
    for f in range(cells):
        data[indptr[2 * vertices + f]] -= softness[f]


@compiled
def right_kernel(n, r, extra, derivatives, right):
    """Add the errors of the Laplace-Young law of the films, eliminated or explicit, to the right-hand side."""
    films, is_wall, vertices = r.films, r.is_wall, len(r.vertices)
    bend, chords, second = derivatives.bend, derivatives.chords, derivatives.second
    nodes = np.empty(ENDS, dtype=np.int64)
    for q in range(len(films)):
        if is_wall[q]:
            continue
        film_nodes(n, r, films[q], extra[q], nodes)
        if extra[q] >= 0:
            right[nodes[4] + vertices] -= bend[q]
            continue
        h, f_tt, p_t = second[q, 2], second[q, 3], second[q, 5]
        ratio = bend[q] / f_tt
        x, y, p = h * chords[q, 0] * ratio, h * chords[q, 1] * ratio, p_t * ratio
        for k in range(2):
            if nodes[k] >= 0:
                right[2 * nodes[k]] += x if k == 1 else -x
                right[2 * nodes[k] + 1] += y if k == 1 else -y
            if nodes[2 + k] >= 0:
                right[nodes[2 + k] + vertices] += p if k == 0 else -p


@compiled
def explicit_kernel(n, r, extra):
    """Number the films whose half angle remains an unknown."""
    films, half_angles = r.films, n.half_angles
    count = 0
    for k in range(len(films)):
        extra[k] = -1
        if abs(half_angles[films[k]]) > EXPLICIT:
            extra[k] = count
            count += 1


@compiled
def half_angle_kernel(n, r, extra, derivatives, move, dpressure, explicit, steps):
    """Compute the step of each film's half angle from the vertex and pressure steps."""
    origin, cell, films, is_wall = n.origin, n.cell, r.films, r.is_wall
    vertex_index, cell_index = r.vertex_index, r.cell_index
    bend, chords, second = derivatives.bend, derivatives.chords, derivatives.second
    for q in range(len(films)):
        if is_wall[q]:
            steps[q] = 0.0
            continue
        if extra[q] >= 0:
            steps[q] = explicit[extra[q]]
            continue
        e = films[q]
        i, j = cell[2 * e], cell[2 * e + 1]
        ddp = 0.0
        if i >= 0 and cell_index[i] >= 0:
            ddp += dpressure[cell_index[i]]
        if j >= 0 and cell_index[j] >= 0:
            ddp -= dpressure[cell_index[j]]
        dx, dy = chords[q, 0], chords[q, 1]
        a, b = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
        along = 0.0
        if a >= 0:
            along -= dx * move[a, 0] + dy * move[a, 1]
        if b >= 0:
            along += dx * move[b, 0] + dy * move[b, 1]
        h, f_tt, p_t = second[q, 2], second[q, 3], second[q, 5]
        steps[q] = -(bend[q] + h * along + p_t * ddp) / f_tt


class Residual:
    """Residuals of the present state of a region."""

    def __init__(self, network: Network, tension: float, region: Region) -> None:
        n, r = network, region
        self.region = region
        films = len(r.films)
        self.derivatives = Derivatives(
            np.empty((len(r.vertices), 2)), np.empty(films), np.empty((films, 2)), np.empty(films), np.empty(films),
            np.empty((films, 6)),
        )  # fmt: skip
        self.force, self.bend, _, self.chord, segments, _ = self.derivatives
        residual_kernel(n.mesh, r, tension, self.derivatives)
        r.slide(self.force)
        for h, path in corner_paths(n):
            if r.film_index[h >> 1] >= 0:
                area = polygon_moments(path)[0]
                segments[r.film_index[h >> 1]] = area if h % 2 == 0 else -area
        areas = np.empty(len(r.cells))
        area_kernel(n.mesh, r, segments, areas)
        targets = n.targets[r.cells]
        self.area = areas - targets
        self.relative_area = np.abs(self.area) / targets
        self.across = tension / float(self.chord.mean())
        """Stiffness against moves across walls [N/m]: that of a film."""
        self.size = np.sqrt(np.clip(areas, 0.01 * targets, targets))
        self.local = np.hypot(self.force[:, 0], self.force[:, 1]) / tension
        self.force_error = float(np.max(self.local, initial=0.0))
        self.area_error = float(np.max(self.relative_area, initial=0.0))
        self.bend_error = float(np.max(np.abs(self.bend) / (tension * self.chord), initial=0.0))

    def hold(self, pinned: Mask) -> None:
        """Remove the forces at the vertices `pinned` (V,), for a region of the whole foam."""
        self.force[pinned] = self.local[pinned] = 0.0
        self.force_error = float(np.max(self.local, initial=0.0))

    @property
    def error(self) -> float:
        return max(self.force_error, self.area_error, self.bend_error)


class NewtonSystem:
    """Matrix of a Newton step at the present state of a region, with right-hand sides of this state and later ones."""

    def __init__(
        self,
        network: Network,
        region: Region,
        residual: Residual,
        damping: Floats,
        softness: Floats,
        pattern: Pattern | None = None,
    ) -> None:
        n, r = network, region
        self.network, self.region = n, region
        self.extra: Integers = np.empty(len(r.films), dtype=np.int64)
        explicit_kernel(n.mesh, r, self.extra)
        p = pattern if pattern is not None and pattern.serves(self.extra) else Pattern(n, r, self.extra)
        self.pattern, self.size = p, p.size
        data = np.empty(len(p.indices))
        assemble_kernel(n.mesh, r, p.columns, residual.derivatives, residual.across, damping, softness, data)
        self.matrix = csc_matrix((data, p.indices, p.columns.indptr), shape=(self.size, self.size))

    def stiffen_half_angles(self, residual: Residual, stiffness: float) -> None:
        """Add `stiffness` [N/m] to the half angles that are unknowns, weighted as displacements c θ of their films."""
        columns = np.arange(2 * len(self.region.vertices) + len(self.region.cells), self.size)
        # a column begins with its diagonal
        self.matrix.data[self.matrix.indptr[columns]] += stiffness * residual.chord[self.extra >= 0] ** 2

    def right(self, residual: Residual) -> Floats:
        """Right-hand side of the present state, whose residual is given."""
        n, r = self.network, self.region
        vertices, cells = len(r.vertices), len(r.cells)
        right = np.zeros(self.size)
        right[: 2 * vertices] = -residual.force.ravel()
        right[2 * vertices : 2 * vertices + cells] = residual.area
        right_kernel(n.mesh, r, self.extra, residual.derivatives, right)
        r.slide(right[: 2 * vertices].reshape(-1, 2))
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
        half_angle_kernel(n.mesh, r, self.extra, residual.derivatives, moves, dpressure, explicit, steps)
        return steps
