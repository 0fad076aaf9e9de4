"""The points used by measurements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """Points of all species at one time."""

    x: Floats
    """Positions [m], shape (n, d)."""
    mass: Floats
    volume: Floats
    """Present volume of each point [m³], in 2D its area [m²]."""
    body: NDArray[Any]
    """Body or emitter that each point came from."""
    stress: Floats
    """Cauchy stress (xx, yy, zz, xy, xz, yz) [Pa]."""
    spacing: float
    """Distance of neighbouring points [m]."""

    @property
    def sizes(self) -> Floats:
        """Edges of cubes with the volumes of the points [m]."""
        return np.asarray(self.volume ** (1.0 / self.x.shape[1]))

    def of(self, chosen: NDArray[np.bool_]) -> "Sample":
        """Sample of the chosen points."""
        x, mass, volume = self.x[chosen], self.mass[chosen], self.volume[chosen]
        return Sample(x, mass, volume, self.body[chosen], self.stress[chosen], self.spacing)


def sample(groups: Sequence[tuple[Mapping[str, NDArray[Any]], Floats]], spacing: float) -> Sample:
    """The points of several species: their arrays, with Kirchhoff stresses, and their volume ratios."""
    return Sample(
        np.concatenate([arrays["x"] for arrays, _ in groups]),
        np.concatenate([arrays["mass"] for arrays, _ in groups]),
        np.concatenate([arrays["volume"] * J for arrays, J in groups]),
        np.concatenate([arrays["body"] for arrays, _ in groups]),
        np.concatenate([arrays["stress"] / J[:, None] for arrays, J in groups]),
        spacing,
    )
