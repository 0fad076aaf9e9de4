"""The method that the loop over frames sees on ranks has the bits of one process: frames, diagnostics, checkpoints."""

import numpy as np
import pytest
from lockstep import on_ranks

from spume.methods import method_class
from spume.runs.crew import Leader, follow
from spume.runs.storage import plain
from spume.scene.loading import load_scene

DISCS = {
    "title": "two discs, pushed and damped, above a ground",
    "method": "mpm",
    "dimension": 2,
    "duration": 1.0,
    "grid": {"cell": 0.012},
    "damping": {"viscosity": 0.01},
    "body": [
        {
            "name": "left",
            "material": "shaving cream",
            "shape": {"circle": {"center": [-0.08, 0.07], "radius": 0.06}},
            "velocity": [1.0, -0.5],
        },
        {"material": "shaving cream", "shape": {"circle": {"center": [0.08, 0.07], "radius": 0.06}}, "start": 0.004},
    ],
    "force": [
        {"force": [0.0, -3.0], "shape": {"half_space": {"point": [0.0, 0.0], "normal": [1.0, 0.0]}}},
        {"pressure": 40.0},
    ],
    "obstacle": [
        {"name": "ground", "shape": {"half_space": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}}, "friction": 0.3}
    ],
    "measure": [
        {"name": "push", "what": {"force": {"obstacle": "ground"}}},
        {"name": "middle", "what": {"rebound": {"body": "left"}}},
        {"name": "most", "what": {"stress": {"statistic": "mean"}}},
    ],
}
BALL = {
    "title": "a ball with an embedded surface falls on a turning plate",
    "method": "mpm",
    "duration": 1.0,
    "grid": {"cell": 0.02},
    "transfer": {"scheme": "flip"},
    "body": [
        {
            "material": "soft rubber",
            "shape": {"sphere": {"center": [0.0, 0.07, 0.0], "radius": 0.06}},
            "velocity": [0.3, -1.0, 0.0],
            "surface": "embedded",
        }
    ],
    "obstacle": [
        {
            "name": "plate",
            "shape": {"half_space": {"point": [0.0, 0.0, 0.0], "normal": [0.0, 1.0, 0.0]}},
            "contact": "stick",
            "motion": {"rotate": {"axis": [0.0, 1.0, 0.0], "rate": 3.0}},
        }
    ],
}


def counted(steps):
    left = iter([False] * steps)
    return lambda: next(left, True)


def state(method):
    frame = {}
    for population, arrays in method.frame().items():
        order = np.argsort(arrays["id"]) if "id" in arrays else ...
        frame |= {f"{population}/{name}": array[order].tobytes() for name, array in arrays.items()}
    report = plain(method.diagnostics())
    report.pop("seconds")
    return frame, report


def steps(build, tables, count):
    """State after some steps, and after as many more from a checkpoint."""
    scene = load_scene(tables)
    method = build(scene)
    method.advance(scene.duration, counted(count), lambda progress: None)
    first, (arrays, values) = state(method), method.checkpoint()
    again = build(scene)
    again.restore(arrays, plain(values))
    again.advance(scene.duration, counted(count), lambda progress: None)
    return first, state(again)


@pytest.mark.parametrize(("tables", "count", "size"), [(DISCS, 30, 3), (BALL, 40, 3)])
def test_frames_diagnostics_and_checkpoints_are_those_of_one_process(tables, count, size):
    whole = steps(lambda scene: method_class(scene.method)(scene), tables, count)

    def work(messages):
        if messages.rank > 0:
            return follow(messages)
        leader = Leader(messages)
        found = steps(leader.build, tables, count)
        leader.dismiss()
        return found

    ranks = on_ranks(size, work)[0]
    for found, expected in zip(ranks, whole, strict=True):
        assert found[0] == expected[0]
        assert found[1] == expected[1]
