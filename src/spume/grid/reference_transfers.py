"""Transfers with weights at the reference positions of the points: those of a total-Lagrangian grid. [deVaucorbeil20]

Callers give and receive tensors of the present configuration, as from `Transfers`. With the deformation gradient F of a
point, its weights have the present gradients ∇w = F^(−T) ∇₀w, so stresses T act as T F^(−T), and velocity gradients are
L = (Σ v ∇₀wᵀ) F⁻¹.
"""

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.transfers import Transfers
from spume.materials.kinematics import load, load_sym, store, store_sym
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import congruence, det, inverse, multiply, multiply_transpose

Tensors = NDArray[np.float64]
TURNED = slice(24, 33)
"""Where the numbers of a tangent hold f⁻¹, which turns the gradients of weights to the end of the step."""
GRADIENT, DEFORMATION = "gradient", "first-order deformation"


class ReferenceTransfers(Transfers):
    """Transfers whose `x` are reference positions."""

    def __init__(self, dimension: int, cell: float, order: int) -> None:
        super().__init__(dimension, cell, order)
        self.inverse: Tensors = np.zeros((0, 3, 3))
        """F⁻¹ of each point [1]."""

    def deform(self, F: Tensors) -> tuple[Tensors, Tensors]:
        """Set the deformation gradients F (n, 3, 3); return their determinants and lower bounds of their smallest
        stretches, (n,)."""
        self.inverse = np.empty_like(F)
        determinant, stretch = np.empty(len(F)), np.empty(len(F))
        _invert(F, self.inverse, determinant, stretch)
        return determinant, stretch

    def to_grid(
        self, quantities: tuple[str, ...], x: NDArray[np.float64], target: NDArray[np.float64], **values: Any
    ) -> None:
        """As `Transfers.to_grid`."""
        if "stress divergence" in quantities:
            quantities = tuple("tensor divergence" if q == "stress divergence" else q for q in quantities)
            stress, values["tensor"] = values.pop("stress"), np.empty_like(self.inverse)
            _pull_back_stress(stress, self.inverse, values["tensor"])
        elif "tensor divergence" in quantities:
            tensor, values["tensor"] = values["tensor"], np.empty_like(self.inverse)
            _pull_back(tensor, self.inverse, values["tensor"])
        super().to_grid(quantities, x, target, **values)

    def to_points(
        self, quantities: tuple[str, ...], x: NDArray[np.float64], source: NDArray[np.float64], **values: Any
    ) -> None:
        """As `Transfers.to_points`; deformations are of first order, which is exact with constant weights."""
        super().to_points(quantities, x, source, **values)
        if GRADIENT in quantities or DEFORMATION in quantities:
            _push_forward(float(DEFORMATION in quantities), self.inverse, values["tensor"])
        elif "second-order deformation" in quantities:
            raise ValueError("deformations of a total-Lagrangian grid are of first order")

    def pulled_back(self, metric: Tensors) -> Tensors:
        """F⁻¹ B F^(−T)."""
        result = np.empty_like(metric)
        _congruence(self.inverse, metric, result)
        return result

    def pulled_back_tangent(self, numbers: Tensors) -> Tensors:
        """Replace f⁻¹ by F⁻¹ f⁻¹."""
        result = numbers.copy()
        result[:, TURNED] = (self.inverse @ numbers[:, TURNED].reshape(-1, 3, 3)).reshape(-1, 9)
        return result

    def pushed_forward(self, metric: Tensors) -> Tensors:
        """F^(−T) B F⁻¹."""
        result = np.empty_like(metric)
        _congruence(np.ascontiguousarray(self.inverse.transpose(0, 2, 1)), metric, result)
        return result


@compiled(parallel=True)
def _invert(F, result, determinant, stretch):
    """F⁻¹, det F, and 1/√‖F⁻¹ F^(−T)‖∞, which is at most the smallest stretch."""
    for p in prange(F.shape[0]):
        f = load(F, p)
        g = inverse(f)
        m = multiply_transpose(g, g)
        largest = max(
            abs(m[0]) + abs(m[1]) + abs(m[2]), abs(m[3]) + abs(m[4]) + abs(m[5]), abs(m[6]) + abs(m[7]) + abs(m[8])
        )
        store(result, p, g)
        determinant[p], stretch[p] = det(f), 1.0 / np.sqrt(largest)


@compiled(parallel=True)
def _pull_back_stress(stress, inverses, result):
    for p in prange(stress.shape[0]):
        t = load_sym(stress, p)
        full = (t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2])
        store(result, p, multiply_transpose(full, load(inverses, p)))


@compiled(parallel=True)
def _pull_back(tensor, inverses, result):
    for p in prange(tensor.shape[0]):
        store(result, p, multiply_transpose(load(tensor, p), load(inverses, p)))


@compiled(parallel=True)
def _push_forward(unity, inverses, tensor):
    """T ← unity · I + (T − unity · I) F⁻¹."""
    for p in prange(tensor.shape[0]):
        t = load(tensor, p)
        a = (t[0] - unity, t[1], t[2], t[3], t[4] - unity, t[5], t[6], t[7], t[8] - unity)
        a = multiply(a, load(inverses, p))
        store(tensor, p, (a[0] + unity, a[1], a[2], a[3], a[4] + unity, a[5], a[6], a[7], a[8] + unity))


@compiled(parallel=True)
def _congruence(A, metric, result):
    for p in prange(metric.shape[0]):
        store_sym(result, p, congruence(load(A, p), load_sym(metric, p)))
