"""[Gerszewski09] figure 4: an elastoplastic bunny falls on a sphere."""

import numpy as np
from reports.case import Outcome, Surroundings, at_most, states

from figures.bodies import Array, at_spacings, paths
from figures.figure import Figure, save_csv
from figures.panels import Camera, Panel, save_panels

SPACINGS = {"draft": (0.0085, 0.0075), "medium": (0.006, 0.005), "paper": (0.0032, 0.0026)}
TIMES = (0.0, 0.1, 0.2, 0.35, 0.6, 1.0)
"""Of the panels [s]."""
CAMERA = Camera((0.24, 0.285, 0.64), (-0.005, 0.142, 0.005), 32.0)
"""From where the ears are in the picture at the start."""
KEPT = 0.05
"""Least remaining displacement, over the size of the body, that counts as a change of its shape: an elastic strain of
the weight, ρ g L/E, is below 0.03."""
CREATED = 0.05
"""Largest created energy, over the largest energy of the points, for which a run does not warn."""


def apart(x: Array, start: Array) -> float:
    """Root mean square of the distances of the points from their places at the start, after the best rigid motion, over
    the radius of gyration."""
    a, b = x - x.mean(axis=0), start - start.mean(axis=0)
    u, _, w = np.linalg.svd(b.T @ a)
    u[:, -1] *= np.sign(np.linalg.det(u @ w))
    left = a - b @ (u @ w)
    return float(np.sqrt((left**2).sum() / (b**2).sum()))


def run(around: Surroundings) -> Outcome:
    """Run the scene with both spacings."""
    spacings = SPACINGS[around.preset]
    runs = at_spacings(around, "bunny-on-sphere", spacings)
    left, created, rows = [], [], []
    for spacing, made in zip(spacings, runs):
        _, x = paths(made)
        left.append(apart(x[-1], x[0]))
        energies = [record["kinetic_energy"] + record["elastic_energy"] for record in made.diagnostics]
        created.append(max(record["created_energy"] for record in made.diagnostics) / max(energies))
        rows.append([f"{1e3 * spacing:g}", f"{left[-1]:.4f}", f"{created[-1]:.5f}"])
    columns = ("spacing [mm]", "remaining displacement over the radius of gyration", "created energy over the largest")
    save_csv(around.pictures, "gerszewski09-4", columns, rows)
    outcome = Outcome(
        [
            states("the bunny keeps a dent: displacement without rigid motion in the end, over its size",
                   ", ".join(f"{value:.3f}" for value in left), f"more than {KEPT:g}", min(left) > KEPT),
            at_most("energy created, over the largest", max(created), CREATED),
        ]
    )  # fmt: skip
    panels = [Panel(runs[-1], time, "") for time in TIMES]
    file = save_panels(around, "gerszewski09-4", panels, 3, camera=CAMERA)
    outcome.figures.append((file, f"Spacing of {1e3 * spacings[-1]:g} mm."))
    return outcome


FIGURE = Figure(
    "gerszewski09-4",
    "Figure 4: bunny on a sphere",
    "An elastoplastic bunny falls on a sphere (a second example is in the video only).",
    run,
    paper="Gerszewski09",
    finding="The bunny is put together from primitives; the paper prints no values.",
    presets=("draft", "medium"),
)
