"""Pictures of runs made of points: in the plane as filled outlines, in space as lit skins on a ground."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.frames.extent import point_bounds, quantity_limits
from spume.frames.quantities import label, quantity, spatial, volume_ratio
from spume.frames.reader import Frame, Run, open_run
from spume.look.appearance import BACKGROUND, GROUND, Appearance, appearances, obstacle_appearance
from spume.look.obstacles import Solid, TriangleMesh, ground_height, placed, solid_mesh, solids
from spume.look.pictures.camera import View, automatic_view, scene_view, up_axis
from spume.look.pictures.drawing import Drawer, Picture, PictureOptions
from spume.look.pictures.lettering import Legend, map_colors
from spume.look.pictures.lighting import Lamp, lit, occupancy
from spume.look.pictures.raster import ShadedMesh, rasterize
from spume.look.surface.files import cell_size, make_skin, read_skin

Floats = NDArray[np.float64]
MAP = "viridis"
MATT_GROUND = Appearance(GROUND, 0.0, 0.0)
PLAIN = Appearance((1.0, 1.0, 1.0), 0.5, 0.0)
"""Looks of a skin coloured by a quantity: soft, so that shading hides no colour."""


def make_drawer(run: Run, options: PictureOptions) -> Drawer:
    """The drawer for a run of points."""
    limits = options.limits
    if options.color is not None:
        quantity(run[0], options.color)
        limits = limits or quantity_limits(run, options.color)
    if getattr(run.scene, "dimension", 3) == 2:
        if options.engine == "beauty":
            raise SceneError(f"'{run.path}' is 2D, and --beauty is for runs in space; leave it out")
        from spume.look.pictures.plane_drawer import PlaneDrawer

        return PlaneDrawer(run.path, options, limits, *point_bounds(run))
    drawer = space_drawer(run, options, limits)
    if options.engine == "beauty":
        from spume.look.pictures.beauty import BeautyDrawer

        return BeautyDrawer(drawer)
    return drawer


@dataclass(frozen=True)
class SpaceDrawer:
    """Draws points in space. Everything that is the same in all frames is worked out once."""

    folder: Path
    options: PictureOptions
    limits: tuple[float, float] | None
    view: View
    lower: Floats
    upper: Floats
    up: Floats
    ground: float | None
    solids: list[Solid]
    meshes: list[TriangleMesh]
    looks: list[Appearance]
    color_label: str

    def draw(self, number: int) -> Picture:
        """The picture of a frame."""
        frame = open_run(self.folder)[number]
        return rasterize(self.shaded(frame), self.view, (self.options.width, self.options.height), BACKGROUND)

    def legend(self) -> Legend | None:
        """The colour bar, if a quantity is shown."""
        if self.options.color is None or self.limits is None:
            return None
        return Legend(MAP, self.limits, self.color_label)

    def shaded(self, frame: Frame) -> list[ShadedMesh]:
        """Everything a picture shows, with its light."""
        x = spatial(frame["x"])
        volume = frame["volume"] * volume_ratio(frame) if "volume" in frame else np.full(len(x), self.cell**3 / 8)
        ground = None if self.ground is None else (self.up, self.ground)
        around = occupancy(x, volume, self.solids, frame.time, (self.lower, self.upper), ground)
        lamp = Lamp(self.lamp_direction(), self.up, self.view.position)
        parts = []
        for foam, looks in self.foam(frame):
            light = lit(foam.vertices, foam.normals, foam.colors, looks, around, lamp)
            parts.append(ShadedMesh(foam.vertices, foam.triangles, light, self.point_size))
        for mesh, looks in self.placed_obstacles(frame.time):
            colors = np.tile(looks.color, (len(mesh.vertices), 1))
            light = lit(mesh.vertices, mesh.normals, colors, looks, around, lamp)
            parts.append(ShadedMesh(mesh.vertices, mesh.triangles, light))
        if self.ground is not None:
            mesh, fade = self.ground_mesh()
            colors = np.tile(GROUND, (len(mesh.vertices), 1))
            light = lit(mesh.vertices, mesh.normals, colors, MATT_GROUND, around, lamp)
            blended = fade[:, None] * np.array(BACKGROUND) + (1 - fade)[:, None] * light
            parts.append(ShadedMesh(mesh.vertices, mesh.triangles, blended))
        return parts

    @property
    def cell(self) -> float:
        """Edge of a cell of the run's grid [m]."""
        return cell_size(open_run(self.folder))

    @property
    def point_size(self) -> float:
        """Diameter of a drawn point [m]."""
        return 0.55 * self.cell

    def lamp_direction(self) -> Floats:
        """From the upper left behind the camera."""
        back = self.view.position - self.view.target
        back = back - (back @ self.up) * self.up
        back /= np.linalg.norm(back) or 1.0
        side = np.cross(self.up, back)
        towards = 1.25 * self.up + 0.3 * back - 0.45 * side
        return np.asarray(towards / np.linalg.norm(towards))

    def placed_obstacles(self, time: float) -> list[tuple[TriangleMesh, Appearance]]:
        """The obstacles' meshes at a time [s], and their looks."""
        pairs = zip(self.meshes, self.solids)
        return [(placed(mesh, *solid.place(time)), obstacle_appearance(solid.name)) for mesh, solid in pairs]

    def foam(self, frame: Frame) -> list[tuple["ColoredMesh", Appearance]]:
        """The points or their skin, apart for each material, with colours."""
        mesh, kinds = self._points(frame) if self.options.show == "points" else self._skin(frame)
        if self.options.color is not None:
            return [(mesh, PLAIN)]
        parts = []
        for index, looks in enumerate(self.looks):
            mine = kinds == index
            if mine.any():
                # A triangle belongs to the material of its first vertex, so that none is drawn twice or left out.
                triangles = mesh.triangles[mine[mesh.triangles[:, 0]]] if len(mesh.triangles) else mesh.triangles
                parts.append((_picked(mesh, triangles, mine, looks), looks))
        return parts

    def _skin(self, frame: Frame) -> tuple["ColoredMesh", NDArray[Any]]:
        color, quality = self.options.color, self.options.quality
        made = None
        if color is None or color in ("material", "weak", "J"):
            made = read_skin(self.folder, frame.number, quality)
        if made is None:
            everything = np.ones(len(frame["x"]), dtype=bool)
            made = make_skin(frame, everything, self.cell, quality, () if color is None else (color,))
        kinds = np.round(made.fields.get("material", np.zeros(len(made.vertices)))).astype(int)
        colors = np.zeros((len(made.vertices), 3)) if color is None else self.mapped(made.fields[color])
        return ColoredMesh(
            made.vertices.astype(np.float64), made.triangles, made.normals.astype(np.float64), colors
        ), kinds

    def _points(self, frame: Frame) -> tuple["ColoredMesh", NDArray[Any]]:
        x = spatial(frame["x"])
        kinds = frame["material"] if "material" in frame else np.zeros(len(x), int)
        color = self.options.color
        colors = np.zeros((len(x), 3)) if color is None else self.mapped(quantity(frame, color))
        normals = np.tile(self.up, (len(x), 1))
        return ColoredMesh(x, np.empty((0, 3), np.int32), normals, colors), kinds

    def mapped(self, values: NDArray[Any]) -> Floats:
        """Colours of a quantity, linear RGB."""
        return map_colors(values, self.limits or (0.0, 1.0), MAP)

    def ground_mesh(self) -> tuple[TriangleMesh, Floats]:
        """The ground, fine near what stands on it, and how far each vertex has faded into the background."""
        axis = int(np.argmax(np.abs(self.up)))
        one, two = (k for k in range(3) if k != axis)
        middle, size = 0.5 * (self.lower + self.upper), self.upper - self.lower
        reach = 0.75 * float(max(size[one], size[two], 0.7 * size[axis]))
        far = 14.0
        u = np.linspace(-1.0, 1.0, 221)
        steps = reach * np.sinh(4.2 * u) / np.sinh(4.2 * 0.42)
        along, across = np.meshgrid(steps, steps, indexing="ij")
        vertices = np.zeros((along.size, 3))
        vertices[:, one], vertices[:, two] = middle[one] + along.ravel(), middle[two] + across.ravel()
        vertices[:, axis] = (self.ground or 0.0) * self.up[axis]
        fade = np.clip((np.hypot(along, across).ravel() / reach - 1.3) / (far - 9.0), 0.0, 1.0)
        mesh = TriangleMesh(vertices, _lattice_triangles(len(u)), np.tile(self.up, (len(vertices), 1)))
        return mesh, fade * fade * (3 - 2 * fade)


