"""Herschel-Bulkley parameters from a measured flow curve, by a robust fit.

Minimised is Σ ρ(r/c) over the *relative* residuals r = (τ0 + K γ̇^n)/τ − 1, since rheometers are accurate to a part of
the value and flow curves span decades, with ρ(z) = 2 c² (√(1 + z²) − 1) (soft L1): quadratic for residuals below c and
linear beyond, so that single bad measurements pull with bounded force. c is twice the scale of the residuals, taken
from the median of their magnitudes. Measurements more than four times that scale off are then left out and named.

The uncertainties are standard errors from the asymptotic covariance of such estimators,
V = C² [Σψ²/(N − 3)] / [Σψ'/N]² (JᵀJ)⁻¹ with ψ = ρ'/2 and the correction C = 1 + 3/N var(ψ')/mean(ψ')² ([Huber81] §7.6);
limits of 95 % with Student's t.
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
"""Three parameters, and two degrees of freedom left to tell how far they can be trusted."""

FLOW_INDEX_BOUNDS = (0.05, 5.0)
STARTS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5)
"""Flow indices to begin with; the other two parameters are then linear."""

TUNING = 2.0
REJECTED = 4.0
"""Measurements so many scales off are left out; of normal ones, 6 in 100,000 would be."""

SMALLEST_SCALE = 1e-6
"""Residuals below this are not noise but rounding of the printed numbers."""


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
    """the same as a rheometer gives them"""
    shear_errors: ShearParameters
    """their standard errors"""
    residuals: Array
    """model/measurement − 1"""
    scale: float
    """robust standard deviation of the residuals"""
    coverage_factor: float
    """Student's t: so many standard errors either side hold the truth in 95 of 100 cases"""
    outliers: tuple[int, ...]
    """measurements left out, being more than four times `scale` off"""
    notes: tuple[str, ...]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """What was fitted, by the names of the law's parameters."""
        return {"yield_stress": self.yield_stress, "viscosity": self.viscosity, "flow_index": self.flow_index}


def fit_flow_curve(curve: FlowCurve) -> Fit:
    """The Herschel-Bulkley parameters that describe a measured flow curve."""
    rates, stresses = curve.rates, curve.stresses
    if len(np.unique(rates)) < FEWEST:
        raise SceneError(
            f"{len(np.unique(rates))} different shear rates are too few for three parameters and their uncertainties: "
            f"at least {FEWEST} are needed"
        )
    # work with numbers of the order of one
    unit, pace = float(np.median(stresses)), float(np.exp(np.mean(np.log(rates))))
    scaled, tau = rates / pace, stresses / unit
    x, scale, used = _robust(scaled, tau)
    covariance, dof = _covariance(x, scaled[used], tau[used], scale)
    tau0, logK, n = map(float, x)
    shear = ShearParameters(unit * tau0, unit * math.exp(logK) * pace**-n, n)
    # to the parameters themselves: K = unit e^logK pace^(−n)
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
    """τ0, log K, n; the scale of the residuals; the measurements used."""
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
    """The fit and the scale of its residuals, which depend on each other, found in turn."""
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
    """Starting points: for a given n the relative residuals are linear in τ0 and K."""
    starts = []
    for n in STARTS:
        (tau0, K), _ = nnls(np.stack([1.0 / tau, rates**n / tau], axis=1), np.ones(len(tau)))
        starts.append(np.array([tau0, math.log(max(K, 1e-9)), n]))
    return starts


def _spread(residuals: Array) -> float:
    """Standard deviation of normal residuals, from the median of their magnitudes: outliers do not move it.

    Three parameters make the residuals smaller than the errors were, by √((N − 3)/N).
    """
    count = len(residuals)
    return float(np.median(np.abs(residuals)) / 0.6745 * math.sqrt(count / (count - 3)))


def _covariance(x: Array, rates: Array, tau: Array, scale: float) -> tuple[Array, int]:
    """Covariance of τ0, log K, n, and the degrees of freedom left."""
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
        notes.append(f"the flow index is at the end of the range {low:g} to {high:g} that is searched")
    if rejected > 0.2:
        notes.append("more than a fifth of the measurements do not fit such a curve: check --plot")
    return tuple(notes)
