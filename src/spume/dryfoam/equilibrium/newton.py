"""Newton steps of a region of a foam, with measures that make them converge from far away.

The step of each vertex is limited to a fraction of its shortest film, so that one bad spot does not slow the rest.
Where forces are far from balance the system is damped in proportion to the local imbalance, which makes the step one of
steepest descent at fixed areas and keeps the quadratic convergence near equilibrium. A short film whose ends would pass
through each other is replaced by its T1 partner. Near equilibrium an earlier factor is reused.

Newton's method converges to saddle points of the energy as well as to minima. The number of negative eigenvalues of the
matrix distinguishes them: the energy at fixed areas has as many descending modes as there are negative eigenvalues in
excess of the number of area constraints [Nocedal06, theorem 16.3]. If there are such modes, stiffness is added in steps
of the whole foam until the step is one of descent in all of them.
"""

import math
from typing import Literal

import numpy as np

from spume.dryfoam.equilibrium.linear_solver import Solver
from spume.dryfoam.equilibrium.pattern import Pattern
from spume.dryfoam.equilibrium.region import Region
from spume.dryfoam.equilibrium.short_films import flip_or_hold
from spume.dryfoam.equilibrium.system import NewtonSystem, Residual
from spume.dryfoam.network.geometry import along_wall, half_edge_vector, pressure_drop
from spume.dryfoam.network.half_edges import Floats, Integers, Network
from spume.dryfoam.network.walls import normals
from spume.errors import RunFailed
from spume.numerics.jit import compiled

NEAR = 0.04
"""Error below which the factor of a state may be reused for later ones."""
SLOW = 0.3
"""Reduction of the error by a step with an old factor above which no further such step is taken."""
STIFFENING = 1e-5
"""First stiffness added to vertices against descending modes, over T and the mean chord; each further one is eight
times as large. It should exceed what the lowest mode needs by little, or the step of that mode would become small."""

STIFFEST = 1e6
"""Stiffness at which a step is abandoned, over T and the mean chord."""

Kind = Literal["newton", "descent"]
"""newton: search for modes of negative curvature near equilibrium only; descent: in every step."""


@compiled
def scales_kernel(n, r, chord, flip_length, flip_below, reach):
    """Compute for each film the chord below which it may flip, and for each vertex its largest move in a step [m]."""
    targets, origin, cell = n.targets, n.origin, n.cell
    films, vertex_index = r.films, r.vertex_index
    reach[:] = np.inf
    for q in range(len(films)):
        e = films[q]
        i, j = cell[2 * e], cell[2 * e + 1]
        smaller = np.inf
        if i >= 0:
            smaller = targets[i]
        if j >= 0:
            smaller = min(smaller, targets[j])
        flip_below[q] = flip_length * math.sqrt(smaller)
        limit = 0.35 * max(chord[q], flip_below[q])
        for k in range(2):
            v = vertex_index[origin[2 * e + k]]
            if v >= 0:
                reach[v] = min(reach[v], limit)


@compiled
def limit_moves(moves, reach):
    """Limit each vertex's move to its reach; return the number of moves that were shortened."""
    limited = 0
    for v in range(len(moves)):
        d = math.hypot(moves[v, 0], moves[v, 1])
        if d > reach[v]:
            moves[v, 0] *= reach[v] / d
            moves[v, 1] *= reach[v] / d
            limited += 1
    return limited


@compiled
def bend_to_pressure(n, films, tension):
    """Set the curvature of films that are far from half circles by Laplace-Young, sin θ = Δp c / 2T."""
    half_angles, walled = n.half_angles, len(n.walls) > 0
    for e in films:
        if walled and along_wall(n, 2 * e):
            continue
        dx, dy = half_edge_vector(n, 2 * e)
        sine = 0.5 * pressure_drop(n, 2 * e) * math.hypot(dx, dy) / tension
        if abs(sine) < 0.7 and abs(half_angles[e]) < 1.2:
            half_angles[e] = math.asin(sine)


@compiled
def _spread(n, r, local, worst):
    """Raise the error of each cell to the largest at its vertices."""
    origin, next_ = n.origin, n.next
    first, vertex_index = r.first, r.vertex_index
    for f in range(len(first)):
        h = first[f]
        while True:
            v = vertex_index[origin[h]]
            if v >= 0:
                worst[f] = max(worst[f], local[v])
            h = next_[h]
            if h == first[f]:
                break


def imbalance(error: Floats) -> Floats:
    """Measure of the distance from equilibrium, from 0 (errors below 0.03, where no damping is needed) to 1."""
    return np.clip((error - 0.03) / 0.97, 0.0, 1.0)


def remove_drift(network: Network, moves: Floats) -> None:
    """Remove motions that no force resists from vertex moves: the mean translation (in a channel, along it) and the
    mean rotation of a free foam."""
    if network.boundary == "box":
        return
    if network.boundary == "channel":
        t = network.walls[0, 2:]
        moves -= (moves.mean(axis=0) @ t) * t
        return
    moves -= moves.mean(axis=0)
    if network.boundary == "free":
        arm = network.positions - network.positions.mean(axis=0)
        spin = np.sum(arm[:, 0] * moves[:, 1] - arm[:, 1] * moves[:, 0]) / np.sum(arm * arm)
        moves -= spin * np.stack([-arm[:, 1], arm[:, 0]], axis=1)


