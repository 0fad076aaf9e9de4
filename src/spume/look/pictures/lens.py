"""Depth of field: points nearer or farther than the focus are spread over their circle of confusion."""

import numpy as np
from numba import prange
from numpy.typing import NDArray
from scipy.ndimage import maximum_filter

from spume.numerics.jit import compiled

LARGEST = 24.0
"""Largest radius of the circle of confusion [samples]; larger circles are drawn with this radius."""
TAPS = 96
"""Number of taps per sample, on a spiral that fills a disc evenly."""


def out_of_focus(
    light: NDArray[np.float64], nearness: NDArray[np.float64], aperture: float, focus: float, scale: float
) -> NDArray[np.float64]:
    """Picture `light` (rows, columns, 3) seen through a lens of diameter `aperture` [m] focused at `focus` [m].

    nearness: 1/distance along the view [1/m], 0 for the background; scale: samples for a slope of one.
    The circle of a point at distance z has the radius ½ aperture · scale · |1/focus − 1/z|.
    """
    circle = np.clip(0.5 * aperture * scale * np.abs(1.0 / focus - nearness), 0.5, LARGEST)
    # largest distance from which light reaches a sample
    reach = maximum_filter(circle, size=2 * int(LARGEST) + 1, mode="nearest")
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(TAPS)
    out = np.sqrt((np.arange(TAPS) + 0.5) / TAPS)
    spread = np.empty_like(light)
    _gather(light, nearness, circle, reach, out * np.cos(turn), out * np.sin(turn), out, spread)
    return spread


@compiled(parallel=True)
def _gather(light, nearness, circle, reach, across, down, out, spread):
    """Add to each sample the light of surrounding samples whose circles reach it, spread over their circles. Light from
    behind a sample reaches it only from within the sample's own circle: a sharp foreground hides it."""
    rows, columns = nearness.shape
    for row in prange(rows):
        for column in range(columns):
            own, u, R = circle[row, column], nearness[row, column], reach[row, column]
            total = 1.0 / (own * own)
            red, green, blue = (
                total * light[row, column, 0],
                total * light[row, column, 1],
                total * light[row, column, 2],
            )
            area = np.pi * R * R / across.size  # area represented by each tap
            for t in range(across.size):
                i = int(np.round(row + R * down[t]))
                j = int(np.round(column + R * across[t]))
                if R < 1.0 or i < 0 or j < 0 or i >= rows or j >= columns:
                    continue
                wide = circle[i, j] if nearness[i, j] >= u else min(circle[i, j], own)
                if wide >= R * out[t]:
                    weight = area / (wide * wide)
                    total += weight
                    red += weight * light[i, j, 0]
                    green += weight * light[i, j, 1]
                    blue += weight * light[i, j, 2]
            spread[row, column, 0] = red / total
            spread[row, column, 1] = green / total
            spread[row, column, 2] = blue / total
