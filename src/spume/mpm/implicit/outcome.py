"""Result of the solver of an implicit step."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass
class Outcome:
    """Velocities at the end of a step, and their residuals."""

    v: NDArray[np.float64]
    """Velocities of the active nodes [m/s]."""
    L: NDArray[np.float64]
    """Their gradients at the points [1/s]."""
    primal: list[float] = field(default_factory=list)
    """Relative primal residual of each iteration. ADMM: ‖W (X − F)‖/‖W u‖; Newton: the unbalanced impulses relative to
    those of the first iteration."""
    dual: list[float] = field(default_factory=list)
    """Relative dual residual of each iteration. ADMM: ‖W D (change of v)‖/‖W u‖; Newton: none."""
    displacement_error: float = math.inf
    """Approximate displacement of nodes in the step due to the last primal residual [cells]; infinite if unknown."""
    reaction: NDArray[np.float64] | None = None
    """Residual impulses at the active nodes [N s], which are those of the contacts where these act."""
    linear_iterations: int = 0
    converged: bool = False
    failure: str = ""
    """Why the solver gave up, for the user; empty if it did not."""

    @property
    def residual(self) -> float:
        """The larger of the last primal and dual residuals."""
        return max(self.primal[-1], self.dual[-1]) if self.primal else math.inf
