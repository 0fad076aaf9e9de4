"""Equilibrium by the paper's blocked Gauss-Seidel iteration: a 5 x 5 system per vertex, [DryFoam] eqs. (11), (15).

The unknowns of a block are the pressures of the vertex's three cells and its position; the equations are three areas
and two angles, since the third angle follows from the others, eq. (13). The block is solved by singular value
decomposition, so that a locally ill-conditioned foam yields a short step. Derivatives are in closed form. The ghost
bubble has neither pressure nor area equation, eq. (15). The iteration is slow (linear convergence, with more sweeps for
larger foams), but the blocks are independent of each other.
"""

import math

import numpy as np

from spume.dryfoam.equilibrium.newton import scales_kernel
from spume.dryfoam.equilibrium.region import Mask, Region
from spume.dryfoam.equilibrium.report import Options, Report
from spume.dryfoam.equilibrium.short_films import MOST_FLIPS, settle
from spume.dryfoam.equilibrium.system import Residual
from spume.dryfoam.network.arcs import arc_factors
from spume.dryfoam.network.geometry import half_edge_vector, one_cell_area, turn
from spume.dryfoam.network.half_edges import Network, validate
from spume.errors import RunFailed, SceneError
from spume.numerics.jit import compiled

LOWEST_SINGULAR = 1e-8
"""Singular values below this fraction of the largest are omitted."""


@compiled
def _pressure_step(h, positions, half_angles, origin, shift, lattice, tension):
    """d(segment area)/d(Δp) of half-edge h: c³ S' / (2 T cos θ), with cos θ kept away from zero at half circles."""
    dx, dy = half_edge_vector(h, positions, origin, shift, lattice)
    theta = turn(h, half_angles)
    c = math.hypot(dx, dy)
    cosine = math.copysign(max(abs(math.cos(theta)), 0.1), math.cos(theta))
    return c * c * c * arc_factors(theta)[4] / (2.0 * tension * cosine)


@compiled
def _block(
    h0, positions, half_angles, origin, next_, previous, cell, shift, lattice, pressures, targets, tension, J, r
):
    """Jacobian (5, 5) and right-hand side (5,) of eq. (11) for the origin of half-edge h0."""
    h = (h0, previous[h0] ^ 1, previous[previous[h0] ^ 1] ^ 1)
    J[:] = 0.0
    r[:] = 0.0
    direction = np.empty(3)
    dir_x, dir_y, dir_p = np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        dx, dy = half_edge_vector(h[k], positions, origin, shift, lattice)
        c = math.hypot(dx, dy)
        theta = turn(h[k], half_angles)
        cosine = math.copysign(max(abs(math.cos(theta)), 0.1), math.cos(theta))
        S, dS = arc_factors(theta)[3], arc_factors(theta)[4]
        lean = math.sin(theta) / (c * cosine)  # Δp / (2 T cos θ) by Laplace-Young
        direction[k] = math.atan2(dy, dx) - theta
        dir_x[k] = dy / (c * c) + lean * dx / c
        dir_y[k] = -dx / (c * c) + lean * dy / c
        dir_p[k] = -c / (2.0 * tension * cosine)
        seg_x, seg_y = -2.0 * S * dx - c * dS * lean * dx, -2.0 * S * dy - c * dS * lean * dy
        seg_p = _pressure_step(h[k], positions, half_angles, origin, shift, lattice, tension)
        left, right = k, (k + 2) % 3
        J[left, 3] += 0.5 * dy + seg_x
        J[left, 4] += -0.5 * dx + seg_y
        J[right, 3] -= 0.5 * dy + seg_x
        J[right, 4] -= -0.5 * dx + seg_y
        J[left, right] -= seg_p
        J[right, left] -= seg_p
    for k in range(3):
        f = cell[h[k]]
        if f < 0:
            continue
        r[k] = targets[f] - one_cell_area(h[k], positions, half_angles, origin, next_, shift, lattice)
        g = h[k]
        while True:
            J[k, k] += _pressure_step(g, positions, half_angles, origin, shift, lattice, tension)
            g = next_[g]
            if g == h[k]:
                break
    for k in range(2):
        angle = (direction[k + 1] - direction[k]) % (2.0 * math.pi)
        r[3 + k] = 2.0 * math.pi / 3.0 - angle
        J[3 + k, 3] = dir_x[k + 1] - dir_x[k]
        J[3 + k, 4] = dir_y[k + 1] - dir_y[k]
        # film k separates cell k (left) from cell k-1 (right)
        J[3 + k, k + 1] += dir_p[k + 1]
        J[3 + k, k] -= dir_p[k + 1]
        J[3 + k, k] -= dir_p[k]
        J[3 + k, (k + 2) % 3] += dir_p[k]
    for k in range(3):
        if cell[h[k]] < 0:
            J[k, :] = 0.0
            J[:, k] = 0.0
            r[k] = 0.0
    return h


@compiled
def _solve_block(J, r, size, tension):
    """Minimum-norm solution of the block by singular values, with rows and columns scaled to the size of the cells."""
    A = J.copy()
    b = r.copy()
    row = np.array([1.0 / (size * size), 1.0 / (size * size), 1.0 / (size * size), 1.0, 1.0])
    column = np.array([tension / size, tension / size, tension / size, size, size])
    for i in range(5):
        b[i] *= row[i]
        for j in range(5):
            A[i, j] *= row[i] * column[j]
    U, s, Vt = np.linalg.svd(A)
    z = np.zeros(5)
    for k in range(5):
        if s[k] > LOWEST_SINGULAR * s[0]:
            z += Vt[k] * (np.dot(np.ascontiguousarray(U[:, k]), b) / s[k])
    return z * column


