"""The method that the loop over frames sees on ranks has the bits of one process: frames, diagnostics, checkpoints."""

import pytest
from rank_states import assert_same_frames

DISCS = {
    "title": "two discs, pushed and damped, above a ground",
    "method": "mpm",
    "dimension": 2,
    "duration": 1.0,
    "grid": {"cell": 0.012, "spline": "quadratic"},
    "damping": {"viscosity": 0.01},
    "frames": {"energy": True},
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
DARTS = BALL | {
    "title": "the ball appears late, of random points with volumes by the grid",
    "body": [BALL["body"][0] | {"fill": {"pattern": "poisson-disk"}, "volume": "grid", "start": 0.001}],
}


@pytest.mark.parametrize(
    ("tables", "count", "size"),
    [
        (DISCS, 30, 3),
        (BALL, 40, 3),
        (DARTS, 20, 4),
        pytest.param(DARTS, 3, 8, marks=pytest.mark.slow_suite),
        pytest.param(BALL, 3, 2, marks=pytest.mark.slow_suite),
    ],
)
def test_frames_diagnostics_and_checkpoints_are_those_of_one_process(tables, count, size):
    assert_same_frames(size, tables, count)
