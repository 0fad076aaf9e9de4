"""Runs to export, written once for the tests of this folder."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import mixture_run
import synthetic_run


@pytest.fixture(scope="session")
def solid_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of two balls in space."""
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "two-balls")


@pytest.fixture(scope="session")
def plane_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of two discs in the plane."""
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "two-discs", dimension=2)


@pytest.fixture(scope="session")
def several_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of two populations of points and a mesh."""
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "several", populations="several")


@pytest.fixture(scope="session")
def wet_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of wet sand and water in space."""
    return mixture_run.write_run(tmp_path_factory.mktemp("runs") / "wet")
