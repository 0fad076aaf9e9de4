"""Mechanical equilibrium of a foam at given cell areas: a global Newton iteration that performs T1s on its way.

Each step solves the whole sparse system of `system.NewtonSystem`. Three things make it converge from a raw Voronoi
diagram: steps are limited vertex by vertex to a part of the shortest film there (one bad spot does not slow the rest);
where the forces are far from balance the system is damped, in proportion to the local imbalance, which turns the step into
one of steepest descent at fixed areas and leaves the quadratic convergence near equilibrium alone; and a short film
whose ends would pass through each other is replaced by its T1 partner.
"""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse.linalg import splu

from spume.dryfoam.geometry import cell_area_kernel
from spume.dryfoam.network import Floats, Integers, Network
from spume.dryfoam.system import NewtonSystem, residual_kernel
from spume.dryfoam.topology import count_sides, flip, t1_allowed
from spume.errors import RunFailed
from spume.numerics.jit import compiled


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
        limit = 0.4 * max(c, flip_below[e])
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
def flip_or_hold(
    moves, flip_below, flipped, most, busy,
    positions, half_angles, origin, next_, previous, cell, shift, lattice, chords, steps,
):  # fmt: skip
    """Applies moves; where a film's ends would pass through each other it flips if it may, else its ends hold back.

    Returns the number of flips.
    """
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
        ready = c < flip_below[e] and flipped[e] < most
        roomy = count_sides(2 * e, next_) > 3 and count_sides(2 * e + 1, next_) > 3
        if ready and roomy and t1_allowed(2 * e, origin, next_, previous, cell, shift):
            flip(2 * e, max(c, 0.3 * flip_below[e]), positions, half_angles, origin, next_, previous, cell, shift, lattice)
            flipped[e] += 1
            flips += 1
            steps[e] = 0.0
            # every vertex around keeps still this time: its step belonged to the old topology
            for h0 in (2 * e, 2 * e + 1):
                h = h0
                for _ in range(3):
                    v = origin[h ^ 1]
                    busy[v] = True
                    h = next_[h ^ 1]
        else:
            shrink = 0.5 * cc / max(cc - left, 1e-300)
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
        self.local = np.hypot(self.force[:, 0], self.force[:, 1]) / tension
        self.bend_error = float(np.max(np.abs(self.bend) / (tension * self.chord)))

    def write(self, report: Report, network: Network) -> None:
        report.force_error = float(np.max(self.local))
        report.area_error = float(np.max(np.abs(self.area) / network.targets))
        report.bend_error = self.bend_error


def equilibrate(network: Network, tension: float, options: Options | None = None) -> Report:
    """Brings the network to equilibrium in place. Raises RunFailed, saying how far it came, when it cannot."""
    options = options or Options()
    report = Report()
    n = network
    if n.vertices == 0:
        n.pressures[0] = tension * math.sqrt(math.pi / n.targets[0])
        report.force_error = report.area_error = report.bend_error = 0.0
        return report
    flipped = np.zeros(n.films, dtype=np.int64)
    busy = np.zeros(n.vertices, dtype=np.bool_)
    flip_below, reach = np.empty(n.films), np.empty(n.vertices)
    for _ in range(options.iterations):
        first = n.first_half_edges()
        residual = Residual(n, tension, first)
        residual.write(report, n)
        report.history.append(report.error)
        if report.error < options.tolerance:
            return report
        if not math.isfinite(report.error):
            break
        chords = n.chords()
        scales_kernel(chords, n.origin, n.next, n.cell, n.targets, options.flip_length, flip_below, reach)
        damping = tension * (1e-10 / residual.chord.mean() + 0.3 * np.minimum(residual.local, 1.0) / reach * 0.4)
        system = NewtonSystem(n, tension, damping, residual.force, residual.area, 1e-10 * residual.chord.mean() ** 3)
        factor = splu(
            system.matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.001, options={"SymmetricMode": True}
        )
        report.factorizations += 1
        solution = factor.solve(system.right)
        moves, dpressure, _ = system.split(solution)
        moves = moves.copy()
        limit_moves(moves, reach)
        remove_drift(n, moves)
        steps = system.half_angle_steps(moves, dpressure, solution[2 * n.vertices + n.cells :])
        np.clip(steps, -0.5, 0.5, out=steps)
        report.flips += flip_or_hold(
            moves, flip_below, flipped, 4, busy,
            n.positions, n.half_angles, n.origin, n.next, n.previous, n.cell, n.shift, n.lattice, chords, steps,
        )  # fmt: skip
        n.pressures += dpressure
        if n.boundary == "periodic":
            n.pressures -= n.pressures.mean()
        report.iterations += 1
    worst = int(np.argmax(np.abs(Residual(n, tension, n.first_half_edges()).area) / n.targets))
    raise RunFailed(
        f"the foam of {n.cells} cells found no equilibrium in {report.iterations} steps: the tensions are off balance by "
        f"{report.force_error:.2g} T, cell {worst} misses its area by {report.area_error:.2g}; "
        f"larger cells there, or a larger flip length, would help"
    )
