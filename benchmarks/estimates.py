"""Estimated and actual times of built-in drafts: `python -m benchmarks.estimates SCENE ...`.

Both are processor times on one thread, so that other work on the machine disturbs them less; compilation is left out.
The run is the one of `spume run`, without writing frames.
"""

import sys
import time

import numba
from rich.console import Console
from rich.table import Table

from spume.methods import Estimate, method_class
from spume.runs.calibration import calibrated
from spume.scene.common import Scene
from spume.scene.loading import load_scene

COMPILED_IN = 60
"""Steps in which all kernels of a method are used."""


def compile_kernels(scene: Scene) -> None:
    """Take some steps of the scene, so that its kernels are compiled."""
    left = COMPILED_IN

    def stop() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    method = method_class(scene.method)(scene)
    method.advance(scene.duration, stop, lambda progress: None)
    method.diagnostics()


def run(scene: Scene) -> tuple[int, float]:
    """Steps of a run, and its time [s]."""
    began = time.process_time()
    method = method_class(scene.method)(scene)
    for number in range(1, scene.frame_count + 1):
        method.advance(scene.frame_time(number), lambda: False, lambda progress: None)
        found = method.diagnostics()
    return int(found.get("steps", 0)), time.process_time() - began


def compare(name: str) -> tuple[Estimate, int, float]:
    """The estimate for the draft of a scene, and the steps and time of its run."""
    scene = load_scene(name, (), "draft")
    compile_kernels(scene)
    expected = calibrated(scene, method_class(scene.method).estimate(scene), time.process_time)
    return expected, *run(scene)


def main(names: list[str]) -> None:
    """Print a row for each scene."""
    numba.set_num_threads(1)
    table = Table("scene", "points", "steps estimated", "steps", "estimated [s]", "actual [s]", "ratio")
    for name in names:
        expected, steps, seconds = compare(name)
        numbers = (f"{expected.points:,}", f"{expected.steps:,}", f"{steps:,}", f"{expected.seconds:.1f}")
        table.add_row(name, *numbers, f"{seconds:.1f}", f"{expected.seconds / seconds:.2f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main(sys.argv[1:] or ["sand-wedge", "shaving-cream", "twisting", "dam-breach-2d", "dough-star"])
