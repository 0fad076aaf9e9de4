"""One implicit step: [Fang19] section 6. Steps that fail are repeated with half the length."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from spume.errors import RunFailed
from spume.mpm.implicit.admm import solve_by_admm
from spume.mpm.implicit.newton import solve_by_newton
from spume.mpm.implicit.outcome import Outcome
from spume.mpm.implicit.problem import StepProblem, carried_fields
from spume.mpm.species import SpeciesPlan, one_species
from spume.mpm.state import State
from spume.mpm.step import collide_and_move, gather, rasterize, sort_points, update_material

SOLVERS = {"admm": solve_by_admm, "newton": solve_by_newton}
SHORTEST = 2.0**-12
"""Fraction of the step length at which a failing step ends the run."""
GROWTH = 1.5
"""Factor by which a step may exceed the previous one after steps had to be shortened."""
INVISIBLE = 1e-3
"""A step is accepted regardless of its relative residual if the residual displaces nodes by less than this [cells]. In
short steps the strains of a step are so small that their errors do not matter."""
LEAST_VOLUME = 1e-3
"""A step that compresses a point to less than this fraction of its volume, or inverts it, is repeated with half the
length."""


class Integrator:
    """Backward Euler with the solver of the scene's table [implicit], and the data kept between steps."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings
        self.longest = math.inf
        """Longest step allowed after one was repeated [s]."""
        self.repeated = 0
        """Steps that were repeated with half the length, since the start."""
        self.iterations = 0
        """Iterations since the start."""
        self.linear_iterations = 0
        """Iterations of linear solvers since the start."""
        self.last: Outcome | None = None
        """Result of the solver in the last step."""

    def step(
        self,
        state: State,
        dt: float,
        prepare: Callable[[State], None],
        finish: Callable[[State, float], None],
    ) -> None:
        """Advance `state` by dt [s], in several steps if one fails.

        `prepare` sorts the points before each step; `finish` interpolates the velocities of the nodes to the points,
        counts the step and advances the time.
        """
        end = state.time + dt
        remaining = dt
        while remaining > 0.0:
            h = min(remaining, self.longest)
            if h < remaining < 2.0 * h:
                h = 0.5 * remaining
            prepare(state)
            rasterize(state)
            failure = self._solve(state, h)
            if failure:
                self.repeated += 1
                self.longest = 0.5 * h
                if self.longest < SHORTEST * dt:
                    raise RunFailed(
                        f"an implicit step at t = {state.time:.6g} s fails even at {h:.3g} s: {failure}; raise "
                        "[implicit] iterations or accepted_residual, reduce dt, or use a smaller cell"
                    )
                continue
            finish(state, h)
            self.longest *= GROWTH
            remaining = 0.0 if h == remaining else remaining - h
        state.time = end

    def _solve(self, state: State, dt: float) -> str:
        """Solve for the velocities of the nodes; return the reason for a failure, or an empty string."""
        with state.timed("implicit solve"):
            problem = StepProblem(state, dt)
            self.last = outcome = SOLVERS[self.settings.solver](problem, self.settings)
            self.iterations += len(outcome.primal)
            self.linear_iterations += outcome.linear_iterations
            problem.finish(outcome.v)
            failure = _failure(outcome, dt, state.dimension, self.settings.accepted_residual)
            if not failure:
                problem.keep_acceleration(outcome.v)
                if outcome.reaction is not None:
                    problem.load_obstacles(outcome.reaction)
            return failure

    def diagnostics(self) -> dict[str, Any]:
        """Residuals of the last step, and what was counted since the start."""
        last = self.last
        return self.checkpoint() | {
            "primal_residuals": last.primal if last else [],
            "dual_residuals": last.dual if last else [],
        }

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return {
            "longest_step": self.longest if math.isfinite(self.longest) else None,
            "repeated_steps": self.repeated,
            "solver_iterations": self.iterations,
            "linear_iterations": self.linear_iterations,
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.longest = math.inf if values["longest_step"] is None else values["longest_step"]
        self.repeated = values["repeated_steps"]
        self.iterations = values["solver_iterations"]
        self.linear_iterations = values["linear_iterations"]


class ImplicitStages:
    """The implicit step without further stages."""

    def __init__(self, settings: Any) -> None:
        self.integrator = Integrator(settings)

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """One."""
        return one_species(scene, carried_fields(scene.implicit_settings, scene.dimension))

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""
        self.integrator.step(state, dt, sort_points, _finish)

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Residuals of the last step, and what was counted since the start."""
        return self.integrator.diagnostics()

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return self.integrator.checkpoint()

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.integrator.restore(values)


def _finish(state: State, dt: float) -> None:
    gather(state, dt)
    update_material(state, dt)
    collide_and_move(state, dt)
    state.time += dt
    state.steps += 1


def _failure(outcome: Outcome, dt: float, dimension: int, accepted: float) -> str:
    """Reason why the outcome of a step cannot be used, or an empty string."""
    if not np.isfinite(outcome.v).all():
        return "its velocities are not finite"
    f = np.eye(3) + dt * outcome.L
    d = dimension
    smallest = float(np.linalg.det(f[:, :d, :d]).min(initial=np.inf))
    if not smallest > LEAST_VOLUME:
        return f"a point would be squeezed to {smallest:.3g} times its volume"
    if not (outcome.residual <= accepted or outcome.displacement_error <= INVISIBLE):
        return f"its residual is {outcome.residual:.3g} after {len(outcome.primal)} iterations"
    return ""
