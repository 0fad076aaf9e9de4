"""Mass that passes through planes, counted in every step from the positions of points before and after they move."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.numerics.rows import rows_along
from spume.ranks.ranks import ALONE, Ranks

Floats = NDArray[np.float64]


class Passages:
    """Mass that has passed through each plane along its normal since the start [kg]."""

    def __init__(self, planes: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> None:
        """`planes` by name: a point [m] and a normal."""
        self._planes = {name: (np.array(n), float(np.dot(point, n))) for name, (point, n) in planes.items()}
        self.mass = dict.fromkeys(self._planes, 0.0)
        self.ranks: Ranks = ALONE

    def __len__(self) -> int:
        return len(self._planes)

    def sides(self, x: Floats) -> dict[str, NDArray[np.bool_]]:
        """Mask of the points at `x` that are beyond each plane, by name."""
        return {name: rows_along(x, normal) > offset for name, (normal, offset) in self._planes.items()}

    def count(self, before: Mapping[str, NDArray[np.bool_]], x: Floats, mass: Floats) -> None:
        """Add the mass of the points at `x` that were on the other side before."""
        for name, beyond in self.sides(x).items():
            self.mass[name] += self.ranks.dot(mass, beyond.astype(np.float64) - before[name])

    def restore(self, values: dict[str, Any]) -> None:
        """Restore masses by name."""
        self.mass |= {name: float(value) for name, value in values.items() if name in self.mass}
