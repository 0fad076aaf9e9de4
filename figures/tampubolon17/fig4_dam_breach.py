"""[Tampubolon17] figure 4: a dam in the plane breaks without and with the reversible term."""

import numpy as np
from numpy.typing import NDArray
from reports.case import Outcome, Surroundings, states
from reports.runs import run_of

from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from spume import PictureOptions, Run

Array = NDArray[np.float64]

CELLS = {"draft": (0.075, 0.06), "medium": (0.046, 0.035), "paper": (0.023, 0.0115)}
NONE = "none"
VARIANTS: dict[str, tuple[str, dict[str, object]]] = {
    NONE: ("dam-breach-2d", {}),
    "as printed": ("dam-breach-2d", {"mixture.buoyancy": "paper"}),
    "by pore pressure": ("dam-breach-2d-buoyancy", {}),
}
TIMES = (0.5, 2.5, 4.5)
"""Beginning, middle and end [s]."""
HEIGHT = 1.1
"""Of the dam [m]."""
SUBTLE = 0.1
"""Largest distance of the middles of the sand of two runs, over the height of the dam, that counts as subtle."""
SHOWN = ((0.6, -0.1), (4.1, 1.5))
"""Corners of the part of the plane in the panels [m]."""
COLOURS = PictureOptions(color="cohesion", limits=(0.0, 3000.0))


def middle(run: Run, time: float) -> Array:
    """Middle of the mass of the sand [m]."""
    sand = run[number_at(run, time)]["sand"]
    return np.average(sand["x"], axis=0, weights=sand["mass"])


def thrown(run: Run) -> float:
    """Largest part of the sand that is above the first height of the dam by a tenth at one time."""
    return max(float(np.mean(frame["sand"]["x"][:, 1] > 1.1 * HEIGHT)) for frame in run)


def run(around: Surroundings) -> Outcome:
    """Run the variants at both resolutions."""
    cells = CELLS[around.preset]
    made = {
        label: [
            run_of(around, scene, {"grid.cell": cell, **changes},
                   folder=f"{scene}-{'-'.join(map(str, changes.values()))}-{around.preset}-{1e3 * cell:g}-mm")
            for cell in cells
        ]
        for label, (scene, changes) in VARIANTS.items()
    }  # fmt: skip
    places = {label: [[middle(run, time) for time in TIMES] for run in runs] for label, runs in made.items()}
    rows = [[label, f"{1e3 * cell:g}", *(f"{value:.4f}" for place in each for value in place), f"{thrown(run):.4f}"]
            for label, runs in made.items() for cell, run, each in zip(cells, runs, places[label])]  # fmt: skip
    columns = [f"middle of the sand at {time:g} s, {axis} [m]" for time in TIMES for axis in "xy"]
    save_csv(around.pictures, "tampubolon17-4", ("variant", "cell [mm]", *columns, "part thrown up"), rows)
    without = np.array(places[NONE])
    outcome = Outcome()
    for label, found in places.items():
        if label != NONE:
            apart = np.linalg.norm(np.array(found) - without, axis=2).max(axis=0) / HEIGHT
            outcome.checks.append(
                states(f"reversible term {label}: distance of the sand's middle from that without, by the dam's height",
                       ", ".join(f"{d:.1%} at {time:g} s" for d, time in zip(apart, TIMES)),
                       f"subtle: at most {SUBTLE:.0%}", apart.max() <= SUBTLE)
            )  # fmt: skip
    parts = ", ".join(f"{label} {max(map(thrown, runs)):.1%}" for label, runs in made.items())
    outcome.notes.append(
        f"Largest part of the sand that is above 1.1 times the first height of the dam, by term: {parts}."
    )
    panels = [Panel(runs[-1], time, label) for label, runs in made.items() for time in TIMES]
    file = save_panels(around, "tampubolon17-4", panels, len(TIMES), COLOURS, size=(640, 293), corners=SHOWN)
    text = "Beginning, middle and end; without the term, with it, and by pore pressure. Colour: cohesion of the sand."
    outcome.figures.append((file, text))
    return outcome


FIGURE = Figure(
    "tampubolon17-4",
    "Figure 4: a dam in the plane, with and without the reversible term",
    "The reversible term of the exchange of momentum has only a subtle effect on the bulk motion.",
    run,
    paper="Tampubolon17",
    finding="Beside the term as it is printed stands our coupling by pore pressure, in which the water has only the "
    "pores and the sand loses the weight of the water that it displaces: the water advances less far into the dam.",
    cause="the printed term. It gives the sand the part m_w/(m_s + m_w) of the force of the water's pressure, which is "
    "more than the weight of the sand where ρs (ρs + ρw) < ρw² with the partial densities of both, so sand that is "
    "looser than 0.62 ρw is thrown up. In the run with cells of 60 mm, wet sand below 0.3 ρw rises with 1.6 m/s on "
    "average, between that and 0.62 ρw with 0.3 m/s, up to ρw with 0.03 m/s, and denser sand sinks. By pore pressure "
    "the dam stands longer, so the sand is elsewhere in the end.",
)