@compiled
def _bend_cell(h0, positions, half_angles, origin, next_, cell, shift, lattice, pressures, tension):
    """Set the curvature of the films around a cell from its present pressure, where that is less than a half circle."""
    h = h0
    while True:
        i, j = cell[h], cell[h ^ 1]
        dp = (pressures[i] if i >= 0 else 0.0) - (pressures[j] if j >= 0 else 0.0)
        dx, dy = half_edge_vector(h, positions, origin, shift, lattice)
        sine = 0.5 * dp * math.hypot(dx, dy) / tension
        if abs(sine) < 0.98:
            theta = math.asin(sine)
            half_angles[h >> 1] = theta if (h & 1) == 0 else -theta
        h = next_[h]
        if h == h0:
            break


@compiled
def sweep(
    vertices, relax, flip_below, reach, out, flips_of, positions, half_angles, origin, next_, previous, cell, shift,
    lattice, wall, walls, pressures, targets, tension,
):  # fmt: skip
    """Do one Gauss-Seidel sweep over `vertices`, settling short films on the way; return the number of T1s."""
    J, r = np.empty((5, 5)), np.empty(5)
    flips = 0
    for v in vertices:
        h = _block(
            out[v],
            positions,
            half_angles,
            origin,
            next_,
            previous,
            cell,
            shift,
            lattice,
            pressures,
            targets,
            tension,
            J,
            r,
        )
        size = np.inf
        for k in range(3):
            if cell[h[k]] >= 0:
                size = min(size, math.sqrt(targets[cell[h[k]]]))
        z = relax * _solve_block(J, r, size, tension)
        far = math.hypot(z[3], z[4])
        scale = min(1.0, reach[v] / far) if far > 0 else 1.0
        settled = False
        for k in range(3):
            e = h[k] >> 1
            dx, dy = half_edge_vector(h[k], positions, origin, shift, lattice)
            cc = dx * dx + dy * dy
            if cc < flip_below[e] ** 2 and cc - scale * (z[3] * dx + z[4] * dy) < 0.1 * cc:
                done = settle(
                    e, max(math.sqrt(cc), 0.3 * flip_below[e]), flips_of,
                    positions, half_angles, origin, next_, previous, cell, shift, lattice, wall, walls,
                )  # fmt: skip
                if done:
                    for g in (2 * e, 2 * e + 1):
                        for q in (g, next_[g], next_[g ^ 1]):
                            out[origin[q]] = q
                flips += done
                settled = True
                break
        if settled:
            continue
        positions[v, 0] += scale * z[3]
        positions[v, 1] += scale * z[4]
        for k in range(3):
            f = cell[h[k]]
            if f >= 0:
                most = tension / math.sqrt(targets[f])
                pressures[f] += max(-most, min(most, z[k]))
        for k in range(3):
            if cell[h[k]] >= 0:
                _bend_cell(h[k], positions, half_angles, origin, next_, cell, shift, lattice, pressures, tension)
    return flips


def equilibrate_by_blocks(
    network: Network,
    tension: float,
    options: Options,
    relax: float = 0.5,
    vertices: Mask | None = None,
    pinned: Mask | None = None,
) -> Report:
    """Bring the network to equilibrium in place by sweeps over the chosen vertices (V,), holding the `pinned` ones.

    Raises RunFailed if 20 times `options.iterations` sweeps are not enough."""
    n, report = network, Report()
    if len(n.walls):
        raise SceneError("the solver 'gauss-seidel' does not support walls: use the solver 'newton'")
    out = np.zeros(n.vertices, dtype=np.int64)
    flips_of = np.zeros(n.films, dtype=np.int64)
    flip_below, reach = np.empty(n.films), np.empty(n.vertices)
    chosen = np.ones(n.vertices, dtype=np.bool_) if vertices is None else vertices
    moving = np.flatnonzero(chosen if pinned is None else chosen & ~pinned)
    for _ in range(20 * options.iterations):
        region = Region(n)
        residual = Residual(n, tension, region)
        if pinned is not None:
            residual.hold(pinned)
        report.read(residual)
        if report.error < options.tolerance:
            report.cycles = int(np.sum(flips_of > MOST_FLIPS))
            return report
        if not math.isfinite(report.error):
            break
        scales_kernel(
            region.films, region.vertex_index, residual.chord, n.origin, n.cell, n.targets, options.flip_length,
            flip_below, reach,
        )  # fmt: skip
        out[n.origin] = np.arange(len(n.origin))
        flips = sweep(
            moving, relax, flip_below, reach, out, flips_of, n.positions, n.half_angles, n.origin, n.next, n.previous,
            n.cell, n.shift, n.lattice, n.wall, n.walls, n.pressures, n.targets, tension,
        )  # fmt: skip
        if flips and options.checks == "events":
            validate(n)
        report.flips += flips
        if n.boundary == "periodic":
            n.pressures -= n.pressures.mean()
        report.iterations += 1
    raise RunFailed(
        f"the blocked Gauss-Seidel iteration stopped after {report.iterations} sweeps at a net tension of "
        f"{report.force_error:.2g} T and an area error of {report.area_error:.2g}: use the solver 'newton'"
    )
