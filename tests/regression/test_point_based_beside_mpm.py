"""The example that runs one scene with the material point method and the point-based method."""

import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow_suite
EXAMPLE = Path(__file__).parents[2] / "examples" / "plot_point_based_beside_mpm.py"


def test_the_methods_agree(monkeypatch):
    """The example checks itself: width and height of the two discs agree to within two spacings."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    runpy.run_path(str(EXAMPLE))
    pyplot.close("all")
