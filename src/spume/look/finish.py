"""Finishes: how materials, obstacles and the ground are drawn, and the colours around them. Reflectances are linear
RGB, 0 to 1."""

from typing import NamedTuple

import numpy as np

from spume.materials.appearance import Appearance
from spume.scene.bodies import ObstacleTable
from spume.scene.common import Scene
from spume.scene.surroundings import materials
from spume.srgb import to_linear

Color = tuple[float, float, float]


class Finish(NamedTuple):
    """Colour and surface of a material, an obstacle or the ground as they are drawn: its `Appearance`, which is what
    users write, with the defaults filled in."""

    color: Color
    """reflectance, linear RGB"""
    subsurface: float = 0.0
    """fraction of the light that scatters below the surface: 0 for a hard solid, 0.5 and more for foam"""
    roughness: float = 0.6
    """0 for a mirror or clear glass, 1 for a matt surface"""
    transparency: float = 0.0
    """fraction of the light that passes through, 0 for an opaque material"""
    metallic: float = 0.0
    """1 for a bare metal"""
    grain: float = 0.0
    """diameter of a drawn grain in point spacings; 0 for a closed surface"""
    variation: float = 0.0
    """relative range of brightness from point to point"""

    @property
    def opacity(self) -> float:
        """Opacity of the flat colour that fast pictures and viewers draw over the background, so that clear bodies stay
        visible."""
        return 1.0 - 0.6 * self.transparency


def srgb(red: int, green: int, blue: int) -> Color:
    """Linear reflectance of an sRGB colour, 0 to 255 each."""
    linear = to_linear(np.array([red, green, blue]) / 255)
    return float(linear[0]), float(linear[1]), float(linear[2])


OTHERS = (
    Finish(srgb(236, 232, 222), 0.35, 0.7),
    Finish(srgb(222, 148, 96), 0.25, 0.6),
    Finish(srgb(116, 166, 156), 0.25, 0.6),
    Finish(srgb(166, 138, 190), 0.25, 0.6),
    Finish(srgb(214, 190, 104), 0.25, 0.6),
)
"""Finishes of materials without their own look, by their index in the scene."""
OBSTACLE = Finish(srgb(112, 118, 128), 0.0, 0.55)
MOVING = Finish(srgb(184, 136, 98), 0.0, 0.45)
"""Finish of obstacles that move, so that they stand out."""
GROUND = srgb(146, 158, 169)
MATT_GROUND = Finish(GROUND, 0.0, 1.0)
BACKGROUND = srgb(170, 182, 192)


def material_finishes(scene: Scene) -> list[Finish]:
    """The finishes of a scene's materials, in the order of the material indices; at least one."""
    listed = materials(scene)
    return [completed(each.look, OTHERS[k % len(OTHERS)]) for k, each in enumerate(listed)] or [OTHERS[0]]


def obstacle_finish(obstacle: ObstacleTable) -> Finish:
    """The finish of an obstacle of a scene."""
    return completed(obstacle.look, OBSTACLE if obstacle.motion is None else MOVING)


def background(scene: Scene) -> Color:
    """The colour behind everything, linear RGB."""
    given = scene.backdrop.color
    return BACKGROUND if given is None else hex_color(given)


def ground_finish(scene: Scene, obstacle: ObstacleTable | None) -> Finish:
    """The finish of the ground: that of its obstacle, if it has one with a look, else the scene's [backdrop]."""
    given = scene.backdrop.ground
    default = MATT_GROUND if given is None else MATT_GROUND._replace(color=hex_color(given))
    return default if obstacle is None else completed(obstacle.look, default)


def hex_color(text: str) -> Color:
    """Linear reflectance of a colour written '#f6f8fa'."""
    return srgb(*bytes.fromhex(text[1:]))


def completed(given: Appearance | None, default: Finish) -> Finish:
    """Keys missing from an appearance are taken from `default`."""
    if given is None:
        return default
    keys = given.model_dump(exclude_none=True)
    if "color" in keys:
        keys["color"] = hex_color(keys["color"])
    return default._replace(**keys)
