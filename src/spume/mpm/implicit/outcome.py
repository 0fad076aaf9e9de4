"""What the solver of an implicit step returns."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Outcome:
    """Velocities at the end of a step, and how well they fulfil its equations."""

    v: NDArray[np.float64]
    """Velocities of the active nodes [m/s]."""
    L: NDArray[np.float64]
    """Their gradients at the points [1/s]."""
    primal: list[float] = field(default_factory=list)
    """Primal residual of each iteration, relative. ADMM: ‖W (X − F)‖/‖W u‖; Newton: the impulses that do not balance,
    over those of the first iteration."""
    dual: list[float] = field(default_factory=list)
    """Dual residual of each iteration, relative. ADMM: ‖W D (change of v)‖/‖W u‖; Newton: none."""
    displacement_error: float = math.inf
    """What the last primal residual moves nodes by in the step, roughly [cells]; unknown: infinite."""
    reaction: NDArray[np.float64] | None = None
    """Impulses that the equations leave at the active nodes [N s]: what contacts give, where they act."""
    linear_iterations: int = 0
    converged: bool = False

    @property
    def residual(self) -> float:
        """The larger one of the last residuals."""
        return max(self.primal[-1], self.dual[-1]) if self.primal else math.inf
