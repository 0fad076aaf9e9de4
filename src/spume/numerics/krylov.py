"""Matrix-free Krylov solvers, most of them for symmetric systems.

Vectors are arrays of any shape. The system supplies the inner product: if it and the system's other functions have the
same bits for any number of threads, so have the results.

A system may be constrained: `project` is the orthogonal projection P onto the subspace of allowed changes. The solvers
then find x in range(P) with P A x = P b, beginning with zero.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class System(Protocol):
    """A symmetric matrix A, a symmetric positive definite preconditioner, and constraints."""

    def multiply(self, x: Vector) -> Vector:
        """Return A x as a new array."""

    def precondition(self, r: Vector) -> Vector:
        """Return an approximation to A⁻¹ r as a new array: a symmetric positive definite, linear function of r."""

    def project(self, x: Vector) -> None:
        """Remove the constrained components from x, in place."""

    def dots(self, pairs: Sequence[tuple[Vector, Vector]]) -> list[float]:
        """Inner products of pairs of vectors. Processes that share the vectors speak to each other once for all."""


@dataclass(frozen=True)
class Solution:
    """Result of a solver."""

    x: Vector
    iterations: int
    residual: float
    """Norm of the projected residual P (b − A x) relative to that of P b."""
    converged: bool
    """Whether the residual is below the requested tolerance."""


def _preconditioned(system: System, r: Vector) -> Vector:
    z = system.precondition(r)
    system.project(z)
    return z


def _dot(system: System, a: Vector, b: Vector) -> float:
    return system.dots([(a, b)])[0]


def conjugate_gradient(system: System, b: Vector, tolerance: float = 1e-8, limit: int = 1000) -> Solution:
    """Solve A x = b for a positive definite A by preconditioned conjugate gradients. [Shewchuk94] appendix B3

    Stops when the norm of the residual is below `tolerance` times that of b, or after `limit` iterations. Raises
    ArithmeticError if a search direction shows that A is not positive definite.
    """
    x, r = np.zeros_like(b), b.copy()
    system.project(r)
    z = _preconditioned(system, r)
    rr, rz = system.dots([(r, r), (r, z)])
    scale = math.sqrt(rr)
    if scale <= tolerance * scale:
        return Solution(x, 0, 1.0 if scale else 0.0, True)
    p = z.copy()
    for iteration in range(1, limit + 1):
        q = system.multiply(p)
        system.project(q)
        curvature = _dot(system, p, q)
        if not curvature > 0.0:
            raise ArithmeticError(
                f"p·A p is {curvature:.3g} in iteration {iteration}: the matrix is not positive definite; use minres"
            )
        alpha = rz / curvature
        x += alpha * p
        r -= alpha * q
        z, before = _preconditioned(system, r), rz
        rr, rz = system.dots([(r, r), (r, z)])
        size = math.sqrt(rr)
        if size <= tolerance * scale:
            return Solution(x, iteration, size / scale, True)
        p *= rz / before
        p += z
    return Solution(x, limit, size / scale, False)


def minres(system: System, b: Vector, tolerance: float = 1e-8, limit: int = 1000) -> Solution:
    """Solve A x = b for a symmetric, possibly indefinite A by preconditioned MINRES. [Paige75]

    The Lanczos process builds A V = V T with vectors V orthonormal in the preconditioner's inner product; Givens
    rotations make T triangular, column by column. In exact arithmetic the preconditioned residual norm never grows.
    Stops when its estimate is below `tolerance` times that of b, or after `limit` iterations; `Solution.residual` is
    computed from x.
    """
    x, r = np.zeros_like(b), b.copy()
    system.project(r)
    z = _preconditioned(system, r)
    beta = math.sqrt(max(_dot(system, r, z), 0.0))
    target = tolerance * beta
    if beta == 0.0:
        return _finish(system, b, x, 0, tolerance)
    v_old, v = np.zeros_like(b), r / beta  # Lanczos vectors, before preconditioning
    z = z / beta
    d_old, d = np.zeros_like(b), np.zeros_like(b)  # the last two directions
    c_old, s_old, c, s = 1.0, 0.0, 1.0, 0.0  # the last two rotations
    eta, beta_old = beta, 0.0
    iteration = 0
    while iteration < limit and abs(eta) > target:
        iteration += 1
        q = system.multiply(z)
        system.project(q)
        alpha = _dot(system, z, q)
        v_new = q - alpha * v - beta_old * v_old
        z_new = _preconditioned(system, v_new)
        beta_new = math.sqrt(max(_dot(system, v_new, z_new), 0.0))
        # apply the previous rotations to the column (beta_old, alpha, beta_new) of T, then a new one to zero beta_new
        rho_3 = s_old * beta_old
        rho_2 = s * alpha + c * c_old * beta_old
        diagonal = c * alpha - s * c_old * beta_old
        rho_1 = math.hypot(diagonal, beta_new)
        if rho_1 == 0.0:
            break
        c_old, s_old, c, s = c, s, diagonal / rho_1, beta_new / rho_1
        d_old, d = d, (z - rho_3 * d_old - rho_2 * d) / rho_1
        x += c * eta * d
        eta *= -s
        if beta_new == 0.0:
            break
        v_old, v, z, beta_old = v, v_new / beta_new, z_new / beta_new, beta_new
    return _finish(system, b, x, iteration, tolerance)


def gmres(system: System, b: Vector, tolerance: float = 1e-8, limit: int = 1000, memory: int = 60) -> Solution:
    """Solve A x = b for an A that need not be symmetric, by GMRES, preconditioned from the right. [Saad86]

    Arnoldi's process builds A M⁻¹ V = V H with orthonormal V; Givens rotations make H triangular, column by column. It
    starts again after `memory` iterations. The norm of the residual never grows. Stops when it is below `tolerance`
    times that of b, or after `limit` iterations.
    """
    from scipy.linalg import solve_triangular  # slow to import

    x, r = np.zeros_like(b), b.copy()
    system.project(r)
    scale = math.sqrt(_dot(system, r, r))
    size, iterations = scale, 0
    while size > tolerance * scale and iterations < limit:
        steps = min(memory, limit - iterations)
        V, R, g = [r / size], np.zeros((steps + 1, steps)), np.zeros(steps + 1)
        g[0], k = size, 0
        rotations: list[tuple[float, float]] = []
        while k < steps and abs(g[k]) > tolerance * scale:
            q = system.multiply(_preconditioned(system, V[k]))
            system.project(q)
            for j, basis in enumerate(V):
                R[j, k] = _dot(system, basis, q)
                q -= R[j, k] * basis
            rest = math.sqrt(_dot(system, q, q))
            for j, (c, s) in enumerate(rotations):
                R[j, k], R[j + 1, k] = c * R[j, k] + s * R[j + 1, k], c * R[j + 1, k] - s * R[j, k]
            length = math.hypot(R[k, k], rest)
            if not 0.0 < length < math.inf:
                raise ArithmeticError(f"A M⁻¹ v is {length:.3g} in iteration {iterations + k + 1}")
            c, s = R[k, k] / length, rest / length
            rotations.append((c, s))
            R[k, k], g[k], g[k + 1] = length, c * g[k], -s * g[k]
            k += 1
            if rest == 0.0:
                break
            V.append(q / rest)
        y = solve_triangular(R[:k, :k], g[:k])
        u = np.zeros_like(b)
        for factor, basis in zip(y, V):
            u += factor * basis
        x += _preconditioned(system, u)
        iterations += k
        r = b - system.multiply(x)
        system.project(r)
        before, size = size, math.sqrt(_dot(system, r, r))
        if not size < before:  # rounding
            break
    return Solution(x, iterations, size / scale if scale else 0.0, size <= tolerance * scale)


def _finish(system: System, b: Vector, x: Vector, iterations: int, tolerance: float) -> Solution:
    """Solution with its true residual; convergence is judged in the preconditioner's norm, as in the iteration."""
    r: Any = b - system.multiply(x)
    system.project(r)
    right = b.copy()
    system.project(right)
    pairs = [(v, w) for v in (r, right) for w in (v, _preconditioned(system, v))]
    size, measured, scale, allowed = (math.sqrt(max(found, 0.0)) for found in system.dots(pairs))
    # rounding makes the true residual differ from the estimate: allow a tenth more
    return Solution(x, iterations, size / scale if scale else size, bool(measured <= 1.1 * tolerance * allowed))
