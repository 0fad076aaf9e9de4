"""Correction of the volume of granular material, such as sand, whose points have crowded together.

Forces follow from J of the points, which changes with the gradient of the grid velocity, while the points move with the
velocity itself. Where sand flows for long, the two drift apart (`cloud_density.py`): points crowd although their J is
one, and a heap shrinks. In an hourglass that is flipped twice, sand ends up a third denser than at the start.

The volumes of the points fill the fraction φ_i = Σ_p w_ip V_p J_p/h^d of the volume around node i, and φ = Σ_i w_ip φ_i
of that around point p. It is at most one if positions and volumes agree, apart from irregular fillings. Where it is
larger than 1 + BAND,

    ln J ← ln J − (1 − exp(−Δt/τ)) ln(φ/(1 + BAND)),    τ = CROSSINGS h/c

is taken from the gained volume v_c first (`materials/granular.py`), then from the elastic strain: the pressure that
results pushes the points apart. Narrower bands and faster rates act on irregularities of a few points, which then
expand, gain volume at the tip of the cone, and let the whole heap swell. Both were chosen on the hourglass
(docs/methods/mpm.md).
"""

import math

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.nodes import NodeFields
from spume.materials.history import field_of, values_of
from spume.materials.loops import LawInUse
from spume.materials.traits import Granular
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled

BAND = 0.13
"""Excess of φ over one that is accepted [1]."""
CROSSINGS = 2000.0
"""Decay time of the excess, in units of the time h/c in which sound crosses a cell."""
INTERVAL = 10
"""Number of steps from one correction to the next."""


def restore_crowded_sand(world: GridWorld, dt: float) -> None:
    """Correct J of granular materials with volume correction, every INTERVAL steps. Requires sorted points."""
    if world.steps % INTERVAL:
        return
    for species in world.species:
        corrected = _corrected(species, world.cell)
        if not corrected:
            continue
        p, arrays = species.particles, species.particles.arrays()
        fill = NodeFields(volume=0)
        fill.fit(world.nodes)
        volume = p.volume * species.model.volume_ratio(arrays)
        species.transfers.to_grid(("scalar",), p.x, fill.array, scalar=volume)
        near = np.empty(len(p))
        species.transfers.to_points(("scalar",), p.x, fill.array, scalar=near)
        near /= world.cell**world.dimension
        for use, granular, rates in corrected:
            b = field_of(use, granular.elastic_strain, arrays)
            gained = field_of(use, granular.gained_volume, arrays)
            _restore(p.material, -np.expm1(-INTERVAL * dt * rates), near, b, gained)


def _corrected(species: GridSpecies, cell: float) -> list[tuple[LawInUse, Granular, NDArray[np.float64]]]:
    """Granular laws with 1/τ [1/s] of each material, zero where J is not corrected; only laws with such materials."""
    found = []
    for use in species.model.laws:
        if (granular := use.law.traits.granular) is None:
            continue
        on = use.belongs & (use.constants[:, use.law.constants.index(granular.corrects_volume)] > 0.0)
        if on.any():
            speeds = values_of(use, use.law.wave_speed, species.model.materials)
            found.append((use, granular, np.where(on, speeds / (CROSSINGS * cell), 0.0)))
    return found


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
