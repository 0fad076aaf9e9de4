"""Mechanical equilibrium of a foam at given cell areas: a global Newton iteration that performs T1s on its way.

Each step solves the whole sparse system of `system.NewtonSystem`. Three things make it converge from a raw Voronoi
diagram: steps are limited vertex by vertex to a part of the shortest film there (one bad spot does not slow the rest);
where the forces are far from balance the system is damped, in proportion to the local imbalance, which turns the step
into one of steepest descent at fixed areas and leaves the quadratic convergence near equilibrium alone; and a short
film whose ends would pass through each other is replaced by its T1 partner.
"""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from spume.dryfoam.geometry import cell_area_kernel, cell_areas, half_edge_vector, turn
from spume.dryfoam.linear import Solver
from spume.dryfoam.network import Floats, Integers, Network
from spume.dryfoam.system import NewtonSystem, residual_kernel
from spume.dryfoam.topology import count_sides, flip, t1_allowed
from spume.errors import RunFailed
from spume.numerics.jit import compiled

CAUTIONS = (1.0, 4.0, 16.0)
"""Factors of damping, tried one after another; steps shorten by their square roots."""
RUNAWAY = 300.0
"""Error at which an attempt is given up."""
LARGEST_RATIO = math.log(2.5)
"""Cells farther than this from their target area, as a logarithm, approach it in stages."""


@dataclass(frozen=True)
class Options:
    """How an equilibrium is sought."""

    tolerance: float = 1e-9
    """Largest net tension at a vertex over T, relative area error and Laplace-Young error over T allowed at the end."""
    flip_length: float = 0.1
    """A film may turn into its T1 partner when shorter than this times the square root of the smaller adjacent area."""
    iterations: int = 200
    """Newton steps before the foam is declared stuck."""


@dataclass
class Report:
    """What happened on the way to equilibrium."""

    iterations: int = 0
    factorizations: int = 0
    flips: int = 0
    """T1 changes."""
    force_error: float = np.inf
    """Largest net tension at a vertex, over T: about the error of its angles [rad]."""
    area_error: float = np.inf
    """Largest relative error of a cell's area."""
    bend_error: float = np.inf
    """Largest imbalance of Laplace-Young, over T."""
    history: list[float] = field(default_factory=list)

    @property
    def error(self) -> float:
        return max(self.force_error, self.area_error, self.bend_error)


@compiled
def scales_kernel(chords, origin, next_, cell, targets, flip_length, flip_below, reach):
    """Per film the chord below which it may flip, per vertex how far it may move in one step [m]."""
    reach[:] = np.inf
    for e in range(len(chords)):
        i, j = cell[2 * e], cell[2 * e + 1]
        smaller = np.inf
        if i >= 0:
            smaller = targets[i]
        if j >= 0:
            smaller = min(smaller, targets[j])
        flip_below[e] = flip_length * math.sqrt(smaller)
        c = math.hypot(chords[e, 0], chords[e, 1])
        limit = 0.35 * max(c, flip_below[e])
        for k in range(2):
            v = origin[2 * e + k]
            reach[v] = min(reach[v], limit)


@compiled
def limit_moves(moves, reach):
    """Shortens each vertex's move to its reach; returns how many were shortened."""
    limited = 0
    for v in range(len(moves)):
        d = math.hypot(moves[v, 0], moves[v, 1])
        if d > reach[v]:
            moves[v, 0] *= reach[v] / d
            moves[v, 1] *= reach[v] / d
            limited += 1
    return limited


@compiled
def _leaving(h, positions, half_angles, origin, shift, lattice):
    """Unit tangent with which half-edge h leaves its origin."""
    dx, dy = half_edge_vector(h, positions, origin, shift, lattice)
    angle = math.atan2(dy, dx) - turn(h, half_angles)
    return math.cos(angle), math.sin(angle)


