"""The points used by measurements: those of this process, and the ranks that have the others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.ranks.ranks import ALONE, Ranks

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
    id: NDArray[np.int64]
    """Unique numbers of the points of all species."""
    spacing: float
    """Distance of neighbouring points [m]."""
    ranks: Ranks = ALONE
    """The processes that share the points."""

    @property
    def sizes(self) -> Floats:
        """Edges of cubes with the volumes of the points [m]."""
        return np.asarray(self.volume ** (1.0 / self.x.shape[1]))

    def of(self, chosen: NDArray[np.bool_]) -> "Sample":
        """Sample of the chosen points."""
        x, mass, volume, body, stress = (a[chosen] for a in (self.x, self.mass, self.volume, self.body, self.stress))
        return Sample(x, mass, volume, body, stress, self.id[chosen], self.spacing, self.ranks)


def sample(groups: Sequence[tuple[Mapping[str, NDArray[Any]], Floats]], spacing: float, ranks: Ranks = ALONE) -> Sample:
    """The points of several species: their arrays, with Kirchhoff stresses, and their volume ratios."""
    return Sample(
        np.concatenate([arrays["x"] for arrays, _ in groups]),
        np.concatenate([arrays["mass"] for arrays, _ in groups]),
        np.concatenate([arrays["volume"] * J for arrays, J in groups]),
        np.concatenate([arrays["body"] for arrays, _ in groups]),
        np.concatenate([arrays["stress"] / J[:, None] for arrays, J in groups]),
        np.concatenate([arrays["id"] * len(groups) + k for k, (arrays, _) in enumerate(groups)]),
        spacing,
        ranks,
    )
