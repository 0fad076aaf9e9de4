"""Case 2: start-up of shear flow of a Bingham material."""

import math

import numpy as np
from reports.case import Case, Outcome, Surroundings, deviation
from reports.drawing import COLOURS, OURS, THEIRS, panels, save

from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from spume.materials.table import Material
from spume.rheology.rheometer import start_up

YIELD, VISCOSITY = 30.0, 10.0
"""σY [Pa], η [Pa s]"""
RATES = (0.5, 2.0, 5.0)
"""shear rates [1/s]"""
SHEAR_MODULUS = 50.0 * (YIELD / math.sqrt(3.0) + VISCOSITY * max(RATES) / 2.0)
"""shear modulus [Pa]: elastic strains are at most 1/50, whose square is far below the bound of 1 %"""
SHOWN = 0.05
"""time span of the plot [s]"""
FINE = np.linspace(0.0, SHOWN, 501)


def closed_form(rate: float, t):
    """Shear stress [Pa]: elastic up to σY/√3, then ‖s‖/√2 relaxes to the steady flow."""
    mu = SHEAR_MODULUS
    yields = YIELD / (math.sqrt(3.0) * mu * rate)
    excess = VISCOSITY * rate / math.sqrt(2.0) * -np.expm1(-2.0 * mu * np.maximum(t - yields, 0.0) / VISCOSITY)
    return np.where(t <= yields, mu * rate * t, (math.sqrt(2.0 / 3.0) * YIELD + excess) / math.sqrt(2.0))


def run(around: Surroundings) -> Outcome:
    """Shear one point from rest at several rates."""
    outcome = Outcome()
    figure, (axes,) = panels()
    parameters = HerschelBulkleyParameters(
        density=100.0, bulk_modulus=1e5, shear_modulus=SHEAR_MODULUS, yield_stress=YIELD, viscosity=VISCOSITY,
        flow_index=1.0,
    )  # fmt: skip
    for rate, colour in zip(RATES, COLOURS):
        around.say(f"{rate:g} 1/s")
        curve = start_up(Material("Bingham", HERSCHEL_BULKLEY, parameters), rate)
        theory = closed_form(rate, curve.values)
        error = float(np.abs(curve.shear_stress[1:] / theory[1:] - 1.0).max())
        outcome.checks.append(deviation(f"shear stress at {rate:g} 1/s, all times", error, 0.01))
        even = np.linspace(0.0, SHOWN, 41)
        axes.plot(FINE, closed_form(rate, FINE), **THEIRS)
        ours = np.interp(even, curve.values, curve.shear_stress)
        axes.plot(even, ours, **(OURS | {"color": colour}), label=f"{rate:g} 1/s")
    axes.plot([], [], **THEIRS, label="closed form")
    axes.set(xlabel="time [s]", ylabel="shear stress [Pa]")
    axes.legend(frameon=False, fontsize=8)
    caption = "Shear stress after a shear rate is switched on."
    outcome.figures.append((save(figure, around.pictures, "start-up"), caption))
    return outcome


CASE = Case(
    "start-up",
    "Start-up of shear flow",
    "A Bingham material (h = 1) sheared from rest is elastic up to γ = σY/(√3 μ); from the time ty on, "
    "‖s‖ = √(2/3) σY + (η γ̇/√2)(1 − exp(−2μ(t−ty)/η)). Ours: one point, deformed with the functions of the law.",
    run,
)
