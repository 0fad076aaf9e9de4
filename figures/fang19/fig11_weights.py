"""[Fang19] figure 11: weights of ADMM in a step of elastic balls."""

import numpy as np
from reports.case import Outcome, Surroundings, changes
from reports.drawing import panels, save

from figures.fang19.convergence import COLUMNS, COUNTS, Array, curve, plot, studies, table
from figures.figure import Figure, save_csv

PENALTIES = (0.1, 0.3, 1.0, 3.0)
"""Of which the best for each weight is shown."""
CHOICES = {"stiffness": "plain-stiffness", "bulk modulus": "bulk-modulus"}
UNIT = 500.0
"""One unit of stress of the paper's tables [Pa]."""
AFTER = 20
"""Iterations after which residuals are compared."""


def run(around: Surroundings) -> Outcome:
    """One step at three instants with each weight."""
    steps = studies(around, "elastic-balls")
    k = COUNTS.index(AFTER)
    curves: dict[str, list[Array]] = {}
    for label, weights in CHOICES.items():
        around.say(label)
        own = f"implicit.weights='{weights}'"
        tried = {rho: [curve(study, (own, f"implicit.rho={rho}")) for study in steps] for rho in PENALTIES}
        rho = min(tried, key=lambda rho: float(np.mean(np.log([each[k] for each in tried[rho]]))))
        curves[f"{label}, ρ = {rho:g}"] = tried[rho]
    unit = ("implicit.weights='unit'", f"implicit.rho={UNIT}")
    curves[f"unit, ρ = {UNIT:g} Pa"] = [curve(study, unit) for study in steps]
    figure, (axes,) = panels()
    plot(axes, curves)
    save_csv(around.pictures, "fang19-11", COLUMNS, table(curves))
    logs = [[float(np.log10(each[k])) for each in found] for found in curves.values()]
    outcome = Outcome(
        [
            changes(f"log10 of the residual after {AFTER} iterations: {other}, and stiffness", found, logs[0], "less")
            for other, found in zip(("bulk modulus", "unit"), logs[1:])
        ]
    )
    outcome.figures.append((save(figure, around.pictures, "fang19-11"), "One step of elastic-balls at three instants."))
    return outcome


FIGURE = Figure(
    "fang19-11",
    "Figure 11: weights",
    "The stiffness enhanced weight expedites the convergence significantly; the weight by the bulk modulus and the "
    "unit weight do not reach a similar performance.",
    run,
    paper="Fang19",
    finding="The stiffness enhanced weights as they are printed. Each weight has the best of four penalties: with "
    "ρ = 1 for both, the bulk modulus is the better one here, since the best penalty is a third of the stiffness, and "
    "the bulk modulus happens to be that. The balls have one modulus, so a unit weight differs from the bulk modulus "
    "by a factor only, and with the best penalty it is the same; shown is one unit of the paper's stress. Changes are "
    "those of the same steps. Without our acceleration; in the plane, with cells of 40 mm in the draft and 20 mm "
    "in medium.",
    presets=("draft", "medium"),
)
