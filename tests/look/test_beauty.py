"""Pictures by light transport."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spume.errors import MissingExtra
from spume.frames.reader import open_run
from spume.look.blender.process import has_blender
from spume.look.finish import Finish
from spume.look.pictures.drawing import PictureOptions, make_drawer

SMALL = PictureOptions(width=96, height=64, quality="preview", engine="beauty", samples=8)


def pictures(run: Path, renderer: str) -> dict[str, np.ndarray]:
    """Balls once of a white foam, once nearly black and solid."""
    drawer = make_drawer(open_run(run), replace(SMALL, renderer=renderer))
    finishes = {"foam": Finish((0.95, 0.95, 0.95), 0.8, 1.0), "coal": Finish((0.02, 0.02, 0.02), 0.0, 1.0)}
    return {
        name: replace(drawer, inner=replace(drawer.inner, finishes=[each, each])).draw(0).astype(int)
        for name, each in finishes.items()
    }


def check_balls(found: dict[str, np.ndarray]) -> None:
    assert found["foam"].shape == (64, 96, 3)
    seen = (found["foam"] - found["coal"]).min(axis=2) > 60
    assert seen.sum() > 100, "the balls are not seen"
    assert np.abs(found["foam"][:3] - found["coal"][:3]).max() < 30, "the background depends on the balls"


@pytest.mark.skipif(not has_blender(), reason="needs Blender: the extra 'blender', or SPUME_BLENDER")
def test_cycles_shows_foam_brighter_than_coal(solid_run: Path) -> None:
    check_balls(pictures(solid_run, "cycles"))


def test_without_blender_mitsuba_is_taken_and_named(solid_run: Path, monkeypatch, capsys) -> None:
    from spume.look.pictures.beauty import BeautyDrawer

    pytest.importorskip("mitsuba", reason="needs the extra 'render'")
    monkeypatch.setattr("spume.look.blender.process.has_blender", lambda: False)
    assert isinstance(make_drawer(open_run(solid_run), SMALL), BeautyDrawer)
    assert "Mitsuba" in capsys.readouterr().err


def test_without_any_renderer_one_sentence_says_what_to_install(solid_run: Path, monkeypatch) -> None:
    monkeypatch.setattr("spume.look.blender.process.has_blender", lambda: False)
    monkeypatch.setattr("spume.look.pictures.points_drawer.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"--beauty needs the package 'bpy'.*spume\[blender\]"):
        make_drawer(open_run(solid_run), SMALL)


def test_a_foam_that_scatters_light_is_brighter_than_a_dark_solid(solid_run: Path) -> None:
    """Mitsuba's foam is a medium that sends light back."""
    pytest.importorskip("mitsuba", reason="needs the extra 'render'")
    check_balls(pictures(solid_run, "mitsuba"))
