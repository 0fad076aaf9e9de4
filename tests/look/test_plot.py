"""Plots of diagnostics: which panels they have."""

from pathlib import Path

import pytest

from spume.errors import SceneError
from spume.frames.reader import open_run
from spume.runs.loop import start_run
from spume.scene.common import Scene

pytest.importorskip("matplotlib", reason="needs the extra 'look'")

SCENE = {
    "title": "plot", "method": "mpm", "dimension": 2, "duration": 0.02, "frame_rate": 100.0, "grid": {"cell": 0.02},
    "body": [{"material": "gelatin", "shape": {"circle": {"center": [0.0, 0.1], "radius": 0.06}}}],
}  # fmt: skip


def run_of(tmp_path: Path, energy: bool):
    folder = tmp_path / str(energy)
    start_run(Scene(**SCENE, frames={"energy": energy}), folder)
    return open_run(folder)


def test_the_energy_budget_has_a_plot_of_its_own_and_a_panel(tmp_path):
    from spume.look.plot import plot_energy, plot_run

    run = run_of(tmp_path, True)
    assert plot_energy(run, tmp_path / "energy.svg", [0, 1, 2])[-1] == "unaccounted for"
    drawn = (tmp_path / "energy.svg").read_text(encoding="utf-8")
    assert "gravity" in drawn
    assert "unaccounted for" in drawn
    assert "resampling" not in drawn, "a term that is zero"
    panels, _ = plot_run(run, tmp_path / "plot.png", [0, 1, 2])
    assert "energy gained since the start" in panels


def test_a_run_without_a_budget_says_how_to_get_one(tmp_path):
    from spume.look.plot import plot_energy, plot_run

    run = run_of(tmp_path, False)
    with pytest.raises(SceneError, match=r"no energy budget: run the scene again with --set frames\.energy=true"):
        plot_energy(run, tmp_path / "energy.png", [0, 1, 2])
    panels, _ = plot_run(run, tmp_path / "plot.png", [0, 1, 2])
    assert "energy gained since the start" not in panels
