"""Implicit step by Newton's method with conjugate gradients, or GMRES where contacts slide.

The residual r(v) of the equations of `problem.py`, with stresses after the flow of the step, is linearised at the
present velocities (`tangent.py`). At each point the derivative is made positive semidefinite and symmetric, so that a
change of v found by conjugate gradients leads downhill: for laws with a potential, an elastic energy or that of an
associated flow, r is the derivative of

    E(v) = ½ ‖v − v̂‖²_M + Σ_p V Ψ(F(v)).

A line search on the slope r · dv (`line_search.py`) needs no potential and follows that of E where there is one.

Contacts are an active set. In each iteration the limits s of friction follow from the present normal impulses. Friction
with these limits has the potential Σ s ‖w‖ of the sliding velocities w, which the residual, the matrix and the line
search include: contacts that would turn round on the way stick from there on. Where contacts slide, the matrix also
contains the change of the limits with the normal impulses, without which iterations converge slowly, or not at all
where material jams. This makes it unsymmetric, and GMRES takes the place of conjugate gradients.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spume.grid.linear_system import StressSystem
from spume.materials.unilateral import NO_SHAPE
from spume.mpm.implicit.contact_set import State
from spume.mpm.implicit.line_search import LEAST_VOLUME, search
from spume.mpm.implicit.node_stiffness import node_stiffness
from spume.mpm.implicit.outcome import Outcome
from spume.mpm.implicit.problem import StepProblem
from spume.mpm.implicit.tangent import NONE_TORN, NUMBERS, tangent_loops
from spume.numerics.krylov import Solution, conjugate_gradient, gmres
from spume.scene.time_stepping import Implicit

Floats = NDArray[np.float64]
LOOSEST, TIGHTEST = 0.1, 1e-12
"""Largest and smallest relative residual at which linear solves stop."""
PROGRESS = 0.8
"""After an iteration that reduces the residual less, the limits of friction do not change in the next one: in corners
where material jams, a contact may begin to slide again and again in a direction that the limits turn round."""


class _Equations:
    """The equations of a step: a system for `numerics.krylov`, and what `line_search` asks of one."""

    def __init__(self, problem: StepProblem) -> None:
        self.problem, self.contacts = problem, problem.contacts
        p = problem.species.particles
        self.torn = p.weak if "weak" in p else NONE_TORN
        self.uses = [(use, b) for use in problem.species.model.laws for b in range(len(use.law.branches))]
        count = len(p)
        self.L, self.S, self.smallest = np.zeros((count, 3, 3)), np.zeros((count, 3, 3)), np.ones(count)
        most = 1 + max((b for _, b in self.uses), default=0)
        self.numbers = [np.zeros((count, NUMBERS)) for _ in range(most)]
        """Derivatives of the stresses of each branch; a point has only one law."""
        self.unbalanced = np.zeros_like(problem.free)
        """r at the last velocities, without friction [N s]."""
        self.coupling: Floats | None = None
        self._stress = StressSystem(
            problem.species.transfers, problem.world.nodes, problem.dofs, problem.mass,
            problem.species.weighted_at, p.volume, self._answer, problem.dt**2,
        )  # fmt: skip

    def residual(self, v: Floats) -> tuple[Floats, float]:
        """Return r(v) with the friction of sliding contacts and the smallest det f of all points, which must be
        positive; store the derivative for `multiply`."""
        problem = self.problem
        p = problem.species.particles
        problem.gradient(v, self.L)
        for use, b in self.uses:
            linearize, _ = tangent_loops(use.law, "in-step", "hencky", b)
            linearize(
                p.material, use.belongs, use.constants, problem.history(use), self.torn, problem.dt, NO_SHAPE,
                True, self.L, self.S, self.numbers[b], self.smallest,
            )  # fmt: skip
        self.unbalanced = problem.mass[:, None] * (v - problem.free) + problem.dt * problem.impulse(self.S)
        smallest = problem.world.ranks.least(float(self.smallest.min(initial=1.0)))
        return self.unbalanced - self.contacts.rub(v), smallest

    def _answer(self, L: Floats, T: Floats) -> None:
        p = self.problem.species.particles
        for use, b in self.uses:
            _, answer = tangent_loops(use.law, "in-step", "hencky", b)
            answer(p.material, use.belongs, self.numbers[b], L, T)

    def update_contacts(self, v: Floats) -> Floats:
        """Open contacts, let them stick or slide, and return −r(v) with their friction."""
        residual = -self.unbalanced
        self.contacts.update(v, residual)
        return residual

    def prepare(self, v: Floats) -> None:
        """Compute the preconditioner and the derivative of friction at the velocities of the last `residual`."""
        problem = self.problem
        p = problem.species.particles
        self.diagonal = np.repeat(problem.mass[:, None], v.shape[1], axis=1)
        for numbers in self.numbers:
            species, around = problem.species, problem.surroundings
            k = node_stiffness(species.transfers, around, species.weighted_at, p.volume, numbers)
            self.diagonal += problem.dt**2 * np.maximum(k, 0.0)
        self.friction = self.contacts.turning(v, self.diagonal)
        rows = self.contacts.rows
        self.inverse = np.linalg.inv(self.friction + self.diagonal[rows, :, None] * np.eye(v.shape[1]))

    def multiply(self, v: Floats) -> Floats:
        """A v."""
        result, rows = self._stress.multiply(v), self.contacts.rows
        result[rows] += np.einsum("nij,nj->ni", self.friction, v[rows])
        if self.coupling is not None:
            result[rows] = np.einsum("nij,nj->ni", self.coupling, result[rows])
        return result

    def solve(self, right: Floats, tolerance: float, limit: int, coupled: bool) -> Solution:
        """Solve A x = `right`, with or without the change of the limits of friction."""
        self.coupling = self.contacts.coupling() if coupled else None
        if coupled:
            return gmres(self, right, tolerance, limit)
        return conjugate_gradient(self, right, tolerance=tolerance, limit=limit)

    def precondition(self, r: Floats) -> Floats:
        """r divided by the diagonal; at contacts, by that and the derivative of friction."""
        result, rows = r / self.diagonal, self.contacts.rows
        result[rows] = np.einsum("nij,nj->ni", self.inverse, r[rows])
        return result

    def project(self, v: Floats) -> None:
        """Remove the components constrained by contacts."""
        self.contacts.project(v)

    def dot(self, a: Floats, b: Floats) -> float:
        """Inner product."""
        return self.dots([(a, b)])[0]

    def dots(self, pairs: Sequence[tuple[Floats, Floats]]) -> list[float]:
        """Inner products."""
        return self._stress.dots(pairs)

    def energy(self) -> float:
        """Not known: flow in the step has none."""
        return math.nan

    def engaged(self) -> State:
        """The state of the contacts."""
        return self.contacts.state()

    def engage(self, state: State) -> None:
        """Restore what `engaged` returned."""
        self.contacts.restore(state)

    def close_contacts(self, v: Floats) -> None:
        """Apply the contacts to `v` in place; those that slide and would turn round stick."""
        self.problem.close_contacts(v)
        self.contacts.arrest(v)


def solve_by_newton(problem: StepProblem, settings: Implicit) -> Outcome:
    """Solve the equations of a step; `settings` is the scene's table [implicit]."""
    equations = _Equations(problem)
    v = problem.before.copy()
    problem.close_contacts(v)
    outcome = Outcome(v, equations.L)
    if not equations.residual(v)[1] > LEAST_VOLUME:  # the initial velocities would crush a point
        v[:] = 0.0
        problem.close_contacts(v)
        _, smallest = equations.residual(v)
        if smallest == 0.0:
            outcome.failure = "a point is too distorted for its stress to be computed"
            return outcome
        if not smallest > LEAST_VOLUME:
            outcome.failure = f"obstacles would squeeze a point to {smallest:.3g} times its volume"
            return outcome
    first, coupled, ranks = 0.0, False, problem.world.ranks
    for _ in range(settings.iterations):
        right = equations.update_contacts(v)
        free = right.copy()
        equations.project(free)
        size = math.sqrt(equations.dot(free, free))
        impulses = problem.mass[:, None] * (v - problem.before)
        scale = math.sqrt(ranks.total(impulses[problem.dofs.counted] ** 2))
        first = max(first, size, scale)
        outcome.primal.append(size / first if first > 0.0 else 0.0)
        outcome.dual.append(0.0)
        if outcome.residual <= settings.tolerance:
            outcome.converged = True
            break
        equations.prepare(v)
        # A tolerance that decreases with the residual gives superlinear convergence. [Nocedal06] section 7.1
        tolerance = min(max(math.sqrt(outcome.primal[-1]), TIGHTEST), LOOSEST)
        found = v
        stalls = coupled and outcome.primal[-1] > PROGRESS * outcome.primal[-2]
        for coupled in (True, False) if problem.contacts.slides and not stalls else (False,):
            try:
                solution = equations.solve(right, tolerance, settings.linear_iterations, coupled)
            except ArithmeticError:  # overflow, or limits of friction that make the matrix singular
                continue
            outcome.linear_iterations += solution.iterations
            largest = -ranks.least(-float(np.abs(solution.x).max(initial=0.0)))
            outcome.displacement_error = problem.dt * largest / problem.world.cell
            found, _, _ = search(equations, v, solution.x, -right)
            if found is not v:  # an unsymmetric matrix may lead uphill
                break
        if found is v:  # overflow, or rounding hides the way downhill
            break
        v = found
    outcome.v = v
    outcome.reaction = equations.unbalanced
    problem.gradient(v, outcome.L)
    return outcome
