"""[Fang19] figure 4: the model of a viscoelastic solid in parallel with an elastic one, as curves of a rheometer."""

from typing import Any

import numpy as np
from reports.case import Outcome, Surroundings, deviation, states
from reports.drawing import COLOURS, OURS, THEIRS, panels, save

from figures.figure import Figure, save_csv
from spume.materials.table import Material, named_materials
from spume.materials.viscoelastic import VISCOELASTIC, ViscoelasticParameters
from spume.rheology.rheometer import creep, frequency_sweep, step_strain

NAME = "silicone rubber"
SILICONE: dict[str, Any] = {
    key: value for key, value in named_materials()[NAME].items() if key in ViscoelasticParameters.model_fields
}
MU_E, MU_N = SILICONE["shear_modulus"], SILICONE["viscous_shear_modulus"]
TIME = SILICONE["deviatoric_viscosity"] / (2.0 * MU_N)
"""Relaxation time νd/(2 μN) [s]."""
STRAIN = 1e-3
BOUND = 0.01
"""Of the deviations, as in the validation of the law."""


def run(around: Surroundings) -> Outcome:
    """Shear one point of the silicone in three ways."""
    material = Material(NAME, VISCOELASTIC, ViscoelasticParameters(**SILICONE))
    figure, (left, middle, right) = panels(3)

    relaxed = step_strain(material, STRAIN)
    modulus = relaxed.shear_stress / STRAIN
    expected = MU_E + MU_N * np.exp(-relaxed.values / TIME)
    left.plot(relaxed.values, expected, **THEIRS, label="μE + μN exp(−t/τ)")
    left.plot(relaxed.values[::6], modulus[::6], **OURS, label="ours")
    left.axhline(MU_E, color="grey", linestyle=":")
    left.set(xlabel="time after a step of strain [s]", ylabel="shear stress / strain [Pa]")

    crept = creep(material, STRAIN * MU_E).columns
    strain = STRAIN * (1.0 - MU_N / (MU_E + MU_N) * np.exp(-crept["time"] / TIME * MU_E / (MU_E + MU_N)))
    middle.plot(crept["time"], strain, **THEIRS, label="standard linear solid")
    middle.plot(crept["time"][::6], crept["shear_strain"][::6], **OURS, label="ours")
    middle.set(xlabel="time under a constant stress [s]", ylabel="shear strain")

    rates = np.geomspace(0.02, 50.0, 15) / TIME
    swept = frequency_sweep(material, rates).columns
    x = rates * TIME
    errors = {}
    for name, theory, colour in (
        ("storage", MU_E + MU_N * x * x / (1.0 + x * x), COLOURS[0]),
        ("loss", MU_N * x / (1.0 + x * x), COLOURS[1]),
    ):
        errors[name] = float(np.abs(swept[f"{name}_modulus"] / theory - 1.0).max())
        right.loglog(rates, theory, **THEIRS)
        right.loglog(rates, swept[f"{name}_modulus"], **(OURS | {"color": colour}), label=f"{name} modulus")
    right.set(xlabel="angular frequency [rad/s]", ylabel="modulus [Pa]")
    for axes in (left, middle, right):
        axes.legend(frameon=False, fontsize=8)
    rows = [[f"{t:.5g}", f"{m:.6g}"] for t, m in zip(relaxed.values, modulus)]
    save_csv(around.pictures, "fang19-4", ("time [s]", "relaxation modulus [Pa]"), rows)
    outcome = Outcome(
        [
            deviation("relaxation modulus", float(np.abs(modulus / expected - 1.0).max()), BOUND),
            deviation("creep", float(np.abs(crept["shear_strain"] / strain - 1.0).max()), BOUND),
            *(deviation(f"{name} modulus", error, BOUND) for name, error in errors.items()),
            states("what remains after a long time", f"{modulus[-1]:.5g} Pa", f"μE = {MU_E:.5g} Pa",
                   abs(modulus[-1] / MU_E - 1.0) <= BOUND),
        ]
    )  # fmt: skip
    text = "A step of strain, a constant stress, and oscillations of one point of silicone rubber."
    outcome.figures.append((save(figure, around.pictures, "fang19-4"), text))
    return outcome


FIGURE = Figure(
    "fang19-4",
    "Figure 4: the model",
    "A spring in parallel with a spring and a dashpot: the equilibrated part does not depend on time, and the other "
    "one relaxes.",
    run,
    paper="Fang19",
    finding="The figure is a drawing in the paper. At small strain our law is the standard linear solid, with the "
    "relaxation time νd/(2 μN).",
    presets=("paper",),
)
