"""Outlines of materials in pictures of the plane keep the area of their points."""

import numpy as np
import pytest

from spume.look.pictures.plane_drawer import BLUR, Window, _smeared

SPACING = 0.01
ALLOWED = 0.03
"""As for skins: what is three cells, six points, thick."""


def thin_shapes() -> dict[str, np.ndarray]:
    line = (np.arange(-30, 30) + 0.5) * SPACING
    x = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    askew = x @ np.array([0.6, 0.8])
    return {
        "disc": x[np.hypot(*x.T) < 3 * SPACING],
        "square": x[(np.abs(x) < 3 * SPACING).all(axis=1)],
        "strip": x[(np.abs(x[:, 1]) < 3 * SPACING) & (np.abs(x[:, 0]) < 0.25)],
        "strip askew": x[(np.abs(askew) < 3 * SPACING) & (np.hypot(*x.T) < 0.25)],
        "ring": x[np.abs(np.hypot(*x.T) - 0.15) < 3 * SPACING],
    }


@pytest.mark.parametrize("shape", thin_shapes())
def test_whatever_is_three_cells_thick_keeps_its_area(shape: str) -> None:
    x = thin_shapes()[shape]
    window = Window(np.zeros(2), 0.1 * SPACING, (640, 640))
    covered, _ = _smeared(x, np.full(len(x), SPACING**2), None, window, BLUR * SPACING)
    area = np.count_nonzero(covered > 0.5) * window.pixel**2
    assert area == pytest.approx(len(x) * SPACING**2, rel=ALLOWED)
