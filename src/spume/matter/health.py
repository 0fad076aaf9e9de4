"""Checks that stop a failing simulation with a message: where, why, and what to change."""

import math
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.grid.blocks import BLOCK, REACH_IN_BLOCKS
from spume.materials.history import field_of
from spume.materials.loops import ConstitutiveModel
from spume.materials.traits import Failure
from spume.matter.particles import Particles
from spume.matter.world import World
from spume.matter.worst import is_first, worst_point
from spume.ranks.ranks import ALONE, Ranks

VOLUME_RATIO_RANGE = (0.02, 50.0)
"""Range of J; outside, points were crushed or torn apart numerically."""

FASTEST_IMPACT = 30.0
"""Largest ratio of speed to speed of sound in an impact; higher speeds come from an instability."""

Corners = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper corner of the walls."""


def check(state: World[Any], walls: Corners | None) -> None:
    """Raise RunFailed on all ranks if a point's J is out of range, or a point is outside the walls or the reach of the
    grid."""
    for species in state.species:
        name = "point" if len(state.species) == 1 else f"{species.name} point"
        check_points(species.particles, species.model, name, state.time, state.cell, walls, state.ranks)


class Failing(NamedTuple):
    """The worst point of a check that fails."""

    check: Literal["crushed", "blown up", "walls", "grid"]
    badness: float
    """How bad it is; numbers of the same check compare."""
    point: int
    """Its index."""


def check_points(
    particles: Particles,
    model: ConstitutiveModel,
    name: str,
    time: float,
    cell: float,
    walls: Corners | None,
    ranks: Ranks = ALONE,
) -> None:
    """Like `check`, for the points of one species, called `name` in messages, on cells of size `cell` [m]."""
    worst = next(_failing(particles, model, cell, walls), None) if len(particles) else None
    if not ranks.any(worst is not None):
        return
    key = None
    if worst is not None:
        key = float(CHECKS.index(worst.check)), -worst.badness, float(particles.id[worst.point])
    mine = is_first(ranks, key, 3)
    # the advice depends on the speed of the material of that point
    material = int(ranks.largest(float(particles.material[worst.point]) if mine and worst is not None else -1.0))
    v = particles.v[particles.material == material]
    speed = math.sqrt(ranks.median(np.einsum("ij,ij->i", v, v)))
    with ranks.agreed():
        if mine and worst is not None:
            raise RunFailed(_sentence(particles, model, name, time, cell, worst, speed))


CHECKS = ("crushed", "blown up", "walls", "grid")
"""The checks in their order."""


def _failing(particles: Particles, model: ConstitutiveModel, cell: float, walls: Corners | None) -> Iterator[Failing]:
    """The checks that fail, in their order."""
    x, ids = particles.x, particles.id
    low, high = VOLUME_RATIO_RANGE
    J = model.volume_ratio(particles.arrays())
    stretched = J / _separation(particles, model, J)
    # in most checks a look at the extremes is enough; comparisons with NaN are false
    if not J.min() > low:
        badness = np.where(np.isnan(J), -np.inf, -J)
        point = worst_point(badness, ids)
        if badness[point] >= -low:
            yield Failing("crushed", float(badness[point]), point)
    if not stretched.max() < high:
        badness = np.where(np.isnan(stretched), np.inf, stretched)
        point = worst_point(badness, ids)
        if badness[point] >= high:
            yield Failing("blown up", float(badness[point]), point)
    least, most = _extremes(x)
    # Separating contact lets points pass a wall by less than a cell.
    if walls is not None and max((walls[0] - least).max(), (most - walls[1]).max()) > cell:
        beyond = np.max(np.maximum(walls[0] - x, x - walls[1]), axis=1)
        point = worst_point(beyond, ids)
        yield Failing("walls", float(beyond[point]), point)
    if max(-least.min(), most.max()) > extent_of_grid(x.shape[1], cell):
        away = np.abs(x).max(axis=1)
        point = worst_point(away, ids)
        yield Failing("grid", float(away[point]), point)


def _extremes(x: NDArray[np.float64]) -> Corners:
    """The smallest and the largest coordinates of points, column by column: NumPy takes short rows one by one."""
    return np.array([column.min() for column in x.T]), np.array([column.max() for column in x.T])


def _sentence(
    particles: Particles, model: ConstitutiveModel, name: str, time: float, cell: float, worst: Failing, speed: float
) -> str:
    point, place = worst.point, _place(particles.x, worst.point)
    called = f"{name} {particles.id[point]}"
    if worst.check == "walls":
        return (
            f"{called} left the walls by {worst.badness:.3g} m at t = {time:.6g} s, at {place}: "
            "it crossed the wall's contact zone in one step; reduce [time] courant, or move the wall outwards"
        )
    if worst.check == "grid":
        reach = extent_of_grid(particles.x.shape[1], cell)
        return (
            f"{called} is at {place} at t = {time:.6g} s, farther from the origin than the grid extends "
            f"({reach:.3g} m): give the scene a ground or walls to keep it"
        )
    J = model.volume_ratio(particles.arrays())[point]
    return (
        f"{called} at {place} was {worst.check} to {J:.3g} times its rest volume at t = {time:.6g} s: "
        f"{_advice(particles, model, point, worst.check, speed)}"
    )


def extent_of_grid(dimension: int, cell: float) -> float:
    """Distance from the origin along an axis up to which the grid can extend [m]."""
    return float(REACH_IN_BLOCKS * BLOCK[dimension][0] * cell)


def _separation(particles: Particles, model: ConstitutiveModel, J: NDArray[np.float64]) -> NDArray[np.float64]:
    """Part of J due to space between grains or drops, which carries no stress and may have any size."""
    apart, arrays = np.ones_like(J), particles.arrays()
    for use in model.laws:
        if (granular := use.law.traits.granular) is not None:
            own = use.belongs[particles.material]
            gained = field_of(use, granular.gained_volume, arrays)[own]
            apart[own] = np.exp(np.minimum(gained, 600.0))
    free = [law.traits.fluid is not None and law.traits.fluid.separates(p) for law, p in model.materials]
    if any(free):
        apart[np.array(free)[particles.material] & (J > 1.0)] = np.inf
    return apart


def _advice(particles: Particles, model: ConstitutiveModel, point: int, failure: Failure, speed: float) -> str:
    """Advice on what to change, depending on the law of the point and the median speed of its material [m/s]."""
    material = int(particles.material[point])
    law, parameters = model.materials[material]
    sound = law.wave_speed(parameters)
    if failure == "crushed" and sound < speed < FASTEST_IMPACT * sound:
        return (
            f"its material moves at {speed:.3g} m/s, faster than its speed of sound, {sound:.3g} m/s, so an impact "
            "crushes it at any time step; make it slower or stiffer"
        )
    if law.traits.advice is not None and (advice := law.traits.advice(parameters, failure, speed)) is not None:
        return advice
    return "reduce [time] courant or dt, stiffen the material, or press it more slowly"


def _place(x: NDArray[np.float64], point: int) -> str:
    return "(" + ", ".join(f"{c:.4g}" for c in x[point]) + ") m"
