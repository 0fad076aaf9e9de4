"""Materials drawn as grains, and the drawing order of transparent ones."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import PAINT, Population
from spume.frames.populations import PopulationArrays
from spume.frames.quantities import spatial
from spume.look.finish import Finish
from spume.scene.common import Scene
from spume.scene.surroundings import materials_of

Floats = NDArray[np.float64]
WHITE = Finish((0.9, 0.92, 0.94), 0.4, 0.8)
"""The finish of spray, foam and bubbles."""
DROP = 0.35
"""Their diameter, relative to the distance between the points of water."""
WET = 0.55
"""Fraction by which water in the pores darkens grains."""
SIZES = (0.65, 1.3)
"""Smallest and largest grain of a point, relative to their mean."""


def shades(ids: NDArray[Any], variation: float) -> NDArray[np.float64]:
    """Brightness of points by their ids, 1 on average; a point keeps its brightness in every frame."""
    # the golden ratio spreads consecutive numbers evenly over the range
    return np.asarray(1.0 + variation * (np.modf(0.6180339887498949 * ids.astype(np.float64))[0] - 0.5))


def point_colors(
    finish: Finish, ids: NDArray[Any], saturation: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """A colour for each point, linear RGB, shape (n, 3): it varies with the id and is darker where the point is wet."""
    brightness = shades(ids, finish.variation)
    if saturation is not None:
        brightness *= 1.0 - WET * saturation
    return np.asarray(brightness[:, None] * np.array(finish.color))


def grains_of(points: PopulationArrays, members: NDArray[Any], finish: Finish) -> NDArray[np.float64]:
    """Colours of the points of one material, those that `members` selects."""
    ids = points["id"][members] if "id" in points else np.flatnonzero(members)
    saturation = points["saturation"][members] if "saturation" in points and finish.grain else None
    if PAINT.name not in points:
        return point_colors(finish, np.asarray(ids), saturation)
    shade = point_colors(finish._replace(color=(1.0, 1.0, 1.0)), np.asarray(ids), saturation)
    return np.asarray(shade * covered_by(np.asarray(points[PAINT.name])[members], finish))


def covered_by(paint: NDArray[np.float64], finish: Finish) -> NDArray[np.float64]:
    """Colours (n, 3) of a material under the paint (n, 4) that its points carry."""
    return np.asarray(paint[:, :3] + (1.0 - paint[:, 3:]) * np.array(finish.color))


def nearest_paint(points: PopulationArrays, x: Floats) -> Floats:
    """Paint (n, 4) at places `x` [m], the mean over the four nearest points that carry it."""
    from scipy.spatial import cKDTree

    _, nearest = cKDTree(spatial(points["x"])).query(x, k=[1, 2, 3, 4], workers=-1)
    return np.asarray(points[PAINT.name])[np.minimum(nearest, len(points["x"]) - 1)].mean(axis=1)


def colors_of(points: PopulationArrays, kinds: NDArray[Any], finishes: list[Finish]) -> NDArray[np.float64]:
    """Colours of all points, linear RGB, shape (n, 3), by their materials `kinds`."""
    colors = np.zeros((len(kinds), 3))
    for kind in np.unique(kinds):
        members = kinds == kind
        colors[members] = grains_of(points, members, finishes[int(kind) % len(finishes)])
    return colors


def scattered(x: Floats, colors: Floats, spacing: float, count: int, variation: float) -> tuple[Floats, Floats, Floats]:
    """Positions [m], colours and diameters [m] of `count` grains of several sizes for each point, in its share of the
    volume; together they have about the volume of one ball per point. A point comes back as it is for one grain."""
    if count == 1:
        return x, colors, np.full(len(x), spacing)
    # numbers that do not change from frame to frame: the grains travel with their point
    random = np.random.default_rng(0)
    # wider than the share itself, so that no lattice of points is seen
    offsets = random.uniform(-0.7, 0.7, (len(x), count, 3)) * spacing
    brightness = 1.0 + variation * random.uniform(-0.5, 0.5, (len(x), count, 1))
    sizes = random.uniform(*SIZES, (len(x), count)) * 1.15 * spacing / np.cbrt(count)
    return (x[:, None] + offsets).reshape(-1, 3), (colors[:, None] * brightness).reshape(-1, 3), sizes.ravel()


def opaque_first(populations: Iterable[PopulationArrays], finishes: list[Finish]) -> list[PopulationArrays]:
    """Populations in drawing order, transparent ones last."""

    def transparency(population: PopulationArrays) -> float:
        if "material" not in population or len(population["x"]) == 0:
            return 0.0
        return max(finishes[int(kind) % len(finishes)].transparency for kind in np.unique(population["material"]))

    return sorted(populations, key=transparency)


def is_granular(scene: Scene, population: Population, finishes: list[Finish]) -> bool:
    """Whether a population of a run is drawn as grains in every frame: all materials that it can have are."""
    if not any(field.name == "material" for field in population.fields):
        return False
    return all(finishes[kind].grain > 0 for kind in materials_of(scene, population.name))
