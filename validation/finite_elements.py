"""A plane-strain beam of a Hencky solid by quadratic finite elements: an independent reference without a grid."""

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import spsolve

Floats = NDArray[np.float64]
LOAD_STEPS, MOST_ITERATIONS, TOLERANCE = 8, 30, 1e-7


def first_piola(F: Floats, lame: float, shear: float) -> Floats:
    """P = τ F^(−T) with τ = λ tr ε I + 2 μ ε, ε = ½ ln F Fᵀ, of in-plane F (n, 2, 2)."""
    squares, axes = np.linalg.eigh(F @ F.transpose(0, 2, 1))
    strain = 0.5 * np.log(squares)
    stress = lame * strain.sum(axis=1)[:, None] + 2.0 * shear * strain
    tau: Floats = np.einsum("nik,nk,njk->nij", axes, stress, axes)
    return tau @ np.linalg.inv(F).transpose(0, 2, 1)


def tangent(F: Floats, lame: float, shear: float, h: float = 1e-6) -> Floats:
    """dP/dF (n, 2, 2, 2, 2) by central differences."""
    A = np.empty((len(F), 2, 2, 2, 2))
    for k in range(2):
        for m in range(2):
            d = np.zeros((2, 2))
            d[k, m] = h
            A[..., k, m] = (first_piola(F + d, lame, shear) - first_piola(F - d, lame, shear)) / (2 * h)
    return A


def _lagrange(s: float) -> tuple[Floats, Floats]:
    return np.array([s * (s - 1) / 2, 1 - s * s, s * (s + 1) / 2]), np.array([s - 0.5, -2 * s, s + 0.5])


def cantilever(
    length: float, height: float, youngs: float, poisson: float, weight: float, along: int = 30, across: int = 6
) -> tuple[Floats, Floats]:
    """Reference positions and displacements [m] of the nodes of a beam clamped at x = 0, under its `weight` per volume
    [N/m³] against y: nine-node elements, Newton's method in load steps."""
    lame, shear = youngs * poisson / ((1 + poisson) * (1 - 2 * poisson)), youngs / (2 * (1 + poisson))
    rows = 2 * across + 1
    X = np.stack(
        np.meshgrid(
            np.linspace(0, length, 2 * along + 1), np.linspace(-height / 2, height / 2, rows), indexing="ij"
        ), -1
    ).reshape(-1, 2)  # fmt: skip
    nodes = np.array(
        [
            [(2 * i + a) * rows + 2 * j + b for a in range(3) for b in range(3)]
            for i in range(along) for j in range(across)
        ]
    )  # fmt: skip
    hx, hy = length / along, height / across
    shapes, slopes, weights = [], [], []
    places, sizes = np.polynomial.legendre.leggauss(3)
    for s, ws in zip(places, sizes):
        for t, wt in zip(places, sizes):
            (f, df), (g, dg) = _lagrange(s), _lagrange(t)
            shapes.append(np.outer(f, g).ravel())
            slopes.append(np.stack([np.outer(df, g).ravel() * 2 / hx, np.outer(f, dg).ravel() * 2 / hy], -1))
            weights.append(ws * wt * hx * hy / 4)
    S, B, W = np.array(shapes), np.array(slopes), np.array(weights)
    u, load = np.zeros_like(X), np.zeros_like(X)
    np.add.at(load[:, 1], nodes, np.broadcast_to(-weight * (W @ S), nodes.shape))
    unknown = (2 * nodes[:, :, None] + np.arange(2)).reshape(len(nodes), 18)
    pairs = np.repeat(unknown, 18, axis=1).ravel(), np.tile(unknown, (1, 18)).ravel()
    free = np.repeat(X[:, 0] > 1e-9 * length, 2)
    for part in np.arange(1, LOAD_STEPS + 1) / LOAD_STEPS:
        for _ in range(MOST_ITERATIONS):
            F = (np.eye(2) + np.einsum("eai,qaj->eqij", u[nodes], B)).reshape(-1, 2, 2)
            P = first_piola(F, lame, shear).reshape(len(nodes), -1, 2, 2)
            residual = part * load
            np.add.at(residual, nodes, -np.einsum("q,eqij,qaj->eai", W, P, B))
            r = residual.ravel()[free]
            if np.abs(r).max() < TOLERANCE * np.abs(load).max():
                break
            A = tangent(F, lame, shear).reshape(len(nodes), -1, 2, 2, 2, 2)
            entries = np.einsum("q,qaj,eqijkl,qbl->eaibk", W, B, A, B, optimize=True).ravel()
            K = sparse.csc_matrix((entries, pairs), shape=(u.size, u.size))[free][:, free]
            u.reshape(-1)[free] += spsolve(K, r)
        else:
            raise ArithmeticError("the finite elements have not converged")
    return X, u
