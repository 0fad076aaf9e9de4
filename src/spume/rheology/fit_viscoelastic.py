"""Parameters of the standard linear solid from a measured frequency sweep or relaxation curve, by a robust fit.

The parameters are μE ≥ 0, μN and the relaxation time τ. Residuals of storage and loss modulus are relative to |G*| at
each frequency, those of a relaxation modulus relative to the modulus. Loss (soft L1), scale, covariance and the
exclusion of measurements that deviate by more than four times the scale are as in `fit`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, nnls
from scipy.stats import t as student

from spume.errors import SceneError
from spume.rheology.fit import REJECTED, SMALLEST_SCALE, TUNING, Estimate
from spume.rheology.measured import Measured

Array = NDArray[np.float64]

FEWEST = {"frequency sweep": 3, "relaxation curve": 5}
"""Smallest number of measurements: three parameters, and at least two degrees of freedom."""
LOOSE = 0.05
"""Initial scale of the residuals."""
STARTS = 25
"""Number of initial relaxation times, over the range of the measurement; for a given time the moduli are linear."""


@dataclass(frozen=True)
class ViscoelasticFit:
    """A standard linear solid fitted to a measured curve."""

    estimates: dict[str, Estimate]
    """shear_modulus [Pa], viscous_shear_modulus [Pa] and deviatoric_viscosity [Pa s] of the law"""
    relaxation_time: Estimate
    """τ [s]"""
    scale: float
    """robust standard deviation of the relative residuals"""
    coverage_factor: float
    """Student's t: half-width of the 95 % confidence interval in standard errors"""
    outliers: tuple[int, ...]
    """excluded measurements, which deviate by more than four times `scale`"""
    notes: tuple[str, ...]

    def model(self, kind: str, values: Array) -> tuple[Array, ...]:
        """Fitted moduli [Pa] at frequencies [rad/s] or times [s]."""
        elastic, viscous = _basis(kind, values, self.relaxation_time.value)
        muE, muN = self.estimates["shear_modulus"].value, self.estimates["viscous_shear_modulus"].value
        return tuple(muE * e + muN * v for e, v in zip(elastic, viscous))


def _basis(kind: str, values: Array, tau: float) -> tuple[Array, Array]:
    """Derivatives of the moduli (storage and loss, or relaxation) with respect to μE and μN, shape (quantities, n)."""
    if kind == "relaxation curve":
        return np.ones((1, len(values))), np.exp(-values / tau)[None]
    x = values * tau
    flat = np.stack([np.ones(len(values)), np.zeros(len(values))])
    return flat, np.stack([x * x, x]) / (1.0 + x * x)


class _Problem:
    """Relative residuals of x = (μE/unit, log μN/unit, log τ) for the measurements in use."""

    def __init__(self, measured: Measured) -> None:
        (_, self.values), *others = measured.columns.items()
        self.kind, self.data = measured.kind, np.stack([column for _, column in others])
        self.magnitude = np.linalg.norm(self.data, axis=0)
        self.unit = float(np.median(self.magnitude))
        self.used = np.ones(len(self.values), dtype=np.bool_)

    def all_residuals(self, x: Array) -> Array:
        elastic, viscous = _basis(self.kind, self.values, math.exp(x[2]))
        model = self.unit * (x[0] * elastic + math.exp(x[1]) * viscous)
        return np.asarray((model - self.data) / self.magnitude)

    def residuals(self, x: Array) -> Array:
        return self.all_residuals(x)[:, self.used].ravel()

    def jacobian(self, x: Array) -> Array:
        elastic, viscous = _basis(self.kind, self.values, math.exp(x[2]))
        _, later = _basis(self.kind, self.values, math.exp(x[2] + 1e-6))
        _, earlier = _basis(self.kind, self.values, math.exp(x[2] - 1e-6))
        muN = math.exp(x[1])
        columns = (elastic, muN * viscous, muN * (later - earlier) / 2e-6)
        scaled = [(self.unit * column / self.magnitude)[:, self.used].ravel() for column in columns]
        return np.stack(scaled, axis=1)

    def minimise(self, start: Array, scale: float) -> tuple[float, Array]:
        found = least_squares(
            self.residuals, start, self.jacobian, ([0.0, -np.inf, -np.inf], np.inf),
            loss="soft_l1", f_scale=scale, x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12,
        )  # fmt: skip
        return float(found.cost), np.asarray(found.x)

    def starts(self) -> list[Array]:
        positive = self.values[self.values > 0.0]
        low, high = positive.min(), positive.max()
        times = np.geomspace(low, high, STARTS)
        if self.kind == "frequency sweep":
            times = 1.0 / times
        found = []
        for tau in times:
            elastic, viscous = _basis(self.kind, self.values, float(tau))
            weights = self.unit / self.magnitude
            columns = np.stack([(elastic * weights).ravel(), (viscous * weights).ravel()], axis=1)
            (muE, muN), _ = nnls(columns, (self.data / self.magnitude).ravel())
            found.append(np.array([muE, math.log(max(muN, 1e-6)), math.log(tau)]))
        return found


