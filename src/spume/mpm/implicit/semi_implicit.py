"""The semi-implicit step of [Tampubolon17] section 4.2: backward Euler with a symmetric linearisation.

The step takes a few iterations of Newton's method on the grids of all species, each solved by preconditioned MINRES;
where the full iteration leads too far, it is shortened, and the next ones use a definite and damped matrix
(`CoupledSystem.adapt`). A step that does not converge is repeated with half the length.

On request a step is solved as printed in the paper: by a few full iterations, without a line search and whatever
residual they leave. Then only a step that crushes a point is repeated.

Contacts are an active set with friction (`contact_set.py`). The normal impulses of an iteration contain what is not yet
balanced, so the limits of friction follow them only when the residual with the present limits has become small; the
step has converged when it is small with the limits of its own normal impulses.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.materials.unilateral import Unilateral
from spume.matter.obstacle_loads import load_by_nodes
from spume.matter.stages import StepFailed
from spume.mpm.implicit.coupled_system import NO_COUPLING, CoupledSystem, Preconditioner, SpeciesCoupling
from spume.mpm.implicit.line_search import LEAST_VOLUME, search
from spume.mpm.implicit.tangent import Plasticity
from spume.mpm.step import find_contacts
from spume.mpm.world import GridWorld
from spume.numerics.krylov import minres
from spume.scene.mpm import MpmScene

FEW = 3
"""Iterations of the printed scheme"""
LARGEST = 1e6
"""Residual above which not even the printed scheme has a result [1]"""
SETTLED = 0.1
"""The limits of friction follow the normal impulses when the residual has fallen by this factor. [1]"""
Floats = NDArray[np.float64]
GROWTH = 1.5
"""Factor by which a step may exceed the previous one after steps had to be shortened."""


@dataclass
class Interaction:
    """What earlier stages of a step tell the solver about the interaction of the species."""

    coupling: SpeciesCoupling = NO_COUPLING


@dataclass
class SemiImplicit:
    """Settings and counters of the solver."""

    tolerance: float = 1e-3
    """Momentum residual, relative to that at the start or the load of the step, at which Newton's method stops [1]"""
    accepted: float = 0.05
    """Residual accepted after the last iteration [1]"""
    iterations: int = 60
    printed: bool = False
    """Whether all iterations are full ones, and whatever residual they leave is accepted"""
    linear_iterations: int = 500
    linear_tolerance: float = 1e-2
    preconditioner: Preconditioner = "blocks"
    plasticity: Plasticity = "lagged"
    unilateral: Unilateral | None = None
    """Energy of granular laws that have it, with lagged plasticity; None: Hencky's"""
    frame_length: float = 1.0
    """Time between frames [s]"""
    unconverged: int = 0
    """Steps accepted with a residual above the tolerance"""
    newton_iterations: int = 0
    minres_iterations: int = 0
    residual: float = 0.0
    """Relative residual of the last step [1]"""
    largest_residual: float = 0.0
    """Largest residual of an accepted step since the last frame [1]"""
    step_residuals: list[list[float]] = field(default_factory=list)
    """End [s] and residual [1] of each accepted step since the last frame"""
    impulses: list[Floats] = field(default_factory=list)
    """Impulses of contacts on the active nodes of each species in the last step [N s]"""

    def solve_step(self, world: GridWorld, dt: float, interaction: Interaction) -> None:
        """Solve for the velocities of the nodes; raise StepFailed if this does not succeed."""
        if not self.solve(world, interaction.coupling, dt):
            raise StepFailed(
                "a semi-implicit step",
                f"it does not converge (residual {self.residual:.3g})",
                "raise [semi_implicit] iterations or accepted_residual, or use integrator = 'explicit'",
            )
        self._count(world.time, dt)
        world.time_step.allowed *= GROWTH

    def _count(self, start: float, dt: float) -> None:
        """Count an accepted step of `dt` [s] that begins at `start` [s]."""
        frames = start / self.frame_length
        if abs(frames - round(frames)) < 1e-6:  # steps end at frames: this is the first after one
            self.largest_residual, self.step_residuals = 0.0, []
        self.step_residuals.append([start + dt, float(self.residual)])
        self.largest_residual = max(self.largest_residual, self.residual)
        self.unconverged += self.residual > self.tolerance

    def solve(self, world: GridWorld, coupling: SpeciesCoupling, dt: float) -> bool:
        """Solve for the velocities of the nodes and write them to the fields; return False if this fails."""
        find_contacts(world, dt)
        system = CoupledSystem(world, coupling, dt, self.plasticity, self.unilateral, self.preconditioner)
        v = self.iterate(system)
        accepted = self.residual <= (LARGEST if self.printed else self.accepted)
        if not accepted or world.ranks.any(not np.isfinite(v).all()):
            return False
        for part in system.parts:
            own, f = v[part.rows], part.species.fields
            f.rename(momentum="velocity", force="change")
            part.dofs.put(own, f["velocity"])
            part.dofs.put(own - part.before, f["change"])
        self.impulses = [system.impulse[part.rows] for part in system.parts]
        self._load_obstacles(system)
        return True

    def iterate(self, system: CoupledSystem) -> Floats:
        """Do Newton's iterations; return the velocities, and keep the residual."""
        v = system.before.copy()
        system.close_contacts(v)
        r, smallest = system.residual(v)
        if not smallest > LEAST_VOLUME:  # the initial velocities would crush a point
            v[:] = 0.0
            system.close_contacts(v)
            r, smallest = system.residual(v)
        drive = system.mass[:, None] * (system.free - system.before)
        scale = size = limited = 0.0
        for iteration in range(self.iterations + 1):
            same = not self.printed and size > max(SETTLED * limited, self.tolerance * scale)
            r = system.update_contacts(v, same)
            size = _norm(system, r)
            if not same:
                limited = size
            scale = scale or max(size, math.sqrt(system.dot(drive, drive)))
            self.residual = size / scale if scale > 0.0 else 0.0
            solved = self.residual <= self.tolerance and not same and not self.printed
            if solved or iteration == self.iterations:
                break
            system.prepare_preconditioner()
            solution = minres(system, -r, tolerance=self.linear_tolerance, limit=self.linear_iterations)
            self.newton_iterations += 1
            self.minres_iterations += solution.iterations
            if self.printed:
                v = v + solution.x
                system.close_contacts(v)
                if not system.residual(v)[1] > LEAST_VOLUME:
                    self.residual = math.inf
                    break
                continue
            v, r, fraction = search(system, v, solution.x, r)
            size = _norm(system, r)
            system.adapt(v, fraction)
        return v

    def _load_obstacles(self, system: CoupledSystem) -> None:
        """Add the residual impulses at the constrained nodes to the obstacle loads."""
        world = system.world
        if not world.obstacle_loads.active:
            return
        for part in system.parts:
            contacts = world.contacts_of(part.species)
            at_contacts = system.impulse[part.rows][part.dofs.number.reshape(-1)[contacts.node]]
            engaged = part.contacts.engaged
            load_by_nodes(world.obstacle_loads, contacts, world.nodes, at_contacts, engaged)
        system.load_walls()

    def diagnostics(self, world: GridWorld) -> dict[str, Any]:
        """Counters and residuals."""
        found: dict[str, Any] = {"repeated_steps": world.time_step.repeated} | self.checkpoint()
        if self.printed and self.largest_residual > self.accepted:
            found["warnings"] = {
                "residuals": f"by t = {world.time:.4g} s steps of the printed scheme left relative residuals of up to "
                f"{self.largest_residual:.2g} since the last frame, so their stresses are wrong by as much: reduce the "
                "step, raise [semi_implicit] iterations, or use scheme = 'converged'"
            }
        return found

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return {
            "unconverged_steps": self.unconverged,
            "newton_iterations": self.newton_iterations,
            "minres_iterations": self.minres_iterations,
            "residual": self.residual,
            "largest_residual": self.largest_residual,
            "step_residuals": list(self.step_residuals),
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.unconverged = values["unconverged_steps"]
        self.newton_iterations = values["newton_iterations"]
        self.minres_iterations = values["minres_iterations"]
        self.residual = values["residual"]
        self.largest_residual = values["largest_residual"]
        self.step_residuals = values.get("step_residuals", [])  # absent from checkpoints of earlier versions


def _norm(system: CoupledSystem, r: Floats) -> float:
    """Norm of the part of r that the contacts leave free."""
    free = r.copy()
    system.project(free)
    return math.sqrt(system.dot(free, free))


def build_semi_implicit(scene: MpmScene) -> SemiImplicit:
    """The solver of the scene's table [semi_implicit]."""
    table, frame = scene.semi_implicit, 1.0 / scene.frame_rate
    if table is None:
        return SemiImplicit(frame_length=frame)
    fading, printed = table.unilateral, table.scheme == "printed"
    return SemiImplicit(
        table.tolerance, table.accepted_residual, table.iterations or (FEW if printed else SemiImplicit.iterations),
        printed, table.linear_iterations, table.linear_tolerance,
        table.preconditioner, table.plasticity,
        None if fading is None else Unilateral(fading.a, fading.b, fading.c0, fading.s_C, fading.v0, fading.b_tip),
        frame,
    )  # fmt: skip
