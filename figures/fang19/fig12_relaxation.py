"""[Fang19] figure 12: over-relaxation in a step of the roller."""

import numpy as np
from reports.case import Outcome, Surroundings, differs
from reports.drawing import panels, save

from figures.fang19.convergence import COUNTS, curve, plot, studies, table
from figures.figure import Figure, save_csv

ALPHAS = (1.0, 1.4, 1.6, 1.9)
AFTER = 20
"""Iterations after which residuals are compared."""
PAPER, OURS = 1.0, 0.3
"""Penalty of the paper's weights, and our default."""


def run(around: Surroundings) -> Outcome:
    """One step at three instants with each over-relaxation and penalty."""
    steps = studies(around, "roller")
    figure, made = panels(2)
    logs, rows = {}, []
    for axes, rho in zip(made, (PAPER, OURS)):
        curves = {
            f"α = {alpha:g}": [
                curve(study, (f"implicit.rho={rho}", f"implicit.over_relaxation={alpha}")) for study in steps
            ]
            for alpha in ALPHAS
        }
        plot(axes, curves)
        axes.set(title=f"ρ = {rho:g}")
        rows += [[rho, *row] for row in table(curves)]
        for alpha, found in zip(ALPHAS, curves.values()):
            logs[rho, alpha] = [float(np.log10(each[COUNTS.index(AFTER)])) for each in found]
    save_csv(around.pictures, "fang19-12", ("rho", "choice", "instant", "iterations", "residual"), rows)
    name = f"log10 of the residual after {AFTER} iterations, ρ = {PAPER:g}"
    outcome = Outcome(
        [differs(f"{name}: α = 1 and {alpha:g}", logs[PAPER, 1.0], logs[PAPER, alpha], "less") for alpha in (1.4, 1.6)]
        + [differs(f"{name}: α = 1 and 1.9", logs[PAPER, 1.0], logs[PAPER, 1.9], "more")]
    )
    means = ", ".join(f"{np.mean(logs[OURS, alpha]):.2f}" for alpha in ALPHAS)
    outcome.notes.append(
        f"With our default of ρ = {OURS:g} the means after {AFTER} iterations are {means} for α = 1, 1.4, 1.6 and 1.9."
    )
    text = "One step of roller at three instants, with the paper's penalty and with our default."
    outcome.figures.append((save(figure, around.pictures, "fang19-12"), text))
    return outcome


FIGURE = Figure(
    "fang19-12",
    "Figure 12: over-relaxation",
    "Over-relaxation with α = 1.4 and 1.6 is faster than none; an even larger α is detrimental.",
    run,
    paper="Fang19",
    finding="The paper's weights with ρ = 1 on the left, our default on the right; both without our acceleration.",
    presets=("draft",),
)
