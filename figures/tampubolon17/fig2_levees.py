"""[Tampubolon17] figure 2: two levees under water, by semi-implicit steps with the unilateral energy."""

from reports.case import Outcome, Surroundings, differs
from reports.drawing import COLOURS, panels, save

from figures.bodies import times_of
from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from figures.repeats import at_sizes
from figures.tampubolon17.dams import front, top

SCENES = {"levee": "levee-semi-implicit", "lower drag and cohesion": "levee-weak-semi-implicit"}
CELLS = {"draft": (0.25, 0.2), "medium": (0.1, 0.08), "paper": (0.025, 0.02)}
END = 3.0
"""End of the runs [s]: a second after the flood."""
TIMES = (0.0, 1.2, 1.8, 2.4)
"""Of the panels [s]: later the landslide leaves the picture."""
CREST = (1.75, 2.05)
"""The crown of the levee along the flow [m]."""


def run(around: Surroundings) -> Outcome:
    """Run both levees at both resolutions."""
    cells = CELLS[around.preset]
    made = {label: at_sizes(around, scene, "grid.cell", cells, {"duration": END}) for label, scene in SCENES.items()}
    figure, (left, right) = panels(2)
    crests, fronts = {}, {}
    for (label, runs), colour in zip(made.items(), COLOURS):
        frames = [[frame["sand"] for frame in run] for run in runs]
        crests[label] = [top(sands[-1], CREST) for sands in frames]
        fronts[label] = [front(sands[-1]) for sands in frames]
        for run, sands, style in zip(runs, frames, ("--", "-")):
            name = label if style == "-" else None
            left.plot(times_of(run), [top(sand, CREST) for sand in sands], style, color=colour, label=name)
            right.plot(times_of(run), [front(sand) for sand in sands], style, color=colour)
    left.set(xlabel="time [s]", ylabel="height of the crest [m]")
    right.set(xlabel="time [s]", ylabel="front of the sand [m]")
    left.legend(frameon=False, fontsize=8)
    rows = [[label, f"{1e3 * cell:g}", f"{crest:.4f}", f"{far:.4f}"]
            for label in made for cell, crest, far in zip(cells, crests[label], fronts[label])]  # fmt: skip
    save_csv(around.pictures, "tampubolon17-2", ("levee", "cell [mm]", "crest [m]", "front of the sand [m]"), rows)
    strong, weak = SCENES
    outcome = Outcome(
        [
            differs(f"height of the crest after {END:g} s [m]: levee, and with lower drag and cohesion",
                    crests[strong], crests[weak], "less"),
            differs("front of the sand then [m]: levee, and with lower drag and cohesion", fronts[strong],
                    fronts[weak], "more"),
        ]
    )  # fmt: skip
    shown = [Panel(runs[-1], time, label) for label, runs in made.items() for time in TIMES]
    file = save_panels(around, "tampubolon17-2", shown, len(TIMES), size=(480, 360))
    outcome.figures.append((file, f"Cells of {1e3 * cells[-1]:g} mm; above the levee, below the weaker one."))
    text = "Crest and front over time; dashed with the larger cells."
    outcome.figures.append((save(figure, around.pictures, "tampubolon17-2-crest"), text))
    for label, runs in made.items():
        last = runs[-1].diagnostics[number_at(runs[-1], END)]
        outcome.notes.append(
            f"{label}, cells of {1e3 * cells[-1]:g} mm: {last['points']:,} points, {last['steps']:,} steps, "
            f"{last['repeated_steps']} of them repeated."
        )
    return outcome


FIGURE = Figure(
    "tampubolon17-2",
    "Figure 2: levees",
    "A levee with a lower drag coefficient and lower cohesion fails more easily.",
    run,
    paper="Tampubolon17",
    finding="The paper's combination: two species in space, semi-implicit steps, the unilateral energy. The paper "
    "prints neither drag nor cohesion: ours are conductivities of 0.01 and 0.1 m/s and cohesions of 6 and 1 kPa.",
)
