"""Torn points by the criterion of continuum foam, [Yue15] section 7.2: ‖dev Cp‖ > σT, whatever the law.

In [Gerszewski09] a body tears where its points have moved so far apart that they are no neighbours any more. Here
points carry their total deformation (`foam/total_deformation.py`), and b̄e is the elastic deformation of every law with
one. The neighbours of a torn point are free to leave. Torn connections grow again in the recovery time.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.foam.tearing import limit_increments
from spume.foam.total_deformation import Torn, add_to_total
from spume.materials.loops import ConstitutiveModel
from spume.matter.world import World
from spume.numerics.jit import compiled
from spume.numerics.roots import inverse_cube_root
from spume.numerics.tensor3 import det_sym
from spume.points.elastic_metric import apply_to_left_tensors
from spume.scene.point_based import PointBasedScene

RECOVERY_STEPS = 10
"""Steps between two applications of the recovery; each covers all the time since the one before."""


def limit_deformation(world: World[Any], dt: float, torn: Torn) -> None:
    """Take shear and expansion out of the deformation of torn points, and add the deformation of all to the total."""
    p = world.particles
    if torn.weak_points:
        limit_increments(p.weak, p.total_F, torn.be, world.deformation)
    add_to_total(world)


def elastic_part(world: World[Any]) -> NDArray[np.float64]:
    """b̄e of each point, shape (n, 6)."""
    return normalised_left_tensors(world.model, world.particles.arrays())


def normalised_left_tensors(model: ConstitutiveModel, arrays: dict[str, NDArray[Any]]) -> NDArray[np.float64]:
    """b̄e = b det(b)^(−1/3) of each point, the identity for laws without one elastic deformation. Shape (n, 6)."""
    be = np.empty((len(arrays["material"]), 6))
    apply_to_left_tensors(model, arrays, _normalised, be)
    return be


@compiled
def _normalised(b):
    scale = inverse_cube_root(det_sym(b))
    return scale * b[0], scale * b[1], scale * b[2], scale * b[3], scale * b[4], scale * b[5]


def build_tearing(scene: PointBasedScene) -> Torn | None:
    """The scene's choices; none where nothing can tear. A material's own threshold and recovery time come first; a
    body held together by its rest configuration never tears."""
    table = scene.tearing
    thresholds, times = [], []
    for material in scene.materials:
        trait, p = material.law.traits.tearing, material.parameters
        thresholds.append(_first(None if trait is None else trait.threshold_of(p), table.threshold))
        times.append(_first(None if trait is None else trait.recovery_time_of(p), table.recovery_time))
    held = scene.formulation == "rest-configuration"
    if held or not table.enabled or not any(t < math.inf for t in thresholds):
        return None
    return Torn(np.array(thresholds), np.array(times), RECOVERY_STEPS, elastic_part)


def _first(own: float | None, common: float | None) -> float:
    return next((value for value in (own, common) if value is not None), math.inf)
