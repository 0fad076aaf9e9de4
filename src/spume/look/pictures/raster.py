"""Pictures of meshes and points: what the camera sees, its light, and clear bodies in front of it."""

import functools
import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.look.finish import Color, Finish
from spume.look.pictures.camera import View
from spume.look.pictures.clear import lay_over
from spume.look.pictures.lens import out_of_focus
from spume.look.pictures.lighting import Occupancy, openness
from spume.look.pictures.shading import GAMMA, Balls, Room, shade, shade_points
from spume.look.pictures.shadows import Dimmed, LampMap, dimmed, lamp_map
from spume.look.pictures.soup import ShadedMesh, Soup, finish_row, soup_of
from spume.look.pictures.visible import OVERSAMPLING, Eye, Seen, eye_of, through, visible
from spume.srgb import to_srgb

__all__ = ["BALL", "GAMMA", "ShadedMesh", "Stage", "rasterize"]
Floats = NDArray[np.float64]
BALL = (0.62, 0.44)
"""Brightness of a ball's surface: the first, plus the second times the cosine between its normal and the lamp. The mean
over the visible half is about 1 for a lamp above the camera."""


class Stage(NamedTuple):
    """What lights a scene."""

    lights: Floats
    """unit vectors towards the lamp, the lamp beside the camera, the one behind, and upwards, shape (4, 3)"""
    around: Occupancy
    box: tuple[Floats, Floats]
    """corners of the box around what is shown [m]"""
    ground: float | None
    """its height along the last of the lights [m]"""
    soil: Finish
    fade: tuple[float, float]
    """distances behind the middle of the box where the ground begins to fade, and where it has [m]"""


def rasterize(
    parts: list[ShadedMesh],
    view: View,
    size: tuple[int, int],
    background: Color,
    lamp: Floats | None = None,
    stage: Stage | None = None,
) -> NDArray[np.uint8]:
    """Draw `parts`; return the picture in sRGB, shape (height, width, 3).

    Points are shaded as balls under a lamp in the direction `lamp`, or as discs if there is none. Parts with a finish
    need a stage, whose ground is drawn, too. Of a transparent mesh, only the surface nearest to the camera is drawn.
    """
    eye = eye_of(view, size)
    parts = [part for part in parts if len(part.vertices)]
    solid = soup_of([part for part in parts if len(part.triangles) and not part.is_clear])
    dots = soup_of([part for part in parts if not len(part.triangles)])
    ground = None if stage is None or stage.ground is None else (stage.lights[3], stage.ground)
    spots = eye.seen(dots.x)
    seen = visible(eye, eye.seen(solid.x), solid.triangles, spots, dots.radius, ground)
    room = _room(eye, background, stage)
    light = _light(eye, seen, solid, dots, spots, lamp, stage, room, view.aperture > 0.0)
    clear = [(part, eye.seen(part.vertices)) for part in parts if part.is_clear]
    for part, placed in sorted(clear, key=lambda pair: -float(pair[1][:, 2].mean())):
        mesh = soup_of([part])
        front, thickness = through(eye, placed, mesh.triangles, seen.nearness)
        lay_over(front, thickness, seen.nearness, eye, mesh, part.opacity, room, light.copy(), light)
    if view.aperture > 0.0:
        light = out_of_focus(np.clip(light, 0.0, 1.0), seen.nearness, view.aperture, view.focus, eye.scale)
        light = _pixels(light)
    return to_srgb(np.clip(light, 0.0, 1.0))


def _room(eye: Eye, background: Color, stage: Stage | None) -> Room:
    backdrop = np.array(background)
    if stage is None:  # nothing is lit: the colours are light
        return Room(np.eye(4, 3), np.array(finish_row(None, False)), np.zeros(11), backdrop, 1.0)
    lower, upper = stage.box
    away = eye.axes[2] - (eye.axes[2] @ stage.lights[3]) * stage.lights[3]
    away = away / (float(np.linalg.norm(away)) or 1.0)
    fade = np.array([*(0.5 * (lower + upper)), *away, *stage.fade, *background])
    size = float(np.linalg.norm(upper - lower))
    return Room(stage.lights, np.array(finish_row(stage.soil, False)), fade, backdrop, size)


def _light(
    eye: Eye, seen: Seen, solid: Soup, dots: Soup, spots: Floats, lamp: Floats | None, stage: Stage | None, room: Room,
    all_samples: bool,
) -> Floats:  # fmt: skip
    """The light of every pixel, or of every sample."""
    # without a stage nothing is lit, and none of this is used
    mapped = LampMap(np.eye(3), np.zeros(2), 1.0, np.full((1, 1), -np.inf))
    dim = Dimmed(np.zeros((1, 1, 3)), np.zeros((1, 1, 3)), np.ones((1, 1, 2)))
    sky = np.ones(len(dots.x))
    if stage is not None:
        lower, upper = stage.box
        margin = 0.35 * room.size
        sky = openness(dots.x, dots.normals, stage.around)
        box = lower - margin, upper + margin
        mapped = lamp_map(room.lights[0], solid.x, solid.triangles, dots.x, dots.radius, box)
        dim = dimmed(eye, seen, solid, mapped, stage.around, room.lights[3], room.size)
    light = np.empty_like(dots.colors)
    shade_points(dots, eye.position, mapped, sky, room, light)
    ball = np.array([0.0, 0.0] if lamp is None else BALL)
    facing = np.zeros(3) if lamp is None else BALL[1] * (eye.axes @ lamp) * np.array([1.0, 1.0, -1.0])
    shrink = 1 if all_samples else OVERSAMPLING
    out = np.empty((eye.rows // shrink, eye.columns // shrink, 3))
    shade(seen, eye, solid, Balls(spots, dots.radius, light, facing, ball), dim, mapped, room, all_samples, out)
    return out


def _pixels(light: Floats) -> Floats:
    """Means over the samples of each pixel; adding shifted arrays is five times as fast as `mean` over two axes."""
    shifts = itertools.product(range(OVERSAMPLING), repeat=2)
    parts = (light[i::OVERSAMPLING, j::OVERSAMPLING] for i, j in shifts)
    return functools.reduce(np.add, parts) / OVERSAMPLING**2
