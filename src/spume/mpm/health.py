"""Stops a simulation that has gone wrong, and says where, why and what to change."""

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed
from spume.mpm.blocks import BLOCK, REACH_IN_BLOCKS
from spume.mpm.species import Species
from spume.mpm.state import State

VOLUME_RATIO_RANGE = (0.02, 50.0)
"""J outside this range means that points were crushed or torn apart numerically."""

INTERVAL = 32
"""Steps between two checks; a check costs about a hundredth of a step."""


def check(state: State, walls: tuple[NDArray[np.float64], NDArray[np.float64]] | None) -> None:
    """Raise RunFailed if a point's J is out of range, or a point is outside the walls or the reach of the grid."""
    for species in state.species:
        if len(species.particles):
            _check_species(state, species, walls)


def _check_species(
    state: State, species: Species, walls: tuple[NDArray[np.float64], NDArray[np.float64]] | None
) -> None:
    _check_volume_ratio(state, species)
    x = species.particles.x
    if walls is not None:
        lower, upper = walls
        beyond = np.max(np.maximum(lower - x, x - upper), axis=1)
        worst = int(np.argmax(beyond))
        # Points may dip below a wall by what separating contact lets through: less than a cell.
        if beyond[worst] > state.cell:
            raise RunFailed(
                f"{_point(state, species, worst)} left the walls by {beyond[worst]:.3g} m at t = {state.time:.6g} s, "
                f"at {_place(species, worst)}: it crossed the wall's contact zone in one step; reduce [time] courant, "
                "or move the wall outwards"
            )
    reach = REACH_IN_BLOCKS * BLOCK[state.dimension][0] * state.cell
    if max(x.max(), -x.min()) > reach:
        far = int(np.argmax(np.abs(x).max(axis=1)))
        raise RunFailed(
            f"{_point(state, species, far)} is at {_place(species, far)} at t = {state.time:.6g} s, further from the "
            f"origin than the grid reaches ({reach:.3g} m): give the scene a ground or walls to keep it"
        )


def _check_volume_ratio(state: State, species: Species) -> None:
    J = species.model.volume_ratio(species.particles.arrays())
    low, high = VOLUME_RATIO_RANGE
    for worst in (int(np.argmin(J)), int(np.argmax(J))):
        if not low < J[worst] < high:
            kind = "crushed" if J[worst] <= low else "blown up"
            raise RunFailed(
                f"{_point(state, species, worst)} at {_place(species, worst)} was {kind} to {J[worst]:.3g} times its "
                f"rest volume at t = {state.time:.6g} s: reduce [time] courant or dt, stiffen the material, or press "
                "it more slowly"
            )


def _point(state: State, species: Species, point: int) -> str:
    """What to call a point in messages."""
    return f"point {point}" if len(state.species) == 1 else f"point {point} of {species.name}"


def _place(species: Species, point: int) -> str:
    return "(" + ", ".join(f"{c:.4g}" for c in species.particles.x[point]) + ") m"
