"""A scene of the point-based method in which everything happens that points can do."""

from typing import Any

GROUND = {
    "name": "ground",
    "shape": {"half_space": {"point": [0.0, 0.0], "normal": [0.0, 1.0]}},
    "contact": "separate",
    "friction": 0.5,
}
CLAY: dict[str, Any] = {
    "title": "two pieces of clay and one that follows meet above the ground, flow, tear and are resampled",
    "method": "point-based",
    "dimension": 2,
    "duration": 1.0,
    "gravity": [0.0, -9.81],
    "points": {"spacing": 0.01},
    "forces": {"pressure": 5e3, "viscosity": 1.0},
    "material": {
        "clay": {
            "law": "corotated-plastic",
            "density": 1000.0,
            "youngs_modulus": 3e4,
            "poisson_ratio": 0.35,
            "flow_rate": 200.0,
            "yield_stress": 200.0,
        }
    },
    "body": [
        {
            "material": "clay",
            "shape": {"rectangle": {"center": [-0.09, 0.08], "size": [0.14, 0.1]}},
            "velocity": [2.0, -0.5],
            "spin": 6.0,
            "fill": {"jitter": 0.5},
        },
        {"material": "clay", "shape": {"circle": {"center": [0.07, 0.09], "radius": 0.06}}, "velocity": [-2.5, -1.0]},
        {
            "material": "clay",
            "shape": {"circle": {"center": [0.0, 0.25], "radius": 0.03}},
            "velocity": [0.0, -3.0],
            "start": 0.006,
        },
    ],
    "obstacle": [GROUND],
    "force": [
        {"force": [0.0, -3.0], "shape": {"half_space": {"point": [0.0, 0.0], "normal": [1.0, 0.0]}}},
        {"pressure": 40.0},
    ],
    "measure": [
        {"name": "push", "what": {"force": {"obstacle": "ground"}}},
        {"name": "passed", "what": {"discharge": {"point": [0.0, 0.1], "normal": [0.0, -1.0]}}},
    ],
    "tearing": {"threshold": 0.2, "recovery_time": 0.01},
    "resampling": {"enabled": True, "every": 10, "merge_distance": 0.7, "coverage": 0.9},
}
