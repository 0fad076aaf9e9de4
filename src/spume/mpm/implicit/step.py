"""The implicit step: [Fang19] section 6. A stage that solves for the velocities of the nodes takes the place of their
explicit update. The driver repeats steps that fail with half the length, and the residual determines the length of the
following ones."""

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.matter.stages import Stage, StepFailed
from spume.mpm.implicit.admm import solve_by_admm
from spume.mpm.implicit.newton import solve_by_newton
from spume.mpm.implicit.outcome import Outcome
from spume.mpm.implicit.problem import StepProblem, carried_fields
from spume.mpm.step import CROWDED_SAND, GATHER, MATERIAL, MOVE, RASTERIZE, SORT
from spume.mpm.world import GridWorld
from spume.scene.time_stepping import Implicit

SOLVERS = {"admm": solve_by_admm, "newton": solve_by_newton}
ADVICE = "raise [implicit] iterations or accepted_residual, reduce dt, or use a smaller cell"
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
    residuals: list[list[float]] = field(default_factory=list)
    """End [s] and residual [1] of each step."""

    def warning(self, time: float) -> dict[str, str]:
        """Warning, by topic, if the residuals of many steps are large."""
        if self.poor <= NOTEWORTHY_SHARE * self.steps:
            return {}
        return {
            "residuals": f"by t = {time:.4g} s {self.poor} of the last {self.steps} implicit steps ended with "
            f"relative residuals above {POOR:g}, the worst with {self.worst:.2g}, so their stresses are wrong by as "
            "much or several times as much: raise [implicit] iterations, or reduce [time] max_dt or dt"
        }


def implicit_stages(solve: Stage, move: Stage = MOVE) -> list[Stage]:
    """Backward Euler; the stage `solve` finds the velocities of the nodes, and `move` moves the points."""
    return [SORT, RASTERIZE, solve, GATHER, CROWDED_SAND, MATERIAL, move]


class Integrator:
    """Backward Euler with the solver of the scene's table [implicit], and the data kept between steps."""

    def __init__(self, settings: Implicit, frame_rate: float) -> None:
        self.settings, self.frame_rate = settings, frame_rate
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

    @property
    def stage(self) -> Stage:
        """The stage that solves for the velocities of the nodes."""
        return Stage("implicit solve", self.solve)

    @property
    def impulses(self) -> list[NDArray[np.float64]]:
        """Impulses of contacts on the active nodes in the last step [N s], if the solver knows them."""
        return [] if self.last is None or self.last.reaction is None else [self.last.reaction]

    def carried_fields(self, dimension: int) -> tuple[Field, ...]:
        """Fields that points carry from step to step."""
        return carried_fields(self.settings, dimension)

    def solve(self, world: GridWorld, dt: float) -> None:
        """Solve for the velocities of the nodes; raise StepFailed if the result cannot be used."""
        problem = StepProblem(world, dt)
        self.last = outcome = SOLVERS[self.settings.solver](problem, self.settings)
        self.iterations += len(outcome.primal)
        self.linear_iterations += outcome.linear_iterations
        problem.finish(outcome.v)
        if reason := _failure(outcome, dt, world, self.settings.accepted_residual):
            raise StepFailed("an implicit step", reason, ADVICE)
        problem.keep_acceleration(outcome.v)
        if outcome.reaction is not None:
            problem.load_obstacles(outcome.reaction)
        self._judge(outcome, world, dt)

    def _judge(self, outcome: Outcome, world: GridWorld, dt: float) -> None:
        """Count a step that was accepted, and let its residual determine the longest following step."""
        control, accepted = world.time_step, self.settings.accepted_residual
        visible = outcome.displacement_error > INVISIBLE
        self.unconverged += not outcome.converged
        frame = int(world.time * self.frame_rate + 1e-6)
        if frame != self.recent.frame:
            self.recent = Recent(frame)
        self.recent.steps += 1
        self.recent.poor += visible and outcome.residual > POOR
        self.recent.worst = max(self.recent.worst, outcome.residual)
        self.recent.residuals.append([world.time + dt, float(outcome.residual)])
        if control.fixed is None and visible and outcome.residual > LARGE * accepted:
            control.allowed = SHRINKING * dt
        elif control.fixed is not None or not visible or outcome.residual <= SMALL * accepted:
            control.allowed *= GROWTH

    def diagnostics(self, world: GridWorld) -> dict[str, Any]:
        """Residuals of the last step and of all since the last frame, what was counted since the start, and a
        warning."""
        last = self.last
        return (
            {"repeated_steps": world.time_step.repeated}
            | self._counts()
            | {
                "worst_residual": self.recent.worst,
                "step_residuals": list(self.recent.residuals),
                "primal_residuals": last.primal if last else [],
                "dual_residuals": last.dual if last else [],
                "warnings": self.recent.warning(world.time),
            }
        )

    def _counts(self) -> dict[str, int]:
        return {
            "unconverged_steps": self.unconverged,
            "solver_iterations": self.iterations,
            "linear_iterations": self.linear_iterations,
        }

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs besides the world."""
        return self._counts() | {"recent_steps": asdict(self.recent)}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        self.unconverged = values.get("unconverged_steps", 0)  # absent from checkpoints of earlier versions
        self.iterations = values["solver_iterations"]
        self.linear_iterations = values["linear_iterations"]
        self.recent = Recent(**values.get("recent_steps", {}))


def _failure(outcome: Outcome, dt: float, world: GridWorld, accepted: float) -> str:
    """Reason why the outcome of a step cannot be used, or an empty string."""
    if outcome.failure:
        return outcome.failure
    if world.ranks.any(not np.isfinite(outcome.v).all()):
        return "its velocities are not finite"
    f = np.eye(3) + dt * outcome.L
    d = world.dimension
    smallest = world.ranks.least(float(np.linalg.det(f[:, :d, :d]).min(initial=np.inf)))
    if not smallest > LEAST_VOLUME:
        return f"a point would be squeezed to {smallest:.3g} times its volume"
    if not (outcome.residual <= accepted or outcome.displacement_error <= INVISIBLE):
        return f"its residual is {outcome.residual:.3g} after {len(outcome.primal)} iterations"
    return ""
