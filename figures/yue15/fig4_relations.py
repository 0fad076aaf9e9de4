"""[Yue15] figure 4: stress and strain of a perfectly plastic and a viscoplastic material."""

import numpy as np
from numpy.typing import NDArray
from reports.case import Outcome, Surroundings, deviation, states
from reports.drawing import COLOURS, THEIRS, panels, save

from figures.figure import Figure, save_csv
from figures.yue15.flow import CREAM, SHEAR_YIELD, bingham, perfect_plastic
from spume.materials.table import Material
from spume.rheology.point import Point

RATE = 10.0
"""Shear rate [1/s]."""
STRAIN, STEPS = 1.0, 4000


def loaded(material: Material, strain: float = STRAIN, back: float = 0.0) -> NDArray[np.float64]:
    """Strain and shear stress [Pa] of one point, sheared at a constant rate and, if `back` > 0, back by that strain."""
    point, h = Point(material), STRAIN / STEPS
    rows = [(0.0, 0.0)]
    for step in [h] * round(strain / h) + [-h] * round(back / h):
        point.shear(step, h / RATE)
        rows.append((rows[-1][0] + step, point.stress[3]))
    return np.array(rows)


def run(around: Surroundings) -> Outcome:
    """Shear one point of each material."""
    plastic, viscous = perfect_plastic(), bingham()
    sigma, mu = SHEAR_YIELD, CREAM["shear_modulus"]
    figure, (left, right) = panels(2)
    cycle = loaded(plastic, 0.5, 0.25)
    left.plot(*cycle.T, color=COLOURS[0])
    left.axhline(sigma, **THEIRS | {"linestyle": ":"})
    left.set(xlabel="shear strain", ylabel="shear stress [Pa]", title="perfectly plastic, loaded and unloaded")
    curves = {"perfectly plastic": loaded(plastic), "viscoplastic": loaded(viscous)}
    for (label, curve), colour in zip(curves.items(), COLOURS):
        right.plot(curve[:, 0] / RATE, curve[:, 1], color=colour, label=label)
    right.axhline(sigma, **THEIRS | {"linestyle": ":"}, label="yield stress / √3")
    right.set(xlabel="time [s]", ylabel="shear stress [Pa]", title=f"at the constant rate {RATE:g} 1/s")
    right.legend(frameon=False, fontsize=8)
    rows = [[label, f"{g:.5f}", f"{t:.5f}"] for label, curve in curves.items() for g, t in curve[:: STEPS // 100]]
    save_csv(around.pictures, "yue15-4", ("model", "strain", "shear stress [Pa]"), rows)
    ends = {label: float(curve[-1, 1]) for label, curve in curves.items()}
    overshoot = float(curves["perfectly plastic"][:, 1].max() / sigma - 1.0)
    # elastic up to the yield: the stress cannot exceed it by more than the error of a step's strain, μ Δγ
    bound = mu * STRAIN / STEPS / sigma
    largest = sigma / mu
    outcome = Outcome(
        [
            deviation("perfectly plastic: excess over σY/√3", max(overshoot, 0.0), bound, "removed at once", "largest"),
            states(
                "unloaded by more than the elastic strain, it yields the other way",
                f"{cycle[-1, 1]:.2f} Pa after −0.25 (elastic: ±{largest:.3g})", f"−{sigma:.2f} Pa",
                abs(cycle[-1, 1] + sigma) <= bound * sigma,
            ),
            states("viscoplastic: stress above σY/√3 while it flows", f"{ends['viscoplastic']:.3g} Pa",
                   f"> {sigma:.3g} Pa", ends["viscoplastic"] > sigma * (1.0 + bound)),
        ]
    )  # fmt: skip
    text = "Left: loading and unloading. Right: stress over time at a constant rate. Both: one point of our law."
    outcome.figures.append((save(figure, around.pictures, "yue15-4"), text))
    return outcome


FIGURE = Figure(
    "yue15-4",
    "Figure 4: constitutive relations",
    "The perfectly plastic model removes any excess stress at once; the viscoplastic model acts over a finite time, so "
    "that its stress exceeds the yield stress while the strain grows at a constant rate.",
    run,
    paper="Yue15",
    finding="The figure is a drawing in the paper; here it is the law of the shaving cream of Table I, with η = 0 and "
    "with h = 1.",
    presets=("paper",),
)
