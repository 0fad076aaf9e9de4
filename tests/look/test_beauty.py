"""Pictures by light transport."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spume.frames.reader import open_run
from spume.look.pictures.drawing import PictureOptions, make_drawer

for package, extra in (("mitsuba", "render"),):
    pytest.importorskip(package, reason=f"needs the extra '{extra}'")


def test_a_foam_that_scatters_light_is_brighter_than_a_dark_solid(solid_run: Path) -> None:
    """Balls once of a white scattering medium, once nearly black and solid: the medium sends more light back."""
    from spume.look.appearance import Appearance
    from spume.look.pictures.beauty import BeautyDrawer

    options = PictureOptions(width=96, height=64, quality="preview", engine="beauty", samples=8)
    drawer = make_drawer(open_run(solid_run), options)
    assert isinstance(drawer, BeautyDrawer)
    looks = {"foam": Appearance((0.95, 0.95, 0.95), 0.45, 0.0), "coal": Appearance((0.02, 0.02, 0.02), 0.0, 0.0)}
    pictures = {
        name: BeautyDrawer(replace(drawer.inner, looks=[each, each])).draw(0).astype(int)
        for name, each in looks.items()
    }
    assert pictures["foam"].shape == (64, 96, 3)
    seen = (pictures["foam"] - pictures["coal"]).min(axis=2) > 60
    assert seen.sum() > 100, "the balls are not seen"
    assert np.abs(pictures["foam"][:3] - pictures["coal"][:3]).max() < 30, "the background depends on the balls"
