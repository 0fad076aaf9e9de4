"""Makes the ballistic method of tests/support, which has no grid, one of the methods under test."""

import sys
from pathlib import Path

import numba
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import ballistic

ballistic.register()


@pytest.fixture(autouse=True)
def _one_thread():
    """Waking a second thread costs more than these few points."""
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(threads)
