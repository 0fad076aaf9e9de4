"""What resampling and the labels of pieces send, and the peak memory, to be started by a launcher of MPI or alone.

    NUMBA_NUM_THREADS=1 mpiexec -n 4 python -m benchmarks.rank_resampling [CELL_IN_MM] [STRETCH]

The dollop of `shaving-cream`, stretched before the first step: with 1.2, the default, every cell of its interior gets
points in the first resampling, and many in later ones; with 1 there is little to do. Prints for each rank its points,
and for both stages the bytes and messages that it has sent in each of two calls; then the largest resident memory.
"""

import sys
from pathlib import Path

from benchmarks.ranks import counted
from spume.methods import method_class
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team
from spume.runs.launching import communicator, leave
from spume.scene.loading import load_scene

STAGES = ("pieces", "particle resampling")


def peak() -> float:
    """Largest resident memory of this process so far [MB]."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1024


def main(cell: float, stretch: float) -> None:
    """Measure."""
    messages = communicator()
    team = ALONE if messages is None else Team(messages)
    scene = load_scene("shaving-cream", [f"grid.cell={1e-3 * cell}", "resampling.every=20"])
    method = method_class(scene.method)(scene, team)
    sent: dict[str, list[str]] = {name: [] for name in STAGES}

    def measured(name, function):
        def run(*given):
            before = (0, 0) if messages is None else (messages.sent, messages.messages)
            function(*given)
            after = (0, 0) if messages is None else (messages.sent, messages.messages)
            if after[0] > before[0] + 1000:
                sent[name].append(f"{1e-6 * (after[0] - before[0]):.2f} MB in {after[1] - before[1]}")

        return run

    for stage in method.step.listed:
        if stage.name in STAGES and stage.function.__name__ in ("find_pieces", "resample"):
            stage.function = measured(stage.name, stage.function)
    method.advance(1.0, counted(10), lambda progress: None)
    p = method.world.particles
    p.x[:, 2] *= stretch
    method.world.only.forget_clearances()
    before, points = peak(), len(p)
    method.advance(1.0, counted(32), lambda progress: None)
    print(
        f"rank {team.rank} of {team.size}: {points:,} points, then {len(p):,}; "
        + "; ".join(f"{name}: {', '.join(calls[:2])}" for name, calls in sent.items())
        + f"; {peak():.0f} MB, before {before:.0f}",
        flush=True,
    )
    if messages is not None:
        leave()


if __name__ == "__main__":
    numbers = [float(given) for given in sys.argv[1:]]
    main(*(*numbers, *(4.0, 1.2)[len(numbers) :]))
