"""One point driven through the per-point functions of its law."""

from typing import Any

import numpy as np

from spume.materials import Law, Parameters


class OnePoint:
    """A point of a law: deform it, read its stress and history."""

    def __init__(self, law: Law, parameters: Parameters) -> None:
        self.law, self.packed = law, law.pack(parameters)
        self.history: tuple[Any, ...] = tuple(
            tuple(field.initial) if field.shape else float(field.initial) for field in law.fields
        )
        self.tau = np.zeros((3, 3))

    def step(self, f: Any, dt: float = 1.0) -> np.ndarray:
        """Deform by f (3, 3) in a time dt; returns the Kirchhoff stress (3, 3)."""
        stress, self.history = self.law.update(
            tuple(np.asarray(f, float).ravel().tolist()), dt, self.packed, self.history
        )
        xx, yy, zz, xy, xz, yz = stress
        self.tau = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return self.tau

    def stretch(self, a: float, b: float, c: float, dt: float = 1.0) -> np.ndarray:
        """Add the logarithmic strains a, b, c along the axes."""
        return self.step(np.diag(np.exp([a, b, c])), dt)

    def field(self, name: str) -> Any:
        """A quantity of the history."""
        return self.history[[field.name for field in self.law.fields].index(name)]

    def energy(self) -> float:
        return self.law.energy(self.packed, self.history)

    def volume_ratio(self) -> float:
        return self.law.volume_ratio(self.history)


def deviator_norm(tau: np.ndarray) -> float:
    """‖dev τ‖."""
    return float(np.linalg.norm(tau - np.trace(tau) / 3 * np.eye(3)))
