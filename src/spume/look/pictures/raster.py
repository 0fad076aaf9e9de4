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
from spume.look.pictures.shading import GAMMA, finish_row, shade, shade_points
from spume.look.pictures.shadows import Dimmed, LampMap, dimmed, lamp_map
from spume.look.pictures.visible import OVERSAMPLING, Eye, Seen, eye_of, through, visible
from spume.srgb import to_srgb

__all__ = ["BALL", "GAMMA", "ShadedMesh", "Stage", "rasterize"]
Floats = NDArray[np.float64]
BALL = (0.62, 0.44)
"""Brightness of a ball's surface: the first, plus the second times the cosine between its normal and the lamp. The mean
over the visible half is about 1 for a lamp above the camera."""
LEVEL = 0.006
"""Distance along normals within which places share their shadows, relative to the size of the scene."""


class ShadedMesh(NamedTuple):
    """A mesh, or points, to be drawn."""

    vertices: Floats
    triangles: NDArray[np.int32]
    """empty for points"""
    light: Floats
    """linear RGB of each vertex: its reflectance if there is a finish, else its light towards the camera"""
    point_size: float = 0.0
    """diameter of points [m]"""
    opacity: float = 1.0
    """opacity of a mesh without a finish; below 1 it is transparent"""
    normals: Floats | None = None
    """outward unit vectors, needed with a finish"""
    finish: Finish | None = None
    is_plain: bool = False
    """whether its colours are to be read, so that shading is weak"""
    sizes: Floats | None = None
    """diameter of each point [m], where they differ"""

    @property
    def is_clear(self) -> bool:
        """Whether what is behind it shows through."""
        if len(self.triangles) == 0 or self.is_plain:
            return False
        return self.opacity < 1.0 if self.finish is None else self.finish.transparency > 0.0


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


class _Soup(NamedTuple):
    """All triangles, or all points, as one mesh."""

    x: Floats
    normals: Floats
    colors: Floats
    triangles: NDArray[np.int32]
    part: NDArray[np.int32]
    """of each triangle, or of each point"""
    finishes: Floats
    radius: Floats


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
    solid = _soup([part for part in parts if len(part.triangles) and not part.is_clear])
    dots = _soup([part for part in parts if not len(part.triangles)])
    ground = None if stage is None or stage.ground is None else (stage.lights[3], stage.ground)
    spots = eye.seen(dots.x)
    seen = visible(eye, eye.seen(solid.x), solid.triangles, spots, dots.radius, ground)
    light = _light(eye, seen, solid, dots, spots, background, lamp, stage, view.aperture > 0.0)
    clear = [(part, eye.seen(part.vertices)) for part in parts if part.is_clear]
    for part, placed in sorted(clear, key=lambda pair: -float(pair[1][:, 2].mean())):
        _lay_over(light, eye, seen, part, placed, stage)
    if view.aperture > 0.0:
        light = out_of_focus(np.clip(light, 0.0, 1.0), seen.nearness, view.aperture, view.focus, eye.scale)
        light = _pixels(light)
    return to_srgb(np.clip(light, 0.0, 1.0))


