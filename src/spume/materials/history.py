"""Access to the fields and materials that the traits of a law speak of, in the arrays of points and of a scene."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.materials.law import Law, Parameters
from spume.materials.loops import LawInUse


def field_of(use: LawInUse, field: str, arrays: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Array of a law's history field, which may have another name among the `arrays` of points."""
    return arrays[use.columns[use.law.position(field)]]


def values_of(
    use: LawInUse, function: Callable[[Any], float], materials: Sequence[tuple[Law, Parameters]]
) -> NDArray[np.float64]:
    """function(Parameters) of the law's own among the `materials` of a scene, zero for the others."""
    return np.array([function(p) if own else 0.0 for own, (_, p) in zip(use.belongs, materials)], np.float64)
