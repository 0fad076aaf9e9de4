"""One implicit step: [Fang19] section 6. Steps that fail are repeated with half the length, and the residual determines
the length of the following ones."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
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
LARGE, SMALL = 0.5, 0.25
"""Fractions of the accepted residual: above the first the next automatic step is shorter, below the second it may be
longer again."""
SHRINKING, GROWTH = 0.7, 1.5
"""Factors of the longest step after one with a large and a small residual."""
POOR = 0.1
"""Residual above which a step counts as poor."""
NOTEWORTHY_SHARE = 0.1
"""Share of the steps since the last frame with poor residuals that causes a warning [1]."""
INVISIBLE = 1e-3
"""The relative residual of a step does not matter if it displaces nodes by less than this [cells]. In
short steps the strains of a step are so small that their errors do not matter."""
LEAST_VOLUME = 1e-3
"""A step that compresses a point to less than this fraction of its volume, or inverts it, is repeated with half the
length."""


@dataclass
class Recent:
    """Steps since a frame."""

    frame: int = 0
    """Number of the frame before them."""
    steps: int = 0
    poor: int = 0
    """Those with poor residuals that displace nodes visibly."""
    worst: float = 0.0
    """Largest residual [1]."""

    def warning(self, time: float) -> dict[str, str]:
        """Warning, by topic, if the residuals of many steps are large."""
        if self.poor <= NOTEWORTHY_SHARE * self.steps:
            return {}
        return {
            "residuals": f"by t = {time:.4g} s {self.poor} of the last {self.steps} implicit steps ended with "
            f"relative residuals above {POOR:g}, the worst with {self.worst:.2g}, so their stresses are wrong by as "
            "much or several times as much: raise [implicit] iterations, or reduce [time] max_dt or dt"
        }


class Integrator:
    """Backward Euler with the solver of the scene's table [implicit], and the data kept between steps."""

    def __init__(self, settings: Any, frame_rate: float) -> None:
        self.settings, self.frame_rate = settings, frame_rate
        self.repeated = 0
        """Steps that were repeated with half the length, since the start."""
        self.unconverged = 0
        """Steps that ended above the tolerance, since the start."""
        self.iterations = 0
        """Iterations since the start."""
        self.linear_iterations = 0
        """Iterations of linear solvers since the start."""
        self.recent = Recent()
        """The steps since the last frame."""
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
        control = state.time_step
        while remaining > 0.0:
            h = min(remaining, control.allowed)
            if h < remaining < 2.0 * h:
                h = 0.5 * remaining
            prepare(state)
            rasterize(state)
            failure = self._solve(state, h)
            if failure:
                self.repeated += 1
                control.allowed = 0.5 * h
                if control.allowed < SHORTEST * dt:
                    raise RunFailed(
                        f"an implicit step at t = {state.time:.6g} s fails even at {h:.3g} s: {failure}; raise "
                        "[implicit] iterations or accepted_residual, reduce dt, or use a smaller cell"
                    )
                continue
            self._judge(state, h)
            finish(state, h)
            remaining = 0.0 if h == remaining else remaining - h
        state.time = end

    def _judge(self, state: State, dt: float) -> None:
        """Count a step that was accepted, and let its residual determine the longest following step."""
        outcome, control, accepted = self.last, state.time_step, self.settings.accepted_residual
        assert outcome is not None
        visible = outcome.displacement_error > INVISIBLE
        self.unconverged += not outcome.converged
        frame = int(state.time * self.frame_rate + 1e-6)
        if frame != self.recent.frame:
            self.recent = Recent(frame)
        self.recent.steps += 1
        self.recent.poor += visible and outcome.residual > POOR
        self.recent.worst = max(self.recent.worst, outcome.residual)
        if control.fixed is None and visible and outcome.residual > LARGE * accepted:
            control.allowed = SHRINKING * dt
        elif control.fixed is not None or not visible or outcome.residual <= SMALL * accepted:
            control.allowed *= GROWTH

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

    def diagnostics(self, time: float) -> dict[str, Any]:
        """Residuals of the last step and the worst one since the last frame, what was counted since the start, and a
        warning, at `time` [s]."""
        last = self.last
        return self._counts() | {
            "worst_residual": self.recent.worst,
            "primal_residuals": last.primal if last else [],
            "dual_residuals": last.dual if last else [],
            "warnings": self.recent.warning(time),
        }

    def _counts(self) -> dict[str, int]:
        return {
            "repeated_steps": self.repeated,
            "unconverged_steps": self.unconverged,
            "solver_iterations": self.iterations,
            "linear_iterations": self.linear_iterations,
        }

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs besides the state."""
        return self._counts() | {"recent_steps": asdict(self.recent)}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.repeated = values["repeated_steps"]
        self.unconverged = values.get("unconverged_steps", 0)  # absent from checkpoints of earlier versions
        self.iterations = values["solver_iterations"]
        self.linear_iterations = values["linear_iterations"]
        self.recent = Recent(**values.get("recent_steps", {}))


class ImplicitStages:
    """The implicit step without further stages."""

    def __init__(self, settings: Any, frame_rate: float) -> None:
        self.integrator = Integrator(settings, frame_rate)

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """One."""
        return one_species(scene, carried_fields(scene.implicit_settings, scene.dimension))

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""
        self.integrator.step(state, dt, sort_points, _finish)

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Residuals, what was counted since the start, and a warning."""
        return self.integrator.diagnostics(state.time)

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
