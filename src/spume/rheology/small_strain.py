"""Closed forms of Herschel-Bulkley flow in simple shear at small elastic strain.

A rheometer's flow curve is τ = τ0 + K γ̇^n. The law of [Yue15] is written for the magnitude of the deviatoric stress,
s = √2 τ in simple shear, with the yield stress of uniaxial tension and the plastic rate γ̇/√2:

    s = √(2/3) σY + η (γ̇/√2)^h,    so    τ0 = σY/√3,  K = η 2^(−(1+h)/2),  n = h.

These formulas neglect the elastic strain e = τ/μ relative to one. At finite strain the normal stress τ11 − τ22 = 2 τ²/μ
contributes to s: s² = 2 τ² (1 + 4/3 e²), and with the power s γp = τ γ̇ the plastic rate is γ̇/√2 (1 − 2/3 e²). To the
next order the shear stress of the law is therefore lower, by the fraction 2/3 e² of its yield stress and 2/3 (1 + h) e²
of the remainder.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from spume.materials.herschel_bulkley import HerschelBulkleyParameters

Array = NDArray[np.float64]

STEPS_PER_RELAXATION = 200
ELASTIC_STEPS = 50


class ShearParameters(NamedTuple):
    """Herschel-Bulkley parameters in the convention of rheometers: τ = τ0 + K γ̇^n."""

    yield_stress: float
    """τ0, yield stress in simple shear [Pa]"""
    consistency: float
    """K [Pa s^n]"""
    flow_index: float
    """n [1]"""


def from_shear(shear: ShearParameters) -> tuple[float, float, float]:
    """σY [Pa], η [Pa s^h] and h of the law from the parameters in simple shear."""
    tau0, K, n = shear
    return math.sqrt(3.0) * tau0, K * 2.0 ** ((1.0 + n) / 2.0), n


def to_shear(parameters: HerschelBulkleyParameters) -> ShearParameters:
    """Parameters in simple shear, as a rheometer measures them."""
    h = parameters.flow_index
    return ShearParameters(
        parameters.yield_stress / math.sqrt(3.0), parameters.viscosity * 2.0 ** (-(1.0 + h) / 2.0), h
    )


def flow_curve(parameters: HerschelBulkleyParameters, rates: Array) -> Array:
    """Steady shear stress [Pa] at the shear rates [1/s]."""
    tau0, K, n = to_shear(parameters)
    return np.asarray(tau0 + K * np.asarray(rates) ** n)


def start_up(parameters: HerschelBulkleyParameters, rate: float, times: Array) -> Array:
    """Shear stress [Pa] at `times` [s] after a constant shear rate [1/s] is switched on, from rest.

    Elastic up to the yield strain σY/(√3 μ); then the excess x = s − k obeys x' = √2 μ γ̇ − 2 μ (x/η)^(1/h). For h = 1
    the solution is x = (η γ̇/√2)(1 − exp(−2 μ t/η)); otherwise it is integrated numerically.
    """
    tau0, _, h = to_shear(parameters)
    mu, eta = parameters.shear_modulus, parameters.viscosity
    flowing = np.maximum(times - tau0 / (mu * rate), 0.0)
    elastic = np.minimum(mu * rate * times, tau0)
    if eta == 0.0:
        return elastic
    end = eta * (rate / math.sqrt(2.0)) ** h
    if h == 1.0:
        return elastic + end * -np.expm1(-2.0 * mu * flowing / eta) / math.sqrt(2.0)
    # in units of the final excess and of the time to reach it elastically: y' = 1 − y^(1/h)
    clock = flowing * math.sqrt(2.0) * mu * rate / end
    solved = solve_ivp(
        lambda t, y: 1.0 - np.maximum(y, 0.0) ** (1.0 / h), (0.0, float(clock.max()) or 1.0), [0.0],
        method="LSODA", dense_output=True, rtol=1e-8, atol=1e-10,
    )  # fmt: skip
    assert solved.sol is not None  # asked for by dense_output
    return np.asarray(elastic + end * solved.sol(clock)[0] / math.sqrt(2.0))


def relaxation(parameters: HerschelBulkleyParameters, strain: float, times: Array) -> Array:
    """Shear stress [Pa] at `times` [s] after a sudden shear strain from rest.

    The excess x = s − k obeys x' = −2 μ (x/η)^(1/h): it decays exponentially for h = 1, by a power law for h < 1, and
    in a finite time for h > 1.
    """
    tau0, _, h = to_shear(parameters)
    mu, eta = parameters.shear_modulus, parameters.viscosity
    excess = step_excess(parameters, strain)
    if excess <= 0.0:
        return np.full(np.shape(times), mu * strain)
    if eta == 0.0:
        return np.full(np.shape(times), tau0)
    clock = np.asarray(times) / relaxation_time(parameters, excess)
    # y' = −y^(1/h), y(0) = 1
    p = 1.0 - 1.0 / h
    left = np.exp(-clock) if p == 0.0 else np.maximum(1.0 - p * clock, 0.0) ** (1.0 / p)
    return np.asarray(tau0 + excess * left / math.sqrt(2.0))


def step_excess(parameters: HerschelBulkleyParameters, strain: float) -> float:
    """Excess of s = √2 τ over yield [Pa] after a sudden shear strain from rest; negative below yield."""
    return math.sqrt(2.0) * (parameters.shear_modulus * strain - to_shear(parameters).yield_stress)


def relaxation_time(parameters: HerschelBulkleyParameters, excess: float) -> float:
    """Relaxation time [s] of the excess x [Pa] of s over yield at its initial rate: x/(2 μ (x/η)^(1/h))."""
    eta, h = parameters.viscosity, parameters.flow_index
    return excess / (2.0 * parameters.shear_modulus) * (eta / excess) ** (1.0 / h)


def yield_strain(parameters: HerschelBulkleyParameters) -> float:
    """Shear strain from rest at which the law yields, exact at finite strain.

    b̄e of simple shear has ‖dev b̄e‖² = 2 γ² + 2/3 γ⁴; at small strain γ = σY/(√3 μ).
    """
    c = math.sqrt(2.0 / 3.0) * parameters.yield_stress / parameters.shear_modulus
    # 3/2 (√(1 + 2/3 c²) − 1), without cancellation
    return c / math.sqrt(1.0 + math.sqrt(1.0 + 2.0 / 3.0 * c * c))


def start_up_times(parameters: HerschelBulkleyParameters, rate: float) -> Array:
    """Times [s] of the elastic rise, exact for any steps, and of the approach to steady flow, which they resolve."""
    mu, h = parameters.shear_modulus, parameters.flow_index
    climb = np.linspace(0.0, yield_strain(parameters) / rate, ELASTIC_STEPS + 1)
    steady = float(flow_curve(parameters, np.array([rate]))[0])
    excess = steady - parameters.yield_stress / math.sqrt(3.0)
    magnitude = max(excess, h * excess) / (mu * rate)  # time to reach the steady excess, or to relax to it
    direction = steady / (mu * rate)
    approach = np.array([direction / STEPS_PER_RELAXATION])
    if magnitude > 0.0:
        approach = np.arange(1, 8 * STEPS_PER_RELAXATION + 1) * (magnitude / STEPS_PER_RELAXATION)
    late = [float(approach[-1])]
    while late[-1] < 8.0 * max(direction, magnitude):
        late.append(late[-1] + min(4.0 * late[-1], direction) / STEPS_PER_RELAXATION)
    rest = np.concatenate([approach, late[1:]])
    return np.concatenate([climb if climb[-1] > 0.0 else [0.0], climb[-1] + rest])


def relaxation_times(parameters: HerschelBulkleyParameters, strain: float) -> Array:
    """0, then times [s] evenly spaced in their logarithm, until at most the tail of a power law remains."""
    excess = step_excess(parameters, strain)
    if excess <= 0.0 or parameters.viscosity == 0.0:
        return np.concatenate([[0.0], np.logspace(-3.0, 0.0, 31)])
    decades = 3.0 if parameters.flow_index < 1.0 else 1.3
    clock = relaxation_time(parameters, excess)
    return np.concatenate([[0.0], clock * np.logspace(-3.0, decades, 121)])
