"""Runs to read."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import synthetic_run


@pytest.fixture(scope="session")
def several_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of two populations of points and a mesh."""
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "several", populations="several")
