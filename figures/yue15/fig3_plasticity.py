"""[Yue15] figure 3: a dollop falls from a shaken block with three models of plastic flow."""

from reports.case import Outcome, Surroundings, differs

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.yue15 import dollop

MODELS = {
    "perfectly plastic": "shaving-cream-perfect-plastic",
    "viscoplastic": "shaving-cream-viscoplastic",
    "Herschel-Bulkley": "shaving-cream",
}
EARLY = 0.3
"""Time at which flow as soon as the shaking begins can be seen [s]: two periods of the block."""
TIMES = (EARLY, 0.6, 0.9, 1.5)
"""Of the panels [s]."""


def run(around: Surroundings) -> Outcome:
    """Run the three scenes at both resolutions."""
    made = {model: dollop.runs(around, scene) for model, scene in MODELS.items()}
    parted = {model: [dollop.parting(run) for run in runs] for model, runs in made.items()}
    early = {model: [dollop.fallen(run, EARLY) for run in runs] for model, runs in made.items()}
    rows = [
        [model, f"{1e3 * dollop.cell_of(run):g}", f"{time:.4f}", f"{part:.4f}"]
        for model, runs in made.items()
        for run, time, part in zip(runs, parted[model], early[model])
    ]
    save_csv(around.pictures, "yue15-3", ("model", "cell [mm]", "parts at [s]", f"left by {EARLY} s"), rows)
    thinning = "Herschel-Bulkley"
    outcome = Outcome(
        [
            differs("time at which the dollop parts, Herschel-Bulkley and perfectly plastic [s]", parted[thinning],
                    parted["perfectly plastic"], "less"),
            differs("time at which it parts, Herschel-Bulkley and viscoplastic [s]", parted[thinning],
                    parted["viscoplastic"], "more"),
            differs(f"part below the block at {EARLY} s, Herschel-Bulkley and perfectly plastic", early[thinning],
                    early["perfectly plastic"], "more"),
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, model) for model, runs in made.items() for time in TIMES]
    file = save_panels(around, "yue15-3", panels, len(TIMES), size=(480, 480))
    cell = 1e3 * dollop.cell_of(made[thinning][-1])
    outcome.figures.append((file, f"Cells of {cell:g} mm. The footage of the paper's last row is not ours to show."))
    return outcome


FIGURE = Figure(
    "yue15-3",
    "Figure 3: three models of plastic flow",
    "The perfectly plastic dollop flows as soon as the shaking begins; in the viscoplastic one the neck forms too "
    "slowly; Herschel-Bulkley flow is closest to the real foam.",
    run,
    paper="Yue15",
    finding="The variants differ from Table I in η (0) and h (1) only; the paper varies the yield stress, too, but "
    "does not print it. The end of the run stands for a dollop that does not part.",
)
