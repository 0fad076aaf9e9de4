"""Herschel-Bulkley parameters from a measured flow curve, by a robust fit.

The fit minimises Σ ρ(r/c) over the *relative* residuals r = (τ0 + K γ̇^n)/τ − 1, because rheometers have a relative
accuracy and flow curves span decades. The loss ρ(z) = 2 c² (√(1 + z²) − 1) (soft L1) is quadratic for residuals below c
and linear beyond, so that single bad measurements have bounded influence. c is twice the scale of the residuals,
computed from the median of their magnitudes. Measurements that deviate by more than four times that scale are then
excluded and reported.

The uncertainties are standard errors from the asymptotic covariance of such estimators,
V = C² [Σψ²/(N − 3)] / [Σψ'/N]² (JᵀJ)⁻¹ with ψ = ρ'/2 and the correction C = 1 + 3/N var(ψ')/mean(ψ')² ([Huber81] §7.6);
95 % limits use Student's t.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares, nnls
from scipy.stats import t as student

from spume.errors import SceneError
from spume.rheology.measured import FlowCurve
from spume.rheology.small_strain import ShearParameters, from_shear

Array = NDArray[np.float64]

FEWEST = 5
"""Smallest number of shear rates: three parameters, and two degrees of freedom for their uncertainties."""

FLOW_INDEX_BOUNDS = (0.05, 5.0)
STARTS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5)
"""Initial flow indices; for a given index the other two parameters are linear."""

TUNING = 2.0
REJECTED = 4.0
"""Deviation, in scales, beyond which measurements are excluded: 6 in 100,000 for normal residuals."""

SMALLEST_SCALE = 1e-6
"""Residuals below this are due to rounding of the printed numbers, not to noise."""


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error."""

    value: float
    error: float


@dataclass(frozen=True)
class Fit:
    """Herschel-Bulkley parameters fitted to a flow curve."""

    yield_stress: Estimate
    """σY of the law [Pa]"""
    viscosity: Estimate
    """η of the law [Pa s^h]"""
    flow_index: Estimate
    """h [1]"""
    shear: ShearParameters
    """the same in the convention of rheometers"""
    shear_errors: ShearParameters
    """standard errors of `shear`"""
    residuals: Array
    """model/measurement − 1"""
    scale: float
    """robust standard deviation of the residuals"""
    coverage_factor: float
    """Student's t: half-width of the 95 % confidence interval in standard errors"""
    outliers: tuple[int, ...]
    """excluded measurements, which deviate by more than four times `scale`"""
    notes: tuple[str, ...]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Fitted values by the names of the law's parameters."""
        return {"yield_stress": self.yield_stress, "viscosity": self.viscosity, "flow_index": self.flow_index}


def fit_flow_curve(curve: FlowCurve) -> Fit:
    """Fit Herschel-Bulkley parameters to a measured flow curve."""
    rates, stresses = curve.rates, curve.stresses
    if len(np.unique(rates)) < FEWEST:
        raise SceneError(
            f"{len(np.unique(rates))} different shear rates are too few for three parameters and their uncertainties: "
            f"at least {FEWEST} are needed"
        )
    # scale to numbers of the order of one
    unit, pace = float(np.median(stresses)), float(np.exp(np.mean(np.log(rates))))
    scaled, tau = rates / pace, stresses / unit
    x, scale, used = _robust(scaled, tau)
    covariance, dof = _covariance(x, scaled[used], tau[used], scale)
    tau0, logK, n = map(float, x)
    shear = ShearParameters(unit * tau0, unit * math.exp(logK) * pace**-n, n)
    # derivatives of the unscaled parameters: K = unit e^logK pace^(−n)
    D = np.diag([unit, shear.consistency, 1.0])
    D[1, 2] = -shear.consistency * math.log(pace)
    errors = np.sqrt(np.diag(D @ covariance @ D.T))
    sigma, eta, h = from_shear(shear)
    # η = K 2^((1+n)/2)
    G = np.array([0.0, eta, eta * (0.5 * math.log(2.0) - math.log(pace))])
    eta_error = math.sqrt(max(float(G @ covariance @ G), 0.0))
    residuals = _residuals(x, scaled, tau)
    outliers = tuple(int(i) for i in np.flatnonzero(~used))
    return Fit(
        Estimate(sigma, math.sqrt(3.0) * float(errors[0])),
        Estimate(eta, eta_error),
        Estimate(h, float(errors[2])),
        shear,
        ShearParameters(*(float(error) for error in errors)),
        residuals,
        scale,
        float(student.ppf(0.975, dof)),
        outliers,
        _notes(shear, errors, len(outliers) / len(rates)),
    )


