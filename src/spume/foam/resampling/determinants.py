"""Determinants of averaged tensors, as declared by their fields. [Yue15] algorithms 20 and 21"""

import math
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.fields import Field
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import det, det_sym

LEAST_RATIO = 0.1
"""An average of tensors is degenerate if its determinant is smaller than this fraction of the averaged determinant (the
average of two rotations a right angle apart has the determinant 0.5, of opposite ones 0)."""


@compiled(parallel=True)
def _determinants(a, result):
    for p in prange(result.size):
        if a.shape[1] == 9:
            result[p] = det((a[p, 0], a[p, 1], a[p, 2], a[p, 3], a[p, 4], a[p, 5], a[p, 6], a[p, 7], a[p, 8]))
        else:
            result[p] = det_sym((a[p, 0], a[p, 1], a[p, 2], a[p, 3], a[p, 4], a[p, 5]))


def determinants(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Determinants of full (n, 3, 3) or symmetric (n, 6) tensors."""
    flat = np.ascontiguousarray(values.reshape(len(values), math.prod(values.shape[1:])))
    if flat.shape[1] not in (6, 9):
        raise ValueError(f"a tensor of shape {values.shape[1:]} has no determinant: the shape should be (3, 3) or (6,)")
    result = np.empty(len(flat))
    _determinants(flat, result)
    return result


def restore_determinant(
    field: Field, averaged: NDArray[Any], determinant: NDArray[np.float64] | None, nearest: NDArray[Any]
) -> tuple[NDArray[Any], int]:
    """`averaged` tensors with the determinant that `field` declares: one, or the averaged `determinant`.

    Degenerate averages are replaced by the tensors of the nearest points. Also returns their number.
    """
    if field.resample == "average":
        return averaged, 0
    if field.resample == "average-unit-determinant":
        determinant = np.ones(len(averaged))
    assert determinant is not None
    own = determinants(averaged)
    degenerate = own / determinant < LEAST_RATIO
    tensors = averaged.copy()
    tensors[degenerate] = nearest[degenerate]
    own[degenerate] = determinants(nearest[degenerate])
    scale = np.cbrt(determinant / own)
    return tensors * scale.reshape(-1, *(1,) * (averaged.ndim - 1)), int(degenerate.sum())
