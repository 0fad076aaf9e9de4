"""Pictures of 2D runs: materials as filled outlines, obstacles as solids.

A material is where the blurred area of its points covers more than half; the blur follows the distance of the points.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spume.frames.extent import point_spacing
from spume.frames.populations import PopulationArrays
from spume.frames.poses import obstacle_poses, positions_over_run
from spume.frames.quantities import drawable, label, quantities, volumes
from spume.frames.reader import Frame, Run
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.shapes.extent import bounds
from spume.look.finish import (
    OBSTACLE,
    Finish,
    background,
    material_finishes,
    obstacle_finish,
)
from spume.look.grains import grains_of, opaque_first
from spume.look.pictures.camera import scene_view
from spume.look.pictures.drawing import Drawer, Picture, PictureOptions
from spume.look.pictures.lettering import MAP, Legend, map_colors
from spume.scene import surroundings
from spume.srgb import to_srgb

Floats = NDArray[np.float64]
BLUR = 0.75
"""Width of the blur, in point spacings: neighbours just merge."""
POINT_SIZE = 0.44
"""Radius of a drawn point, in point spacings."""
MARGIN = 0.08
HOLE = 4.0
"""Gaps between points with an area of fewer points than this are filled."""
EDGE = 0.55
"""Brightness of an outline against the inside."""


@dataclass(frozen=True)
class PlaneDrawer:
    """Draws 2D points."""

    run: Run
    options: PictureOptions
    limits: tuple[float, float] | None
    lower: Floats
    upper: Floats
    shared: "Window | None" = None
    """the window shared by pictures side by side"""

    def alike(self, drawers: Sequence[Drawer]) -> "PlaneDrawer":
        """This drawer with a window that contains those of all drawers."""
        windows = [drawer.window() for drawer in drawers if isinstance(drawer, PlaneDrawer)]
        halves = [0.5 * each.pixel * np.array(each.shape[::-1]) for each in windows]
        lower = np.min([each.center - half for each, half in zip(windows, halves)], axis=0)
        upper = np.max([each.center + half for each, half in zip(windows, halves)], axis=0)
        height, width = windows[0].shape
        pixel = float(np.max((upper - lower) / np.array([width, height])))
        return replace(self, shared=Window(0.5 * (lower + upper), pixel, (height, width)))

    def draw(self, number: int) -> Picture:
        """The picture of a frame."""
        frame = self.run[number]
        window = self.window(frame.time)
        image = np.tile(np.array(background(self.run.scene)), (*window.shape, 1))
        for mask, finish in self.solid_masks(window, frame):
            image = _over(image, np.array(finish.color), mask)
        values = {} if self.options.color is None else quantities(frame, self.options.color)
        for population in opaque_first(frame.of_kind("points", "mesh"), material_finishes(self.run.scene)):
            own = values.get(population.declared.name)
            spacing = point_spacing(self.run, population.declared)
            if self.options.show == "points" or population.declared.kind == "mesh":
                _draw_points(image, population["x"], window, self.colors(population, own), POINT_SIZE * spacing)
            else:
                image = self.filled(image, population, own, spacing, window)
        return to_srgb(image)

    def covered(self, number: int) -> float:
        """Part of the picture of a frame that the material covers, if all of it is in the window: its area over that of
        the window."""
        frame = self.run[number]
        window = self.window(frame.time)
        clouds = frame.of_kind("points")
        area = sum(float(volumes(each, point_spacing(self.run, each.declared)).sum()) for each in clouds)
        return area / (window.shape[0] * window.shape[1] * window.pixel**2)

    def legend(self) -> Legend | None:
        """The colour bar, if a quantity is shown."""
        if self.options.color is None or self.limits is None:
            return None
        return Legend(MAP, self.limits, label(self.run.populations, self.options.color))

    def window(self, time: float = 0.0) -> "Window":
        """The part of the plane that is shown at a time [s]."""
        if self.shared is not None:
            return self.shared
        scene = self.run.scene
        width, height = self.options.width, self.options.height
        view = scene_view(scene, time) if self.options.camera == "scene" else None
        if view is not None:
            tall = 2 * abs(view.position[2] - view.target[2]) * np.tan(np.radians(view.angle) / 2)
            return Window(view.target[:2], tall / height, (height, width))
        lower, upper = self._box
        least = 2 * max(point_spacing(self.run, each) for each in drawable(self.run.populations))
        size = (1 + 2 * MARGIN) * np.maximum(upper - lower, least)
        return Window(0.5 * (lower + upper), float(np.max(size / np.array([width, height]))), (height, width))

    @cached_property
    def _box(self) -> tuple[Floats, Floats]:
        """Corners of the box around the points and the obstacles near them, over the whole run [m]."""
        return _with_obstacles(self.run, self.lower[:2], self.upper[:2])

    def solid_masks(self, window: "Window", frame: Frame) -> list[tuple[Floats, Finish]]:
        """The fraction of each pixel covered by every obstacle and by the region outside the walls, with its finish."""
        scene = self.run.scene
        places = window.places()
        found = []
        poses = obstacle_poses(self.run, frame)
        for obstacle, R, p in zip(surroundings.obstacles(scene), poses.rotation, poses.position):
            local = (places - p[:2]) @ R[:2, :2]
            found.append((distances(compile_shape(obstacle.shape, 2), local), obstacle_finish(obstacle)))
        if (walls := surroundings.walls(scene)) is not None:
            lower, upper = np.array(walls.lower), np.array(walls.upper)
            found.append((-np.max(np.maximum(lower - places, places - upper), axis=1), OBSTACLE))
        return [(np.clip(0.5 - depth.reshape(window.shape) / window.pixel, 0, 1), finish) for depth, finish in found]

    def colors(self, points: PopulationArrays, values: Floats | None) -> Floats:
        """A colour for every point, linear RGB: that of its value, or else of its material."""
        if values is not None:
            return map_colors(values, self.limits or (0.0, 1.0), MAP)
        finishes = material_finishes(self.run.scene)
        kinds = points["material"] if "material" in points else np.zeros(len(points["x"]), int)
        return np.array([each.color for each in finishes])[kinds % len(finishes)]

    def filled(
        self, image: Floats, points: PopulationArrays, values: Floats | None, spacing: float, window: "Window"
    ) -> Floats:
        """The image with the materials, each one with its own outline."""
        x = np.asarray(points["x"], dtype=np.float64)
        kinds = points["material"] if "material" in points else np.zeros(len(x), int)
        area = volumes(points, spacing)
        colors = self.colors(points, values)
        finishes = material_finishes(self.run.scene)
        for kind in np.unique(kinds):
            members, finish = kinds == kind, finishes[int(kind) % len(finishes)]
            own = None if values is None else values[members]
            covered, shown = _smeared(x[members], area[members], own, window, BLUR * spacing)
            covered = without_holes(covered, HOLE * (spacing / window.pixel) ** 2)
            color = colors[members][0] if shown is None else map_colors(shown, self.limits or (0.0, 1.0), MAP)
            opacity = finish.opacity if values is None else 1.0
            image = _over(image, color, _smoothstep((covered - 0.5) / 0.12 + 0.5), opacity)
            if finish.grain:
                grains = colors[members] if values is not None else grains_of(points, members, finish)
                _draw_points(image, x[members], window, grains, POINT_SIZE * spacing)
        return image


@dataclass(frozen=True)
class Window:
    """A rectangle of the plane, in pixels."""

    center: Floats
    pixel: float
    """edge of a pixel [m]"""
    shape: tuple[int, int]
    """height and width [pixels]"""

    def places(self) -> Floats:
        """Middles of the pixels [m], shape (n, 2), row by row from the top."""
        height, width = self.shape
        across = self.center[0] + self.pixel * (np.arange(width) - 0.5 * (width - 1))
        up = self.center[1] - self.pixel * (np.arange(height) - 0.5 * (height - 1))
        return np.stack(np.meshgrid(across, up, indexing="xy"), axis=-1).reshape(-1, 2)

    def rows_and_columns(self, x: Floats) -> Floats:
        """Pixels of points, shape (n, 2), with fractions."""
        height, width = self.shape
        rows = (self.center[1] - x[:, 1]) / self.pixel + 0.5 * (height - 1)
        columns = (x[:, 0] - self.center[0]) / self.pixel + 0.5 * (width - 1)
        return np.stack([rows, columns], axis=1)


def _with_obstacles(run: Run, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """The box of the points and the obstacles around it; of unbounded or distant obstacles only a rim."""
    scene = run.scene
    size = float(np.max(upper - lower))
    low, high = lower, upper
    positions = positions_over_run(run)[..., :2]
    for k, obstacle in enumerate(surroundings.obstacles(scene)):
        moves = positions[:, k]
        begin, end = bounds(obstacle.shape, 2)
        room = np.where(np.isfinite(end - begin).all(), 0.6, 0.15) * size
        low = np.minimum(low, np.clip(begin + moves.min(axis=0), lower - room, upper))
        high = np.maximum(high, np.clip(end + moves.max(axis=0), lower, upper + room))
    if (walls := surroundings.walls(scene)) is not None:
        low = np.maximum(low, np.array(walls.lower) - 0.04 * size)
        high = np.minimum(high, np.array(walls.upper) + 0.04 * size)
    return low, high


def _smeared(
    x: Floats, area: Floats, values: Floats | None, window: Window, blur: float
) -> tuple[Floats, Floats | None]:
    """Covered part of each pixel, and the average of `values` at the points around it.

    Computed on a lattice that resolves the blur, then interpolated to the pixels. The blur is a Gaussian G minus half
    its second moment times its Laplacian, which has zero second moment: thin and curved outlines keep their area.
    """
    from scipy.ndimage import gaussian_filter, gaussian_laplace

    step = max(1, int(blur / window.pixel / 2))
    shape = (-(-window.shape[0] // step) + 8, -(-window.shape[1] // step) + 8)
    place = window.rows_and_columns(x) / step + 4
    width = blur / (window.pixel * step)
    deposited = _deposited(place, area, shape)
    total = gaussian_filter(deposited, width)
    sharp = total - 0.5 * width**2 * gaussian_laplace(deposited, width)
    covered = _stretched(sharp, step, window.shape) / (window.pixel * step) ** 2
    if values is None:
        return covered, None
    weighted = gaussian_filter(_deposited(place, area * values, shape), width)
    return covered, _stretched(weighted / np.maximum(total, 1e-300), step, window.shape)


def without_holes(covered: Floats, largest: float) -> Floats:
    """Covered part of each pixel with the holes of up to `largest` pixels filled: parts that are not fully
    covered and have no way to the rim or to a larger part."""
    from scipy.ndimage import label

    part, count = label(covered < 0.56)
    if count == 0:
        return covered
    size = np.bincount(part.ravel(), minlength=count + 1)
    is_hole = size < largest
    is_hole[0] = False
    is_hole[np.unique(np.concatenate([part[0], part[-1], part[:, 0], part[:, -1]]))] = False
    # also the half covered rim around a hole
    return np.where(is_hole[part], np.maximum(covered, 1.0), covered) if is_hole.any() else covered


def _stretched(lattice: Floats, step: int, shape: tuple[int, int]) -> Floats:
    """Linear between the points of a lattice that are `step` pixels apart."""
    for axis in (0, 1):
        place = np.arange(shape[axis]) / step + 4
        whole = place.astype(int)
        part = np.expand_dims(place - whole, 1 - axis)
        lattice = lattice.take(whole, axis) * (1 - part) + lattice.take(whole + 1, axis) * part
    return lattice


def _deposited(place: Floats, weights: Floats, shape: tuple[int, ...]) -> Floats:
    """`weights` shared out among the four lattice points around each place."""
    whole = np.floor(place).astype(int)
    part = place - whole
    out = np.zeros(shape[0] * shape[1])
    for i in (0, 1):
        for j in (0, 1):
            row, column = whole[:, 0] + i, whole[:, 1] + j
            inside = (row >= 0) & (row < shape[0]) & (column >= 0) & (column < shape[1])
            share = np.abs(1 - i - part[:, 0]) * np.abs(1 - j - part[:, 1]) * weights
            out += np.bincount((row * shape[1] + column)[inside], weights=share[inside], minlength=out.size)
    return out.reshape(shape)


def _smoothstep(t: Floats) -> Floats:
    t = np.clip(t, 0.0, 1.0)
    return np.asarray(t * t * (3 - 2 * t))


def _over(image: Floats, color: Floats, mask: Floats, opacity: float = 1.0) -> Floats:
    """`color` laid over the image where `mask` is 1, with a darker rim inside its outline."""
    from scipy.ndimage import gaussian_filter

    rim = max(1.5, image.shape[0] / 600)
    inside = np.clip(2 * gaussian_filter(mask, rim) - 1, 0, 1)
    shade = EDGE + (1 - EDGE) * np.clip(inside / 0.8, 0, 1)
    cover = opacity * mask[..., None]
    return np.asarray(image * (1 - cover) + cover * shade[..., None] * color)


def _draw_points(image: Floats, x: Floats, window: Window, colors: Floats, size: float) -> None:
    """Discs of radius `size` [m], drawn into the image."""
    radius = max(1, int(size / window.pixel))
    place = np.round(window.rows_and_columns(x)).astype(int)
    for i in range(-radius, radius + 1):
        for j in range(-radius, radius + 1):
            if i * i + j * j <= radius * radius:
                row, column = place[:, 0] + i, place[:, 1] + j
                inside = (row >= 0) & (row < window.shape[0]) & (column >= 0) & (column < window.shape[1])
                image[row[inside], column[inside]] = colors[inside]