@dataclass(frozen=True)
class ColoredMesh:
    """A mesh, or points where there are no triangles, with a colour for each vertex."""

    vertices: Floats
    triangles: NDArray[np.int32]
    normals: Floats
    colors: Floats


def _picked(mesh: ColoredMesh, triangles: NDArray[np.int32], mine: NDArray[np.bool_], looks: Appearance) -> ColoredMesh:
    """The vertices these triangles need, or `mine` where there are only points, in the colour of a material."""
    used = np.unique(triangles) if len(mesh.triangles) else np.flatnonzero(mine)
    new = np.zeros(len(mesh.vertices), np.int32)
    new[used] = np.arange(len(used), dtype=np.int32)
    colors = np.tile(looks.color, (len(used), 1))
    return ColoredMesh(mesh.vertices[used], new[triangles], mesh.normals[used], colors)


def _lattice_triangles(count: int) -> NDArray[np.int32]:
    index = np.arange(count * count, dtype=np.int32).reshape(count, count)
    a, b, c, d = (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:])
    pairs = np.stack([a, b, c, a, c, d], axis=-1)
    return pairs.reshape(-1, 3)


def _down_to(lower: Floats, upper: Floats, up: Floats, ground: float | None) -> tuple[Floats, Floats]:
    """The box with the ground in it, where shadows fall, unless that is far below."""
    axis = int(np.argmax(np.abs(up)))
    if ground is None or min(abs(lower[axis] - ground), abs(upper[axis] - ground)) > 2 * np.max(upper - lower):
        return lower, upper
    level = ground * up
    axes = np.arange(3) == axis
    return np.where(axes, np.minimum(lower, level), lower), np.where(axes, np.maximum(upper, level), upper)


