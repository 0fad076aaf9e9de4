"""Every built-in scene starts and survives its first frame, in its cheapest preset."""

import numpy as np
import pytest

from spume import load_scene
from spume.scene.builtin import library_files
from spume.scene.extending import read_scene
from spume.simulation import Simulation

pytestmark = pytest.mark.slow_suite
METHODS = ("mpm", "continuum-foam", "point-based", "sand-water")
COARSER = {"sandcastle": ["grid.cell=0.036"]}
"""Scenes whose draft takes more than ten seconds to its first frame."""
POINT_SCENES = [f.stem for f in library_files() if read_scene(f)["method"] in METHODS]


@pytest.mark.parametrize("name", POINT_SCENES)
def test_the_first_frame_keeps_mass_and_stays_finite(name):
    presets = read_scene(next(f for f in library_files() if f.stem == name)).get("preset", {})
    scene = load_scene(name, COARSER.get(name, ()), preset="draft" if "draft" in presets else None)
    sim = Simulation(scene)
    start = sim.diagnostics()
    sim.advance(1 / scene.frame_rate)
    end = sim.diagnostics()
    assert end["points"] >= start["points"]
    if not scene.emitter:
        assert end["mass"] == pytest.approx(start["mass"], rel=1e-12)
    assert np.isfinite(end["kinetic_energy"] + end["elastic_energy"])
    assert 0.5 < end["volume_ratio_min"] <= end["volume_ratio_max"] < 2.0
