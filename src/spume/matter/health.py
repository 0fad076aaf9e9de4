"""Checks that stop a failing simulation with a message: where, why, and what to change."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.grid.blocks import BLOCK, REACH_IN_BLOCKS
from spume.materials.history import field_of
from spume.materials.loops import ConstitutiveModel
from spume.materials.traits import Failure
from spume.matter.particles import Particles
from spume.matter.world import World

VOLUME_RATIO_RANGE = (0.02, 50.0)
"""Range of J; outside, points were crushed or torn apart numerically."""

FASTEST_IMPACT = 30.0
"""Largest ratio of speed to speed of sound in an impact; higher speeds come from an instability."""

Corners = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper corner of the walls."""


def check(state: World[Any], walls: Corners | None) -> None:
    """Raise RunFailed if a point's J is out of range, or a point is outside the walls or the reach of the grid."""
    for species in state.species:
        name = "point" if len(state.species) == 1 else f"{species.name} point"
        check_points(species.particles, species.model, name, state.time, state.cell, walls)


def check_points(
    particles: Particles, model: ConstitutiveModel, name: str, time: float, cell: float, walls: Corners | None
) -> None:
    """Like `check`, for the points of one species, called `name` in messages, on cells of size `cell` [m]."""
    if len(particles) == 0:
        return
    x = particles.x
    _check_volume_ratio(particles, model, name, time)
    if walls is not None:
        lower, upper = walls
        beyond = np.max(np.maximum(lower - x, x - upper), axis=1)
        worst = int(np.argmax(beyond))
        # Separating contact lets points pass a wall by less than a cell.
        if beyond[worst] > cell:
            raise RunFailed(
                f"{name} {worst} left the walls by {beyond[worst]:.3g} m at t = {time:.6g} s, at {_place(x, worst)}: "
                "it crossed the wall's contact zone in one step; reduce [time] courant, or move the wall outwards"
            )
    reach = extent_of_grid(x.shape[1], cell)
    if max(x.max(), -x.min()) > reach:
        far = int(np.argmax(np.abs(x).max(axis=1)))
        raise RunFailed(
            f"{name} {far} is at {_place(x, far)} at t = {time:.6g} s, farther from the origin than the grid extends "
            f"({reach:.3g} m): give the scene a ground or walls to keep it"
        )


def extent_of_grid(dimension: int, cell: float) -> float:
    """Distance from the origin along an axis up to which the grid can extend [m]."""
    return float(REACH_IN_BLOCKS * BLOCK[dimension][0] * cell)


def _check_volume_ratio(particles: Particles, model: ConstitutiveModel, name: str, time: float) -> None:
    J = model.volume_ratio(particles.arrays())
    stretched = J / _separation(particles, model, J)
    low, high = VOLUME_RATIO_RANGE
    for worst in (int(np.argmin(J)), int(np.argmax(stretched))):
        if J[worst] <= low or not stretched[worst] < high:
            failure: Failure = "crushed" if J[worst] <= low else "blown up"
            raise RunFailed(
                f"{name} {worst} at {_place(particles.x, worst)} was {failure} to {J[worst]:.3g} times its rest volume "
                f"at t = {time:.6g} s: {_advice(particles, model, worst, failure)}"
            )


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


def _advice(particles: Particles, model: ConstitutiveModel, point: int, failure: Failure) -> str:
    """Advice on what to change, depending on the law of the point and the speed of its material."""
    material = int(particles.material[point])
    law, parameters = model.materials[material]
    sound = law.wave_speed(parameters)
    v = particles.v[particles.material == material]
    speed = float(np.sqrt(np.median(np.einsum("ij,ij->i", v, v))))
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
