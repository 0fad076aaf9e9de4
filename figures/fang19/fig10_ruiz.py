"""[Fang19] figure 10: Ruiz equilibration in steps of sand and of elastic balls."""

import numpy as np
from reports.case import Outcome, Surroundings, changes
from reports.drawing import panels, save
from validation.admm import SAND

from figures.fang19.convergence import COLUMNS, COUNTS, Array, curve, plot, studies, table
from figures.figure import Figure, save_csv

SCENES: dict[str, tuple[str, ...]] = {"sand-column-implicit": SAND, "elastic-balls": ()}
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
"""Of which the best for each choice is shown, as in the paper."""
CHOICES = {"No-Ruiz": "plain-stiffness", "Ruiz": "ruiz", "ours": "stiffness"}
AFTER = {"sand-column-implicit": 40, "elastic-balls": 20}
"""Iterations after which residuals are compared."""


def run(around: Surroundings) -> Outcome:
    """One step at three instants of each scene with the penalties of each choice."""
    figure, made = panels(2)
    outcome = Outcome()
    rows: list[list[object]] = []
    for axes, (scene, common) in zip(made, SCENES.items()):
        steps = studies(around, scene, common)
        k = COUNTS.index(AFTER[scene])
        best: dict[str, list[Array]] = {}
        logs: dict[str, list[float]] = {}
        for label, weights in CHOICES.items():
            around.say(f"{scene}: {label}")
            own = f"implicit.weights='{weights}'"
            tried = {rho: [curve(study, (own, f"implicit.rho={rho}")) for study in steps] for rho in PENALTIES}
            rho = min(tried, key=lambda rho: float(np.mean(np.log([each[k] for each in tried[rho]]))))
            best[f"{label}, ρ = {rho:g}"] = tried[rho]
            logs[label] = [float(np.log10(each[k])) for each in tried[rho]]
        plot(axes, best)
        axes.set(title=scene)
        rows += [[scene, *row] for row in table(best)]
        outcome.checks.append(
            changes(f"{scene}: log10 of the residual after {AFTER[scene]} iterations, No-Ruiz and Ruiz",
                    logs["No-Ruiz"], logs["Ruiz"], "more" if scene == "elastic-balls" else "less")
        )  # fmt: skip
        outcome.notes.append(f"{scene}: with our default weights, at their best ρ, {np.mean(logs['ours']):.2f}.")
    save_csv(around.pictures, "fang19-10", ("scene", *COLUMNS), rows)
    text = "One step at three instants, each choice with the best of five penalties."
    outcome.figures.append((save(figure, around.pictures, "fang19-10"), text))
    return outcome


FIGURE = Figure(
    "fang19-10",
    "Figure 10: Ruiz equilibration",
    "In elastic material, the stiffness enhanced weights without Ruiz equilibration need fewer iterations; in sand, "
    "Ruiz equilibration outperforms them from the beginning, each with the best ρ.",
    run,
    paper="Fang19",
    finding="Penalties of 0.03 to 3; without our acceleration. No-Ruiz are the weights of section 7.3 as they are "
    "printed, ours have the factors of [implicit steps](../methods/implicit.md). Sand has cells of 30 mm, the balls "
    "of 40 mm.",
    presets=("draft",),
)
