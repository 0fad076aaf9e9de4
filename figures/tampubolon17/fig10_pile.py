"""[Tampubolon17] figure 10: a pile of sand by explicit, semi-implicit and unilateral steps."""

from collections.abc import Sequence

import numpy as np
from reports.case import Check, Outcome, Surroundings, differs
from reports.runs import run_of

from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from figures.tampubolon17.sand import heap
from spume import Run

SCENES: dict[str, tuple[str, dict[str, object]]] = {
    "explicit": ("sand-pile", {'material."soft sand".youngs_modulus': 1.6e4}),
    "10 ms": ("sand-pile-semi-implicit", {}),
    "1 ms": ("sand-pile-semi-implicit-short", {}),
    "0.3 ms": ("sand-pile-semi-implicit", {"time.max_dt": 3e-4}),
    "unilateral, 10 ms": ("sand-pile-unilateral", {}),
}
"""Scenes by their largest steps. The sand is as soft in the explicit run as in the others."""
SEEDS = (0, 1)
TIMES = (0.8, 1.8, 3.0)
"""Initial, middle and final [s]."""
STREAM = (0.2, 0.4)
"""Heights between which the stream is measured, at the middle time [m]."""
SHOWN = ((-0.4, -0.03), (0.4, 0.42))
"""Corners of the part of the plane in the panels [m]: the heap and the stream, without the spout."""


def mean_step(run: Run) -> float:
    """Mean length of a step [ms]."""
    last = run.diagnostics[-1]
    return 1e3 * last["time"] / last["steps"]


def stream(run: Run) -> float:
    """Half width of the falling sand, without its outer tenth [m]."""
    x = run[number_at(run, TIMES[1])]["x"]
    return float(np.quantile(np.abs(x[(x[:, 1] > STREAM[0]) & (x[:, 1] < STREAM[1]), 0]), 0.9))


def alike(quantity: str, first: Sequence[float], second: Sequence[float]) -> Check:
    """Check that two means differ by at most three times the larger spread over seeds."""
    a, b = np.asarray(first), np.asarray(second)
    spread, change = max(float(a.std(ddof=1)), float(b.std(ddof=1))), float(b.mean() - a.mean())
    return Check(quantity, f"{a.mean():.4g} and {b.mean():.4g}", "the same", f"{change:+.3g}", f"± 3 × {spread:.2g}",
                 abs(change) <= 3.0 * spread)  # fmt: skip


def run(around: Surroundings) -> Outcome:
    """Run the scenes with two seeds each."""
    made = {
        label: [
            run_of(around, scene, {"seed": seed, **changes},
                   folder="-".join(map(str, [scene, around.preset, *changes.values(), "seed", seed])))
            for seed in SEEDS
        ]
        for label, (scene, changes) in SCENES.items()
    }  # fmt: skip
    heaps = {label: [heap(run, TIMES[-1]) for run in runs] for label, runs in made.items()}
    widths = {label: [stream(run) for run in runs] for label, runs in made.items()}
    dense = {label: runs[0].diagnostics[-1]["cloud_density"] for label, runs in made.items()}
    rows = [[label, seed, f"{mean_step(run):.3f}", f"{h:.5f}", f"{w:.5f}", f"{h / w:.4f}", f"{wide:.5f}"]
            for label, runs in made.items()
            for seed, run, (h, w), wide in zip(SEEDS, runs, heaps[label], widths[label])]  # fmt: skip
    columns = ("steps", "seed", "mean step [ms]", "height [m]", "half width [m]", "ratio", "half width of stream [m]")
    save_csv(around.pictures, "tampubolon17-10", columns, rows)
    slopes = {label: [height / half for height, half in each] for label, each in heaps.items()}
    none, long, fading = "explicit", "10 ms", "unilateral, 10 ms"
    outcome = Outcome(
        [
            differs("height over half width: explicit, and 10 ms", slopes[none], slopes[long], "more"),
            differs("height over half width: 10 ms, and 1 ms", slopes[long], slopes["1 ms"], "less"),
            differs("height over half width: 1 ms, and 0.3 ms", slopes["1 ms"], slopes["0.3 ms"], "less"),
            differs("height over half width: 10 ms, and unilateral 10 ms", slopes[long], slopes[fading], "less"),
            alike("height over half width: explicit, and unilateral 10 ms", slopes[none], slopes[fading]),
            differs("half width of the stream [m]: explicit, and 10 ms", widths[none], widths[long], "less"),
            alike("half width of the stream [m]: explicit, and unilateral 10 ms", widths[none], widths[fading]),
        ]
    )  # fmt: skip
    steps = ", ".join(f"{label} {mean_step(runs[0]):.2g} ms" for label, runs in made.items())
    outcome.notes.append(f"Mean length of the steps: {steps}. Longest steps end before points move by half a cell.")
    densities = ", ".join(f"{label} {density:.2f}" for label, density in dense.items())
    outcome.notes.append(f"Density of the points in the end over what their deformations say: {densities}.")
    panels = [Panel(runs[0], time, label.split(",")[0]) for time in TIMES for label, runs in made.items()]
    file = save_panels(around, "tampubolon17-10", panels, len(made), size=(480, 270), corners=SHOWN)
    text = "Initial, middle and final states. Artificial cohesion draws the stream together and leaves a cap."
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
    "The stream, and the comparison of explicit and unilateral ratios, were added after the first pictures. "
    "Young's modulus is 16 kPa, as soft as the paper's sand. Steps of 10 ms are reached only before the sand is fast: "
    "then they end at half a cell, so a step of 0.3 ms stands beside the two of the caption. The unilateral energy has "
    "the a of figure 11, because that of Table 2 removes the friction of this sand. By the regular energy the stream "
    "hangs together at all three steps.",
    cause="for the larger part that the points of the explicit heap are too dense, because positions drift from "
    "deformations ([measurements](../measured/mpm.md#crowded-sand)): it is as wide as the unilateral one, but takes up "
    "8 % less area, and is 12 % lower. The rest may be that sand resists shear within a step, which this energy does "
    "not remove. The stream is as wide with the unilateral energy as by explicit steps.",
)
