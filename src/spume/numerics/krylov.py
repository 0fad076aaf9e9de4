"""Matrix-free Krylov solvers, most of them for symmetric systems.

Vectors are arrays of any shape. The system supplies the inner product: if it and the system's other functions have the
same bits for any number of threads, so have the results.

A system may be constrained: `project` is the orthogonal projection P onto the subspace of allowed changes. The solvers
then find x in x0 + range(P) with P A x = P b.
"""

import math
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

    def dot(self, a: Vector, b: Vector) -> float:
        """Inner product of two vectors."""


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


def _start(system: System, b: Vector, x0: Vector | None) -> tuple[Vector, Vector, float]:
    """Initial guess, its projected residual, and the norm of the projected right-hand side."""
    right = b.copy()
    system.project(right)
    x = np.zeros_like(b) if x0 is None else x0.copy()
    r = right if x0 is None else b - system.multiply(x)
    if x0 is not None:
        system.project(r)
    return x, r.copy(), math.sqrt(system.dot(right, right))


def conjugate_gradient(
    system: System, b: Vector, x0: Vector | None = None, tolerance: float = 1e-8, limit: int = 1000
) -> Solution:
    """Solve A x = b for a positive definite A by preconditioned conjugate gradients. [Shewchuk94] appendix B3

    Stops when the norm of the residual is below `tolerance` times that of b, or after `limit` iterations. Raises
    ArithmeticError if a search direction shows that A is not positive definite.
    """
    x, r, scale = _start(system, b, x0)
    size = math.sqrt(system.dot(r, r))
    if scale == 0.0:
        scale = size
    if size <= tolerance * scale:
        return Solution(x, 0, size / scale if scale else 0.0, True)
    z = _preconditioned(system, r)
    p, rz = z.copy(), system.dot(r, z)
    for iteration in range(1, limit + 1):
        q = system.multiply(p)
        system.project(q)
        curvature = system.dot(p, q)
        if not curvature > 0.0:
            raise ArithmeticError(
                f"p·A p is {curvature:.3g} in iteration {iteration}: the matrix is not positive definite; use minres"
            )
        alpha = rz / curvature
        x += alpha * p
        r -= alpha * q
        size = math.sqrt(system.dot(r, r))
        if size <= tolerance * scale:
            return Solution(x, iteration, size / scale, True)
        z = _preconditioned(system, r)
        rz, before = system.dot(r, z), rz
        p *= rz / before
        p += z
    return Solution(x, limit, size / scale, False)


def minres(system: System, b: Vector, x0: Vector | None = None, tolerance: float = 1e-8, limit: int = 1000) -> Solution:
    """Solve A x = b for a symmetric, possibly indefinite A by preconditioned MINRES. [Paige75]

    The Lanczos process builds A V = V T with vectors V orthonormal in the preconditioner's inner product; Givens
    rotations make T triangular, column by column. In exact arithmetic the preconditioned residual norm never grows.
    Stops when its estimate is below `tolerance` times that of b, or after `limit` iterations; `Solution.residual` is
    computed from x.
    """
    x, r, _ = _start(system, b, x0)
    z = _preconditioned(system, r)
    beta = math.sqrt(max(system.dot(r, z), 0.0))
    if beta == 0.0:
        return _finish(system, b, x, 0, tolerance)
    target = tolerance * _preconditioned_norm(system, b)
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
        alpha = system.dot(z, q)
        v_new = q - alpha * v - beta_old * v_old
        z_new = _preconditioned(system, v_new)
        beta_new = math.sqrt(max(system.dot(v_new, z_new), 0.0))
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

    x, r, scale = _start(system, b, None)
    size, iterations = math.sqrt(system.dot(r, r)), 0
    while size > tolerance * scale and iterations < limit:
        steps = min(memory, limit - iterations)
        V, R, g = [r / size], np.zeros((steps + 1, steps)), np.zeros(steps + 1)
        g[0], k = size, 0
        rotations: list[tuple[float, float]] = []
        while k < steps and abs(g[k]) > tolerance * scale:
            q = system.multiply(_preconditioned(system, V[k]))
            system.project(q)
            for j, basis in enumerate(V):
                R[j, k] = system.dot(basis, q)
                q -= R[j, k] * basis
            rest = math.sqrt(system.dot(q, q))
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
        before, size = size, math.sqrt(system.dot(r, r))
        if not size < before:  # rounding
            break
    return Solution(x, iterations, size / scale if scale else 0.0, size <= tolerance * scale)


def _preconditioned_norm(system: System, b: Vector) -> float:
    right = b.copy()
    system.project(right)
    return math.sqrt(max(system.dot(right, _preconditioned(system, right)), 0.0))


def _finish(system: System, b: Vector, x: Vector, iterations: int, tolerance: float) -> Solution:
    """Solution with its true residual; convergence is judged in the preconditioner's norm, as in the iteration."""
    r: Any = b - system.multiply(x)
    system.project(r)
    right = b.copy()
    system.project(right)
    scale = math.sqrt(system.dot(right, right))
    residual = math.sqrt(system.dot(r, r)) / scale if scale else math.sqrt(system.dot(r, r))
    measured, allowed = _preconditioned_norm(system, r), _preconditioned_norm(system, b)
    # rounding makes the true residual differ from the estimate: allow a tenth more
    return Solution(x, iterations, residual, bool(measured <= 1.1 * tolerance * allowed))
