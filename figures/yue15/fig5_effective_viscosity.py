"""[Yue15] figure 5: effective viscosity over stress for the models of plastic flow."""

import math

import numpy as np
from reports.case import Outcome, Surroundings, deviation, states
from reports.drawing import COLOURS, THEIRS, panels, save

from figures.figure import Figure, save_csv
from figures.yue15.flow import CREAM, SHEAR_YIELD, stiff
from spume.materials.corotated_plastic import COROTATED_PLASTIC, CorotatedPlasticParameters
from spume.materials.table import Material
from spume.rheology.rheometer import flow_curve

RATES = np.logspace(-1.0, 2.0, 13)
"""[1/s]"""
STIFFNESS = 200.0
"""Shear modulus over the largest stress: elastic strains stay below 1/200."""
BOUND = 0.02
"""Change of an effective viscosity that counts as none: four times the elastic strain."""


def bargteil(shear: float, viscosity: float) -> Material:
    """The flow of [Bargteil07] with a shear modulus [Pa] and a viscosity at small strain [Pa s]. It yields at the same
    shear stress as the others: in shear ‖P‖ is √2 times the stress."""
    return Material(
        "Bargteil et al.", COROTATED_PLASTIC,
        CorotatedPlasticParameters(
            density=CREAM["density"], youngs_modulus=2.6 * shear, poisson_ratio=0.3, flow_rate=shear / viscosity,
            yield_stress=math.sqrt(2.0) * SHEAR_YIELD,
        ),
    )  # fmt: skip


def run(around: Surroundings) -> Outcome:
    """Shear one point of each material steadily."""
    bingham_viscosity = CREAM["viscosity"] / 2.0
    shear = STIFFNESS * (SHEAR_YIELD + bingham_viscosity * RATES[-1])
    materials = (
        stiff("viscoplastic", shear, flow_index=1.0),
        stiff("Herschel-Bulkley", shear),
        bargteil(shear, bingham_viscosity),
    )
    figure, (axes,) = panels()
    found, rows = {}, []
    for material, colour in zip(materials, COLOURS):
        stress = flow_curve(material, RATES).shear_stress
        excess = stress - SHEAR_YIELD
        found[material.name] = excess, excess / RATES
        axes.loglog(excess, excess / RATES, "o-", color=colour, markersize=3, label=material.name)
        rows += [[material.name, f"{r:.5g}", f"{t:.6g}", f"{e / r:.6g}"] for r, t, e in zip(RATES, stress, excess)]
    slope = 1.0 - 1.0 / CREAM["flow_index"]
    s, thin = found["Herschel-Bulkley"]
    axes.loglog(s, thin[0] * (s / s[0]) ** slope, **THEIRS | {"linestyle": ":"}, label="slope 1 − 1/h")
    axes.set(xlabel="stress above the yield stress [Pa]", ylabel="excess stress / shear rate [Pa s]")
    axes.legend(frameon=False, fontsize=8)
    save_csv(around.pictures, "yue15-5", ("model", "rate [1/s]", "stress [Pa]", "effective viscosity [Pa s]"), rows)
    plain, (excess, other) = found["viscoplastic"][1], found["Bargteil et al."]
    growth = float(np.polyfit(np.log(excess + SHEAR_YIELD), np.log(other), 1)[0])
    fit = float(np.polyfit(np.log(s), np.log(thin), 1)[0])
    outcome = Outcome(
        [
            deviation("viscoplastic: change of the effective viscosity over three decades of rate",
                      float(np.ptp(plain) / plain.mean()), BOUND, "independent of stress", "largest"),
            deviation("Herschel-Bulkley: exponent of the stress", abs(fit / slope - 1.0), BOUND,
                      f"1 − 1/h = {slope:.3f}", f"{fit:.3f}"),
            states("Bargteil et al.: exponent of the stress", f"{growth:.3f}", "1, as ‖P‖/ν (closer to 1 than to 0)",
                   growth >= 0.5),
        ]
    )  # fmt: skip
    outcome.figures.append((save(figure, around.pictures, "yue15-5"), "One point, sheared until it is steady."))
    return outcome


FIGURE = Figure(
    "yue15-5",
    "Figure 5: effective viscosity",
    "The effective viscosity of a viscoplastic material does not depend on the stress; that of a shear-thinning "
    "Herschel-Bulkley material shrinks with increasing stress; that of the model of Bargteil et al. grows.",
    run,
    paper="Yue15",
    finding="Ours are the excess stress over the shear rate, with the numbers of the shaving cream but for a shear "
    "modulus for which elastic strains are small.",
    cause="the paper's definition. Its appendix A calls ‖P‖/ν the effective viscosity of Bargteil et al., from γ = ν "
    "(‖P‖ − P_Y)/‖P‖; but there γ is the fraction of the strain that flows, and that strain is itself proportional to "
    "‖P‖. Excess stress over shear rate is μ/ν, a constant, as long as elastic strains are small.",
    presets=("paper",),
)
