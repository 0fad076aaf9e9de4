"""Our speed beside the paper's, row by row: [Yue15] Tables II and III, on its scenes at its cell sizes and time steps.

The paper's particle-steps per second and core follow from its points, dt and minutes a frame of 1/30 s on 8 cores (Xeon
E5-2680 v2). Ours are measured over the first 150 steps of the same scene on all cores of this machine, resampling
included, when little flows and nothing tears yet; later steps cost more, by how much has not been measured at these
sizes. All this is at the paper's fixed dt; how much longer the steps chosen automatically would be at the start of the
scene stands apart. The pachinko is missing: its points grow from none to 1.6 million, and the paper does not say how
many its minutes a frame are for.
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
    """A row per scene: points and particle-steps per second and core, theirs and ours."""
    rows = []
    cores = numba.get_num_threads()
    for name, points, dt, minutes in ROWS:
        theirs = points * (1 / 30 / dt) / (minutes * 60) / PAPER_CORES
        scene = load_scene(name, preset="paper")
        sim = Simulation(scene)
        steps = 50  # one resampling
        taken = best_of({name: lambda sim=sim, scene=scene: sim.advance(50 * scene.time.dt)}, rounds=2)[name]
        ours = len(sim.particles) * steps / taken / cores
        step = sim.method.state.time_step
        automatic = step.courant * step.cell / (step.wave_speed + sim.method.state.speed)
        rows.append(
            {
                "scene": name, "paper points": points, "points": len(sim.particles), "paper": theirs, "ours": ours,
                "longer steps": automatic / dt,
            }
        )  # fmt: skip
    return rows
