"""Colours: what each material looks like, and the surroundings. Reflectances are linear RGB, 0 to 1."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Color = tuple[float, float, float]


class Appearance(NamedTuple):
    """How a material looks."""

    color: Color
    """reflectance, linear RGB"""
    softness: float
    """how far light goes round edges: 0 for a hard solid, 0.5 for foam that light seeps through"""
    gloss: float
    """strength of highlights, 0 for a matt surface"""


def srgb(red: int, green: int, blue: int) -> Color:
    """Linear reflectance of an sRGB colour, 0 to 255 each."""
    linear = to_linear(np.array([red, green, blue]) / 255)
    return float(linear[0]), float(linear[1]), float(linear[2])


def to_linear(color: NDArray[np.float64]) -> NDArray[np.float64]:
    """sRGB values, 0 to 1, to linear ones (IEC 61966-2-1)."""
    return np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def to_srgb(color: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Linear values, cut to 0 to 1, to sRGB bytes (IEC 61966-2-1)."""
    c = np.clip(color, 0.0, 1.0)
    encoded = np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)
    return np.asarray(np.round(255 * encoded), dtype=np.uint8)


APPEARANCES: tuple[tuple[str, Appearance], ...] = (
    ("shaving", Appearance(srgb(246, 248, 250), 0.45, 0.05)),
    ("s'more exterior", Appearance(srgb(196, 140, 84), 0.2, 0.05)),
    ("s'more", Appearance(srgb(250, 240, 232), 0.45, 0.08)),
    ("toasted", Appearance(srgb(196, 140, 84), 0.2, 0.05)),
    ("crisp", Appearance(srgb(202, 148, 92), 0.2, 0.05)),
    ("marshmallow", Appearance(srgb(250, 240, 232), 0.45, 0.08)),
    ("chocolate", Appearance(srgb(92, 56, 36), 0.1, 0.35)),
    ("whipped", Appearance(srgb(253, 246, 228), 0.45, 0.06)),
    ("cream", Appearance(srgb(252, 244, 224), 0.45, 0.08)),
    ("pie", Appearance(srgb(252, 244, 224), 0.45, 0.08)),
    ("oobleck", Appearance(srgb(158, 205, 176), 0.25, 0.25)),
    ("viscoplastic", Appearance(srgb(214, 168, 150), 0.25, 0.25)),
    ("mayonnaise", Appearance(srgb(247, 233, 180), 0.35, 0.2)),
    ("tooth", Appearance(srgb(196, 228, 236), 0.3, 0.25)),
    ("carbopol", Appearance(srgb(196, 216, 226), 0.4, 0.35)),
    ("gelatin", Appearance(srgb(214, 84, 78), 0.35, 0.35)),
    ("rubber", Appearance(srgb(72, 128, 176), 0.1, 0.2)),
    ("dough", Appearance(srgb(232, 206, 160), 0.3, 0.03)),
    ("sand", Appearance(srgb(206, 176, 128), 0.1, 0.0)),
    ("water", Appearance(srgb(110, 168, 206), 0.2, 0.5)),
    ("silicone", Appearance(srgb(176, 186, 196), 0.25, 0.25)),
    ("foam", Appearance(srgb(244, 246, 248), 0.45, 0.05)),
)
"""Part of a material's name: its looks. The first that fits counts."""

OTHERS = (
    Appearance(srgb(236, 232, 222), 0.35, 0.08),
    Appearance(srgb(222, 148, 96), 0.25, 0.15),
    Appearance(srgb(116, 166, 156), 0.25, 0.15),
    Appearance(srgb(166, 138, 190), 0.25, 0.15),
    Appearance(srgb(214, 190, 104), 0.25, 0.15),
)
OBSTACLE = Appearance(srgb(112, 118, 128), 0.0, 0.12)
OBSTACLES: tuple[tuple[str, Appearance], ...] = (
    ("chocolate", Appearance(srgb(92, 56, 36), 0.0, 0.3)),
    ("cracker", Appearance(srgb(196, 146, 92), 0.0, 0.03)),
    ("chocolate", Appearance(srgb(92, 56, 36), 0.0, 0.3)),
    ("bowl", Appearance(srgb(206, 210, 216), 0.0, 0.25)),
    ("face", Appearance(srgb(222, 178, 152), 0.2, 0.1)),
    ("head", Appearance(srgb(222, 178, 152), 0.2, 0.1)),
    ("plate", Appearance(srgb(206, 210, 216), 0.0, 0.25)),
    ("tin", Appearance(srgb(190, 196, 204), 0.0, 0.3)),
    ("pan", Appearance(srgb(150, 156, 166), 0.0, 0.3)),
    ("pin", Appearance(srgb(196, 148, 84), 0.0, 0.25)),
    ("board", Appearance(srgb(170, 132, 94), 0.0, 0.08)),
)
"""Part of an obstacle's name: its looks."""
GROUND = srgb(146, 158, 169)
BACKGROUND = srgb(170, 182, 192)


def obstacle_appearance(name: str) -> Appearance:
    """The looks of an obstacle by its name."""
    return next((looks for part, looks in OBSTACLES if part in name.lower()), OBSTACLE)


def appearances(names: list[str]) -> list[Appearance]:
    """The looks of materials by their names; those without looks of their own get different colours in turn."""
    found, unknown = [], 0
    for name in names:
        match = next((looks for part, looks in APPEARANCES if part in name.lower()), None)
        if match is None:
            match = OTHERS[unknown % len(OTHERS)]
            unknown += 1
        found.append(match)
    return found