@compiled
def opening_pulls(h, positions, half_angles, origin, next_, previous, shift, lattice):
    """Pulls of the four neighbouring films that open the film h, and that would open its T1 partner, over T.

    Returned as the vectors (x, y) from the film's start to its end and (x, y) from right to left of it. Were the film
    a point, of the two ways to split it the one with the stronger pull opens, since one of them exceeds T.
    """
    ax, ay = _leaving(previous[h] ^ 1, positions, half_angles, origin, shift, lattice)
    bx, by = _leaving(next_[h ^ 1], positions, half_angles, origin, shift, lattice)
    cx, cy = _leaving(next_[h], positions, half_angles, origin, shift, lattice)
    dx, dy = _leaving(previous[h ^ 1] ^ 1, positions, half_angles, origin, shift, lattice)
    along = 0.5 * (cx + dx - ax - bx), 0.5 * (cy + dy - ay - by)
    across = 0.5 * (ax + cx - bx - dx), 0.5 * (ay + cy - by - dy)
    return along, across


@compiled
def realign(h, x, y, length, positions, half_angles, origin, shift, lattice):
    """Turns film h about its middle into the direction (x, y), with the chord `length`, straight."""
    a, b = origin[h], origin[h ^ 1]
    dx, dy = half_edge_vector(h, positions, origin, shift, lattice)
    scale = 0.5 * length / math.hypot(x, y)
    mx, my = 0.5 * dx, 0.5 * dy
    positions[a, 0] += mx - scale * x
    positions[a, 1] += my - scale * y
    positions[b, 0] += scale * x - mx
    positions[b, 1] += scale * y - my
    half_angles[h >> 1] = 0.0


@compiled
def _settle(e, length, positions, half_angles, origin, next_, previous, cell, shift, lattice):
    """Gives the short film e the topology and direction in which its neighbours pull it open; returns T1s done (0, 1).

    The T1 is not done where it would leave a cell with two sides: a triangle goes by T2 only.
    """
    h = 2 * e
    along, across = opening_pulls(h, positions, half_angles, origin, next_, previous, shift, lattice)
    stays, turns = math.hypot(along[0], along[1]), math.hypot(across[0], across[1])
    roomy = count_sides(h, next_) > 3 and count_sides(h ^ 1, next_) > 3
    if turns > stays and roomy and t1_allowed(h, origin, next_, previous, cell, shift):
        flip(h, length, positions, half_angles, origin, next_, previous, cell, shift, lattice)
        realign(h, across[0], across[1], length, positions, half_angles, origin, shift, lattice)
        return 1
    if stays > 0.0:  # shorter than a new film: it may be near its true, small length
        realign(h, along[0], along[1], 0.3 * length, positions, half_angles, origin, shift, lattice)
    return 0


@compiled
def flip_or_hold(
    moves, flip_below, busy,
    positions, half_angles, origin, next_, previous, cell, shift, lattice, chords, steps,
):  # fmt: skip
    """Applies moves; where the ends of a short film would pass through each other it settles instead (see `_settle`),
    where those of a long one would, they hold back. Returns the number of T1s."""
    flips = 0
    busy[:] = False
    for e in range(len(chords)):
        a, b = origin[2 * e], origin[2 * e + 1]
        if busy[a] or busy[b]:
            continue
        dx, dy = chords[e, 0], chords[e, 1]
        cc = dx * dx + dy * dy
        left = cc + dx * (moves[b, 0] - moves[a, 0]) + dy * (moves[b, 1] - moves[a, 1])
        if left > 0.1 * cc:
            continue
        c = math.sqrt(cc)
        if c < flip_below[e]:
            flips += _settle(
                e, max(c, 0.3 * flip_below[e]), positions, half_angles, origin, next_, previous, cell, shift, lattice
            )
            # the vertices around keep still this time: their steps belonged to the old shape
            for h0 in (2 * e, 2 * e + 1):
                h = h0
                for _ in range(3):
                    busy[origin[h ^ 1]] = True
                    h = next_[h ^ 1]
        else:
            shrink = 0.5 * cc / (cc - left)
            for k in range(2):
                moves[a, k] *= shrink
                moves[b, k] *= shrink
    for v in range(len(moves)):
        if not busy[v]:
            positions[v, 0] += moves[v, 0]
            positions[v, 1] += moves[v, 1]
    for e in range(len(steps)):
        if not (busy[origin[2 * e]] or busy[origin[2 * e + 1]]):
            half_angles[e] = max(-0.97 * math.pi, min(0.97 * math.pi, half_angles[e] + steps[e]))
    return flips


