"""[Fang19] figure 11: weights of ADMM in a step of elastic balls."""

import numpy as np
from reports.case import Outcome, Surroundings, differs
from reports.drawing import panels, save

from figures.fang19.convergence import COLUMNS, COUNTS, curve, plot, studies, table
from figures.figure import Figure, save_csv

CHOICES: dict[str, tuple[str, ...]] = {
    "stiffness": ("implicit.weights='stiffness'", "implicit.rho=1.0"),
    "bulk modulus": ("implicit.weights='bulk-modulus'", "implicit.rho=1.0"),
    "unit": ("implicit.weights='unit'", "implicit.rho=4.2e4"),
}
"""A unit weight needs a penalty in Pa: that of the bulk modulus."""
AFTER = 20
"""Iterations after which residuals are compared."""


def run(around: Surroundings) -> Outcome:
    """One step at three instants with each weight."""
    steps = studies(around, "elastic-balls")
    curves = {label: [curve(study, changes) for study in steps] for label, changes in CHOICES.items()}
    figure, (axes,) = panels()
    plot(axes, curves)
    save_csv(around.pictures, "fang19-11", COLUMNS, table(curves))
    k = COUNTS.index(AFTER)
    logs = {label: [float(np.log10(each[k])) for each in found] for label, found in curves.items()}
    outcome = Outcome(
        [
            differs(f"log10 of the residual after {AFTER} iterations: {other}, and stiffness", logs[other],
                    logs["stiffness"], "less")
            for other in ("bulk modulus", "unit")
        ]
    )  # fmt: skip
    outcome.figures.append((save(figure, around.pictures, "fang19-11"), "One step of elastic-balls at three instants."))
    return outcome


FIGURE = Figure(
    "fang19-11",
    "Figure 11: weights",
    "The stiffness enhanced weight expedites the convergence significantly; the weight by the bulk modulus and the "
    "unit weight do not reach a similar performance.",
    run,
    paper="Fang19",
    finding="With a penalty ρ of one, as the paper's weights are meant, and without our acceleration. The scene is in "
    "the plane, with cells of 40 mm.",
    presets=("draft",),
)
