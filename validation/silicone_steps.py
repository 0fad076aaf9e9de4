"""Case 32: the silicone disc with implicit steps of three lengths and with explicit steps."""

import numpy as np
from reports.case import Case, Outcome, Surroundings, relative
from reports.drawing import COLOURS, THEIRS, panels, save

from spume import Scene, Simulation, load_scene

CELL = 0.025
"""Cell [m]: the disc is two cells thick and has 7,200 points."""
STEPS = (1e-2, 3e-3, 1e-3)
"""Implicit time steps [s]."""
PULLED, RECOVERED, TIMES = 4.0, 5.0, np.linspace(0.0, 5.0, 51)
"""Times [s]: after the disc has been held for two seconds, after it has been free for one second, and of the plot."""
ACCURATE = {"iterations": 200, "tolerance": 1e-4}


def lengths(time: dict, implicit: dict) -> np.ndarray:
    """Length of the disc along x at TIMES [m], from the spread of all points: a disc of radius r has a standard
    deviation of r/2. `time` and `implicit` are tables of the scene."""
    tables = load_scene("silicone", [f"grid.cell={CELL}", "body.0.fill.points_per_axis=2"]).resolved()
    tables |= {"time": time, "implicit": implicit}
    sim = Simulation(Scene(**{key: table for key, table in tables.items() if table != {}}))
    found = []
    for moment in TIMES:
        if moment > 0.0:
            sim.advance(moment - sim.time)
        found.append(4.0 * sim.particles.x[:, 0].std())
    return np.array(found)


def run(around: Surroundings) -> Outcome:
    """All steps."""
    outcome = Outcome()
    figure, (axes,) = panels()
    around.say("explicit steps")
    reference = lengths({"integrator": "explicit"}, {})
    axes.plot(TIMES, reference, **THEIRS, label="explicit")
    for dt, colour in zip(STEPS, COLOURS):
        around.say(f"implicit steps of {dt:g} s")
        found = lengths({"integrator": "implicit", "dt": dt}, ACCURATE)
        axes.plot(TIMES, found, color=colour, linestyle="--", label=f"implicit, {dt:g} s")
        for time, what in ((PULLED, "pulled"), (RECOVERED, "after a second of recovery")):
            k = int(np.argmin(np.abs(TIMES - time)))
            ours, theirs = float(found[k]), float(reference[k])
            outcome.checks.append(relative(f"length {what}, steps of {dt:g} s", ours, theirs, 0.03, "m"))
    axes.set(xlabel="time [s]", ylabel="length of the disc [m]")
    axes.legend(frameon=False, fontsize=8)
    caption = "Four standard deviations of the points along the direction of pulling."
    outcome.figures.append((save(figure, around.pictures, "silicone-steps"), caption))
    return outcome


CASE = Case(
    "silicone-steps",
    "Silicone disc by implicit and explicit steps",
    "The disc of figure 5 of [Fang19] is pulled apart, held and released. Its length must not depend on the integrator "
    "or on the length of implicit steps.",
    run,
)
