"""Case 1: steady simple shear of the materials of the table."""

import math

import numpy as np
from numpy.typing import NDArray
from reports.case import Case, Outcome, Surroundings, deviation
from reports.drawing import COLOURS, OURS, THEIRS, panels, save

from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from spume.materials.table import Material
from spume.rheology.rheometer import flow_curve

Array = NDArray[np.float64]

RATES = np.logspace(-2.0, 2.0, 13)
"""[1/s]"""
FINE = np.logspace(-2.0, 2.0, 201)
FLOWS = {
    "shaving cream, h = 0.22": (31.9, 27.2, 0.22),
    "h = 0.5": (10.0, 20.0, 0.5),
    "Bingham, h = 1": (5.0, 2.0, 1.0),
    "oobleck-like, h = 2": (2.0, 0.01, 2.0),
}
"""σY [Pa], η [Pa s^h] and h"""
STRAIN = 1.0 / 200.0
"""largest elastic strain, whose square the closed form neglects"""


def closed_form(rates: Array, sigma: float, eta: float, h: float) -> Array:
    """Steady shear stress [Pa]."""
    return np.asarray(sigma / math.sqrt(3.0) + eta * 2.0 ** (-(1.0 + h) / 2.0) * rates**h)


def run(around: Surroundings) -> Outcome:
    """Shear one point steadily at rates over four decades."""
    outcome = Outcome()
    figure, (axes,) = panels()
    for (label, (sigma, eta, h)), colour in zip(FLOWS.items(), COLOURS):
        around.say(label)
        theory = closed_form(RATES, sigma, eta, h)
        parameters = HerschelBulkleyParameters(
            density=100.0, bulk_modulus=1e5, shear_modulus=theory.max() / STRAIN, yield_stress=sigma, viscosity=eta,
            flow_index=h,
        )  # fmt: skip
        found = flow_curve(Material(label, HERSCHEL_BULKLEY, parameters), RATES).shear_stress
        outcome.checks.append(deviation(f"shear stress, {label}", float(np.abs(found / theory - 1.0).max()), 0.01))
        axes.loglog(FINE, closed_form(FINE, sigma, eta, h), **THEIRS)
        axes.loglog(RATES, found, **(OURS | {"color": colour}), label=label)
    axes.plot([], [], **THEIRS, label="closed form")
    axes.set(xlabel="shear rate [1/s]", ylabel="shear stress [Pa]")
    axes.legend(frameon=False, fontsize=8)
    caption = "Steady shear stress over four decades of shear rate."
    outcome.figures.append((save(figure, around.pictures, "flow-curve"), caption))
    return outcome


CASE = Case(
    "flow-curve",
    "Steady simple shear",
    "At small elastic strain the law of [Yue15] gives τ = σY/√3 + η 2^(−(1+h)/2) γ̇^h. Ours: one point, sheared with "
    "the functions of the law until it is steady, with shear moduli for which elastic strains stay below 1/200.",
    run,
)