@compiled
def bend_to_pressure(positions, half_angles, origin, cell, shift, lattice, pressures, tension):
    """Gives the films that are far from half circles the curvature of Laplace-Young, sin θ = Δp c / 2T."""
    for e in range(len(half_angles)):
        i, j = cell[2 * e], cell[2 * e + 1]
        dp = (pressures[i] if i >= 0 else 0.0) - (pressures[j] if j >= 0 else 0.0)
        dx, dy = half_edge_vector(2 * e, positions, origin, shift, lattice)
        sine = 0.5 * dp * math.hypot(dx, dy) / tension
        if abs(sine) < 0.7 and abs(half_angles[e]) < 1.2:
            half_angles[e] = math.asin(sine)


def imbalance(error: Floats) -> Floats:
    """How far from equilibrium, from 0 (errors below 0.03, where Newton steps need no help) to 1."""
    return np.clip((error - 0.03) / 0.97, 0.0, 1.0)


def remove_drift(network: Network, moves: Floats) -> None:
    """Takes the mean translation, and for a free foam the mean rotation, out of vertex moves."""
    moves -= moves.mean(axis=0)
    if network.boundary == "free":
        arm = network.positions - network.positions.mean(axis=0)
        spin = np.sum(arm[:, 0] * moves[:, 1] - arm[:, 1] * moves[:, 0]) / np.sum(arm * arm)
        moves -= spin * np.stack([-arm[:, 1], arm[:, 0]], axis=1)


class Residual:
    """Imbalances of the present state."""

    def __init__(self, network: Network, tension: float, first: Integers) -> None:
        n = network
        self.force, self.bend, self.chord = np.empty((n.vertices, 2)), np.empty(n.films), np.empty(n.films)
        residual_kernel(
            n.chords(), n.half_angles, n.origin, n.cell, n.pressures, tension, self.force, self.bend, self.chord
        )
        areas = np.empty(n.cells)
        cell_area_kernel(first, n.positions, n.half_angles, n.origin, n.next, n.shift, n.lattice, areas)
        self.area = areas - n.targets
        self.size = np.sqrt(np.clip(areas, 0.01 * n.targets, n.targets))
        self.local = np.hypot(self.force[:, 0], self.force[:, 1]) / tension
        self.bend_error = float(np.max(np.abs(self.bend) / (tension * self.chord)))

    def around_cells(self, network: Network) -> Floats:
        """Larger of each cell's relative area error and the largest net tension at its vertices [1]."""
        worst = np.abs(self.area) / network.targets
        inside = network.cell >= 0
        np.maximum.at(worst, network.cell[inside], self.local[network.origin[inside]])
        return worst

    def write(self, report: Report, network: Network) -> None:
        report.force_error = float(np.max(self.local))
        report.area_error = float(np.max(np.abs(self.area) / network.targets))
        report.bend_error = self.bend_error


def equilibrate(
    network: Network, tension: float, options: Options | None = None, pinned: NDArray[np.bool_] | None = None
) -> Report:
    """Brings the network to equilibrium in place, the `pinned` vertices (V,) held where they are.

    Raises RunFailed, saying how far it came, when it cannot.
    """
    options = options or Options()
    n = network
    if n.vertices == 0:
        n.pressures[0] = tension * math.sqrt(math.pi / n.targets[0])
        return Report(force_error=0.0, area_error=0.0, bend_error=0.0)
    if pinned is None and n.boundary == "free":
        _swell(n)
    areas = cell_areas(n)
    far = float(np.max(np.abs(np.log(np.maximum(areas, 1e-3 * n.targets) / n.targets))))
    if far > LARGEST_RATIO:  # a long way goes in stages
        targets, stages = n.targets, math.ceil(far / LARGEST_RATIO)
        begin = np.maximum(areas, 1e-3 * targets)
        for k in range(1, stages):
            n.targets = begin ** (1 - k / stages) * targets ** (k / stages)
            if n.boundary == "periodic":
                n.targets *= targets.sum() / n.targets.sum()
            _with_growing_caution(n, tension, replace(options, tolerance=max(options.tolerance, 1e-2)), pinned)
        n.targets = targets
    return _with_growing_caution(n, tension, options, pinned)


