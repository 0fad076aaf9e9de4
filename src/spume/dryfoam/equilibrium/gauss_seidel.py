"""Equilibrium by the paper's blocked Gauss-Seidel iteration: a 5 x 5 system per vertex, [DryFoam] eqs. (11), (15).

The unknowns of a block are the pressures of the vertex's three cells and its position; the equations are three areas
and two angles, since the third angle follows from the others, eq. (13). The block is solved by singular value
decomposition, so that a locally ill-conditioned foam yields a short step. Derivatives are in closed form. The ghost
bubble has neither pressure nor area equation, eq. (15). A vertex on a wall has two cells and slides along the wall: its
block has two areas and the angle of 90° between film and wall.

Convergence is linear, and the number of sweeps grows with the number of cells. The steps are halved far from
equilibrium. The iteration does not distinguish minima of the energy from saddle points.
"""

import math

import numpy as np

from spume.dryfoam.equilibrium.newton import NEAR, scales_kernel
from spume.dryfoam.equilibrium.region import Region
from spume.dryfoam.equilibrium.report import Options, Report
from spume.dryfoam.equilibrium.short_films import MOST_FLIPS, corners_around, pass_corners, settle
from spume.dryfoam.equilibrium.system import Residual
from spume.dryfoam.network.arcs import arc_factors
from spume.dryfoam.network.geometry import along_wall, half_edge_vector, one_cell_area, pressure_drop, turn
from spume.dryfoam.network.half_edges import Mask, Network, validate
from spume.errors import RunFailed
from spume.numerics.jit import compiled

LOWEST_SINGULAR = 1e-8
"""Singular values below this fraction of the largest are omitted."""
FAR_STEP = 0.5
"""Fraction of the step of a block that is taken if the error is above NEAR."""
PATIENCE = 1000, 20
"""Sweeps, and sweeps per cell, in which the error must halve. It takes about two sweeps per cell near equilibrium."""


@compiled
def _corner_area(n, h):
    """Area between the chord of the part h of a wall, with its cell on the left, and the wall around the corners of the
    box [m²]."""
    positions, wall, walls = n.positions, n.wall, n.walls
    a, b = n.origin[h], n.origin[h ^ 1]
    corners = corners_around(n, h)
    area, x, y = 0.0, 0.0, 0.0
    for k in range(corners + 1):
        if k < corners:
            c = (wall[a] + 1 + k) % len(walls)
            u, v = walls[c, 0] - positions[a, 0], walls[c, 1] - positions[a, 1]
        else:
            u, v = positions[b, 0] - positions[a, 0], positions[b, 1] - positions[a, 1]
        area += 0.5 * (x * v - y * u)
        x, y = u, v
    return area


@compiled
def _pressure_step(n, h, tension):
    """d(segment area)/d(Δp) of half-edge h: c³ S' / (2 T cos θ), with cos θ kept away from zero at half circles."""
    if along_wall(n, h):
        return 0.0
    dx, dy = half_edge_vector(n, h)
    theta = turn(n, h)
    c = math.hypot(dx, dy)
    cosine = math.copysign(max(abs(math.cos(theta)), 0.1), math.cos(theta))
    return c * c * c * arc_factors(theta)[4] / (2.0 * tension * cosine)


@compiled
def _block(n, h0, tension, J, r):
    """Jacobian (5, 5) and right-hand side (5,) of eq. (11) for the origin of half-edge h0. On a wall, the unknown 3 is
    the distance along it, and the unknown and the equation 4 are empty."""
    targets, next_, previous, cell = n.targets, n.next, n.previous, n.cell
    h = (h0, previous[h0] ^ 1, previous[previous[h0] ^ 1] ^ 1)
    J[:] = 0.0
    r[:] = 0.0
    direction = np.empty(3)
    dir_x, dir_y, dir_p = np.empty(3), np.empty(3), np.empty(3)
    slides = n.wall[n.origin[h0]] >= 0
    standing = 0  # number of the film that ends on the wall
    for k in range(3):
        if along_wall(n, h[k]):
            continue
        standing = k
        dx, dy = half_edge_vector(n, h[k])
        c = math.hypot(dx, dy)
        theta = turn(n, h[k])
        cosine = math.copysign(max(abs(math.cos(theta)), 0.1), math.cos(theta))
        S, dS = arc_factors(theta)[3], arc_factors(theta)[4]
        lean = math.sin(theta) / (c * cosine)  # Δp / (2 T cos θ) by Laplace-Young
        direction[k] = math.atan2(dy, dx) - theta
        dir_x[k] = dy / (c * c) + lean * dx / c
        dir_y[k] = -dx / (c * c) + lean * dy / c
        dir_p[k] = -c / (2.0 * tension * cosine)
        seg_x, seg_y = -2.0 * S * dx - c * dS * lean * dx, -2.0 * S * dy - c * dS * lean * dy
        seg_p = _pressure_step(n, h[k], tension)
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
        r[k] = targets[f] - one_cell_area(n, h[k])
        g = h[k]
        while True:
            if along_wall(n, g):
                r[k] -= _corner_area(n, g)
            J[k, k] += _pressure_step(n, g, tension)
            g = next_[g]
            if g == h[k]:
                break
    if slides:
        k, w = standing, n.wall[n.origin[h0]]
        tx, ty = n.walls[w, 2], n.walls[w, 3]
        off = math.atan2(tx, -ty) - direction[k]
        r[3] = math.atan2(math.sin(off), math.cos(off))
        J[3, 3] = tx * dir_x[k] + ty * dir_y[k]
        J[3, k], J[3, (k + 2) % 3] = dir_p[k], -dir_p[k]
        for i in range(3):
            J[i, 3], J[i, 4] = tx * J[i, 3] + ty * J[i, 4], 0.0
    for k in range(0 if slides else 2):
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
def _bend_cell(n, h0, tension):
    """Set the curvature of the films around a cell from its present pressure, where that is less than a half circle."""
    half_angles, next_ = n.half_angles, n.next
    h = h0
    while True:
        dx, dy = half_edge_vector(n, h)
        sine = 0.5 * pressure_drop(n, h) * math.hypot(dx, dy) / tension
        if abs(sine) < 0.98 and not along_wall(n, h):
            theta = math.asin(sine)
            half_angles[h >> 1] = theta if (h & 1) == 0 else -theta
        h = next_[h]
        if h == h0:
            break


