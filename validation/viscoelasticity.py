"""Case 28: relaxation, oscillation and creep of a viscoelastic solid."""

import numpy as np
from reports.case import Case, Check, Outcome, Surroundings, deviation
from reports.drawing import COLOURS, OURS, THEIRS, panels, save

from spume.materials.table import Material
from spume.materials.viscoelastic import VISCOELASTIC, ViscoelasticParameters
from spume.rheology.point import Point
from spume.rheology.rheometer import creep, frequency_sweep, step_strain

MU_E, MU_N, TAU = 3e3, 7e3, 0.2
"""Shear moduli [Pa] and relaxation time [s]."""
SOLID = Material("solid", VISCOELASTIC, ViscoelasticParameters(
    density=1e3, shear_modulus=MU_E, lame_modulus=2e4, viscous_shear_modulus=MU_N, viscous_lame_modulus=1e4,
    deviatoric_viscosity=2 * MU_N * TAU, volumetric_viscosity=5e2,
))  # fmt: skip
STRAIN, STRESS = 1e-3, 3.0
BOUND = 0.01


def relaxed_stress(steps: int) -> float:
    """Shear stress over strain after one relaxation time in `steps` steps [Pa]."""
    point = Point(SOLID)
    point.shear(STRAIN, 1e-9)
    point.hold(TAU / steps, steps)
    return point.stress[3] / STRAIN


def run(around: Surroundings) -> Outcome:
    """Check all three measurements, and the order of the step."""
    outcome = Outcome()
    figure, (left, middle, right) = panels(3)

    around.say("relaxation")
    curve = step_strain(SOLID, STRAIN)
    theory = MU_E + MU_N * np.exp(-curve.values / TAU)
    found = curve.shear_stress / STRAIN
    outcome.checks.append(deviation("relaxation modulus", float(np.abs(found / theory - 1).max()), BOUND))
    left.plot(curve.values, theory, **THEIRS, label="μE + μN exp(−t/τ)")
    left.plot(curve.values[::8], found[::8], **OURS, label="ours")
    left.set(xlabel="time [s]", ylabel="relaxation modulus [Pa]")

    around.say("oscillation")
    omega = np.geomspace(0.02, 50.0, 15) / TAU
    columns = frequency_sweep(SOLID, omega).columns
    x = omega * TAU
    storage, loss = MU_E + MU_N * x * x / (1 + x * x), MU_N * x / (1 + x * x)
    for name, theory, colour in (("storage_modulus", storage, COLOURS[0]), ("loss_modulus", loss, COLOURS[1])):
        error = float(np.abs(columns[name] / theory - 1).max())
        outcome.checks.append(deviation(name.replace("_", " "), error, BOUND))
        middle.loglog(omega, theory, **THEIRS)
        middle.loglog(omega, columns[name], **(OURS | {"color": colour}), label=name.replace("_", " "))
    middle.set(xlabel="angular frequency [rad/s]", ylabel="modulus [Pa]")

    around.say("creep")
    columns = creep(SOLID, STRESS).columns
    theory = STRESS / MU_E * (1 - MU_N / (MU_E + MU_N) * np.exp(-columns["time"] / TAU * MU_E / (MU_E + MU_N)))
    found = columns["shear_strain"]
    outcome.checks.append(deviation("creep", float(np.abs(found / theory - 1).max()), BOUND))
    right.plot(columns["time"], theory, **THEIRS, label="standard linear solid")
    right.plot(columns["time"][::8], found[::8], **OURS, label="ours")
    right.set(xlabel="time [s]", ylabel="shear strain")
    for axes in (left, middle, right):
        axes.legend(frameon=False, fontsize=8)

    exact = MU_E + MU_N * np.exp(-1.0)
    coarse, fine = (abs(relaxed_stress(steps) - exact) for steps in (100, 200))
    ratio = coarse / fine
    outcome.checks.append(
        Check("error ratio for a doubled step", f"{ratio:.3f} times", "2 times", f"{100 * (ratio / 2 - 1):+.2f} %",
              "±2 %", bool(abs(ratio / 2 - 1) <= 0.02))
    )  # fmt: skip
    caption = "Relaxation, oscillation and creep at small strain."
    outcome.figures.append((save(figure, around.pictures, "viscoelasticity"), caption))
    return outcome


CASE = Case(
    "viscoelasticity",
    "Standard linear solid",
    "The law of [Fang19] at small strain is a standard linear solid: G(t) = μE + μN exp(−t/τ) with τ = νd/(2 μN), "
    "G' = μE + μN ω²τ²/(1+ω²τ²), G'' = μN ωτ/(1+ω²τ²), and the corresponding creep. Ours: one point, deformed with the "
    "functions of the law. Its backward Euler steps are of first order, so the error halves with the step.",
    run,
)
