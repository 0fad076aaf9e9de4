"""Parameters of the standard linear solid from a measured frequency sweep or relaxation curve.

The parameters are μE ≥ 0, μN and the relaxation time τ. Residuals of storage and loss modulus are relative to |G*| at
each frequency, those of a relaxation modulus relative to the modulus. Loss, exclusion of measurements and uncertainties
are those of `robust`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from spume.errors import SceneError
from spume.rheology.measured import Measured
from spume.rheology.robust import Estimate, Loss, Solution, solve

Array = NDArray[np.float64]

FEWEST = {"frequency sweep": 3, "relaxation curve": 5}
"""Smallest number of measurements: three parameters, and at least two degrees of freedom."""
STARTS = 25
"""Number of initial relaxation times, over the range of the measurement; for a given time the moduli are linear."""


@dataclass(frozen=True)
class ViscoelasticFit:
    """A standard linear solid fitted to a measured curve."""

    estimates: dict[str, Estimate]
    """shear_modulus [Pa], viscous_shear_modulus [Pa] and deviatoric_viscosity [Pa s] of the law"""
    relaxation_time: Estimate
    """τ [s]"""
    solution: Solution
    """scatter, weights and exclusions of the measurements"""
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
    """Relative residuals of x = (μE/unit, log μN/unit, log τ)."""

    bounds = ([0.0, -np.inf, -np.inf], np.inf)

    def __init__(self, measured: Measured) -> None:
        (_, self.places), *others = measured.columns.items()
        self.kind, self.data = measured.kind, np.stack([column for _, column in others])
        self.fewest = FEWEST[measured.kind]
        self.magnitude = np.linalg.norm(self.data, axis=0)
        self.unit = float(np.median(self.magnitude))

    def residuals(self, x: Array) -> Array:
        elastic, viscous = _basis(self.kind, self.places, math.exp(x[2]))
        model = self.unit * (x[0] * elastic + math.exp(x[1]) * viscous)
        return np.asarray((model - self.data) / self.magnitude)

    def jacobian(self, x: Array) -> Array:
        elastic, viscous = _basis(self.kind, self.places, math.exp(x[2]))
        _, later = _basis(self.kind, self.places, math.exp(x[2] + 1e-6))
        _, earlier = _basis(self.kind, self.places, math.exp(x[2] - 1e-6))
        muN = math.exp(x[1])
        columns = (elastic, muN * viscous, muN * (later - earlier) / 2e-6)
        return np.stack([self.unit * column / self.magnitude for column in columns], axis=-1)

    def starts(self) -> list[Array]:
        positive = self.places[self.places > 0.0]
        low, high = positive.min(), positive.max()
        times = np.geomspace(low, high, STARTS)
        if self.kind == "frequency sweep":
            times = 1.0 / times
        found = []
        for tau in times:
            elastic, viscous = _basis(self.kind, self.places, float(tau))
            weights = self.unit / self.magnitude
            columns = np.stack([(elastic * weights).ravel(), (viscous * weights).ravel()], axis=1)
            (muE, muN), _ = nnls(columns, (self.data / self.magnitude).ravel())
            found.append(np.array([muE, math.log(max(muN, 1e-6)), math.log(tau)]))
        return found


def fit_viscoelastic(measured: Measured, loss: Loss = "robust") -> ViscoelasticFit:
    """Fit a standard linear solid to a measured frequency sweep or relaxation curve."""
    problem = _Problem(measured)
    if (count := len(np.unique(problem.places))) < problem.fewest:
        what = "frequencies" if measured.kind == "frequency sweep" else "times"
        raise SceneError(
            f"{count} different {what} are too few for three parameters and their uncertainties: at least "
            f"{problem.fewest} are needed"
        )
    found = solve(problem, problem.starts(), loss)
    x, covariance = found.x, found.covariance
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
        found,
        _notes(problem, estimates, tau, found.scale),
    )


def _notes(problem: _Problem, estimates: dict[str, Estimate], tau: float, scale: float) -> tuple[str, ...]:
    notes = []
    elastic = estimates["shear_modulus"]
    if elastic.value <= 2.0 * elastic.error:
        longer = "lower frequencies" if problem.kind == "frequency sweep" else "longer times"
        notes.append(f"the long-time modulus cannot be distinguished from zero: measure at {longer}")
    positive = problem.places[problem.places > 0.0]
    clock = 1.0 / tau if problem.kind == "frequency sweep" else tau
    if not positive.min() <= clock <= positive.max():
        notes.append("the relaxation time is outside the range of the measurement: it and the viscosity are uncertain")
    if scale > 0.1:
        notes.append(
            "a single relaxation time fits these data to no better than 10 %: check --plot before trusting the fit"
        )
    return tuple(notes)
