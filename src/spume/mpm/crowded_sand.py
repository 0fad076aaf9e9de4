"""Correction of the volume of sand whose points have crowded together.

Forces follow from J of the points, which changes with the gradient of the grid velocity, while the points move with the
velocity itself. Where sand flows for long, the two drift apart (`cloud_density.py`): points crowd although their J is
one, and a heap shrinks. In an hourglass that is flipped twice, sand ends up a third denser than at the start.

The volumes of the points fill the fraction φ_i = Σ_p w_ip V_p J_p/h^d of the volume around node i, and φ = Σ_i w_ip φ_i
of that around point p. It is at most one if positions and volumes agree, apart from irregular fillings. Where it is
larger than 1 + BAND,

    ln J ← ln J − (1 − exp(−Δt/τ)) ln(φ/(1 + BAND)),    τ = CROSSINGS h/c

is taken from the gained volume v_c first (`drucker_prager.py`), then from the elastic strain: the pressure that results
pushes the points apart. Narrower bands and faster rates act on irregularities of a few points, which then expand, gain
volume at the tip of the cone, and let the whole heap swell. Both were chosen on the hourglass (docs/methods/mpm.md).
"""

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.drucker_prager import GAINED_VOLUME
from spume.mpm.nodes import NodeFields
from spume.mpm.species import Species
from spume.mpm.state import State
from spume.numerics.jit import compiled

BAND = 0.1
"""Excess of φ over one that is accepted [1]."""
CROSSINGS = 2000.0
"""Decay time of the excess, in units of the time h/c in which sound crosses a cell."""
INTERVAL = 10
"""Number of steps from one correction to the next."""


def restore_crowded_sand(state: State, dt: float) -> None:
    """Correct J of sand with `volume_correction`, every INTERVAL steps. Requires sorted points."""
    if state.steps % INTERVAL:
        return
    for species in state.species:
        rates = _rates(species, state.cell)
        if len(species.particles) == 0 or not rates.any():
            continue
        with state.timed("volume of sand"):
            p, arrays = species.particles, species.particles.arrays()
            fill = NodeFields(volume=0)
            fill.fit(state.nodes)
            volume = p.volume * species.model.volume_ratio(arrays)
            species.transfers.to_grid(("scalar",), p.x, fill.array, scalar=volume)
            near = np.empty(len(p))
            species.transfers.to_points(("scalar",), p.x, fill.array, scalar=near)
            near /= state.cell**state.dimension
            _restore(p.material, -np.expm1(-INTERVAL * dt * rates), near, p.b, p.gained_volume)


def _rates(species: Species, cell: float) -> NDArray[np.float64]:
    """1/τ [1/s] of each material; zero where J is not corrected."""
    return np.array(
        [
            law.wave_speed(parameters) / (CROSSINGS * cell)
            if GAINED_VOLUME in law.fields and getattr(parameters, "volume_correction", False)
            else 0.0
            for law, parameters in species.model.materials
        ]
    )


@compiled(parallel=True)
def _restore(material, decay, near, b, gained):
    """Reduce J of points whose surroundings are filled by more than 1 + BAND (`near`)."""
    for p in prange(material.size):
        if decay[material[p]] > 0.0 and near[p] > 1.0 + BAND:
            excess = decay[material[p]] * math.log(near[p] / (1.0 + BAND))
            given = min(gained[p], excess)
            gained[p] -= given
            scale = math.exp(-2.0 / 3.0 * (excess - given))
            for i in range(6):
                b[p, i] *= scale
