"""Slow, obvious NumPy versions of the grid transfers, straight from the formulas."""

import numpy as np


def spline(x, order):
    """B-spline of `order` at distance x [cells]; [Yue15] appendix E.1 for the cubic one."""
    a = np.abs(x)
    if order == 3:
        near = 0.5 * a**3 - a**2 + 2 / 3
        far = -(a**3) / 6 + a**2 - 2 * a + 4 / 3
        return np.where(a < 1, near, np.where(a < 2, far, 0.0))
    near = 0.75 - a**2
    far = 0.5 * (1.5 - a) ** 2
    return np.where(a < 0.5, near, np.where(a < 1.5, far, 0.0))


def spline_slope(x, order):
    """Derivative of `spline` by x [1/cell]."""
    a, sign = np.abs(x), np.sign(x)
    if order == 3:
        return sign * np.where(a < 1, 1.5 * a**2 - 2 * a, np.where(a < 2, -0.5 * a**2 + 2 * a - 2, 0.0))
    return sign * np.where(a < 0.5, -2 * a, np.where(a < 1.5, a - 1.5, 0.0))


class DenseGrid:
    """All nodes of a box as rows, and the dense matrix of weights."""

    def __init__(self, x, cell, order):
        lower = np.floor(x.min(axis=0) / cell).astype(int) - 2
        upper = np.floor(x.max(axis=0) / cell).astype(int) + 3
        axes = [np.arange(lo, hi + 1) for lo, hi in zip(lower, upper)]
        self.nodes = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, x.shape[1])
        self.offset = self.nodes[None] * cell - x[:, None]  # x_i − x_p, (points, nodes, dimension)
        distance = -self.offset / cell
        parts, slopes = spline(distance, order), spline_slope(distance, order) / cell
        self.w = parts.prod(axis=2)
        d = x.shape[1]
        self.dw = np.stack([slopes[..., k] * np.delete(parts, k, axis=2).prod(axis=2) for k in range(d)], axis=2)


def full_tensor(stress, dimension):
    """The (n, d, d) part of tensors stored (xx, yy, zz, xy, xz, yz)."""
    index = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])
    return stress[:, index][:, :dimension, :dimension]


def scatter(dense, quantity, points):
    """The sum of a quantity of `to_grid.QUANTITIES` on every node, shape (nodes, components)."""
    w, mass, volume = dense.w, points["mass"], points["volume"]
    d = points["x"].shape[1]
    if quantity == "mass":
        return (w.T @ mass)[:, None]
    if quantity == "momentum":
        return w.T @ (mass[:, None] * points["v"])
    if quantity == "affine momentum":
        local = points["v"][:, None] + np.einsum("pab,pib->pia", points["affine_velocity"], dense.offset)
        return np.einsum("pi,p,pia->ia", w, mass, local)
    if quantity == "stress divergence":
        return -np.einsum("p,pab,pib->ia", volume, full_tensor(points["stress"], d), dense.dw)
    if quantity == "tensor divergence":
        return -np.einsum("p,pab,pib->ia", volume, points["tensor"][:, :d, :d], dense.dw)
    return (w.T @ points["scalar"])[:, None]


def gradients(dense, field):
    """L = Σ u ∇wᵀ with three dimensions, zeros in the third row and column of the plane."""
    d = field.shape[1]
    L = np.zeros((len(dense.w), 3, 3))
    L[:, :d, :d] = np.einsum("ia,pib->pab", field, dense.dw)
    return L