@compiled
def sweep(n, vertices, relax, flip_below, reach, out, flips_of, tension):
    """Do one Gauss-Seidel sweep over `vertices`, settling short films on the way; return the number of T1s."""
    positions, pressures, targets, wall, walls = n.positions, n.pressures, n.targets, n.wall, n.walls
    origin, next_, cell = n.origin, n.next, n.cell
    J, r = np.empty((5, 5)), np.empty(5)
    flips = 0
    for v in vertices:
        h = _block(n, out[v], tension, J, r)
        size = np.inf
        for k in range(3):
            if cell[h[k]] >= 0:
                size = min(size, math.sqrt(targets[cell[h[k]]]))
        z = relax * _solve_block(J, r, size, tension)
        if wall[v] >= 0:
            z[3], z[4] = z[3] * walls[wall[v], 2], z[3] * walls[wall[v], 3]
        far = math.hypot(z[3], z[4])
        scale = min(1.0, reach[v] / far) if far > 0 else 1.0
        settled = False
        for k in range(3):
            e = h[k] >> 1
            if corners_around(n, h[k]) > 1:
                continue
            dx, dy = half_edge_vector(n, h[k])
            cc = dx * dx + dy * dy
            if cc < flip_below[e] ** 2 and cc - scale * (z[3] * dx + z[4] * dy) < 0.1 * cc:
                done = settle(n, e, max(math.sqrt(cc), 0.3 * flip_below[e]), flips_of)
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
                _bend_cell(n, h[k], tension)
    return flips


def equilibrate_by_blocks(
    network: Network,
    tension: float,
    options: Options,
    pinned: Mask | None = None,
    vertices: Mask | None = None,
    sweeps: int | None = None,
) -> Report:
    """Bring the network to equilibrium in place by sweeps over the chosen vertices (V,), holding the `pinned` ones.

    Raises RunFailed, with the remaining errors, after `sweeps`, or if the error does not halve within PATIENCE."""
    n, report = network, Report()
    out = np.zeros(n.vertices, dtype=np.int64)
    flips_of = np.zeros(n.films, dtype=np.int64)
    flip_below, reach = np.empty(n.films), np.empty(n.vertices)
    chosen = np.ones(n.vertices, dtype=np.bool_) if vertices is None else vertices
    moving = np.flatnonzero(chosen if pinned is None else chosen & ~pinned)
    best, last = np.inf, 0
    while sweeps is None or report.iterations < sweeps:
        region = Region.of(n)
        residual = Residual(n, tension, region)
        if pinned is not None:
            residual.hold(pinned)
        report.read(residual)
        if report.error < options.tolerance:
            report.cycles = int(np.sum(flips_of > MOST_FLIPS))
            return report
        if report.error < 0.5 * best:
            best, last = report.error, report.iterations + PATIENCE[0] + PATIENCE[1] * n.cells
        if not math.isfinite(report.error) or report.iterations == last:
            break
        scales_kernel(n.mesh, region, residual.chord, options.flip_length, flip_below, reach)
        out[n.origin] = np.arange(len(n.origin))
        relax = 1.0 if report.error < NEAR else FAR_STEP
        flips = sweep(n.mesh, moving, relax, flip_below, reach, out, flips_of, tension)
        pass_corners(n.mesh, region.films)
        if flips and options.checks == "events":
            validate(n)
        report.flips += flips
        if n.is_closed:
            n.pressures -= n.pressures.mean()
        report.iterations += 1
    raise RunFailed(
        f"the blocked Gauss-Seidel iteration stopped after {report.iterations} sweeps at a net tension of "
        f"{report.force_error:.2g} T and an area error of {report.area_error:.2g}, above the tolerance of "
        f"{options.tolerance:.2g}: use the solver 'newton'"
    )
