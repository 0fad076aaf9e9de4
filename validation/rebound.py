"""Oobleck bounces; its viscoplastic twin does not."""

import numpy as np
from numpy.typing import NDArray
from reports.case import Case, Check, Outcome, Surroundings
from reports.drawing import COLOURS, panels, save

from spume import Simulation, load_scene

SCENES = ("oobleck-sphere", "oobleck-sphere-viscoplastic")
FACTOR = 2.0
"""meaning of "clearly higher", chosen before any run: twice the rebound of the twin"""

Array = NDArray[np.float64]


def fall(name: str, around: Surroundings, overrides: tuple[str, ...] = ()) -> tuple[Array, Array]:
    """Times [s] and height of the centre of mass [m] of a built-in scene in draft."""
    scene = load_scene(name, overrides, preset="draft")
    sim = Simulation(scene)
    times, heights = [], []
    for k in range(scene.frame_count + 1):
        if k > 0:
            sim.advance(scene.frame_time(k) - sim.time)
        p = sim.particles
        times.append(sim.time)
        heights.append(float(p.mass @ p.x[:, 1] / p.mass.sum()))
        around.say(f"{name}: {sim.time:.2f} s of {scene.duration:g} s")
    return np.array(times), np.array(heights)


def rebound(heights: Array) -> float:
    """Rise of the centre of mass from its lowest point in the first bounce, relative to the depth of its fall."""
    rising = np.flatnonzero(np.diff(heights) > 0.0)
    if len(rising) == 0:
        return 0.0
    low = int(rising[0])
    falling_again = np.flatnonzero(np.diff(heights[low:]) < 0.0)
    high = low + int(falling_again[0]) if len(falling_again) else len(heights) - 1
    return float((heights[high] - heights[low]) / (heights[0] - heights[low]))


def run(around: Surroundings) -> Outcome:
    """Both spheres."""
    outcome = Outcome()
    figure, (axes,) = panels()
    found = {}
    for name, colour in zip(SCENES, COLOURS):
        times, heights = fall(name, around)
        found[name] = rebound(heights)
        axes.plot(times, 1000.0 * heights, color=colour, label=f"{name}: {100 * found[name]:.1f} %")
    oobleck, twin = (found[name] for name in SCENES)
    outcome.checks.append(
        Check(
            "rebound of the oobleck sphere over its fall", f"{100 * oobleck:.1f} %", f"twin: {100 * twin:.1f} %",
            f"{oobleck / twin:.1f} times" if twin > 0.0 else "the twin does not rebound",
            f"≥ {FACTOR:g} times the twin's", oobleck >= FACTOR * twin and oobleck > 0.0,
        )
    )  # fmt: skip
    axes.set(xlabel="time [s]", ylabel="height of the centre of mass [mm]", ylim=(0.0, None))
    axes.legend(frameon=False, fontsize=8, title="rebound")
    caption = "Centre of mass of the falling spheres, which differ only in the flow index (h = 2.8 and 1)."
    outcome.figures.append((save(figure, around.pictures, "rebound"), caption))
    return outcome


CASE = Case(
    "rebound",
    "Oobleck bounces",
    "Figure 13 of [Yue15]: a falling sphere of shear-thickening oobleck bounces, while a viscoplastic sphere that "
    "differs only in the flow index flows. The paper gives no number. Ours: the rise of the centre of mass from its "
    "lowest point in the first bounce, relative to the depth of its fall, of the built-in scenes oobleck-sphere and "
    "oobleck-sphere-viscoplastic in draft.",
    run,
)
