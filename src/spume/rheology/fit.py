"""Herschel-Bulkley parameters from a measured flow curve.

The residuals are r = (τ0 + K γ̇^n)/τ − 1; loss, exclusion of measurements and uncertainties are those of `robust`.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from spume.errors import SceneError
from spume.rheology.measured import FlowCurve
from spume.rheology.robust import Estimate, Loss, Solution, solve
from spume.rheology.small_strain import ShearParameters, from_shear

Array = NDArray[np.float64]

FEWEST = 5
"""Smallest number of shear rates: three parameters, and two degrees of freedom for their uncertainties."""

FLOW_INDEX_BOUNDS = (0.05, 5.0)
STARTS = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.5)
"""Initial flow indices; for a given index the other two parameters are linear."""


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
    solution: Solution
    """scatter, weights and exclusions of the measurements"""
    notes: tuple[str, ...]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Fitted values by the names of the law's parameters."""
        return {"yield_stress": self.yield_stress, "viscosity": self.viscosity, "flow_index": self.flow_index}


class _Problem:
    """Relative residuals of x = (τ0, log K, n), with stresses and rates scaled to numbers of the order of one."""

    bounds = ([0.0, -np.inf, FLOW_INDEX_BOUNDS[0]], [np.inf, np.inf, FLOW_INDEX_BOUNDS[1]])
    fewest = FEWEST - 1

    def __init__(self, curve: FlowCurve) -> None:
        self.unit, self.pace = float(np.median(curve.stresses)), float(np.exp(np.mean(np.log(curve.rates))))
        self.places, self.tau = curve.rates / self.pace, curve.stresses / self.unit

    def residuals(self, x: Array) -> Array:
        tau0, logK, n = x
        return np.asarray((tau0 + np.exp(logK) * self.places**n) / self.tau - 1.0)[None]

    def jacobian(self, x: Array) -> Array:
        _, logK, n = x
        viscous = np.exp(logK) * self.places**n / self.tau
        return np.stack([1.0 / self.tau, viscous, viscous * np.log(self.places)], axis=1)[None]

    def starts(self) -> list[Array]:
        """Initial guesses: for a given n the relative residuals are linear in τ0 and K."""
        starts = []
        for n in STARTS:
            columns = np.stack([1.0 / self.tau, self.places**n / self.tau], axis=1)
            (tau0, K), _ = nnls(columns, np.ones(len(self.tau)))
            starts.append(np.array([tau0, math.log(max(K, 1e-9)), n]))
        return starts


def fit_flow_curve(curve: FlowCurve, loss: Loss = "robust") -> Fit:
    """Fit Herschel-Bulkley parameters to a measured flow curve."""
    if (count := len(np.unique(curve.rates))) < FEWEST:
        raise SceneError(
            f"{count} different shear rates are too few for three parameters and their uncertainties: "
            f"at least {FEWEST} are needed"
        )
    problem = _Problem(curve)
    found = solve(problem, problem.starts(), loss)
    unit, pace, covariance = problem.unit, problem.pace, found.covariance
    tau0, logK, n = map(float, found.x)
    shear = ShearParameters(unit * tau0, unit * math.exp(logK) * pace**-n, n)
    # derivatives of the unscaled parameters: K = unit e^logK pace^(−n)
    D = np.diag([unit, shear.consistency, 1.0])
    D[1, 2] = -shear.consistency * math.log(pace)
    errors = np.sqrt(np.diag(D @ covariance @ D.T))
    sigma, eta, h = from_shear(shear)
    # η = K 2^((1+n)/2)
    G = np.array([0.0, eta, eta * (0.5 * math.log(2.0) - math.log(pace))])
    eta_error = math.sqrt(max(float(G @ covariance @ G), 0.0))
    return Fit(
        Estimate(sigma, math.sqrt(3.0) * float(errors[0])),
        Estimate(eta, eta_error),
        Estimate(h, float(errors[2])),
        shear,
        ShearParameters(*(float(error) for error in errors)),
        problem.residuals(found.x)[0],
        found,
        _notes(shear, errors, len(found.outliers) / len(curve.rates)),
    )


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
