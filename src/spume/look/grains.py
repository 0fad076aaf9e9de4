"""Materials that are seen as grains, and the order in which transparent ones are drawn."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.frames.populations import PopulationArrays
from spume.look.appearance import Appearance, Color

GRAIN_CONTRAST = 0.45
"""Range of the brightness of grains, around that of their material."""
WET = 0.45
"""What water in the pores takes of the brightness of grains."""


def grain_colors(color: Color, ids: NDArray[np.int64], saturation: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """A colour for each grain, linear RGB, shape (n, 3): brighter or darker by its number, darker where it is wet."""
    # the golden ratio spreads consecutive numbers evenly, so that a grain keeps its shade in every frame
    shade = np.modf(0.6180339887498949 * ids.astype(np.float64))[0] - 0.5
    brightness = 1.0 + GRAIN_CONTRAST * shade
    if saturation is not None:
        brightness *= 1.0 - WET * saturation
    return np.asarray(brightness[:, None] * np.array(color))


def grains_of(points: PopulationArrays, members: NDArray[Any], looks: Appearance) -> NDArray[np.float64]:
    """Colours of the grains of one material, those that `members` selects."""
    ids = points["id"][members] if "id" in points else np.flatnonzero(members)
    saturation = points["saturation"][members] if "saturation" in points else None
    return grain_colors(looks.color, np.asarray(ids), saturation)


def opaque_first(populations: Iterable[PopulationArrays], looks: list[Appearance]) -> list[PopulationArrays]:
    """Populations in the order of drawing: what is seen through comes last."""

    def transparency(population: PopulationArrays) -> float:
        if "material" not in population or len(population["x"]) == 0:
            return 0.0
        return 1.0 - min(looks[int(kind) % len(looks)].opacity for kind in np.unique(population["material"]))

    return sorted(populations, key=transparency)


def is_granular(population: PopulationArrays, looks: list[Appearance]) -> bool:
    """Whether all materials of a population are seen as grains."""
    if "material" not in population or len(population["x"]) == 0:
        return False
    return all(looks[int(kind) % len(looks)].texture == "grains" for kind in np.unique(population["material"]))
