"""Least squares with bounded influence of single bad measurements.

The fit minimises Σ ρ(r/c) over the *relative* residuals r, because rheometers have a relative accuracy and curves span
decades. The loss ρ(z) = 2 c² (√(1 + z²) − 1) (soft L1) is quadratic for residuals below c and linear beyond: a
measurement counts with the weight 1/√(1 + z²). c is twice the standard deviation of the residuals.

Measurements are excluded in two passes. A fit whose scale is the median of the residuals' magnitudes, which half of
the measurements may spoil, names the candidates. That scale is itself uncertain (by a third for 13 residuals), and too
small where the residuals of one file differ in size, as those of storage and loss modulus do. So each candidate is
compared with the fit of the others, the nearest first, and taken back if it lies where a measurement like the others
may lie: |r| ≤ t s √(1 + h), with the standard deviation s of the others, the leverage h, and Student's t at such a
level that one of a thousand curves without bad measurements loses one ([Cook82] chapter 2, Bonferroni's inequality).

The uncertainties are standard errors from the asymptotic covariance of such estimators,
V = C² [Σψ²/(N − k)] / [Σψ'/N]² (JᵀJ)⁻¹ with ψ = ρ'/2 and the correction C = 1 + k/N var(ψ')/mean(ψ')² ([Huber81] §7.6);
95 % limits use Student's t. With the loss "linear" all weights are one and this is ordinary least squares.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import t as student

Array = NDArray[np.float64]
Loss = Literal["robust", "linear"]

TUNING = 2.0
CANDIDATE = 4.0
"""Deviation, in robust scales, beyond which a measurement may be excluded."""
LOST = 0.001
"""Fraction of the curves without bad measurements that lose one."""
NOTABLE = 3.0
"""Deviation, in standard deviations, beyond which a measurement is reported."""
LOOSE = 0.05
"""Initial scale of the residuals."""
SMALLEST_SCALE = 1e-6
"""Residuals below this are due to rounding of the printed numbers, not to noise."""


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error."""

    value: float
    error: float


class Problem(Protocol):
    """A curve with k parameters x."""

    bounds: tuple[Any, Any]
    """lower and upper limits of x"""
    places: Array
    """abscissa of each of the n measurements"""
    fewest: int
    """number of different places without which x is not determined"""

    def residuals(self, x: Array) -> Array:
        """Relative residuals, shape (quantities, n)."""

    def jacobian(self, x: Array) -> Array:
        """Their derivatives, shape (quantities, n, k)."""


@dataclass(frozen=True)
class Solution:
    """Fitted parameters and the part each measurement has in them."""

    x: Array
    covariance: Array
    scale: float
    """standard deviation of the residuals of the measurements in use"""
    coverage_factor: float
    """Student's t: half-width of the 95 % confidence interval in standard errors"""
    deviations: Array
    """largest |residual| of each measurement"""
    weights: Array
    """of each measurement: 1 if it agrees with the fit, 0 if it is excluded"""

    @property
    def outliers(self) -> tuple[int, ...]:
        """Excluded measurements."""
        return tuple(int(i) for i in np.flatnonzero(self.weights == 0.0))

    @property
    def doubtful(self) -> tuple[int, ...]:
        """Measurements that count with less weight, because they deviate by more than three standard deviations."""
        return tuple(int(i) for i in np.flatnonzero((self.weights > 0.0) & (self.deviations > NOTABLE * self.scale)))


def solve(problem: Problem, starts: Iterable[Array], loss: Loss = "robust") -> Solution:
    """Fit from the best of several starts."""
    used = np.ones(len(problem.places), dtype=np.bool_)
    if loss == "linear":
        _, x = min((_minimise(problem, start, used, None) for start in starts), key=lambda item: item[0])
        return _solution(problem, x, used, None)
    _, x = min((_minimise(problem, start, used, LOOSE) for start in starts), key=lambda item: item[0])
    x, scale = _settle(problem, x, used)
    good = _deviations(problem, x) <= CANDIDATE * scale
    if len(np.unique(problem.places[good])) >= problem.fewest:
        used = good
    x, used = _take_back(problem, x, used)
    return _solution(problem, x, used, TUNING * _standard_deviation(problem, x, used))


