"""[Fang19] figure 1: a face of silicone that recovers slowly, and cream that flows around cherries."""

import numpy as np
from reports.case import Outcome, Surroundings, at_most, differs, states
from reports.drawing import COLOURS, panels, save

from figures.bodies import Array, bodies, paths, pieces
from figures.figure import Figure, save_csv
from figures.panels import Panel, number_at, save_panels
from figures.repeats import at_cells, at_sizes
from spume import Run

FACES = {"viscoelastic": "faceless", "hyperelastic": "faceless-hyperelastic"}
FACE_CELLS = {"draft": (0.06, 0.05), "medium": (0.03, 0.025), "paper": (0.018, 0.015)}
CREAMS = {"thin": "cherries", "stiffer": "cherries-stiffer"}
CREAM_CELLS = {"draft": (0.024, 0.022), "medium": (0.01, 0.008), "paper": (0.006, 0.005)}
THICK: dict[str, object] = {
    "material.cream.shear_modulus": 70.0,
    "material.cream.deviatoric_viscosity": 100.0,
    "material.cream.volumetric_viscosity": 100.0,
    "duration": 1.0,
}
"""Ten times the stiffer cream of the table, to see where control begins."""
FACE_TIMES, CREAM_TIMES = (0.0, 4.1, 4.6, 8.0), (0.0, 0.42, 0.92, 2.0)
"""Of the panels [s]."""
RELEASED = 4.17
"""Time at which the rod has left [s]."""
LEFT = 0.1
"""Largest part of the angle at the release that is left in the end of an elastic face that is not torn."""
SOON = 0.4
"""Time at which the creams flow, before the first cherry: that of a fall through half a dollop [s]."""


def turned(run: Run) -> tuple[Array, Array]:
    """Times, and the mean angle by which the points around the rod have turned about its axis [degrees]."""
    times, x = paths(run)
    start = x[0]
    near = (np.hypot(start[:, 0], start[:, 2] - 0.04) < 0.12) & (start[:, 1] > 0.45)
    axis = np.array([0.0, 0.04])
    a, b = start[near][:, [0, 2]] - axis, x[:, near][:, :, [0, 2]] - axis
    cross = (a[:, 1] * b[:, :, 0] - a[:, 0] * b[:, :, 1]).sum(axis=1)
    return times, np.degrees(np.unwrap(np.arctan2(cross, (a * b).sum(axis=(1, 2)))))


def left(times: Array, angle: Array) -> float:
    """Part of the angle at the release that is left in the end."""
    return float(abs(angle[-1] / angle[int(np.argmax(times >= RELEASED))]))


def half_time(times: Array, angle: Array) -> float:
    """Time after the release until half of the angle at the release is left [s]; that of the end if never."""
    begin = int(np.argmax(times >= RELEASED))
    small = np.abs(angle[begin:]) <= 0.5 * abs(angle[begin])
    return float(times[begin + int(np.argmax(small))] if small.any() else times[-1]) - RELEASED


def cream(run: Run, time: float) -> tuple[float, int]:
    """Height of the cream at a time, without the fiftieth of its points that is highest [m], and its pieces."""
    frame = run[number_at(run, time)]
    own = np.any([mask for name, mask in bodies(run).items() if name.endswith("dollop")], axis=0)
    x = frame["x"][np.argsort(frame["id"])][own]
    return float(np.quantile(x[:, 1], 0.98)), len(pieces(x, float(run.scene.resolved()["grid"]["cell"])))


