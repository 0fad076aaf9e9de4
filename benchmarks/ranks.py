"""Processor time of a step on ranks, to be started by a launcher of MPI.

    NUMBA_NUM_THREADS=1 mpiexec -n 2 python -m benchmarks.ranks [POINTS_PER_AXIS]

The block of flowing foam of `benchmarks.steps` without resampling and pieces. Prints for each rank the elapsed time,
the processor time and the time in messages of a step: the best of six rounds and the mean of all, in the later ones of
which points move to other ranks. On a busy machine only the processor time means anything; ranks that wait use some,
too.
"""

import sys
import time

import numba

from spume.methods import method_class
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team
from spume.runs.launching import communicator, leave
from spume.scene.common import Scene

STEPS, ROUNDS = 15, 6


def block(per_axis: int) -> Scene:
    """A block of shaving cream with per_axis³ points."""
    side = per_axis * 0.0015
    return Scene(
        title="benchmark", method="continuum-foam", duration=1000.0, gravity=[0.0, 0.0, 0.0], grid={"cell": 0.003},
        transfer={"scheme": "flip"}, time={"dt": 1e-5}, resampling={"enabled": False}, tearing={"pieces": False},
        body=[{"material": "shaving cream", "shape": {"box": {"center": [0.0, 0.0, 0.0], "size": [side] * 3}}}],
    )  # fmt: skip


def counted(steps: int):
    """A callback that stops after so many steps."""
    left = iter([False] * steps)
    return lambda: next(left, True)


def main(per_axis: int) -> None:
    """Measure."""
    messages = communicator()
    team = ALONE if messages is None else Team(messages)
    method = method_class("continuum-foam")(block(per_axis), team)
    p = method.world.particles
    p.v[:, 0] = 30.0 * p.x[:, 1]
    method.world.speed = 15.0 * per_axis * 0.0015
    method.advance(1.0, counted(10), lambda progress: None)
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter(), time.process_time(), team.waited
        method.advance(1.0, counted(STEPS), lambda progress: None)
        ended = time.perf_counter(), time.process_time(), team.waited
        rounds.append([1e3 * (b - a) / STEPS for a, b in zip(began, ended)])
    best = [min(column) for column in zip(*rounds)]
    mean = [sum(column) / ROUNDS for column in zip(*rounds)]
    elapsed, processor, waited = (f"{b:.1f} ({m:.1f})" for b, m in zip(best, mean))
    print(
        f"rank {team.rank} of {team.size}, {numba.get_num_threads()} threads, {len(p):,} points: {elapsed} ms a step, "
        f"processor {processor}, messages {waited}; best round (mean)",
        flush=True,
    )
    if messages is not None:
        leave()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