class Newton:
    """Newton steps of one region. `caution` (V,) shortens and damps them at each vertex of the network, `flips_of` (E,)
    counts the T1s of each film."""

    def __init__(
        self, network: Network, tension: float, flip_length: float, region: Region, caution: Floats, flips_of: Integers
    ) -> None:
        self.network, self.tension, self.flip_length, self.caution = network, tension, flip_length, caution
        self.flips_of = flips_of
        self.solver = Solver("whole" if region.is_whole else "spots")
        self.system: NewtonSystem | None = None
        self.pattern: Pattern | None = None
        self.last_error = np.inf
        self.stiffness = 0.0
        """Last stiffness added against descending modes [N/m]."""
        self.descending_modes: int | None = None
        """Number of modes in which the energy at fixed areas decreases, from the last undamped matrix of the whole
        foam; None if there was none."""
        self._take(region)

    def _take(self, region: Region) -> None:
        self.region, self.pattern = region, None
        self.busy = np.zeros(len(region.vertices), dtype=np.bool_)
        self.flip_below, self.reach = np.empty(len(region.films)), np.empty(len(region.vertices))

    def topology_changed(self) -> None:
        """Update the region; call this when films have exchanged neighbours outside `step`. The last system is wrong
        only at these films, and is reused while the error decreases fast."""
        self.descending_modes = None
        self._take(self.region.after_flips(self.network))
        if self.system is not None:
            self.system.region = self.region

    def residual(self) -> Residual:
        """Residual of the present state."""
        if not np.array_equal(self.region.normals, normals(self.network)[self.region.vertices]):
            self.topology_changed()  # a vertex has passed a corner of the box
            self.system = None
        return Residual(self.network, self.tension, self.region)

    def count_descending_modes(self, residual: Residual) -> int:
        """Number of descending modes at the present state, whose residual is given, from a new matrix."""
        n, r = self.network, self.region
        damping = np.full(len(r.vertices), self._negligible(residual))
        softness = 1e-10 * residual.size**3 / self.tension
        self.system = NewtonSystem(n, r, residual, damping, softness, self.pattern)
        self.pattern = self.system.pattern
        self.solver.solve(self.system, self.system.right(residual))
        self.last_error = np.inf
        self.descending_modes = self.solver.negative() - len(r.cells)
        return self.descending_modes

    def _negligible(self, residual: Residual) -> float:
        """Stiffness that determines the sign of zero modes (translations, rotations) and is otherwise negligible."""
        return float(1e-10 * self.tension / residual.chord.mean())

    def _solution(self, residual: Residual, kind: Kind) -> Floats:
        """Solution of the linearised equations, exact, or with the factor of an earlier step if that converges well."""
        n, tension, r = self.network, self.tension, self.region
        error = residual.error
        if kind == "newton" and self.system is not None and error < SLOW * self.last_error:
            self.last_error = error
            return self.solver.again(self.system.right(residual))
        shaky = self.caution[r.vertices] * imbalance(residual.local)
        damping = self._negligible(residual) + 0.12 * tension * shaky / self.reach
        worst = residual.relative_area.copy()
        _spread(n.mesh, r, residual.local, worst)
        softness = (1e-10 + 0.3 * imbalance(worst)) * residual.size**3 / tension
        # the factor of a state near equilibrium may be reused at least once, a damped factor may not
        self.last_error = np.inf if error < NEAR else 0.0
        self.system = NewtonSystem(n, r, residual, damping, softness, self.pattern)
        self.pattern = self.system.pattern
        solution = self.solver.solve(self.system, self.system.right(residual))
        if r.is_whole and (error < NEAR or kind == "descent"):
            self.descending_modes = modes = self.solver.negative() - len(r.cells)
            stiffness = max(STIFFENING * tension / float(residual.chord.mean()), self.stiffness / 8.0)
            while modes > 0:
                if stiffness > STIFFEST * tension / float(residual.chord.mean()):
                    raise RunFailed(f"the foam of {n.cells} cells has a mode that no stiffness holds")
                self.last_error = 0.0
                self.system = NewtonSystem(n, r, residual, damping + stiffness, softness, self.pattern)
                self.system.stiffen_half_angles(residual, stiffness)
                solution = self.solver.solve(self.system, self.system.right(residual))
                modes = self.solver.negative() - len(r.cells)
                self.stiffness = stiffness
                stiffness *= 8.0
        return solution

    def step(self, residual: Residual, kind: Kind = "newton") -> int:
        """Take one step from the present state, whose residual is given; return the number of T1s."""
        n, r, tension = self.network, self.region, self.tension
        scales_kernel(n.mesh, r, residual.chord, self.flip_length, self.flip_below, self.reach)
        solution = self._solution(residual, kind)
        assert self.system is not None
        moves, dpressure, explicit = self.system.split(solution)
        moves = moves.copy()
        limit_moves(moves, self.reach / np.sqrt(self.caution[r.vertices]))
        r.slide(moves)  # an older factor may have fewer vertices on walls
        loose = r.is_whole and not r.is_pinned and n.boundary != "box"
        if loose:
            remove_drift(n, moves)
        steps = self.system.half_angle_steps(residual, moves, dpressure, explicit)
        np.clip(steps, -0.5, 0.5, out=steps)
        centre = n.positions.mean(axis=0) if loose else np.zeros(2)
        flips = flip_or_hold(
            n.mesh, r, moves, steps, residual.derivatives.chords, self.flip_below, self.busy, self.flips_of
        )
        if loose:
            drift = centre - n.positions.mean(axis=0)
            n.positions += (drift @ n.walls[0, 2:]) * n.walls[0, 2:] if n.boundary == "channel" else drift
        limit = 3.0 * tension / residual.size
        n.pressures[r.cells] += np.clip(dpressure, -limit, limit)
        if r.is_whole and n.is_closed:
            n.pressures -= n.pressures.mean()
        bend_to_pressure(n.mesh, r.films, tension)
        if flips:
            self.topology_changed()
            self.system = None
        return int(flips)