def _residuals(x: Array, rates: Array, tau: Array) -> Array:
    tau0, logK, n = x
    return np.asarray((tau0 + np.exp(logK) * rates**n) / tau - 1.0)


def _jacobian(x: Array, rates: Array, tau: Array) -> Array:
    _, logK, n = x
    viscous = np.exp(logK) * rates**n / tau
    return np.stack([1.0 / tau, viscous, viscous * np.log(rates)], axis=1)


def _robust(rates: Array, tau: Array) -> tuple[Array, float, NDArray[np.bool_]]:
    """(τ0, log K, n), the scale of the residuals, and the measurements used."""
    loose = 0.05
    _, x = min((_minimise(start, loose, rates, tau) for start in _starts(rates, tau)), key=lambda item: item[0])
    used = np.ones(len(tau), dtype=np.bool_)
    x, scale = _settle(x, loose, rates, tau)
    good = np.abs(_residuals(x, rates, tau)) <= REJECTED * scale
    if not good.all() and len(np.unique(rates[good])) >= FEWEST - 1:
        used = good
        x, scale = _settle(x, scale, rates[used], tau[used])
    return x, scale, used


def _settle(x: Array, scale: float, rates: Array, tau: Array) -> tuple[Array, float]:
    """Fit and scale of its residuals, which depend on each other, computed alternately."""
    for _ in range(20):
        spread = max(_spread(_residuals(x, rates, tau)), SMALLEST_SCALE)
        if abs(spread - scale) <= 1e-4 * scale:
            break
        scale = spread
        _, x = _minimise(x, TUNING * scale, rates, tau)
    return x, scale


def _minimise(start: Array, c: float, rates: Array, tau: Array) -> tuple[float, Array]:
    low, high = FLOW_INDEX_BOUNDS
    found = least_squares(
        _residuals, start, _jacobian, ([0.0, -np.inf, low], [np.inf, np.inf, high]), args=(rates, tau),
        loss="soft_l1", f_scale=c, x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12,
    )  # fmt: skip
    return float(found.cost), np.asarray(found.x)


def _starts(rates: Array, tau: Array) -> list[Array]:
    """Initial guesses: for a given n the relative residuals are linear in τ0 and K."""
    starts = []
    for n in STARTS:
        (tau0, K), _ = nnls(np.stack([1.0 / tau, rates**n / tau], axis=1), np.ones(len(tau)))
        starts.append(np.array([tau0, math.log(max(K, 1e-9)), n]))
    return starts


def _spread(residuals: Array) -> float:
    """Standard deviation of the residuals, estimated from the median of their magnitudes, which is robust to outliers.

    Fitting three parameters makes the residuals smaller than the errors by √((N − 3)/N), which is corrected.
    """
    count = len(residuals)
    return float(np.median(np.abs(residuals)) / 0.6745 * math.sqrt(count / (count - 3)))


def _covariance(x: Array, rates: Array, tau: Array, scale: float) -> tuple[Array, int]:
    """Covariance of (τ0, log K, n), and the remaining degrees of freedom."""
    r, J = _residuals(x, rates, tau), _jacobian(x, rates, tau)
    z = (r / (TUNING * scale)) ** 2
    dof = len(r) - 3
    slope = (1.0 + z) ** -1.5  # ψ'
    correction = 1.0 + 3.0 / len(r) * np.var(slope) / np.mean(slope) ** 2
    variance = correction**2 * np.sum(r * r / (1.0 + z)) / dof / np.mean(slope) ** 2
    return variance * np.linalg.pinv(J.T @ J), dof


def _notes(shear: ShearParameters, errors: Array, rejected: float) -> tuple[str, ...]:
    notes = []
    if shear.yield_stress <= 2.0 * errors[0]:
        notes.append("the yield stress cannot be distinguished from zero: measure at lower shear rates")
    if shear.consistency <= 2.0 * errors[1] or errors[2] > 0.5 * shear.flow_index:
        notes.append("viscosity and flow index are hardly determined: measure at higher shear rates")
    if not FLOW_INDEX_BOUNDS[0] < shear.flow_index < FLOW_INDEX_BOUNDS[1]:
        low, high = FLOW_INDEX_BOUNDS
        notes.append(f"the flow index is at the end of the searched range, {low:g} to {high:g}")
    if rejected > 0.2:
        notes.append("more than a fifth of the measurements do not fit such a curve: check --plot")
    return tuple(notes)
