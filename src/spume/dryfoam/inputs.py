"""What scripts give to a foam: checks of numbers, walls and areas, and seeds between walls."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from spume.dryfoam.network import seeds as seeding
from spume.dryfoam.network.cutting import Walls
from spume.dryfoam.network.half_edges import Floats
from spume.errors import SceneError

Seeds = Literal["random", "poisson-disk", "hexagonal"]
AREAS = (1e-30, 1e30)
"""Smallest and largest mean area of the cells [m²]."""
WIDEST = 100.0
"""Largest polydispersity [1]."""


def positive(name: str, value: float) -> float:
    """A positive number; `name` is what messages call it."""
    if not (np.isfinite(value) and value > 0):
        raise SceneError(f"{name} must be a positive number, found {value}")
    return float(value)


def mean_area(name: str, value: float) -> float:
    """A mean area of cells [m²] that numbers resolve."""
    if not AREAS[0] <= value <= AREAS[1]:
        raise SceneError(f"{name} must be between {AREAS[0]:g} and {AREAS[1]:g} m², found {value}")
    return float(value)


def whole_number(name: str, value: int, least: int) -> int:
    """A whole number that is not less than `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SceneError(f"{name} must be a whole number, at least {least}, found {value!r}")
    return int(value)


def kind_of_walls(walls: Walls) -> Walls:
    """The name of walls that there are."""
    if walls not in get_args(Walls):
        raise SceneError(f"walls are those of a 'box' or of a 'channel', found '{walls}'")
    return walls


def size_between_walls(size: Sequence[float] | None) -> tuple[float, float]:
    """Width and height between walls [m]."""
    given = np.asarray(() if size is None else size, dtype=float)
    if given.shape != (2,) or not np.all(np.isfinite(given) & (given > 0.0)):
        raise SceneError(f"walls need a size of two positive numbers, width and height [m], found {size}")
    return float(given[0]), float(given[1])


def unit_seeds(cells: int, seeds: Seeds, generator: np.random.Generator) -> Floats:
    """Seeds of cells between walls, in the unit square."""
    if seeds == "random":
        return seeding.random_seeds(cells, generator)
    if seeds == "poisson-disk":
        return seeding.poisson_disk_seeds(cells, generator)
    raise SceneError(f"seeds in a box or a channel are 'random' or 'poisson-disk', found '{seeds}'")


def given_areas(areas: Sequence[float] | Floats, cells: int) -> Floats:
    """An area for each cell [m²]."""
    given = np.asarray(areas, dtype=float)
    if given.shape != (cells,):
        raise SceneError(f"{len(given) if given.ndim else 'single'} areas are given for {cells} cells")
    return given


def spread_areas(areas: Floats, polydispersity: float, generator: np.random.Generator) -> Floats:
    """Log-normal areas with the given relative standard deviation, the same sum and the same ranking as `areas`."""
    if not 0 <= polydispersity <= WIDEST:
        raise SceneError(f"the polydispersity must be between 0 and {WIDEST:g}, found {polydispersity}")
    sigma = np.sqrt(np.log1p(polydispersity**2))
    drawn = np.sort(np.exp(sigma * generator.standard_normal(len(areas))))
    spread = np.empty_like(areas)
    spread[np.argsort(areas, kind="stable")] = drawn
    return np.asarray(spread * (areas.sum() / spread.sum()))