def run(around: Surroundings) -> Outcome:
    """Run both faces and the creams at both resolutions."""
    cells = CREAM_CELLS[around.preset]
    faces = {label: at_cells(around, scene, FACE_CELLS[around.preset]) for label, scene in FACES.items()}
    creams = {label: at_cells(around, scene, cells) for label, scene in CREAMS.items()}
    creams["thick"] = at_sizes(around, CREAMS["stiffer"], "grid.cell", cells, THICK, "thick")
    halves = {label: [half_time(*turned(run)) for run in runs] for label, runs in faces.items()}
    kept = {label: [left(*turned(run)) for run in runs] for label, runs in faces.items()}
    heights = {label: [cream(run, SOON)[0] for run in runs] for label, runs in creams.items()}
    merged = {label: [tuple(cream(run, time)[1] for time in (0.0, 2.0)) for run in creams[label]] for label in CREAMS}
    rows = [["face", label, "time to half of the angle [s]", *(f"{v:.4f}" for v in v_)] for label, v_ in halves.items()]
    rows += [["face", label, "part of the angle in the end", *(f"{v:.4f}" for v in v_)] for label, v_ in kept.items()]
    rows += [["cream", label, f"height at {SOON:g} s [m]", *(f"{v:.5f}" for v in v_)] for label, v_ in heights.items()]
    save_csv(around.pictures, "fang19-1", ("part", "variant", "quantity", "coarse", "fine"), rows)
    figure, (axes,) = panels()
    for (label, runs), colour in zip(faces.items(), COLOURS):
        axes.plot(*turned(runs[-1]), color=colour, label=label)
    axes.axvline(RELEASED, color="#999999", linewidth=0.8)
    axes.set(xlabel="time [s]", ylabel="angle of the face [degrees]")
    axes.legend(frameon=False, fontsize=10)
    outcome = Outcome(
        [
            differs("time after the release until half of the angle is left [s], hyperelastic and viscoelastic face",
                    halves["hyperelastic"], halves["viscoelastic"], "more"),
            at_most("angle that is left in the end over that at the release, hyperelastic face: it is not torn",
                    max(kept["hyperelastic"]), LEFT),
            *(
                states(f"pieces of the {label} cream at the start and in the end",
                       ", ".join(f"{first} and {last}" for first, last in each), "they merge into one",
                       all(first > 1 and last == 1 for first, last in each))
                for label, each in merged.items()
            ),
            differs(f"height of the cream at {SOON:g} s [m], thin and stiffer", heights["thin"], heights["stiffer"],
                    "more"),
            differs(f"height of the cream at {SOON:g} s [m], stiffer and ten times that", heights["stiffer"],
                    heights["thick"], "more"),
        ]
    )  # fmt: skip
    shown = [Panel(runs[-1], time, label) for label, runs in faces.items() for time in FACE_TIMES]
    outcome.figures.append((save_panels(around, "fang19-1-face", shown, 4, size=(480, 400)), "The face."))
    shown = [Panel(creams[label][-1], time, label) for label in CREAMS for time in CREAM_TIMES]
    outcome.figures.append((save_panels(around, "fang19-1-cream", shown, 4, size=(480, 400)), "The cream."))
    outcome.figures.append((save(figure, around.pictures, "fang19-1-angle"), "Angle of the faces over time."))
    return outcome


FIGURE = Figure(
    "fang19-1",
    "Figure 1: face and cherries",
    "Compliant and slowly recovering silicone (left), flowing and merging cream (right), in one framework.",
    run,
    paper="Fang19",
    finding="Head, rod, bowl and cherries are ours. In the draft the rod turns by a third of the authors' angle, since "
    "with cells of half its radius the face would tear in a whole turn. A piece of cream is a set of points, each "
    "within a cell of another. The head as a whole swings by 20° when it is released, which its angle includes.",
    cause="face: our method. Around the rod F drifts away from the positions, so that the elastic face keeps 12 to 14° "
    "against the head below it. On a grid that deforms with the body (frame = total, cells of 60 mm, one run) it keeps "
    "at most 2°, and slips by 1°, not 8 to 11°, while the rod holds it. Cream: our measure, chosen before the run. "
    "At 0.4 s the highest fiftieth of the cream is the last dollop, which still falls freely: by 89 mm, g t²/2 is 87.",
)
