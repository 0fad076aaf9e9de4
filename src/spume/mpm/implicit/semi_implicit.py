"""The semi-implicit step of [Tampubolon17] section 4.2: backward Euler with a symmetric linearisation.

The step takes a few iterations of Newton's method on the grids of all species, each solved by preconditioned MINRES;
where the full iteration leads too far, it is shortened, and the next ones use a definite and damped matrix
(`CoupledSystem.adapt`). A step that does not converge is repeated with half the length.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.materials.unilateral import Unilateral
from spume.mpm.implicit.coupled_system import NO_EXCHANGE, CoupledSystem, Exchange, Preconditioner
from spume.mpm.implicit.line_search import LEAST_VOLUME, search
from spume.mpm.implicit.tangent import Plasticity
from spume.mpm.obstacle_loads import load_by_nodes
from spume.mpm.species import SpeciesPlan, one_species
from spume.mpm.state import State
from spume.mpm.step import collide_and_move, find_contacts, gather, rasterize, sort_points, update_material
from spume.numerics.krylov import minres
from spume.numerics.sums import dot

SHORTEST = 2.0**-10
"""Fraction of the step length at which a failing step ends the run."""
GROWTH = 1.5
"""Factor by which a step may exceed the previous one after steps had to be shortened."""


@dataclass
class SemiImplicit:
    """Settings and counters of the solver."""

    tolerance: float = 1e-3
    """Momentum residual, relative to that at the start or the load of the step, at which Newton's method stops [1]"""
    accepted: float = 0.05
    """Residual accepted after the last iteration [1]"""
    iterations: int = 20
    linear_iterations: int = 500
    linear_tolerance: float = 1e-2
    preconditioner: Preconditioner = "blocks"
    plasticity: Plasticity = "lagged"
    unilateral: Unilateral | None = None
    """Energy of sand with lagged plasticity; None: Hencky's"""
    frame_length: float = 1.0
    """Time between frames [s]"""
    longest: float = math.inf
    """Longest step allowed after one was repeated [s]"""
    repeated: int = 0
    unconverged: int = 0
    """Steps accepted with a residual above the tolerance"""
    newton_iterations: int = 0
    minres_iterations: int = 0
    residual: float = 0.0
    """Relative residual of the last step [1]"""
    largest_residual: float = 0.0
    """Largest residual of an accepted step since the last frame [1]"""

    def step(
        self,
        state: State,
        dt: float,
        exchange: Callable[[State], Exchange] = lambda state: NO_EXCHANGE,
        settle: Callable[[State, float], None] = lambda state, dt: None,
        finish: Callable[[State, float], None] = lambda state, dt: None,
    ) -> None:
        """Advance `state` by dt [s], in several steps if one fails.

        `exchange` computes the interaction of the species from the sums on the nodes; `settle` is called when the
        velocities are solved, before they are interpolated to the points; `finish` after the points' deformation is
        computed.
        """
        end, remaining = state.time + dt, dt
        while remaining > 0.0:
            h = min(remaining, self.longest)
            if h < remaining < 2.0 * h:
                h = 0.5 * remaining
            sort_points(state)
            rasterize(state)
            with state.timed("implicit solve"):
                solved = self.solve(state, exchange(state), h)
            if not solved:
                self.repeated += 1
                self.longest = 0.5 * h
                if self.longest < SHORTEST * dt:
                    raise RunFailed(
                        f"a semi-implicit step at t = {state.time:.6g} s does not converge even at {h:.3g} s (residual "
                        f"{self.residual:.3g}): raise [semi_implicit] iterations or accepted_residual, or use "
                        "integrator = 'explicit'"
                    )
                continue
            self._count(state.time)
            settle(state, h)
            gather(state, h)
            finish(state, h)
            update_material(state, h)
            collide_and_move(state, h)
            state.time += h
            state.steps += 1
            self.longest *= GROWTH
            remaining = 0.0 if h == remaining else remaining - h
        state.time = end

    def _count(self, start: float) -> None:
        """Count an accepted step that begins at `start` [s]."""
        frames = start / self.frame_length
        if abs(frames - round(frames)) < 1e-6:  # steps end at frames: this is the first after one
            self.largest_residual = 0.0
        self.largest_residual = max(self.largest_residual, self.residual)
        self.unconverged += self.residual > self.tolerance

    def solve(self, state: State, exchange: Exchange, dt: float) -> bool:
        """Solve for the velocities of the nodes and write them to the fields; return False if this fails."""
        find_contacts(state, dt)
        system = CoupledSystem(state, exchange, dt, self.plasticity, self.unilateral, self.preconditioner)
        v = system.before.copy()
        system.close_contacts(v)
        r, smallest = system.residual(v)
        if not smallest > LEAST_VOLUME:  # the initial velocities would crush a point
            v[:] = 0.0
            system.close_contacts(v)
            r, smallest = system.residual(v)
        drive = system.mass[:, None] * (system.free - system.before)
        scale = 0.0
        for _ in range(self.iterations):
            system.release_contacts(r)
            size = _norm(system, r)
            scale = scale or max(size, math.sqrt(dot(drive, drive)))
            self.residual = size / scale if scale > 0.0 else 0.0
            if self.residual <= self.tolerance:
                break
            system.prepare_preconditioner()
            solution = minres(system, -r, tolerance=self.linear_tolerance, limit=self.linear_iterations)
            self.newton_iterations += 1
            self.minres_iterations += solution.iterations
            v, r, fraction = search(system, v, solution.x, r)
            system.adapt(v, fraction)
        size = _norm(system, r)
        self.residual = size / scale if scale > 0.0 else 0.0
        if not (self.residual <= self.accepted and np.isfinite(v).all()):
            return False
        sliding = v.copy()
        system.rub(v, r)
        r = r + system.mass[:, None] * (v - sliding)
        for part in system.parts:
            own, f = v[part.rows], part.species.fields
            f.rename(momentum="velocity", force="change")
            part.dofs.put(own, f["velocity"])
            part.dofs.put(own - part.before, f["change"])
        self._load_obstacles(system, r)
        return True

    def _load_obstacles(self, system: CoupledSystem, r: NDArray[np.float64]) -> None:
        """Add the residual impulses at the constrained nodes to the obstacle loads."""
        state = system.state
        if not state.obstacle_loads.active:
            return
        for part in system.parts:
            number = part.dofs.number.reshape(-1)[part.contacts.node]
            acting = part.engaged[part.contacts.filled] & (number >= 0)
            impulse = r[part.rows][np.where(number >= 0, number, 0)] if len(part.dofs) else np.zeros((0, r.shape[1]))
            if acting.any():
                held_by = state.obstacles_of(part.species)
                load_by_nodes(state.obstacle_loads, held_by, part.contacts, state.nodes, impulse, acting)
        if (reflected := system.wall_impulses()) is not None:
            walls, impulse = reflected
            walls.load(state, state.species[1], impulse)

    def counts(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return {
            "longest_step": self.longest if math.isfinite(self.longest) else None,
            "repeated_steps": self.repeated,
            "unconverged_steps": self.unconverged,
            "newton_iterations": self.newton_iterations,
            "minres_iterations": self.minres_iterations,
            "residual": self.residual,
            "largest_residual": self.largest_residual,
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `counts` returned."""
        self.longest = math.inf if values["longest_step"] is None else values["longest_step"]
        self.repeated = values["repeated_steps"]
        self.unconverged = values["unconverged_steps"]
        self.newton_iterations = values["newton_iterations"]
        self.minres_iterations = values["minres_iterations"]
        self.residual = values["residual"]
        self.largest_residual = values["largest_residual"]


def _norm(system: CoupledSystem, r: NDArray[np.float64]) -> float:
    """Norm of the part of r that the contacts leave free."""
    free = r.copy()
    system.project(free)
    return math.sqrt(dot(free, free))


class SemiImplicitStages:
    """The semi-implicit step of one species."""

    def __init__(self, solver: SemiImplicit) -> None:
        self.solver = solver

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """One."""
        return one_species(scene)

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""
        self.solver.step(state, dt)

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Counters of the solver."""
        return self.solver.counts()

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return self.solver.counts()

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.solver.restore(values)


def build_semi_implicit(scene: Any) -> SemiImplicit:
    """The solver of the scene's table [semi_implicit]."""
    table, frame = scene.semi_implicit, 1.0 / scene.frame_rate
    if table is None:
        return SemiImplicit(frame_length=frame)
    fading = table.unilateral
    return SemiImplicit(
        table.tolerance, table.accepted_residual, table.iterations, table.linear_iterations, table.linear_tolerance,
        table.preconditioner, table.plasticity,
        None if fading is None else Unilateral(fading.a, fading.b, fading.c0, fading.s_C, fading.v0),
        frame,
    )  # fmt: skip
