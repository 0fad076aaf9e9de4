"""Metric of the elastic deformation of each point, which gives distances in the reference space.

[Gerszewski09] eq. (11) evaluates the kernel at Fe⁻¹ x_ij. The length of this vector depends only on the *metric*
b⁻¹ = Fe⁻ᵀ Fe⁻¹, not on the rotation of Fe. Laws with one elastic branch define such an Fe. For laws with several
branches the metric is the identity, so that forces are computed in current space with the present volumes of
neighbours.
"""

from functools import cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.materials.kinematics import store_sym
from spume.materials.law import Law
from spume.materials.loops import ConstitutiveModel, constants_reader, history_access
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import gram, inverse_sym


def has_reference_space(law: Law) -> bool:
    """Whether `law` has exactly one elastic deformation."""
    return len(law.branches) == 1


def left_tensor_of(law: Law) -> Any:
    """Compiled function (parameters, history) -> b of the one elastic deformation of `law`."""
    branch = law.branches[0]
    return branch.left or _left_from(branch.deformation)


def _left_from(deformation: Any) -> Any:
    @compiled
    def left(parameters, history):
        """b = Fe Feᵀ."""
        return gram(deformation(parameters, history))

    return left


@cache
def _metric_loop(law: Law) -> Any:
    load_history, _ = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    left = left_tensor_of(law)

    @compiled(parallel=True)
    def metric(material, belongs, constants, history, metric):
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                b = left(read_constants(constants[m]), load_history(history, p))
                store_sym(metric, p, inverse_sym(b))

    return metric


def elastic_metric(
    model: ConstitutiveModel,
    arrays: dict[str, NDArray[Any]],
    metric: NDArray[np.float64],
    size: NDArray[np.float64],
) -> None:
    """Compute the metric b⁻¹ of each point, shape (n, 6), and its volume in the space of the metric [m³]."""
    size[:] = arrays["volume"]
    spatial = np.array([not has_reference_space(law) for law, _ in model.materials])
    if spatial.any():
        own = spatial[arrays["material"]]
        metric[own] = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)
        size[own] *= model.volume_ratio(arrays)[own]
    for use in model.laws:
        if has_reference_space(use.law):
            history = tuple(arrays[name] for name in use.columns)
            _metric_loop(use.law)(arrays["material"], use.belongs, use.constants, history, metric)