def _with_growing_caution(
    network: Network, tension: float, options: Options, pinned: NDArray[np.bool_] | None
) -> Report:
    """Iterates; a start that runs away is tried again from the same state with shorter, more damped steps."""
    kept = network.copy()
    for caution in CAUTIONS[:-1]:
        try:
            return _iterate(network, tension, options, pinned, caution)
        except RunFailed:
            for name, array in kept.arrays().items():
                if name != "targets":
                    getattr(network, name)[...] = array
    return _iterate(network, tension, options, pinned, CAUTIONS[-1])


def _swell(network: Network) -> None:
    """Scales a free foam to the sum of its target areas, which is exact for similar foams."""
    scale = math.sqrt(network.targets.sum() / cell_areas(network).sum())
    centre = network.positions.mean(axis=0)
    network.positions[:] = centre + scale * (network.positions - centre)
    network.pressures /= scale


def _iterate(
    network: Network, tension: float, options: Options, pinned: NDArray[np.bool_] | None, caution: float
) -> Report:
    report = Report()
    n = network
    solver = Solver()
    busy = np.zeros(n.vertices, dtype=np.bool_)
    flip_below, reach = np.empty(n.films), np.empty(n.vertices)
    for _ in range(options.iterations):
        first = n.first_half_edges()
        residual = Residual(n, tension, first)
        if pinned is not None:
            residual.force[pinned] = residual.local[pinned] = 0.0
        residual.write(report, n)
        report.history.append(report.error)
        if report.error < options.tolerance:
            return report
        if not report.error < RUNAWAY:
            break
        chords = n.chords()
        scales_kernel(chords, n.origin, n.next, n.cell, n.targets, options.flip_length, flip_below, reach)
        damping = tension * (1e-10 / residual.chord.mean() + 0.12 * caution * imbalance(residual.local) / reach)
        reach /= math.sqrt(caution)
        if pinned is not None:
            damping[pinned] = 1e12 * tension / residual.chord.mean()
        softness = (1e-10 + 0.3 * imbalance(residual.around_cells(n))) * residual.size**3 / tension
        system = NewtonSystem(n, tension, damping, residual.force, residual.area, softness)
        solution = solver.solve(system, near=report.error < 0.3)
        moves, dpressure, _ = system.split(solution)
        moves = moves.copy()
        limit_moves(moves, reach)
        if pinned is None:
            remove_drift(n, moves)
        steps = system.half_angle_steps(moves, dpressure, solution[2 * n.vertices + n.cells :])
        np.clip(steps, -0.5, 0.5, out=steps)
        centre = n.positions.mean(axis=0)
        report.flips += flip_or_hold(
            moves, flip_below, busy,
            n.positions, n.half_angles, n.origin, n.next, n.previous, n.cell, n.shift, n.lattice, chords, steps,
        )  # fmt: skip
        if pinned is None:
            n.positions += centre - n.positions.mean(axis=0)
        limit = 3.0 * tension / residual.size
        n.pressures += np.clip(dpressure, -limit, limit)
        if n.boundary == "periodic":
            n.pressures -= n.pressures.mean()
        bend_to_pressure(n.positions, n.half_angles, n.origin, n.cell, n.shift, n.lattice, n.pressures, tension)
        report.iterations += 1
        report.factorizations = solver.factorizations
    worst = int(np.argmax(np.abs(Residual(n, tension, n.first_half_edges()).area) / n.targets))
    raise RunFailed(
        f"the foam of {n.cells} cells found no equilibrium in {report.iterations} steps: tensions are off balance by "
        f"{report.force_error:.2g} T, cell {worst} misses its area by {report.area_error:.2g}; "
        f"larger cells there, or a larger flip length, would help"
    )