def _light(
    eye: Eye, seen: Seen, solid: _Soup, dots: _Soup, spots: Floats, background: Color, lamp: Floats | None,
    stage: Stage | None, all_samples: bool,
) -> Floats:  # fmt: skip
    """The light of every pixel, or of every sample."""
    # without a stage nothing is lit, and none of this is used
    mapped = LampMap(np.eye(3), np.zeros(2), 1.0, np.full((1, 1), -np.inf))
    dim = Dimmed(np.zeros((1, 1, 3)), np.zeros((1, 1, 3)), np.ones((1, 1, 2)))
    lights, soil, fade, extent = np.eye(4, 3), np.array(finish_row(None, False)), np.zeros(11), 1.0
    sky = np.ones(len(dots.x))
    if stage is not None:
        lights, soil = stage.lights, np.array(finish_row(stage.soil, False))
        lower, upper = stage.box
        extent = float(np.linalg.norm(upper - lower))
        room = 0.35 * extent
        sky = openness(dots.x, dots.normals, stage.around)
        mapped = lamp_map(lights[0], solid.x, solid.triangles, dots.x, dots.radius, (lower - room, upper + room))
        dim = dimmed(eye, seen, solid.x, solid.normals, solid.triangles, mapped, stage.around, lights[3], extent)
        away = eye.axes[2] - (eye.axes[2] @ lights[3]) * lights[3]
        away = away / (float(np.linalg.norm(away)) or 1.0)
        fade = np.array([*(0.5 * (lower + upper)), *away, *stage.fade, *background])
    light = np.empty_like(dots.colors)
    shade_points(
        dots.x, dots.normals, dots.colors, dots.part, dots.finishes, eye.position, mapped.axes, mapped.origin,
        mapped.texel, mapped.nearest, sky, soil[5:], lights, light,
    )  # fmt: skip
    ball = np.array([0.0, 0.0] if lamp is None else BALL)
    facing = np.zeros(3) if lamp is None else BALL[1] * (eye.axes @ lamp) * np.array([1.0, 1.0, -1.0])
    shrink = 1 if all_samples else OVERSAMPLING
    out = np.empty((eye.rows // shrink, eye.columns // shrink, 3))
    shade(
        seen.nearness, seen.hit, eye.position, eye.axes, eye.scale, solid.x, solid.normals, solid.colors,
        solid.triangles, solid.part, solid.finishes, spots, dots.radius, light, facing, ball, dim.x, dim.normals,
        dim.light, LEVEL * extent, mapped.axes, mapped.origin, mapped.texel, mapped.nearest, soil, fade,
        np.array(background), lights, all_samples, out,
    )  # fmt: skip
    return out


def _lay_over(light: Floats, eye: Eye, seen: Seen, part: ShadedMesh, placed: Floats, stage: Stage | None) -> None:
    """Draw a clear part over the picture."""
    triangles = np.ascontiguousarray(part.triangles, np.int32)
    front, thickness = through(eye, placed, triangles, seen.nearness)
    normals = np.zeros_like(part.vertices) if part.normals is None else np.ascontiguousarray(part.normals)
    lights, soil = np.eye(4, 3), np.array(finish_row(None, False))
    extent = 1.0
    if stage is not None:
        lights, soil = stage.lights, np.array(finish_row(stage.soil, False))
        extent = float(np.linalg.norm(stage.box[1] - stage.box[0]))
    lay_over(
        front.nearness, front.hit, thickness, seen.nearness, eye.position, eye.axes, eye.scale,
        np.ascontiguousarray(part.vertices), normals, np.ascontiguousarray(part.light), triangles,
        np.array(finish_row(part.finish, part.is_plain)), part.opacity, extent, soil[5:], lights, light.copy(), light,
    )  # fmt: skip


def _soup(parts: list[ShadedMesh]) -> _Soup:
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    by_triangle = any(len(part.triangles) for part in parts)
    counts = [len(part.triangles) if by_triangle else len(part.vertices) for part in parts]
    none = np.empty((0, 3))

    def stacked(arrays: list[Floats]) -> Floats:
        return np.ascontiguousarray(np.concatenate([none, *arrays]), dtype=np.float64)

    triangles = [part.triangles + start for part, start in zip(parts, first)]
    return _Soup(
        stacked([part.vertices for part in parts]),
        stacked([np.zeros_like(part.vertices) if part.normals is None else part.normals for part in parts]),
        stacked([part.light for part in parts]),
        np.concatenate([np.empty((0, 3), np.int32), *triangles]).astype(np.int32),
        np.repeat(np.arange(len(parts), dtype=np.int32), counts),
        np.array([finish_row(part.finish, part.is_plain) for part in parts] or [finish_row(None, False)]),
        np.concatenate([np.empty(0), *(0.5 * _sizes(part) for part in parts)]),
    )


def _sizes(part: ShadedMesh) -> Floats:
    return np.full(len(part.vertices), part.point_size) if part.sizes is None else part.sizes


def _pixels(light: Floats) -> Floats:
    """Means over the samples of each pixel; adding shifted arrays is five times as fast as `mean` over two axes."""
    shifts = itertools.product(range(OVERSAMPLING), repeat=2)
    parts = (light[i::OVERSAMPLING, j::OVERSAMPLING] for i, j in shifts)
    return functools.reduce(np.add, parts) / OVERSAMPLING**2
