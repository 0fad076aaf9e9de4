"""sRGB and linear light (IEC 61966-2-1)."""

import numpy as np
from numpy.typing import NDArray


def to_linear(color: NDArray[np.float64]) -> NDArray[np.float64]:
    """sRGB values, 0 to 1, to linear ones."""
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def to_srgb(color: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Linear values, cut to 0 to 1, to sRGB bytes."""
    c = np.clip(color, 0.0, 1.0)
    encoded = np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)
    return np.asarray(np.round(255 * encoded), dtype=np.uint8)
