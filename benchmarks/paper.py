"""Speed compared with [Yue15] Tables II and III, on its scenes at its cell sizes and time steps.

The paper's particle-steps per second and core follow from its points, dt and minutes per frame of 1/30 s on 8 cores
(Xeon E5-2680 v2). Ours are measured over the first 150 steps of the same scene on all cores of this machine, including
resampling, when little flows and nothing has torn yet; later steps cost more, but this was not measured at these sizes.
All rates are at the paper's fixed dt; a separate column shows how much longer automatically chosen steps would be at
the start of the scene. The pachinko scene is missing: its number of points grows from none to 1.6 million, and the
paper does not say to which number its minutes per frame belong.
"""

import numba

from benchmarks.timing import best_of
from spume import load_scene
from spume.simulation import Simulation

ROWS = [  # scene, points at the start, dt [s], minutes per frame
    ("shaving-cream", 54_695, 1e-5, 57.5),
    ("smore", 202_278, 1e-5, 111.9),
    ("toasted-smore", 981_554, 1e-5, 160.2),
    ("pie-throw", 725_052, 1e-5, 245.7),
    ("oobleck-sphere", 519_171, 0.5e-5, 303.0),
    ("oobleck-penguin", 83_340, 0.5e-5, 85.0),
]
PAPER_CORES = 8


def measure() -> list[dict]:
    """One row per scene: points, and particle-steps per second and core of the paper and of spume."""
    rows = []
    cores = numba.get_num_threads()
    for name, points, dt, minutes in ROWS:
        theirs = points * (1 / 30 / dt) / (minutes * 60) / PAPER_CORES
        scene = load_scene(name, preset="paper")
        sim = Simulation(scene)
        steps = 50  # one resampling
        taken = best_of({name: lambda sim=sim, scene=scene: sim.advance(50 * scene.time.dt)}, rounds=2)[name]
        ours = len(sim.particles) * steps / taken / cores
        step = sim.method.world.time_step
        automatic = step.courant * step.cell / (step.wave_speed + sim.method.world.speed)
        rows.append(
            {
                "scene": name, "paper points": points, "points": len(sim.particles), "paper": theirs, "ours": ours,
                "longer steps": automatic / dt,
            }
        )  # fmt: skip
    return rows
