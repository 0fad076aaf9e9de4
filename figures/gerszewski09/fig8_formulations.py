"""[Gerszewski09] figure 8: composed deformation, rest configuration and added strains."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from reports.case import Check, Outcome, Surroundings, states
from reports.drawing import save
from reports.runs import preset_of, scene_run
from scipy.spatial import cKDTree

from figures.bodies import Array, paths
from figures.figure import Figure, save_csv
from figures.panels import MARKED, Camera, Panel, number_at, rows_of, save_panels
from spume import Run, load_scene, open_run
from spume.errors import RunFailed
from spume.extras import require

FORMULATIONS = {"composed": "composed", "rest configuration": "rest-configuration", "additive": "additive"}
KERNEL = {"forces.gradient": "corrected", "points.radius": 1.95}
"""The same for all elastic blocks: the paper's kernel, corrected at surfaces."""
PLASTIC = {"composed": "", "rest configuration": "-rest", "additive": "-additive"}
RETURNED = 0.05
"""Largest remaining displacement that counts as a return; see the validation case press-and-release."""
SPREAD = 3.0
"""Largest edge over that at the start of a block that survives."""
PRESSED, END = 0.15, 0.5
"""Times of the panels [s]."""
CAMERA = Camera((0.031, 0.078, 0.305), (0.0, -0.004, 0.0), 32.0)
"""From where the plastic blocks are in the picture when they are pressed."""
LARGER = 5.0
"""Displacements that remain in the end are drawn so many times larger."""


def elastic(around: Surroundings, formulation: str) -> Run:
    """An elastic block with the common kernel."""
    changes: dict[str, Any] = {"formulation": formulation, **KERNEL}
    scene = load_scene("press-and-release", changes, preset=preset_of(around, "press-and-release"))
    name = f"press-and-release-{formulation}-same-kernel"
    return scene_run(around, scene, around.runs / f"{name}-{around.preset}", name)


def plastic(around: Surroundings, suffix: str) -> tuple[Run, str]:
    """A plastic block as in its scene, and the reason why it broke off, empty if it did not."""
    name = f"press-and-release-plastic{suffix}"
    place = around.runs / f"{name}-{around.preset}"
    try:
        found = scene_run(around, load_scene(name, preset=preset_of(around, name)), place, name)
    except RunFailed as error:
        return open_run(place), str(error).partition(":")[0]
    spread = float((np.ptp(found[len(found) - 1]["x"], axis=0) / np.ptp(found[0]["x"], axis=0)).max())
    return found, f"its points are {spread:.0f} edges apart" if spread > SPREAD else ""


def draw_layer(axes: Any, start: Array, moved: Array, title: str) -> None:
    """The lattice of the layer of points in front of the middle of a block, at the start in grey, and displaced."""
    depth = start[:, 2]
    layer = depth == depth[depth > 0.0].min()
    spacing = float(np.diff(np.unique(start[:, 0])).min())
    pairs = cKDTree(start[layer]).query_pairs(1.1 * spacing, output_type="ndarray")
    collection = require("matplotlib.collections", "drawing figures").LineCollection
    for places, colour, width in ((start, "#c9ced4", 1.2), (moved, MARKED, 2.0)):
        axes.add_collection(collection(1e3 * places[layer][pairs][:, :, :2], colors=colour, linewidths=width))
    axes.set(xlim=(-47.0, 47.0), ylim=(-47.0, 47.0), aspect="equal", xticks=(), yticks=())
    axes.spines[:].set_visible(False)
    axes.set_title(title, fontsize=16)


def draw_elastic(around: Surroundings, made: Mapping[str, Run]) -> str:
    """Draw the elastic blocks when they are pressed, and what is left of their displacements."""
    figure, axes = rows_of(len(made), 2, (4.5, 4.8))
    for column, (label, run) in enumerate(made.items()):
        _, x = paths(run)
        pressed, end = x[number_at(run, PRESSED)], x[number_at(run, END)]
        draw_layer(axes[column], x[0], pressed, f"{label}, {PRESSED:g} s")
        larger = x[0] + LARGER * (end - x[0])
        draw_layer(axes[len(made) + column], x[0], larger, f"{label}, {END:g} s, × {LARGER:g}")
    return save(figure, around.pictures, "gerszewski09-8-elastic")


def run(around: Surroundings) -> Outcome:
    """Run the six blocks."""
    outcome = Outcome()
    panels, rows, blocks = [], [], {}
    for label, formulation in FORMULATIONS.items():
        made = elastic(around, formulation)
        _, x = paths(made)
        moved = np.sqrt(((x - x[0]) ** 2).sum(axis=2).mean(axis=1))
        left = float(moved[-1] / moved.max())
        returns = label != "additive"
        outcome.checks.append(
            Check(f"elastic, {label}: remaining displacement", f"{100 * left:.2g} %",
                  "returns" if returns else "does not return", "", f"{'≤' if returns else '>'} {RETURNED:.0%}",
                  (left <= RETURNED) == returns)
        )  # fmt: skip
        rows.append(["elastic", label, f"{left:.5f}", ""])
        blocks[label] = made
    for label, suffix in PLASTIC.items():
        made, failure = plastic(around, suffix)
        survives = label != "rest configuration"
        outcome.checks.append(
            states(f"plastic, {label}", failure or "survives", "survives" if survives else "becomes unstable",
                   (failure == "") == survives)
        )  # fmt: skip
        rows.append(["plastic", label, "", failure or "survives"])
        panels += [Panel(made, PRESSED, label), Panel(made, END, f"{label} breaks off" if failure else label)]
    columns = ("block", "formulation", "remaining displacement over the largest", "end")
    save_csv(around.pictures, "gerszewski09-8", columns, rows)
    text = f"Points of the elastic blocks, pressed and in the end, with {LARGER:g} times what is left of displacements."
    outcome.figures.append((draw_elastic(around, blocks), text))
    order = [panels[k] for k in (0, 2, 4, 1, 3, 5)]
    file = save_panels(around, "gerszewski09-8", order, 3, size=(560, 315), camera=CAMERA)
    outcome.figures.append((file, "The plastic blocks, pressed, and in their last frame."))
    return outcome


FIGURE = Figure(
    "gerszewski09-8",
    "Figure 8: three formulations, pressed and released",
    "An elastic block returns to its shape with our method and with a rest configuration, but not with an additive "
    "strain; a very plastic one survives with our method and with additive strain, and becomes unstable with a rest "
    "configuration.",
    run,
    paper="Gerszewski09",
    finding="The elastic blocks have the same kernel, the paper's with its correction at surfaces, and the same radius "
    "of 1.95 spacings. They are pressed to 0.84 of their height only; what is left of that, a quarter at most, goes up "
    "and down from point to point, and is drawn larger. The plastic ones have a radius of 2.4 spacings, with which "
    "composed deformations keep all fits; the additive one has more damping (1.5) and viscosity (40 Pa s) than the "
    "others, since with theirs it loses points, and holes open near its corners.",
    cause="our method: the comparison shares the paper's kernel. With 8,000 points (medium) it leaves motions from "
    "point to point that the fit does not see. They gain energy, of which the run warns, and 54 % of the displacement "
    "remains; in draft, with 1,000 points, 2.8 %. With the default forces, which are derivatives of an energy, 0.025 % "
    "remains at medium (`spume run press-and-release`).",
)
