"""Grains that separate: the volume gained, and its correction, for laws of sand and other grains. [Tampubolon17]

Where the return map ends at the tip of the yield surface, grains separate and gain the volume v_c (a logarithm). Later
compression has no effect up to that amount, eqs. (26) and (27), with the sign of (26) corrected. Only
s = min(v_c, max(0, −tr ε)) is added to the trial strain: adding all of v_c, as printed, would restore the tension of
the tip in cohesive sand and create energy. Therefore ln J = tr ε + v_c at all times.

The functions here are for laws with Hencky's elasticity whose first two fields are b = Fe Feᵀ and v_c.
"""

import math

from spume.fields import Field
from spume.materials.hencky import hencky_stress
from spume.materials.principal import elastic_volume, left_tensor, split
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import compose_sym

GAINED_VOLUME = Field(
    "gained_volume", (), 0.0, "1", "average", description="v_c, logarithm of the volume gained by separation"
)
COHESION_FACTOR = Field(
    "cohesion_factor", (), 1.0, "1", "average",
    description="active fraction of the material's cohesion; water in the pores changes it",
)  # fmt: skip


@compiled
def give_back(trace, gained, forgiving):
    """Trace of the trial strain after the volume correction, and its derivative with respect to the trace before."""
    if forgiving > 0.0 and trace < 0.0:
        if gained < -trace:
            return trace + gained, 1.0
        if gained > 0.0:
            return 0.0, 0.0
    return trace, 1.0


@compiled
def apply_flow(mu, lam, moved, strain, after, V, gained, dissipation):
    """Stress, b, volume gained and energy dissipated when flow takes the principal strains from `strain` to `after`."""
    e0, e1, e2 = strain
    a0, a1, a2 = after
    if a0 != e0 or a1 != e1 or a2 != e2:
        trace, _, size = split(strain)
        trace_after, _, size_after = split(after)
        shear = mu * (size - size_after) * (size + size_after)
        volume = (0.5 * lam + mu / 3.0) * (trace - trace_after) * (trace + trace_after)
        dissipation += max(shear + volume, 0.0)  # negative only by rounding
        gained = max(gained + trace - trace_after, 0.0)
        moved = left_tensor(after, V)
    return compose_sym(hencky_stress(mu, lam, after), V), moved, gained, dissipation


@compiled
def volume_ratio(history):
    """J = det Fe exp(v_c)."""
    return elastic_volume(history[0]) * math.exp(history[1])
