"""What a notebook shows: obstacles around the points, films that play in the page."""

import base64
import re
from pathlib import Path

import numpy as np
import pytest

import spume
from spume.frames.notebook import BACKGROUND, SOLID, _solids, point_picture
from spume.frames.reader import open_run


@pytest.mark.parametrize("kind", ["plane_run", "solid_run"])
def test_the_ground_is_below_the_points_and_the_block_above(kind: str, request: pytest.FixtureRequest):
    """Two balls over a ground and below a block that swings; nothing else is grey."""
    run = open_run(request.getfixturevalue(kind))
    bare, full = point_picture(run[0]), point_picture(run[0], _solids(run.scene, run[0], 0.0))
    grey = (np.ptp(full.astype(int), axis=2) <= 12) & (full.max(axis=2) <= SOLID.max())
    assert not ((np.ptp(bare.astype(int), axis=2) <= 12) & (bare.max(axis=2) <= SOLID.max())).any()
    assert grey[-4:].mean() > 0.9
    assert (full[60, :40] == BACKGROUND).all()
    if kind == "solid_run":  # in the plane the block is above the picture
        assert grey[:20].any()


def test_a_film_plays_in_the_page(plane_run: Path):
    for package in ("imageio", "imageio_ffmpeg", "PIL"):
        pytest.importorskip(package)
    shown = open_run(plane_run).film(width=64, height=64, processes=1)
    data = re.search(r"<video .*src='data:video/mp4;base64,([^']+)'", shown._repr_html_())
    assert base64.b64decode(data[1])[4:8] == b"ftyp"
    made = spume.render(plane_run, frames=1, width=64, height=64)
    picture = re.search(r"<img .*src='data:image/png;base64,([^']+)'", made._repr_html_())
    assert base64.b64decode(picture[1]).startswith(b"\x89PNG")
    with pytest.raises(spume.SceneError, match="1 pictures make no film"):
        open_run(plane_run).film(frames=1, width=64, height=64)
