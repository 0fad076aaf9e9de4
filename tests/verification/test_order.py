"""Bits follow from the physics, not from the order of arrays: points stored in another order give the same result."""

import numpy as np
import pytest

from spume.methods import method_class
from spume.scene.loading import load_scene

SCENES = {
    "shaving-cream": (
        ["grid.cell=0.012", "resampling.every=5", "recovery.every=3", "subgrid_removal.every=4", "frames.energy=true"],
        24,
    ),
    "dam-breach-2d": (["grid.cell=0.12"], 12),
    "slumping-cream-implicit": (["frames.energy=true"], 4),
    "dam-breach-2d-semi-implicit": (["grid.cell=0.12"], 2),
    "sand-wedge-semi-implicit": (["grid.cell=0.06"], 2),
    "roller": (["implicit.solver='newton'", "frames.energy=true"], 4),
    "dough-star": (["points.spacing=0.02"], 8),
}
"""Small versions of built-in scenes of every kind of step, and the number of steps."""


def run(name, shuffle):
    """Arrays of a frame by id, and the diagnostics, after some steps; the arrays of the points are shuffled before the
    first step and in the middle."""
    changes, steps = SCENES[name]
    scene = load_scene(name, changes, preset="draft")
    method = method_class(scene.method)(scene)
    for part in range(2):
        if shuffle is not None:
            shuffle_points(method, shuffle)
        method.advance(scene.duration, counted(steps // 2 + part), lambda progress: None)
    frame = {}
    for population, arrays in method.frame().items():
        order = np.argsort(arrays["id"]) if "id" in arrays else slice(None)
        frame |= {f"{population}/{name}": values[order] for name, values in arrays.items()}
    report = method.diagnostics()
    report.pop("seconds")
    return frame, report


def counted(steps):
    left = iter([False] * steps)
    return lambda: next(left, True)


def shuffle_points(method, rng):
    """Reorder the arrays as a checkpoint written by another program would be."""
    arrays, values = method.checkpoint()
    order = {}
    for name in arrays:
        population = name.split("/")[0]
        if population not in order:
            order[population] = rng.permutation(len(arrays[name]))
    method.restore({name: array[order[name.split("/")[0]]] for name, array in arrays.items()}, values)


IN_SPACE = "sand-wedge-semi-implicit"
"""Needs kernels that no other test needs."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow_suite] if name == IN_SPACE else []) for name in SCENES]
)
def test_the_order_of_the_points_in_memory_changes_no_bit(name):
    frame, report = run(name, None)
    for seed in (1, 2):
        other, other_report = run(name, np.random.default_rng(seed))
        assert frame.keys() == other.keys()
        for field, values in frame.items():
            assert values.tobytes() == other[field].tobytes(), field
        assert report == other_report
