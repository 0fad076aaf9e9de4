"""Water that was stretched at a free surface: its volume ratio follows the density on the grid.

Water has no tension (`materials/water.py`): beyond its rest volume, J > 1, the pressure is zero while J follows the
motion. In spray J follows the mean motion of separate drops and grows, though each drop keeps its volume. When the
drops come together again, J would still be above one: the water would carry no pressure until it is compressed by all
that J has gained, and its volume would be lost. The density of the grid around a point tells when this has happened:

    J ← min(J, max(1, ρ0/ρ)),    ρ = Σ_i w m_i / h^d

At a free surface and in spray ρ is below ρ0, and J is left alone; where points have come together ρ is ρ0 again and J
returns to one. The pressure is zero before and after, so no energy is created. Water with tension = "full" is left as
it is.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.mpm.species import Species
from spume.mpm.state import State
from spume.numerics.jit import compiled


def limit_stretch(state: State, water: Species, near: NDArray[np.float64]) -> None:
    """Apply the rule to all points of `water`; `near` (n,) is work space. The masses of the nodes must be known."""
    p = water.particles
    if len(p) == 0:
        return
    water.transfers.to_points(("scalar",), p.x, water.fields.array, scalar=near)  # Σ w m_i: mass is the first channel
    free = np.array([getattr(parameters, "tension", "none") == "none" for _, parameters in water.model.materials])
    _limit(p.material, free, p.mass, p.volume, near, state.cell**state.dimension, p.J)


@compiled(parallel=True)
def _limit(material, free, mass, volume, near, cell_volume, J):
    for p in prange(J.size):
        if J[p] > 1.0 and free[material[p]]:
            rest = mass[p] * cell_volume / volume[p]  # what Σ w m_i is at rest density
            J[p] = min(J[p], max(1.0, rest / near[p]))
