"""[Tampubolon17] figure 10: a pile of sand by explicit, semi-implicit and unilateral steps."""

from reports.case import Outcome, Surroundings, differs

from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import with_seeds
from figures.tampubolon17.sand import heap

SCENES = {
    "explicit": "sand-pile",
    "10 ms": "sand-pile-semi-implicit",
    "1 ms": "sand-pile-semi-implicit-short",
    "unilateral, 10 ms": "sand-pile-unilateral",
}
TIMES = (0.8, 1.8, 3.0)
"""Initial, middle and final [s]."""
SHOWN = ((-0.6, -0.03), (0.6, 0.645))
"""Corners of the part of the plane in the panels [m]."""


def run(around: Surroundings) -> Outcome:
    """Run the four scenes with two seeds each."""
    made = {label: with_seeds(around, scene, (0, 1)) for label, scene in SCENES.items()}
    slopes, rows = {}, []
    for label, runs in made.items():
        heaps = [heap(run, TIMES[-1]) for run in runs]
        slopes[label] = [height / half for height, half in heaps]
        rows += [[label, k, f"{h:.5f}", f"{w:.5f}", f"{h / w:.4f}"] for k, (h, w) in enumerate(heaps)]
    save_csv(around.pictures, "tampubolon17-10", ("steps", "seed", "height [m]", "half width [m]", "ratio"), rows)
    outcome = Outcome(
        [
            differs("height over half width: explicit, and 10 ms", slopes["explicit"], slopes["10 ms"], "more"),
            differs("height over half width: 10 ms, and 1 ms", slopes["10 ms"], slopes["1 ms"], "less"),
            differs("height over half width: 10 ms, and unilateral 10 ms", slopes["10 ms"],
                    slopes["unilateral, 10 ms"], "less"),
        ]
    )  # fmt: skip
    panels = [Panel(runs[0], time, label) for time in TIMES for label, runs in made.items()]
    file = save_panels(around, "tampubolon17-10", panels, len(made), size=(480, 270), corners=SHOWN)
    text = "Initial, middle and final states; from left to right explicit, 10 ms, 1 ms, unilateral."
    outcome.figures.append((file, text))
    return outcome


FIGURE = Figure(
    "tampubolon17-10",
    "Figure 10: a pile of sand",
    "With the regular energy, semi-implicit steps give dry sand an artificial cohesion, which diminishes with the step "
    "(10 ms and 1 ms); with the unilateral energy there is none at 10 ms, as with explicit steps.",
    run,
    paper="Tampubolon17",
    finding="Cohesion makes a heap steeper, so the ratio of its height to its half width in the end is the measure. "
    "Young's modulus is 1 MPa in the explicit run and 16 kPa in the others: the paper's own units are soft.",
)
