"""Cauchy stress and pressure from the Kirchhoff stress of points."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def cauchy_stress(
    kirchhoff: NDArray[np.float64], ratio: NDArray[np.float64], weak: NDArray[Any] | None
) -> NDArray[np.float64]:
    """σ = τ/J [Pa], shape (n, 6), without the tension of the points that are `weak`."""
    stress = kirchhoff / ratio[:, None]
    torn = np.flatnonzero(weak) if weak is not None else ()
    if len(torn):
        rows, columns = [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
        full = np.empty((len(torn), 3, 3))
        full[:, rows, columns] = full[:, columns, rows] = stress[torn]
        values, vectors = np.linalg.eigh(full)
        limited = np.einsum("pij,pj,pkj->pik", vectors, np.minimum(values, 0.0), vectors)
        stress[torn] = limited[:, rows, columns]
    return np.asarray(stress)


def pressure_of(stress: NDArray[np.float64]) -> NDArray[np.float64]:
    """−tr σ/3 [Pa]."""
    return np.asarray(-stress[:, :3].sum(axis=1) / 3.0)
