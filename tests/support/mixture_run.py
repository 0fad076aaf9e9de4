"""A small run of wet sand beside water, by the method itself."""

from pathlib import Path
from typing import Any

import spume


def scene_tables(dimension: int = 3) -> dict[str, Any]:
    """A block of sand on a floor, water that overlaps one side of it, and a stream of sand that begins later."""
    shape = "box" if dimension == 3 else "rectangle"

    def block(x: float, y: float) -> dict[str, Any]:
        return {shape: {"center": [x, y, 0.1][:dimension], "size": [0.2, 0.2, 0.2][:dimension]}}

    return {
        "title": "Wet sand", "method": "sand-water", "dimension": dimension, "duration": 0.02, "frame_rate": 100.0,
        "grid": {
            "cell": 0.05, "spline": "cubic" if dimension == 3 else "quadratic",
            "walls": {"lower": [-1.0, 0.0, -1.0][:dimension], "upper": [2.0] * dimension},
        },
        "mixture": {"hydraulic_conductivity": 1e-2},
        "material": {
            "beach": {"base": "wet sand", "youngs_modulus": 1e5, "cohesion": 100.0},
            "sea": {"base": "water", "bulk_modulus": 1e5},
        },
        "body": [
            {"name": "sand", "material": "beach", "shape": block(0.1, 0.1)},
            {"name": "water", "material": "sea", "shape": block(0.2, 0.1)},
        ],
        "emitter": [
            {
                "name": "stream", "material": "beach", "start": 0.011, "velocity": [0.0, -1.0, 0.0][:dimension],
                "look": {"color": "#805020"}, "shape": block(0.1, 0.5),
            }
        ],
    }  # fmt: skip


def write_run(folder: Path, dimension: int = 3) -> Path:
    """Three frames."""
    spume.run(scene_tables(dimension), folder, progress="none")
    return folder
