"""Implicit step by the alternating direction method of multipliers: [Fang19] section 7, in scaled form.

    particle step   X = argmin Ξ(X) + ρ/2 W² ‖X − F(v) + u‖²          each point and branch separately
    grid step       (M + ρ DᵀW²D) v = M v̂ + ρ DᵀW² (X + u − Fe)       one linear system, constant during the step
    dual step       u ← u + X − F(v)

with F(v) = (I + Δt L(v)) Fe = Fe + D v. At the solution −ρ W² u = V P, so u represents the stress; its initial value is
that of the stress at the start of the step. Over-relaxation replaces X by α X + (1 − α) F(v) in the last two. Anderson
acceleration combines the results of several iterations (`anderson`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from spume.mpm.implicit.anderson import Memory
from spume.mpm.implicit.branches import Branches
from spume.mpm.implicit.concavity import MARGIN
from spume.mpm.implicit.grid_matrix import GridMatrix
from spume.mpm.implicit.outcome import Outcome
from spume.mpm.implicit.problem import StepProblem
from spume.numerics.krylov import conjugate_gradient
from spume.scene.time_stepping import Implicit

UNBALANCED, BALANCE = 10.0, 2.0
"""The penalty changes by a factor of BALANCE when primal and dual residual differ by more than UNBALANCED. [Boyd11]
section 3.4.1"""
PATIENCE, PROGRESS = 8, 0.9
"""The weights are examined when the primal residual has not fallen by the factor PROGRESS in PATIENCE iterations."""
LARGEST_RAISE = 4.0
"""Factor by which a weight grows at once: deformations in a cycle may be far from the solution."""


def solve_by_admm(problem: StepProblem, settings: Implicit) -> Outcome:
    """Solve the equations of a step; `settings` is the scene's table [implicit]."""
    step = _Step(problem, settings)
    for iteration in range(settings.iterations):
        step.dual_and_particle_step()
        if iteration > 0 and step.converged():
            return step.finished()
        last = iteration + 1 == settings.iterations
        if step.is_astray() and not last:
            step.go_back()
            continue
        if not step.grid_step():
            return step.outcome
        if not last:  # no iteration would assess the combination
            step.combine()
        step.change_gradients()
        if iteration > 0:
            step.balance()
            step.examine_weights()
    if not step.outcome.primal:  # after a single iteration
        step.dual_and_particle_step()
        step.converged()
        return step.finished()
    step.outcome.L += step.change
    return step.finished()


