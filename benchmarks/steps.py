"""Whole steps: speed, threads, fixed cost, scaling with the number of points, memory."""

import subprocess
import sys
import time
from importlib.util import find_spec

import numba
import numpy as np

from benchmarks.timing import best_of
from spume.scene.common import Scene
from spume.simulation import Simulation


def foam_block(per_axis: int, **tables) -> Simulation:
    """A block of shaving cream with per_axis³ points and 3 mm cells, sheared and spinning in free space, with all
    stages."""
    side = per_axis * 0.0015
    scene = {
        "title": "benchmark", "method": "continuum-foam", "duration": 1000.0, "gravity": [0.0, 0.0, 0.0],
        "grid": {"cell": 0.003}, "transfer": {"scheme": "flip"},
        "time": {"dt": 1e-5},
        "body": [{"material": "shaving cream", "shape": {"box": {"center": [0.0, 0.0, 0.0], "size": [side] * 3}}}],
    }  # fmt: skip
    sim = Simulation(Scene(**(scene | tables)))
    p = sim.particles
    p.v[:, 0] = 30.0 * p.x[:, 1]  # beyond yield everywhere after a few hundred steps
    sim.method.world.speed = float(np.abs(p.v).max())
    return sim


def particle_steps_per_second(sim: Simulation, steps: int, rounds: int = 4) -> float:
    """Particle-steps per second, the best of several rounds of `steps` steps."""
    dt = sim.scene.time.dt
    taken = best_of({"step": lambda: sim.advance(steps * dt)}, rounds)
    return len(sim.particles) * steps / taken["step"]


def whole_step() -> list[dict]:
    """Whole step of [Yue15] with 216,000 points of flowing foam, alternately on 1 and 2 threads, including
    resampling."""
    sims = {threads: foam_block(60) for threads in (1, 2)}

    def stretch(threads: int) -> None:
        numba.set_num_threads(threads)
        sims[threads].advance(50e-5)

    for threads in (1, 2):  # until everything flows
        for _ in range(3):
            stretch(threads)
        sims[threads].method.world.seconds.clear()
    taken = best_of({str(threads): lambda threads=threads: stretch(threads) for threads in (1, 2)}, rounds=5)
    rows = []
    for threads, sim in sims.items():
        seconds = sim.method.world.seconds
        total = sum(seconds.values())
        rate = len(sim.particles) * 50 / taken[str(threads)] / 1e6
        share = {stage: spent / total for stage, spent in seconds.items()}
        rows.append({"threads": threads, "rate": rate, "share": share})
    return rows


_TAICHI = """
from benchmarks import peer_taichi_foam, steps
from benchmarks.timing import best_of
sim = steps.foam_block(60)
p, dt = sim.particles, sim.scene.time.dt
step, sync = peer_taichi_foam.build(p.x, p.v, sim.scene.grid.cell, dt, 77.7, threads=1)
for _ in range(100):
    step()
sync()
def stretch():
    for _ in range(5):
        step()
    sync()
print(len(p) * 5 / best_of({"step": stretch}, 3)["step"] / 1e6)
"""


def taichi_step() -> float | None:
    """Million particle-steps/s of the same block in Taichi on one thread, or None without Taichi. Runs in a separate
    process, because Taichi cannot be started twice in one."""
    if find_spec("taichi") is None:
        return None
    out = subprocess.run([sys.executable, "-c", _TAICHI], capture_output=True, text=True, check=True)
    return float(out.stdout.split()[-1])


def growth() -> list[dict]:
    """Nanoseconds per point and step from a thousand to a million points, on two threads, over the same 150 steps.
    Small cases, whose timings are noisy, are repeated, and the best is used."""
    rows = []
    for per_axis, times in ((10, 12), (22, 12), (46, 4), (100, 2)):
        rate = 0.0
        for _ in range(times):
            sim = foam_block(per_axis)
            rate = max(rate, particle_steps_per_second(sim, 50, rounds=2))
        rows.append({"points": len(sim.particles), "ns": 1e9 / rate, "ms": 1e3 * len(sim.particles) / rate})
    return rows


_MEMORY = """
import sys
from benchmarks.steps import foam_block
sim = foam_block(int(sys.argv[1]))
sim.advance(60e-5)
grid = sim.method.world.only.fields.array.nbytes
# VmHWM (Linux) starts anew in a process; ru_maxrss is inherited from the one that started it
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(len(sim.particles), int(peak.split()[1]) * 1024, grid)
"""


def memory() -> dict:
    """Peak bytes per point, excluding the occupied grid, from the difference between a large and a small process."""
    measured = []
    for per_axis in (20, 100):
        out = subprocess.run([sys.executable, "-c", _MEMORY, str(per_axis)], capture_output=True, text=True, check=True)
        measured.append([int(word) for word in out.stdout.split()])
    (few, small, small_grid), (many, large, large_grid) = measured
    return {
        "points": many,
        "bytes": (large - small - (large_grid - small_grid)) / (many - few),
        "grid": large_grid / many,
    }


def start_up() -> dict:
    """Seconds of `import spume`, and from the start of a process to the end of its first step with cached kernels."""
    load = "import spume, numpy; from benchmarks.steps import foam_block; foam_block(10).advance(1e-5)"
    times = {}
    for name, code in (("import", "import spume"), ("first step", load)):
        times[name] = min(_seconds([sys.executable, "-c", code]) for _ in range(3))
    return times


def _seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start
