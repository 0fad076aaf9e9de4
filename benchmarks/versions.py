"""The rows of `make bench` that are ours, in two source trees that take turns.

    git worktree add --detach ../before COMMIT
    python -m benchmarks.versions ../before . --warm  # compile the kernels of both
    python -m benchmarks.versions ../before .         # about ten minutes on a quiet machine

Each tree has a process of its own, in which its own package and benchmarks are imported. A try of a row is measured in
the one, then in the other, so that both meet the same conditions; the process that waits uses no processor. Rows on one
thread are processor times, those on two threads elapsed times.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

Try = Callable[[], float]
"""Does some work and returns it in units of the row (points times steps, or frames)."""


def _transfers() -> Iterator[tuple[str, int, Try]]:
    from benchmarks import transfers
    from benchmarks.cloud import lattice

    x = lattice(60)
    to_grid, to_points = transfers.ours(x)
    for name, run in (("P2G", to_grid), ("G2P", to_points)):

        def several(run: Callable[[], None] = run) -> float:
            for _ in range(10):
                run()
            return 10.0 * len(x)

        yield name, 1, several


def _foam() -> Iterator[tuple[str, int, Try]]:
    from benchmarks import steps

    for threads in (1, 2):
        sim = steps.foam_block(60)

        def stretch(sim: Any = sim) -> float:
            sim.advance(50e-5)
            return 50.0 * len(sim.particles)

        _set_threads(2)
        for _ in range(3):  # until everything flows
            stretch()
        yield f"foam, {threads} thread(s)", threads, stretch


def _admm() -> Iterator[tuple[str, int, Try]]:
    from benchmarks import implicit
    from spume.scene.loading import load_scene
    from spume.simulation import Simulation

    for name, (scene, points, _, dt, changes) in implicit.CASES.items():
        sim = Simulation(load_scene(scene, [*changes, *implicit.PLAIN, implicit.ALL_LINEAR]))
        implicit.thin_out(sim, points)
        yield f"ADMM, {name.partition(',')[0]}", 1, _steps_of(sim, 1, dt)


def _sand() -> Iterator[tuple[str, int, Try]]:
    from benchmarks import sand

    column = sand.sand_column()
    _set_threads(2)
    column.advance(200e-4)

    def stretch() -> float:
        column.advance(20e-4)
        return 20.0 * len(column.particles)

    yield "explicit sand", 1, stretch
    explicit = sand.blocks(1e6, 1e4, 20, 3, time={"integrator": "explicit"})
    yield "sand and water, explicit", 1, _steps_of(explicit, 20, 1e-4)
    yield "sand and water, semi-implicit", 1, _steps_of(sand.blocks(1e6, 1e4, 20, 3), 1, 5e-3)


def _points() -> Iterator[tuple[str, int, Try]]:
    from benchmarks import points

    for gradient in ("corrected", "least-squares"):
        yield f"clay, {gradient}", 1, _steps_of(points.clay_block(30, gradient), 20, points.DT)


def _dry() -> Iterator[tuple[str, int, Try]]:
    from benchmarks import dryfoam
    from spume.dryfoam import Foam

    foam = Foam.voronoi(10_000, "periodic", seed=5)
    foam.equilibrate()

    def frames() -> float:
        for _ in range(3):
            dryfoam.frame(foam)
        return 3.0

    yield "dry foam, 10,000 cells", 1, frames


GROUPS = {"transfers": _transfers, "foam": _foam, "admm": _admm, "sand": _sand, "points": _points, "dryfoam": _dry}


def _steps_of(made: Any, steps: int, dt: float) -> Try:
    """`steps` steps of a simulation or a method; older versions call a step `step`."""
    method = getattr(made, "method", made)
    step = getattr(method, "take_step", None) or method.step

    def run() -> float:
        for _ in range(steps):
            step(dt)
        return float(steps * _points_of(method))

    return run


def _points_of(method: Any) -> int:
    """Points of all species; older versions call a world `state`."""
    try:
        return len(method.particles)
    except AttributeError:  # there are several species
        return int((getattr(method, "world", None) or method.state).count)


def _set_threads(threads: int) -> None:
    import numba

    numba.set_num_threads(threads)


def serve(groups: list[str]) -> None:
    """Measure a row for each line of the standard input, until the group ends; runs inside a tree."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what benchmarks print
    for group in groups:
        for name, threads, run in GROUPS[group]():
            _set_threads(threads)
            for _ in range(2):  # compiles, and warms up
                run()
            print(json.dumps({"row": name, "threads": threads}), file=answers)
            while sys.stdin.readline().strip() == "try":
                _set_threads(threads)
                clock = time.process_time if threads == 1 else time.perf_counter
                start = clock()
                work = run()
                print(json.dumps(work / (clock() - start)), file=answers)
    print(json.dumps(None), file=answers)


class Tree:
    """A source tree and the process that measures in it."""

    def __init__(self, folder: Path, groups: list[str]) -> None:
        paths = os.pathsep.join([str(folder / "src"), str(folder)])
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(Path(__file__).resolve()), "--serve", *groups],
            cwd=folder, env=os.environ | {"PYTHONPATH": paths}, text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def answer(self) -> Any:
        """What the process says next."""
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise SystemExit(f"the process of {self._process.args} has ended with {self._process.wait()}")
        return json.loads(line)

    def tell(self, word: str) -> None:
        """Send `try` or `next`."""
        if self._process.stdin:
            print(word, file=self._process.stdin, flush=True)


def compare(before: Path, after: Path, groups: list[str], tries: int) -> list[dict[str, Any]]:
    """Rates of each row in both trees, one list per tree."""
    rows = []
    for group in groups:  # processes of its own for each, so that those of big foams do not stay in memory
        trees = [Tree(before, [group]), Tree(after, [group])]
        for _ in count():
            found = [tree.answer() for tree in trees]
            if found[0] is None:
                break
            row = {**found[0], "rates": ([], [])}
            for k in range(tries):
                order = (0, 1) if k % 2 == 0 else (1, 0)
                for which in order:
                    trees[which].tell("try")
                    row["rates"][which].append(trees[which].answer())
            for tree in trees:
                tree.tell("next")
            rows.append(row)
            if tries:
                _show(row)
    return rows


def _show(row: dict[str, Any]) -> None:
    old, new = row["rates"]
    pairs = [b / a for a, b in zip(old, new)]
    clock = "CPU" if row["threads"] == 1 else "elapsed"
    print(
        f"| {row['row']} | {_median(old)} | {_median(new)} | {statistics.median(pairs):.3f} "
        f"({min(pairs):.3f} to {max(pairs):.3f}) | {clock} |",
        flush=True,
    )


def _median(rates: list[float]) -> str:
    middle = statistics.median(rates)
    spread = 100.0 * (max(rates) - min(rates)) / middle
    return f"{middle:.4g} ± {spread / 2:.1f} %"


def main() -> None:
    """Compare two trees, or serve in one of them."""
    if sys.argv[1:2] == ["--serve"]:
        return serve(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks.versions", description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--groups", nargs="+", choices=GROUPS, default=list(GROUPS))
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--warm", action="store_true", help="only compile the kernels")
    given = parser.parse_args()
    started = time.perf_counter()
    print("| row | before [1/s] | now [1/s] | now / before: median of the pairs (least to most) | time |")
    print("| --- | ---: | ---: | ---: | --- |", flush=True)
    compare(given.before.resolve(), given.after.resolve(), given.groups, 0 if given.warm else given.tries)
    print(f"{time.perf_counter() - started:.0f} s in all")
    return None


if __name__ == "__main__":
    main()
