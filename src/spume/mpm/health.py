"""Stops a simulation that has gone wrong, and says where, why and what to change."""

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.materials.loops import ConstitutiveModel
from spume.mpm.blocks import BLOCK, REACH_IN_BLOCKS
from spume.mpm.particles import Particles
from spume.mpm.state import State

VOLUME_RATIO_RANGE = (0.02, 50.0)
"""J outside this range means that points were crushed or torn apart numerically."""

FASTEST_IMPACT = 30.0
"""Speeds over that of sound that an impact may have; higher ones come from an instability."""

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
    """The same for the points of one species, each called a `name`, on cells of size `cell` [m] at `time` [s]."""
    if len(particles) == 0:
        return
    x = particles.x
    _check_volume_ratio(particles, model, name, time)
    if walls is not None:
        lower, upper = walls
        beyond = np.max(np.maximum(lower - x, x - upper), axis=1)
        worst = int(np.argmax(beyond))
        # Points may dip below a wall by what separating contact lets through: less than a cell.
        if beyond[worst] > cell:
            raise RunFailed(
                f"{name} {worst} left the walls by {beyond[worst]:.3g} m at t = {time:.6g} s, at {_place(x, worst)}: "
                "it crossed the wall's contact zone in one step; reduce [time] courant, or move the wall outwards"
            )
    reach = REACH_IN_BLOCKS * BLOCK[x.shape[1]][0] * cell
    if max(x.max(), -x.min()) > reach:
        far = int(np.argmax(np.abs(x).max(axis=1)))
        raise RunFailed(
            f"{name} {far} is at {_place(x, far)} at t = {time:.6g} s, further from the origin than the grid reaches "
            f"({reach:.3g} m): give the scene a ground or walls to keep it"
        )


def _check_volume_ratio(particles: Particles, model: ConstitutiveModel, name: str, time: float) -> None:
    J = model.volume_ratio(particles.arrays())
    low, high = VOLUME_RATIO_RANGE
    for worst in (int(np.argmin(J)), int(np.argmax(J))):
        if not low < J[worst] < high:
            kind = "crushed" if J[worst] <= low else "blown up"
            raise RunFailed(
                f"{name} {worst} at {_place(particles.x, worst)} was {kind} to {J[worst]:.3g} times its rest volume at "
                f"t = {time:.6g} s: {_advice(particles, model, worst)}"
            )


def _advice(particles: Particles, model: ConstitutiveModel, point: int) -> str:
    """What to change, by the speed of the material the point is of."""
    material = int(particles.material[point])
    law, parameters = model.materials[material]
    sound = law.wave_speed(parameters)
    v = particles.v[particles.material == material]
    speed = float(np.sqrt(np.median(np.einsum("ij,ij->i", v, v))))
    if sound < speed < FASTEST_IMPACT * sound:
        return (
            f"its material moves at {speed:.3g} m/s, faster than its own sound, {sound:.3g} m/s, so an impact "
            "crushes it whatever the time step; make it slower or stiffer"
        )
    return "reduce [time] courant or dt, stiffen the material, or press it more slowly"


def _place(x: NDArray[np.float64], point: int) -> str:
    return "(" + ", ".join(f"{c:.4g}" for c in x[point]) + ") m"
