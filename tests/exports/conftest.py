"""A run to export, written once for the tests of this folder."""

from pathlib import Path

import pytest
import synthetic_run


@pytest.fixture(scope="session")
def named_alike_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One frame of two balls whose materials have similar names, and obstacles named like other objects."""
    materials = {name: {"base": "gelatin"} for name in ("soft gel", "soft_gel", "obstacle_block")}
    ball = {"sphere": {"center": [0.0, 0.2, 0.0], "radius": 0.1}}
    names = ("alike", "camera", "ground", "block", "a b", "a_b")
    return synthetic_run.write_run(
        tmp_path_factory.mktemp("runs") / "alike",
        frames=1,
        material=materials,
        body=[{"material": name, "shape": ball} for name in materials],
        obstacle=[{"name": name, "shape": ball} for name in names],
    )
