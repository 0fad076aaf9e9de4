"""[Fang19] figure 1: a face of silicone that recovers slowly, and cream that flows around cherries."""

import numpy as np
from reports.case import Outcome, Surroundings, differs
from reports.drawing import COLOURS, panels, save

from figures.bodies import Array, paths
from figures.figure import Figure, save_csv
from figures.panels import Panel, save_panels
from figures.repeats import at_cells
from spume import Run

FACES = {"viscoelastic": "faceless", "hyperelastic": "faceless-hyperelastic"}
FACE_CELLS = {"draft": (0.06, 0.05), "medium": (0.03, 0.025), "paper": (0.018, 0.015)}
CREAMS = {"thin": "cherries", "stiffer": "cherries-stiffer"}
CREAM_CELLS = {"draft": (0.024, 0.022), "medium": (0.01, 0.008), "paper": (0.006, 0.005)}
FACE_TIMES, CREAM_TIMES = (0.0, 2.1, 4.1, 4.5, 6.0, 8.0), (0.4, 0.8, 1.2, 2.5)
"""Of the panels [s]."""
RELEASED = 4.17
"""Time at which the rod has left [s]."""


def turned(run: Run) -> tuple[Array, Array]:
    """Times, and the mean angle by which the points around the rod have turned about its axis [degrees]."""
    times, x = paths(run)
    start = x[0]
    near = (np.hypot(start[:, 0], start[:, 2] - 0.04) < 0.12) & (start[:, 1] > 0.45)
    axis = np.array([0.0, 0.04])
    a, b = start[near][:, [0, 2]] - axis, x[:, near][:, :, [0, 2]] - axis
    cross = (a[:, 1] * b[:, :, 0] - a[:, 0] * b[:, :, 1]).sum(axis=1)
    return times, np.degrees(np.unwrap(np.arctan2(cross, (a * b).sum(axis=(1, 2)))))


def half_time(times: Array, angle: Array) -> float:
    """Time after the release until half of the angle at the release is left [s]; that of the end if never."""
    begin = int(np.argmax(times >= RELEASED))
    small = np.abs(angle[begin:]) <= 0.5 * abs(angle[begin])
    return float(times[begin + int(np.argmax(small))] if small.any() else times[-1]) - RELEASED


def stirred(run: Run) -> float:
    """Root mean square of the way of the points of the cream [m]."""
    _, x = paths(run)
    first = run[0]
    cream = first["body"][np.argsort(first["id"])] == 0
    return float(np.sqrt(((x[-1] - x[0])[cream] ** 2).sum(axis=1).mean()))


def run(around: Surroundings) -> Outcome:
    """Run both faces and both creams at both resolutions."""
    faces = {label: at_cells(around, scene, FACE_CELLS[around.preset]) for label, scene in FACES.items()}
    creams = {label: at_cells(around, scene, CREAM_CELLS[around.preset]) for label, scene in CREAMS.items()}
    halves = {label: [half_time(*turned(run)) for run in runs] for label, runs in faces.items()}
    ways = {label: [stirred(run) for run in runs] for label, runs in creams.items()}
    rows = [["face", label, "time to half of the angle [s]", *(f"{v:.4f}" for v in v_)] for label, v_ in halves.items()]
    rows += [["cream", label, "way of its points [m]", *(f"{v:.5f}" for v in v_)] for label, v_ in ways.items()]
    save_csv(around.pictures, "fang19-1", ("part", "variant", "quantity", "coarse", "fine"), rows)
    figure, (axes,) = panels()
    for (label, runs), colour in zip(faces.items(), COLOURS):
        axes.plot(*turned(runs[-1]), color=colour, label=label)
    axes.axvline(RELEASED, color="#999999", linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="angle of the face [degrees]")
    axes.legend(frameon=False, fontsize=8)
    outcome = Outcome(
        [
            differs("time after the release until half of the angle is left [s], hyperelastic and viscoelastic face",
                    halves["hyperelastic"], halves["viscoelastic"], "more"),
            differs("way of the points of the cream [m], stiffer and thin", ways["stiffer"], ways["thin"], "more"),
        ]
    )  # fmt: skip
    shown = [Panel(runs[-1], time, label) for label, runs in faces.items() for time in FACE_TIMES]
    outcome.figures.append((save_panels(around, "fang19-1-face", shown, 6, size=(480, 480)), "The face."))
    shown = [Panel(runs[-1], time, label) for label, runs in creams.items() for time in CREAM_TIMES]
    outcome.figures.append((save_panels(around, "fang19-1-cream", shown, 4, size=(480, 480)), "The cream."))
    outcome.figures.append((save(figure, around.pictures, "fang19-1-angle"), "Angle of the faces over time."))
    return outcome


FIGURE = Figure(
    "fang19-1",
    "Figure 1: face and cherries",
    "Compliant and slowly recovering silicone (left), flowing and merging cream (right), in one framework.",
    run,
    paper="Fang19",
    finding="Head, rod, bowl and cherries are ours. In the draft the rod turns by a third of the authors' angle, since "
    "with cells of half its radius the face would tear in a whole turn. The bowl is nearly full of cream.",
)
