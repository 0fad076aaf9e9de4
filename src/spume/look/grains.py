"""Materials drawn as grains, and the drawing order of transparent ones."""

from collections.abc import Iterable
from typing import Any, NamedTuple

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
SPREAD = 0.6
"""Sizes of grains go from exp(−SPREAD) to exp(SPREAD), relative to their geometric mean."""
SHARE = 0.7
"""Half of the edge of the cube with the grains of a point, in point spacings: wider than its share of the volume, so
that no lattice of points is seen."""
LOOSE = 1.15
"""Diameter of a ball with the volume of all grains of a point, in point spacings."""
AROUND, REACH, OPEN, THIN = 24, 1.9, 0.2, 18
"""Of its nearest AROUND neighbours, a point inside has all within REACH spacings, one in a sheet about half. The sum of
the vectors to them is half the sum of their lengths at a flat surface, and nothing on average inside. A point with
fewer than THIN neighbours or with a part of more than OPEN is at the surface."""


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


class Grains(NamedTuple):
    """Grains that are drawn instead of points."""

    x: Floats
    """[m], shape (n, 3)"""
    colors: Floats
    """linear RGB, shape (n, 3)"""
    sizes: Floats
    """diameters [m]"""
    point: NDArray[np.int64]
    """the point of each grain"""


def scattered(
    x: Floats, colors: Floats, spacing: float, variation: float, counts: tuple[int, int], total: int
) -> Grains:
    """Grains of several sizes for each point, in its share of the volume; together they have about the volume of one
    ball per point.

    Each point has the smaller of the two `counts`, and where the material is seen from outside up to the larger, if all
    together are at most `total`. A point comes back as it is for one grain.
    """
    few, most = max(1, min(counts[0], total // max(len(x), 1))), counts[1]
    number = np.full(len(x), few)
    if few == counts[0] < most:
        outer = exposed(x, spacing)
        count = int(outer.sum())
        number[outer] = min(max((total - few * (len(x) - count)) // max(count, 1), few), most)
    if number.max(initial=1) == 1:
        return Grains(x, colors, np.full(len(x), spacing), np.arange(len(x)))
    point = np.repeat(np.arange(len(x)), number)
    # numbers that do not change from frame to frame: the grains travel with their point
    which = (point << 12) + np.arange(len(point)) - np.repeat(np.cumsum(number) - number, number)
    direction = np.stack([_chance(which, k) - 0.5 for k in range(3)], axis=1)
    brightness = 1.0 + variation * (_chance(which, 3) - 0.5)
    sizes = np.exp(SPREAD * (2.0 * _chance(which, 4) - 1.0))
    mean = np.cbrt(np.sinh(3.0 * SPREAD) / (3.0 * SPREAD))  # of the cubes of the sizes
    place = x[point] + 2.0 * SHARE * spacing * direction
    return Grains(
        place, colors[point] * brightness[:, None], LOOSE * spacing * sizes / (mean * np.cbrt(number[point])), point
    )


def exposed(x: Floats, spacing: float) -> NDArray[np.bool_]:
    """Whether points are at the surface of their material, or it is thin or loose around them."""
    from scipy.spatial import cKDTree

    if len(x) <= AROUND:
        return np.ones(len(x), bool)
    distance, near = (np.asarray(each) for each in cKDTree(x).query(x, k=AROUND + 1, workers=-1))
    close = distance < REACH * spacing
    towards = np.where(close[..., None], x[near] - x[:, None], 0.0).sum(axis=1)
    is_open = np.linalg.norm(towards, axis=1) > OPEN * np.where(close, distance, 0.0).sum(axis=1)
    return np.asarray(is_open | (close.sum(axis=1) <= THIN))


def _chance(which: NDArray[np.int64], kind: int) -> Floats:
    """Numbers between 0 and 1 that depend only on `which` and `kind`: SplitMix64."""
    with np.errstate(over="ignore"):
        z = which.astype(np.uint64) * np.uint64(8) + np.uint64(kind + 1)
        z *= np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)).astype(np.float64) * 2.0**-53)


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
