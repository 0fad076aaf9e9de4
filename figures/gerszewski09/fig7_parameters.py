"""[Gerszewski09] figure 7: effects of the plastic parameters on a dropped box."""

from reports.case import Outcome, Surroundings, differs

from figures.bodies import at_spacings, bodies, height, paths
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels

SPACINGS = {"draft": (0.012, 0.01), "medium": (0.008, 0.005), "paper": (0.005, 0.00348)}
TIMES = (0.0, 0.05, 0.15, 0.6)
"""Of the panels [s]."""
SETTLED = 0.1
"""Last part of the run over which heights are means [s]."""
PAIRS = (("slow", "medium"), ("medium", "quick"), ("high yield", "hardening"), ("hardening", "low yield"))
"""Boxes of which the second is to be lower."""


def run(around: Surroundings) -> Outcome:
    """Run the scene with both spacings."""
    spacings = SPACINGS[around.preset]
    runs = at_spacings(around, "box-parameters", spacings)
    left: dict[str, list[float]] = {}
    rows = []
    for spacing, made in zip(spacings, runs):
        times, x = paths(made)
        for name, own in bodies(made).items():
            late = [height(places[own]) for places in x[times >= times[-1] - SETTLED]]
            left.setdefault(name, []).append(sum(late) / len(late) / height(x[0][own]))
            rows.append([name, f"{1e3 * spacing:g}", f"{left[name][-1]:.4f}"])
    save_csv(around.pictures, "gerszewski09-7", ("box", "spacing [mm]", "height in the end over the first"), rows)
    outcome = Outcome(
        [differs(f"height in the end over the first, {a} and {b}", left[a], left[b], "less") for a, b in PAIRS]
    )
    file = save_panels(around, "gerszewski09-7", [Panel(runs[-1], time, "") for time in TIMES], 2)
    text = "Front: slow, medium and quick flow. Back: low yield, high yield, hardening. Our default forces."
    outcome.figures.append((file, text))
    return outcome


FIGURE = Figure(
    "gerszewski09-7",
    "Figure 7: plastic parameters",
    "The effects of the plastic material parameters on a box that is dropped on the ground (three variants in each of "
    "two columns).",
    run,
    paper="Gerszewski09",
    finding="The paper prints no values: flow rates of 5, 50 and 500 1/s, yield stresses of 0.2 and 8 kPa, and "
    "hardening from 0.2 kPa by 5 kPa are chosen here. A box that yields more is lower in the end.",
)