def _deviations(problem: Problem, x: Array) -> Array:
    return np.asarray(np.abs(problem.residuals(x)).max(axis=0))


def _minimise(problem: Problem, start: Array, used: NDArray[np.bool_], c: float | None) -> tuple[float, Array]:
    """Cost and parameters; c is the scale of the loss, None that of ordinary least squares."""

    def residuals(x: Array) -> Array:
        return problem.residuals(x)[:, used].ravel()

    def jacobian(x: Array) -> Array:
        return problem.jacobian(x)[:, used].reshape(-1, len(x))

    found = least_squares(
        residuals, start, jacobian, problem.bounds,
        loss="soft_l1" if c else "linear", f_scale=c or 1.0, x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12,
    )  # fmt: skip
    return float(found.cost), np.asarray(found.x)


def _settle(problem: Problem, x: Array, used: NDArray[np.bool_]) -> tuple[Array, float]:
    """Fit and robust scale of its residuals, which depend on each other, computed alternately. Fitting k parameters
    makes the N residuals smaller than the errors by √((N − k)/N), which is corrected."""
    scale = LOOSE
    for _ in range(20):
        r = problem.residuals(x)[:, used]
        spread = float(np.median(np.abs(r)) / 0.6745 * math.sqrt(r.size / _freedom(r, x)))
        spread = max(spread, SMALLEST_SCALE)
        if abs(spread - scale) <= 1e-4 * scale:
            break
        scale = spread
        _, x = _minimise(problem, x, used, TUNING * scale)
    return x, scale


def _take_back(problem: Problem, x: Array, used: NDArray[np.bool_]) -> tuple[Array, NDArray[np.bool_]]:
    """Fit with those of the excluded measurements that agree with the others, and which are in use."""
    while True:
        s = _standard_deviation(problem, x, used)
        _, x = _minimise(problem, x, used, TUNING * s)
        if used.all():
            return x, used
        s = _standard_deviation(problem, x, used)
        r, J = problem.residuals(x), problem.jacobian(x)
        inner = J[:, used].reshape(-1, len(x))
        leverage = np.einsum("qni,ij,qnj->qn", J, np.linalg.pinv(inner.T @ inner), J)
        off = np.where(used, np.inf, np.abs(r / (s * np.sqrt(1.0 + leverage))).max(axis=0))
        nearest = int(np.argmin(off))
        if off[nearest] > student.ppf(1.0 - 0.5 * LOST / r.size, _freedom(r[:, used], x)):
            return x, used
        used = used.copy()
        used[nearest] = True


def _standard_deviation(problem: Problem, x: Array, used: NDArray[np.bool_]) -> float:
    r = problem.residuals(x)[:, used]
    return max(float(np.sqrt(np.sum(r * r) / _freedom(r, x))), SMALLEST_SCALE)


def _freedom(r: Array, x: Array) -> int:
    return max(r.size - len(x), 1)


def _solution(problem: Problem, x: Array, used: NDArray[np.bool_], c: float | None) -> Solution:
    r, J = problem.residuals(x)[:, used].ravel(), problem.jacobian(x)[:, used].reshape(-1, len(x))
    z = (r / c) ** 2 if c else np.zeros(len(r))
    slope = (1.0 + z) ** -1.5  # ψ'
    correction = 1.0 + len(x) / len(r) * np.var(slope) / np.mean(slope) ** 2
    variance = correction**2 * np.sum(r * r / (1.0 + z)) / _freedom(r, x) / np.mean(slope) ** 2
    deviations = _deviations(problem, x)
    weights = 1.0 / np.sqrt(1.0 + (deviations / c) ** 2) if c else np.ones(len(deviations))
    return Solution(
        x,
        variance * np.linalg.pinv(J.T @ J),
        _standard_deviation(problem, x, used),
        float(student.ppf(0.975, _freedom(r, x))),
        deviations,
        np.where(used, weights, 0.0),
    )