def space_drawer(run: Run, options: PictureOptions, limits: tuple[float, float] | None) -> SpaceDrawer:
    """A drawer for points in space, framed to hold the whole run."""
    scene: Any = run.scene
    up = up_axis(scene)
    lower, upper = point_bounds(run)
    pad = 0.5 * cell_size(run)
    lower, upper = lower - pad, upper + pad
    shown = solids(scene, lower, upper, up)
    room = np.max(upper - lower)  # what stands further away than this does not widen the view
    least, most = lower - room, upper + room
    times = [entry["time"] for entry in run.diagnostics[:: max(1, len(run) // 20)]]
    for solid in shown:
        corners = np.clip(np.concatenate([solid.corners(time) for time in times]), least, most)
        lower, upper = np.minimum(lower, corners.min(axis=0)), np.maximum(upper, corners.max(axis=0))
    ground = ground_height(scene, up)
    lower, upper = _down_to(lower, upper, up, ground)
    own = scene_view(scene) if options.camera == "scene" else None
    view = own or automatic_view(lower, upper, up, options.width / options.height)
    names = [material.name for material in scene.materials]
    color_label = "" if options.color is None else label(run.fields, options.color)
    return SpaceDrawer(
        run.path, options, limits, view, lower, upper, up, ground, shown,
        [solid_mesh(solid) for solid in shown], appearances(names), color_label,
    )  # fmt: skip
