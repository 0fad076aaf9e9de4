"""The shadow of what is shown on the ground, as a picture that lies on it.

The shadows of the page itself are made for scenes of several metres and do not show up in one of centimetres.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter, grey_closing

from spume.look.ground import ground_axes

CELLS = 160
"""Most pixels along a side."""
DARKNESS = 0.45
"""Largest opacity of the shadow."""
SLANT = (0.25, 0.15)
"""How far the light leans along the two directions of the ground, for each metre of height."""
BLUR = 1.5
"""Width of the shadow's edge, in pixels."""


class Shadow(NamedTuple):
    """A picture on the ground."""

    image: NDArray[np.uint8]
    """black with varying opacity, shape (rows, columns, 4)"""
    middle: NDArray[np.float64]
    """of the picture [m], shape (3,)"""
    width: float
    """along `one` [m]"""
    height: float
    R: NDArray[np.float64]
    """columns: along the rows of the picture, down its columns, up"""


def ground_shadow(
    clouds: list[NDArray[Any]], up: NDArray[np.float64], ground: float, spacing: float, reach: float
) -> Shadow | None:
    """The shadow of points, shape (n, 3) each, that lie `spacing` [m] apart on closed surfaces or in bodies; points
    higher than `reach` [m] above the ground cast none."""
    x = np.concatenate([np.asarray(cloud, float) for cloud in clouds]) if clouds else np.empty((0, 3))
    above = x @ up - ground
    chosen = (above > -spacing) & (above < reach)
    if not chosen.any():
        return None
    one, two = ground_axes(up)
    flat = np.column_stack([x[chosen] @ one, x[chosen] @ two]) + above[chosen, None] * np.array(SLANT)
    low, high = flat.min(axis=0) - 6 * spacing, flat.max(axis=0) + 6 * spacing
    pixel = max(spacing, float(np.max(high - low)) / CELLS)
    count = np.maximum(np.ceil((high - low) / pixel).astype(int), 1)
    high = low + pixel * count
    hits, _, _ = np.histogram2d(flat[:, 0], flat[:, 1], bins=tuple(count), range=list(zip(low, high)))
    covered = grey_closing((hits > 0).astype(float), size=(5, 5))
    opacity = DARKNESS * gaussian_filter(covered, BLUR)
    image = np.zeros((count[1], count[0], 4), np.uint8)
    image[:, :, 3] = np.round(255 * opacity.T)
    middle = 0.5 * (low + high)
    place = middle[0] * one + middle[1] * two + (ground + 0.02 * spacing) * up
    size = high - low
    return Shadow(image, place, float(size[0]), float(size[1]), np.column_stack([one, two, up]))
