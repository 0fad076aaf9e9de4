"""The semi-implicit step of [Tampubolon17] section 4.2: backward Euler with plasticity lagged to its end.

A few iterations of Newton's method on both grids at once, each by preconditioned MINRES. A step that does not converge
is repeated with half the length. The viscosity of the water takes no part; it is meant for stiff grains and pressure.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.materials.unilateral import Unilateral
from spume.mixture.coupled_system import CoupledSystem, Preconditioner
from spume.mixture.exchange import find_drag, push
from spume.mixture.free_surface import restore_volume
from spume.mixture.mixture import Mixture, MixtureFields
from spume.mixture.saturation import saturate
from spume.mpm.loads import load_by_nodes
from spume.mpm.state import State
from spume.mpm.step import collide_and_move, find_contacts, gather, rasterize, sort_points, update_material
from spume.numerics.krylov import minres
from spume.numerics.sums import dot

SHORTEST = 2.0**-10
"""A step that fails at this part of its length ends the run."""
GROWTH = 1.5
"""Factor by which a step may exceed the one before after it had to be shortened."""
LEAST_VOLUME = 0.05
"""An iteration that squeezes a point to less than this part of its volume is shortened."""
HALVINGS = 6


@dataclass
class SemiImplicit:
    """Settings of the solver, and what it counts."""

    tolerance: float = 1e-3
    """Residual of momentum, relative to the largest of the step, at which Newton's method stops [1]"""
    accepted: float = 0.05
    """Residual that is accepted when the iterations are used up [1]"""
    iterations: int = 6
    linear_iterations: int = 500
    linear_tolerance: float = 1e-2
    preconditioner: Preconditioner = "blocks"
    unilateral: Unilateral | None = None
    longest: float = math.inf
    """Longest step allowed after one was repeated [s]"""
    repeated: int = 0
    newton_iterations: int = 0
    minres_iterations: int = 0
    residual: float = 0.0
    """Relative residual of the last step [1]"""

    def step(self, state: State, mixture: Mixture, fields: MixtureFields, dt: float) -> None:
        """Advance `state` by dt [s], in several steps if one fails."""
        end, remaining = state.time + dt, dt
        while remaining > 0.0:
            h = min(remaining, self.longest)
            if h < remaining < 2.0 * h:
                h = 0.5 * remaining
            sort_points(state)
            rasterize(state)
            with state.timed("implicit solve"):
                solved = self.solve(state, mixture, fields, h)
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
            saturate(state, mixture, fields)
            restore_volume(state, state.species[1], fields, h)
            gather(state, h)
            update_material(state, h)
            collide_and_move(state, h)
            state.time += h
            state.steps += 1
            self.longest *= GROWTH
            remaining = 0.0 if h == remaining else remaining - h
        state.time = end

    def solve(self, state: State, mixture: Mixture, fields: MixtureFields, dt: float) -> bool:
        """Solve for the velocities of the nodes and write them to the fields; False if this failed."""
        fields.fit(state)
        find_drag(state, mixture, fields)
        forces = [species.fields["force"].copy() for species in state.species]
        push(state, mixture, fields)
        taken = [species.fields["force"] - force for species, force in zip(state.species, forces)]
        find_contacts(state, dt)
        system = CoupledSystem(state, fields, taken, dt, self.unilateral, self.preconditioner)
        v = system.before.copy()
        system.close_contacts(v)
        r, smallest = system.residual(v)
        if not smallest > LEAST_VOLUME:  # the old velocities would crush a point
            v[:] = 0.0
            system.close_contacts(v)
            r, smallest = system.residual(v)
        scale = 0.0
        for _ in range(self.iterations):
            system.release_contacts(r)
            size = _norm(system, r)
            drive = system.mass[:, None] * (system.free - system.before)
            scale = max(scale, size, math.sqrt(dot(drive, drive)))
            self.residual = size / scale if scale > 0.0 else 0.0
            if self.residual <= self.tolerance:
                break
            system.prepare_preconditioner()
            solution = minres(system, -r, tolerance=self.linear_tolerance, limit=self.linear_iterations)
            self.newton_iterations += 1
            self.minres_iterations += solution.iterations
            v, r = self._advance(system, v, solution.x, size)
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
        """Give the obstacles what the equations leave at the nodes that they hold."""
        state = system.state
        for part in system.parts:
            number = part.dofs.number.reshape(-1)[part.contacts.node]
            acting = part.engaged[part.contacts.filled] & (number >= 0)
            impulse = r[part.rows][np.where(number >= 0, number, 0)] if len(part.dofs) else np.zeros((0, r.shape[1]))
            if acting.any():
                held_by = state.obstacles_of(part.species)
                load_by_nodes(state.loads, held_by, part.contacts, state.nodes, impulse, acting)

    def _advance(
        self, system: CoupledSystem, v: NDArray[np.float64], dv: NDArray[np.float64], size: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The new iterate and its residual: the whole step, or the longest of its halves that helps."""
        step = 1.0
        for _ in range(HALVINGS):
            trial = v + step * dv
            system.close_contacts(trial)
            r, smallest = system.residual(trial)
            if smallest > LEAST_VOLUME and _norm(system, r) < 2.0 * size:
                break
            step *= 0.5
        return trial, r

    def counts(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return {
            "longest_step": self.longest if math.isfinite(self.longest) else None,
            "repeated_steps": self.repeated,
            "newton_iterations": self.newton_iterations,
            "minres_iterations": self.minres_iterations,
            "residual": self.residual,
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `counts` returned."""
        self.longest = math.inf if values["longest_step"] is None else values["longest_step"]
        self.repeated = values["repeated_steps"]
        self.newton_iterations = values["newton_iterations"]
        self.minres_iterations = values["minres_iterations"]
        self.residual = values["residual"]


def _norm(system: CoupledSystem, r: NDArray[np.float64]) -> float:
    """Norm of the part of r that the contacts leave free."""
    free = r.copy()
    system.project(free)
    return math.sqrt(dot(free, free))
