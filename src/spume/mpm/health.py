"""Checks that stop a failing simulation with a message: where, why, and what to change."""

import math

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.materials.drucker_prager import DruckerPragerParameters, cone_coefficients
from spume.materials.hencky import lame_parameters
from spume.materials.loops import ConstitutiveModel
from spume.materials.water import WATER
from spume.mpm.blocks import BLOCK, REACH_IN_BLOCKS
from spume.mpm.particles import Particles
from spume.mpm.state import State

VOLUME_RATIO_RANGE = (0.02, 50.0)
"""Range of J; outside, points were crushed or torn apart numerically."""

FASTEST_IMPACT = 30.0
"""Largest ratio of speed to speed of sound in an impact; higher speeds come from an instability."""

INTERVAL = 32
"""Steps between two checks; a check costs about a hundredth of a step."""


Corners = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper corner of the walls."""


def check(state: State, walls: Corners | None) -> None:
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
    reach = REACH_IN_BLOCKS * BLOCK[x.shape[1]][0] * cell
    if max(x.max(), -x.min()) > reach:
        far = int(np.argmax(np.abs(x).max(axis=1)))
        raise RunFailed(
            f"{name} {far} is at {_place(x, far)} at t = {time:.6g} s, farther from the origin than the grid extends "
            f"({reach:.3g} m): give the scene a ground or walls to keep it"
        )


def _check_volume_ratio(particles: Particles, model: ConstitutiveModel, name: str, time: float) -> None:
    J = model.volume_ratio(particles.arrays())
    stretched = J / _separation(particles, model, J)
    low, high = VOLUME_RATIO_RANGE
    for worst in (int(np.argmin(J)), int(np.argmax(stretched))):
        if J[worst] <= low or not stretched[worst] < high:
            crushed = bool(J[worst] <= low)
            raise RunFailed(
                f"{name} {worst} at {_place(particles.x, worst)} was {'crushed' if crushed else 'blown up'} to "
                f"{J[worst]:.3g} times its rest volume at t = {time:.6g} s: {_advice(particles, model, worst, crushed)}"
            )


def _separation(particles: Particles, model: ConstitutiveModel, J: NDArray[np.float64]) -> NDArray[np.float64]:
    """Part of J due to space between grains or drops, which carries no stress and may have any size."""
    apart = np.ones_like(J)
    if "gained_volume" in particles:
        apart *= np.exp(np.minimum(particles.gained_volume, 600.0))
    free = [law is WATER and getattr(p, "tension", "full") == "none" for law, p in model.materials]
    if any(free):
        apart[np.array(free)[particles.material] & (J > 1.0)] = np.inf
    return apart


def _advice(particles: Particles, model: ConstitutiveModel, point: int, crushed: bool) -> str:
    """Advice on what to change, depending on the law of the point and the speed of its material."""
    material = int(particles.material[point])
    law, parameters = model.materials[material]
    sound = law.wave_speed(parameters)
    v = particles.v[particles.material == material]
    speed = float(np.sqrt(np.median(np.einsum("ij,ij->i", v, v))))
    if crushed and sound < speed < FASTEST_IMPACT * sound:
        return (
            f"its material moves at {speed:.3g} m/s, faster than its speed of sound, {sound:.3g} m/s, so an impact "
            "crushes it at any time step; make it slower or stiffer"
        )
    if law is WATER:
        return (
            f"water keeps its volume at speeds up to about a tenth of its speed of sound, {sound:.3g} m/s, and moves "
            f"at {speed:.3g} m/s here; raise its bulk_modulus, or reduce [time] courant or dt"
        )
    if isinstance(parameters, DruckerPragerParameters) and not crushed:
        c_F, c_C = cone_coefficients(parameters.friction_angle, parameters.cohesion, parameters.cone)
        mu, lam = lame_parameters(parameters.youngs_modulus, parameters.poisson_ratio)
        tip = math.inf if c_F == 0.0 else c_C / (c_F * (2.0 * mu + 3.0 * lam))
        if tip > 0.1:
            return (
                f"its cohesion holds it up to a strain of {tip:.3g}, the tip of its cone; lower the cohesion, or raise "
                "friction_angle or youngs_modulus"
            )
    return "reduce [time] courant or dt, stiffen the material, or press it more slowly"


def _place(x: NDArray[np.float64], point: int) -> str:
    return "(" + ", ".join(f"{c:.4g}" for c in x[point]) + ") m"
