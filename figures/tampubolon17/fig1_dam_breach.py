"""[Tampubolon17] figure 1: water breaks a dam in space, by semi-implicit steps with the unilateral energy."""

import numpy as np
from reports.case import Outcome, Surroundings, states
from reports.drawing import COLOURS, panels, save

from figures.bodies import times_of
from figures.figure import Figure, save_csv
from figures.panels import Camera, Panel, save_panels
from figures.repeats import at_cells
from figures.tampubolon17.dams import dry_cohesion, front, top
from spume import Run

CELLS = {"draft": (0.2,), "medium": (0.1, 0.08), "paper": (0.025, 0.02)}
TIMES = (0.0, 2.0, 3.0, 3.5, 4.0, 5.0)
"""Of the panels [s]."""
CREST = (1.75, 2.25)
"""The crown of the dam along the valley [m]."""
MIDDLE = (-0.3, 0.3)
"""The middle of the dam across the valley [m]: next to the hills sand may remain when the dam is open."""
BROKEN = 0.5
"""Part of the dam's height below which the middle of its crest counts as broken."""
SEEN = Camera((6.2, 3.8, 2.0), (2.4, 0.15, 0.0), 34.0)
"""From the valley, high enough to see the reservoir."""
LOST = 0.5
"""Part of the cohesion of the dry dam below which it counts as lost."""


def breaks(run: Run) -> float:
    """Time at which the middle of the crest is half as high as at the start; infinite if never [s]."""
    heights = np.array([top(frame["sand"], CREST, MIDDLE) for frame in run])
    low = heights < BROKEN * heights[0]
    return float(times_of(run)[int(np.argmax(low))]) if low.any() else float("inf")


def run(around: Surroundings) -> Outcome:
    """Run the scene at both resolutions."""
    cells = CELLS[around.preset]
    runs = at_cells(around, "dam-breach-semi-implicit", cells)
    figure, (left, right) = panels(2)
    rows, broken, cohesion, fronts = [], [], [], []
    for cell, made, colour in zip(cells, runs, COLOURS):
        times, whole = times_of(made), dry_cohesion(made)
        held = [float(np.average(frame["sand"]["cohesion"], weights=frame["sand"]["mass"])) / whole for frame in made]
        heights = [top(frame["sand"], CREST, MIDDLE) for frame in made]
        left.plot(times, held, color=colour, label=f"cells of {1e3 * cell:g} mm")
        right.plot(times, heights, color=colour)
        broken.append(breaks(made))
        before = [h for h, time in zip(held, times) if time < broken[-1]]
        cohesion.append(before[-1])
        fronts.append((front(made[0]["sand"]), front(made[len(made) - 1]["sand"])))
        rows.append([f"{1e3 * cell:g}", f"{broken[-1]:.3f}", f"{before[-1]:.4f}", *(f"{x:.3f}" for x in fronts[-1])])
    left.set(xlabel="time [s]", ylabel="mean cohesion over that at the start")
    right.set(xlabel="time [s]", ylabel="height of the crest [m]")
    left.legend(frameon=False, fontsize=8)
    columns = ("cell [mm]", "breaks at [s]", "cohesion before it, over the first", "front [m]", "front in the end [m]")
    save_csv(around.pictures, "tampubolon17-1", columns, rows)
    outcome = Outcome(
        [
            states("its cohesion decreases as water seeps in: mean of the dam just before it breaks, over the first",
                   ", ".join(f"{part:.2f}" for part in cohesion), f"at most {LOST:g}", max(cohesion) <= LOST),
            states("it breaks: time at which the crest is half as high as at the start",
                   ", ".join(f"{time:.2f} s" for time in broken), "before the end", max(broken) < float("inf")),
            states("in a landslide: front of the sand at the start and in the end",
                   ", ".join(f"{first:.2f} and {last:.2f} m" for first, last in fronts),
                   "farther by half of the dam's height",
                   all(last - first > 0.5 for first, last in fronts)),
        ]
    )  # fmt: skip
    file = save_panels(around, "tampubolon17-1", [Panel(runs[-1], time, "") for time in TIMES], 3, camera=SEEN)
    outcome.figures.append((file, f"Cells of {1e3 * cells[-1]:g} mm."))
    outcome.figures.append((save(figure, around.pictures, "tampubolon17-1-crest"), "Cohesion and crest over time."))
    for cell, made in zip(cells, runs):
        last = made.diagnostics[-1]
        outcome.notes.append(
            f"Cells of {1e3 * cell:g} mm: {last['points']:,} points in the end, {last['steps']:,} steps, "
            f"{last['repeated_steps']} of them repeated."
        )
    return outcome


FIGURE = Figure(
    "tampubolon17-1",
    "Figure 1: dam breach",
    "Water pours in from a reservoir and erodes a dam; as it seeps in, the cohesion of the sand decreases; the dam "
    "breaks in a landslide.",
    run,
    paper="Tampubolon17",
    finding="The paper's combination: two species in space, semi-implicit steps, the unilateral energy. Dam, valley "
    "and values in SI units are ours.",
)