class _Step:
    """The equations of a step, and the present state of the iterations that solve them."""

    def __init__(self, problem: StepProblem, settings: Implicit) -> None:
        self.problem, self.settings = problem, settings
        self.rho, self.relaxation = settings.rho, settings.over_relaxation
        self.v = problem.start()
        problem.close_contacts(self.v)
        points = len(problem.species.particles)
        self.outcome = Outcome(self.v, np.zeros((points, 3, 3)))
        problem.gradient(self.v, self.outcome.L)
        self.branches = Branches(problem)
        self.branches.start(settings.weights, self.rho, self.outcome.L)
        self.ranks, nodes = problem.world.ranks, problem.world.nodes
        self.matrix = GridMatrix(nodes, problem.dofs, problem.contacts, problem.surroundings)
        self._assemble()
        mass, counted = problem.mass, problem.dofs.counted
        stiffness, inertia = self.ranks.totals([(self.matrix.diagonal - mass)[counted], mass[counted]])
        # about ρ (c Δt/h)²: distance [cells] that nodes move in a step with a strain of one
        self.response = stiffness / inertia
        size = settings.anderson_memory
        self.memory = Memory(size, len(self.branches.q), points, self.v.shape) if size else None
        self.change = np.zeros((points, 3, 3))
        """Change of the velocity gradients in the last grid step."""
        self.rescale = 1.0
        """Factor for the duals in the next dual step, after a change of the penalty."""
        self.examined = 0
        """Number of residuals when the weights were last examined."""

    def _assemble(self) -> None:
        problem = self.problem
        metric = problem.species.transfers.pulled_back(self.branches.metric(self.rho))
        self.matrix.assemble(problem.species.weighted_at, metric, problem.mass)
        problem.contacts.inertia = self.matrix.diagonal

    def dual_and_particle_step(self) -> None:
        """Do the dual step of the last iteration and the particle step of the present one, and compute the residual
        impulses, with which contacts open, stick or slide."""
        problem, v = self.problem, self.v
        self.branches.step(self.rho, self.relaxation, self.rescale, self.outcome.L, self.change, self.memory)
        self.rescale = 1.0
        self.residual = problem.mass[:, None] * (problem.free - v) + problem.impulse(self.branches.S)
        self.before = v.copy()
        problem.contacts.update(v, self.residual)

    def converged(self) -> bool:
        """Record the residuals, and return whether they and the change of friction are below the tolerance and no
        contact has begun to stick."""
        outcome, tolerance = self.outcome, self.settings.tolerance
        primal, dual, strain = self.branches.norms()
        outcome.primal.append(primal / strain)
        outcome.dual.append(dual / strain)
        outcome.displacement_error = self.response * max(primal, dual)
        small = outcome.residual <= tolerance and _drift(self.problem, self.v, self.residual) <= tolerance
        outcome.converged = small and not self._changed() and self.problem.contacts.friction_change() <= tolerance
        return outcome.converged

    def _changed(self) -> bool:
        """Whether contacts that have begun to stick have changed velocities."""
        return self.ranks.any(not np.array_equal(self.v, self.before))

    def grid_step(self) -> bool:
        """Solve for the velocities; return whether they are finite."""
        settings = self.settings
        try:
            solution = conjugate_gradient(
                self.matrix, self.residual, tolerance=settings.linear_tolerance, limit=settings.linear_iterations
            )
        except ArithmeticError:  # overflow
            self.v[:] = np.nan
            return False
        self.outcome.linear_iterations += solution.iterations
        self.v += solution.x
        self.problem.close_contacts(self.v)
        if self.memory is not None:
            self.memory.keep(self.v)
        return True

    def is_astray(self) -> bool:
        """Whether the iteration started from a poor combination of earlier ones."""
        species = self.problem.species
        return self.memory is not None and self.memory.assess(
            self.ranks, species.cells, species.particles.volume, self.branches.weight
        )

    def go_back(self) -> None:
        """Discard the present iteration."""
        assert self.memory is not None
        self.problem.contacts.take_back()
        self._move(self.memory.go_back(self.branches.q))
        self.change_gradients()

    def combine(self) -> None:
        """Start the next iteration from a combination of the last ones."""
        if self.memory is not None:
            self._move(self.memory.combine(self.branches.q))

    def _move(self, other: NDArray[np.float64]) -> None:
        """Change v to the `other` velocities, except for the components that closed contacts prescribe: these contacts
        may have been open, or have slid, in earlier iterations. Contacts that stop the new velocities are closed."""
        move = other - self.v
        self.problem.contacts.project(move)
        self.v += move
        self.problem.close_contacts(self.v)

    def change_gradients(self) -> None:
        """Compute the change of the velocity gradients in the present iteration."""
        self.problem.gradient(self.v - self.before, self.change)

    def balance(self) -> None:
        """Change the penalty if primal and dual residual differ too much."""
        if self.settings.balancing != "residual":
            return
        factor = _balance(self.outcome.primal[-1], self.outcome.dual[-1])
        if factor != 1.0:
            self.rho, self.rescale = factor * self.rho, 1.0 / factor
            self.matrix.scale_stiffness(factor, self.problem.mass)
            self.problem.contacts.inertia = self.matrix.diagonal
            self._forget()

    def examine_weights(self) -> None:
        """If the primal residual stalls, end over-relaxation and raise the weights that are too small for the concave
        directions of the energy (`concavity`)."""
        primal = self.outcome.primal
        if len(primal) - self.examined <= PATIENCE or primal[-1] <= PROGRESS * primal[-1 - PATIENCE]:
            return
        self.examined = len(primal)
        L = self.outcome.L + self.change
        needed = self.branches.needed(self.rho, L)
        if self.ranks.any(any((c > 1.0 - 0.5 * self.relaxation).any() for c in needed)):
            self.relaxation = 1.0
            self.branches.raise_weights([_raise(c) for c in needed], L)
            self._assemble()
            self._forget()

    def _forget(self) -> None:
        if self.memory is not None:
            self.memory.forget()

    def finished(self) -> Outcome:
        """The outcome, with the impulses of contacts."""
        problem = self.problem
        self.outcome.reaction = problem.mass[:, None] * (self.v - problem.free) - problem.impulse(self.branches.S)
        return self.outcome


def _raise(concavity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Factors for the weights of points with a `concavity` relative to their penalty, without over-relaxation."""
    return np.where(concavity > 0.5, np.clip(2.0 * MARGIN * concavity, 1.0, LARGEST_RAISE), 1.0)


def _drift(problem: StepProblem, v: NDArray[np.float64], residual: NDArray[np.float64]) -> float:
    """Total unbalanced impulse, relative to the impulses of gravity and of the change of velocity. The other residuals
    measure only deformation, and linear systems solved incompletely are least accurate in translations."""
    left, counted = residual.copy(), problem.dofs.counted
    problem.contacts.project(left)
    changes = [problem.mass * np.linalg.norm(u - problem.before, axis=1) for u in (problem.free, v)]
    fall, change, *forces = problem.world.ranks.totals([a[counted] for a in (*changes, *left.T)])
    size = fall + change
    return math.hypot(*forces) / size if size > 0.0 else 0.0


def _balance(primal: float, dual: float) -> float:
    """Factor for the penalty: a larger penalty reduces the primal residual and increases the dual residual."""
    if primal > UNBALANCED * dual:
        return BALANCE
    return 1.0 / BALANCE if dual > UNBALANCED * primal else 1.0