def fit_viscoelastic(measured: Measured) -> ViscoelasticFit:
    """Fit a standard linear solid to a measured frequency sweep or relaxation curve."""
    problem = _Problem(measured)
    fewest = FEWEST[measured.kind]
    if (count := len(np.unique(problem.values))) < fewest:
        what = "frequencies" if measured.kind == "frequency sweep" else "times"
        raise SceneError(
            f"{count} different {what} are too few for three parameters and their uncertainties: at least {fewest} are "
            "needed"
        )
    _, x = min((problem.minimise(start, LOOSE) for start in problem.starts()), key=lambda item: item[0])
    x, scale = _settle(problem, x)
    good = np.abs(problem.all_residuals(x)).max(axis=0) <= REJECTED * scale
    if not good.all() and len(np.unique(problem.values[good])) >= fewest:
        problem.used = good
        x, scale = _settle(problem, x)
    covariance, dof = _covariance(problem, x, scale)
    muE, muN, tau = problem.unit * float(x[0]), problem.unit * math.exp(x[1]), math.exp(x[2])
    # νd = 2 μN τ: its relative variance is that of log μN + log τ
    viscosity = Estimate(2.0 * muN * tau, 2.0 * muN * tau * math.sqrt(max(covariance[1:, 1:].sum(), 0.0)))
    errors = np.sqrt(np.diag(covariance))
    estimates = {
        "shear_modulus": Estimate(muE, problem.unit * float(errors[0])),
        "viscous_shear_modulus": Estimate(muN, muN * float(errors[1])),
        "deviatoric_viscosity": viscosity,
    }
    return ViscoelasticFit(
        estimates,
        Estimate(tau, tau * float(errors[2])),
        scale,
        float(student.ppf(0.975, dof)),
        tuple(int(i) for i in np.flatnonzero(~problem.used)),
        _notes(problem, estimates, tau, scale),
    )


def _settle(problem: _Problem, x: Array) -> tuple[Array, float]:
    """Fit and scale of its residuals, which depend on each other, computed alternately."""
    scale = LOOSE
    for _ in range(20):
        r = problem.residuals(x)
        spread = float(np.median(np.abs(r)) / 0.6745 * math.sqrt(len(r) / max(len(r) - 3, 1)))
        spread = max(spread, SMALLEST_SCALE)
        if abs(spread - scale) <= 1e-4 * scale:
            break
        scale = spread
        _, x = problem.minimise(x, TUNING * scale)
    return x, scale


def _covariance(problem: _Problem, x: Array, scale: float) -> tuple[Array, int]:
    """Covariance of x and the remaining degrees of freedom; [Huber81] §7.6 as in `fit`."""
    r, J = problem.residuals(x), problem.jacobian(x)
    z = (r / (TUNING * scale)) ** 2
    dof = max(len(r) - 3, 1)
    slope = (1.0 + z) ** -1.5
    correction = 1.0 + 3.0 / len(r) * np.var(slope) / np.mean(slope) ** 2
    variance = correction**2 * np.sum(r * r / (1.0 + z)) / dof / np.mean(slope) ** 2
    return variance * np.linalg.pinv(J.T @ J), dof


def _notes(problem: _Problem, estimates: dict[str, Estimate], tau: float, scale: float) -> tuple[str, ...]:
    notes = []
    elastic = estimates["shear_modulus"]
    if elastic.value <= 2.0 * elastic.error:
        longer = "lower frequencies" if problem.kind == "frequency sweep" else "longer times"
        notes.append(f"the long-time modulus cannot be distinguished from zero: measure at {longer}")
    positive = problem.values[problem.values > 0.0]
    clock = 1.0 / tau if problem.kind == "frequency sweep" else tau
    if not positive.min() <= clock <= positive.max():
        notes.append("the relaxation time is outside the range of the measurement: it and the viscosity are uncertain")
    if scale > 0.1:
        notes.append(
            "a single relaxation time fits these data to no better than 10 %: check --plot before trusting the fit"
        )
    return tuple(notes)
