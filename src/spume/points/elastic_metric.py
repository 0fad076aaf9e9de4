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
def _left_loop(law: Law, formula: Any) -> Any:
    load_history, _ = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    left = left_tensor_of(law)

    @compiled(parallel=True)
    def loop(material, belongs, constants, history, result):
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                store_sym(result, p, formula(left(read_constants(constants[m]), load_history(history, p))))

    return loop


def apply_to_left_tensors(
    model: ConstitutiveModel, arrays: dict[str, NDArray[Any]], formula: Any, result: NDArray[np.float64]
) -> None:
    """Write formula(b) of each point to `result`, symmetric tensors (n, 6): `formula` is a compiled function. Points of
    laws without one elastic deformation get the identity."""
    for use in model.laws:
        if has_reference_space(use.law):
            history = tuple(arrays[name] for name in use.columns)
            _left_loop(use.law, formula)(arrays["material"], use.belongs, use.constants, history, result)
        else:
            result[use.belongs[arrays["material"]]] = (1.0, 1.0, 1.0, 0.0, 0.0, 0.0)


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
        size[own] *= model.volume_ratio(arrays)[own]
    apply_to_left_tensors(model, arrays, inverse_sym, metric)
