"""Pictures of 3D runs: lit skins of points, meshes and obstacles on a ground."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import PAINT, Population
from spume.frames.extent import point_bounds, point_spacing
from spume.frames.populations import PopulationArrays
from spume.frames.poses import obstacle_poses, poses_in_frames
from spume.frames.quantities import drawable, label, quantities, spatial, volumes
from spume.frames.reader import Frame, Run
from spume.look.embedded_edges import sharp_mesh
from spume.look.finish import Color, Finish, background, ground_finish, material_finishes
from spume.look.grains import (
    DROP,
    WHITE,
    covered_by,
    grains_of,
    is_granular,
    nearest_paint,
    opaque_first,
    scattered,
    shades,
)
from spume.look.obstacles import (
    Solid,
    ground_height,
    ground_obstacle,
    solid_mesh,
    solids,
)
from spume.look.pictures.camera import View, automatic_angle, scene_view, up_axis
from spume.look.pictures.drawing import Drawer, Picture, PictureOptions
from spume.look.pictures.framing import covered, outermost_points, view_of_points
from spume.look.pictures.glass import GLASS, glass_panes
from spume.look.pictures.lettering import MAP, Legend, map_colors
from spume.look.pictures.lighting import occupancy, outward
from spume.look.pictures.raster import ShadedMesh, Stage, rasterize
from spume.look.surface.borders import cut_at_borders
from spume.look.surface.files import skin_of
from spume.look.textures import painted
from spume.look.triangle_mesh import TriangleMesh, placed
from spume.scene import surroundings
from spume.scene.common import Scene
from spume.whitewater.making import has_whitewater, whitewater

Floats = NDArray[np.float64]
PLAIN = Finish((1.0, 1.0, 1.0), 0.8, 1.0)
"""Finish of a skin coloured by a quantity: soft, so that shading does not hide colours."""
FADE = 0.5, 3.0
"""Distances behind the middle of the scene where the ground begins to fade, and where it has, relative to the size of
the scene."""
GRAINS, MOST_GRAINS = (5, 300), 300_000
"""Number of grains drawn for each point of sand inside and at its surface, and of grains in a picture if there are
fewer points."""
POINT_SIZE = 1.1
"""Diameter of a drawn point, in spacings."""


@dataclass(frozen=True)
class SpaceDrawer:
    """Draws 3D points. Everything that is the same in all frames is computed once."""

    run: Run
    options: PictureOptions
    limits: tuple[float, float] | None
    view: View
    lower: Floats
    upper: Floats
    up: Floats
    ground: float | None
    solids: list[Solid]
    meshes: list[TriangleMesh]
    finishes: list[Finish]
    soil: Finish
    """finish of the ground"""
    backdrop: Color
    color_label: str
    framed: Floats
    """places that a camera without a scene's own shows [m], shape (n, 3)"""
    moving_camera: Scene | None = None
    """the scene whose camera is used, if it has one"""

    def view_at(self, time: float) -> View:
        """The camera at a time [s]."""
        own = None if self.moving_camera is None else scene_view(self.moving_camera, time)
        return own or self.view

    def alike(self, drawers: Sequence[Drawer]) -> "SpaceDrawer":
        """This drawer with the camera, the box, the ground and the background that all of `drawers` share."""
        others = [drawer for drawer in drawers if isinstance(drawer, SpaceDrawer)]
        first = others[0]
        lower = np.min([each.lower for each in others], axis=0)
        upper = np.max([each.upper for each in others], axis=0)
        grounds = [each for each in others if each.ground is not None]
        ground, soil = (grounds[0].ground, grounds[0].soil) if grounds else (None, first.soil)
        view, framed = first.view, np.concatenate([each.framed for each in others])
        if first.moving_camera is None:
            aspect = self.options.width / self.options.height
            view = view_of_points(framed, first.up, aspect, first.pad, first.view.angle)
        return replace(
            self, lower=lower, upper=upper, up=first.up, ground=ground, soil=soil, backdrop=first.backdrop, view=view,
            framed=framed, moving_camera=first.moving_camera,
        )  # fmt: skip

    @property
    def pad(self) -> float:
        """Half of the largest distance between points [m], which are shown as a surface around them."""
        return 0.5 * max(point_spacing(self.run, each) for each in drawable(self.run.populations))

    def covered(self, number: int) -> float:
        """Part of the picture of a frame that the material covers."""
        view = self.view_at(float(self.run.diagnostics[number]["time"]))
        hiding = [mesh for mesh, finish in self.placed_obstacles(self.run[number]) if finish.transparency == 0]
        return covered(self.run, number, view, self.options.width / self.options.height, hiding)

    def draw(self, number: int) -> Picture:
        """The picture of a frame."""
        frame = self.run[number]
        size = self.options.width, self.options.height
        stage = self.stage(frame)
        parts = self.shaded(frame, stage)
        return rasterize(parts, self.view_at(frame.time), size, self.backdrop, stage.lights[0], stage)

    def legend(self) -> Legend | None:
        """The colour bar, if a quantity is shown."""
        if self.options.color is None or self.limits is None:
            return None
        return Legend(MAP, self.limits, self.color_label)

    def shaded(self, frame: Frame, stage: Stage) -> list[ShadedMesh]:
        """Everything a picture shows except the ground."""
        parts = []
        for part, finish in self.material_parts(frame):
            is_mesh = len(part.triangles) > 0
            if finish.grain and not is_mesh:
                parts.append(self._grains(part, finish, stage))
                continue
            normals = part.normals if is_mesh else outward(part.vertices, stage.around, self.up)
            size = POINT_SIZE * part.spacing
            parts.append(
                ShadedMesh(
                    part.vertices, part.triangles, part.colors, size, 1.0, normals, finish, is_plain=finish is PLAIN
                )
            )
        for mesh, finish in self.placed_obstacles(frame):
            colors = np.tile(finish.color, (len(mesh.vertices), 1)) if mesh.colors is None else mesh.colors
            parts.append(ShadedMesh(mesh.vertices, mesh.triangles, colors, 0.0, 1.0, mesh.normals, finish))
        for mesh in self.panes(self.view_at(frame.time)):
            colors = np.tile(GLASS.color, (len(mesh.vertices), 1))
            parts.append(ShadedMesh(mesh.vertices, mesh.triangles, colors, 0.0, 1.0, mesh.normals, GLASS))
        return parts

    def panes(self, view: View) -> list[TriangleMesh]:
        """The walls behind the material that it comes near to, as panes of glass."""
        walls = surroundings.walls(self.run.scene)
        if walls is None:
            return []
        return glass_panes(np.array(walls.lower), np.array(walls.upper), self.framed, self.up, view.position)

    def _grains(self, part: "ColoredMesh", finish: Finish, stage: Stage) -> ShadedMesh:
        """Several grains for each point."""
        made = scattered(part.vertices, part.colors, part.spacing, finish.variation, GRAINS, MOST_GRAINS)
        normals = outward(part.vertices, stage.around, self.up)[made.point]
        none = np.empty((0, 3), np.int32)
        return ShadedMesh(made.x, none, made.colors, 0.0, 1.0, normals, finish, sizes=finish.grain * made.sizes)

    def stage(self, frame: Frame) -> Stage:
        """What lights a frame."""
        clouds = frame.of_kind("points")
        x = np.concatenate([np.empty((0, 3)), *(spatial(each["x"]) for each in clouds)])
        spacings = [point_spacing(self.run, each.declared) for each in clouds]
        volume = np.concatenate([np.empty(0), *(volumes(*pair) for pair in zip(clouds, spacings))])
        ground = None if self.ground is None else (self.up, self.ground)
        box = self.lower, self.upper
        around = occupancy(x, volume, self.solids, obstacle_poses(self.run, frame), box, ground)
        size = float(np.linalg.norm(self.upper - self.lower))
        fade = FADE[0] * size, FADE[1] * size
        return Stage(self.lights(), around, box, self.ground, self.soil, fade)

    def lights(self) -> Floats:
        """Unit vectors towards the lamp at the upper left behind the camera, a weak one at the right, one behind the
        scene, and upwards."""
        back = self.view.position - self.view.target
        back = back - (back @ self.up) * self.up
        back /= np.linalg.norm(back) or 1.0
        side = np.cross(self.up, back)
        towards = np.array(
            [
                1.1 * self.up + 0.7 * back - 0.75 * side,
                0.35 * self.up + 0.8 * back + 0.7 * side,
                0.45 * self.up - 0.9 * back + 0.55 * side,
                self.up,
            ]
        )
        return np.asarray(towards / np.linalg.norm(towards, axis=1)[:, None])

    def lamp_direction(self) -> Floats:
        """Towards the lamp."""
        return np.asarray(self.lights()[0])

    def placed_obstacles(self, frame: Frame) -> list[tuple[TriangleMesh, Finish]]:
        """The obstacles' meshes in a frame, in parts of one finish; colours of textures are those of the vertices."""
        poses = obstacle_poses(self.run, frame)
        rigid = [part for part in self.painted_obstacles if not part[0].deforms(poses)]
        found = [(placed(mesh, *solid.place(poses)), finish) for solid, mesh, finish in rigid]
        for solid, mesh in zip(self.solids, self.meshes):
            if solid.deforms(poses):
                shaped = placed(solid.shaped(mesh, poses), *solid.place(poses))
                found += painted(shaped, solid.name, solid.finish)
        return found

    @cached_property
    def painted_obstacles(self) -> list[tuple[Solid, TriangleMesh, Finish]]:
        """The obstacles' meshes in their own frames, in parts of one finish."""
        pairs = zip(self.solids, self.meshes)
        return [(solid, *part) for solid, mesh in pairs for part in painted(mesh, solid.name, solid.finish)]

    def material_parts(self, frame: Frame) -> list[tuple["ColoredMesh", Finish]]:
        """The points or skin of each population, separate for each material unless coloured by a quantity."""
        color = self.options.color
        values = {} if color is None else quantities(frame, color)
        parts: list[tuple[ColoredMesh, Finish]] = []
        for population in opaque_first(frame.of_kind("points", "mesh"), self.finishes):
            colored = population.declared.name in values
            mesh, kinds = self._seen(frame, population, values.get(population.declared.name))
            if colored:
                parts.append((mesh, PLAIN))
            elif len(mesh.triangles) == 0 and len(kinds) == len(population["x"]):
                parts += self._separate_points(population, mesh, kinds)
            else:
                parts += (
                    (varied(part, population, finish), finish)
                    for part, finish in _by_material(mesh, kinds, self.finishes)
                )
        if color is None and has_whitewater(self.run, [frame.number]):
            parts.append((self._whitewater(frame.number), WHITE))
        return parts

    def _whitewater(self, number: int) -> "ColoredMesh":
        """Spray, foam and bubbles as small points."""
        points = whitewater(self.run, number)
        spacing = DROP * max(point_spacing(self.run, each) for each in drawable(self.run.populations))
        colors, normals = np.tile(WHITE.color, (len(points.x), 1)), np.tile(self.up, (len(points.x), 1))
        return ColoredMesh(points.x, np.empty((0, 3), np.int32), normals, colors, spacing, points.v)

    def _separate_points(
        self, population: PopulationArrays, mesh: "ColoredMesh", kinds: NDArray[Any]
    ) -> Iterator[tuple["ColoredMesh", Finish]]:
        """The points of each material in their own colours."""
        for index in np.unique(kinds):
            members, finish = kinds == index, self.finishes[int(index) % len(self.finishes)]
            colors = grains_of(population, members, finish)
            yield (
                ColoredMesh(
                    mesh.vertices[members],
                    mesh.triangles,
                    mesh.normals[members],
                    colors,
                    mesh.spacing,
                    None if mesh.v is None else mesh.v[members],
                ),
                finish,
            )

    def _seen(
        self, frame: Frame, population: PopulationArrays, values: Floats | None
    ) -> tuple["ColoredMesh", NDArray[Any]]:
        """A population as a mesh or as points, coloured by `values` if given, and the material of each vertex."""
        smooth = self.options.show == "surface" and not is_granular(self.run.scene, population.declared, self.finishes)
        if population.declared.kind == "points" and smooth:
            return self._skin(frame, population.declared, values is not None)
        x = spatial(population["x"])
        kinds = population["material"] if "material" in population else np.zeros(len(x), int)
        colors = np.zeros((len(x), 3)) if values is None else self.mapped(values)
        spacing = point_spacing(self.run, population.declared)
        v = spatial(population["v"]) if "v" in population else None
        if population.declared.kind == "mesh":
            mesh = sharp_mesh(self.run, population)
            v = None if v is None else v[mesh.origin]
            shown = ColoredMesh(mesh.vertices, mesh.triangles, mesh.normals, colors[mesh.origin], spacing, v)
            return shown, kinds[mesh.origin]
        normals = np.tile(self.up, (len(x), 1))
        return ColoredMesh(x, np.empty((0, 3), np.int32), normals, colors, spacing, v), kinds

    def _skin(self, frame: Frame, population: Population, colored: bool) -> tuple["ColoredMesh", NDArray[Any]]:
        name = (self.options.color or "").rpartition("/")[2]
        made = skin_of(self.run, frame, population, (self.options.quality,), (name,) if colored else ())
        kinds = np.round(made.fields.get("material", np.zeros(len(made.vertices)))).astype(int)
        colors = self.mapped(made.fields[name]) if colored else np.zeros((len(made.vertices), 3))
        vertices, normals = made.vertices.astype(np.float64), made.normals.astype(np.float64)
        v = made.fields["v"].astype(np.float64) if "v" in made.fields else None
        return ColoredMesh(vertices, made.triangles, normals, colors, point_spacing(self.run, population), v), kinds

    def mapped(self, values: NDArray[Any]) -> Floats:
        """Colours of a quantity, linear RGB."""
        return map_colors(values, self.limits or (0.0, 1.0), MAP)

    def ground_mesh(self) -> tuple[TriangleMesh, Floats]:
        """The ground, fine near the scene, and the fraction by which each vertex fades into the background."""
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
    spacing: float
    """distance between the points it represents [m]"""
    v: Floats | None = None
    """velocity of each vertex [m/s], if it is known"""


def varied(mesh: ColoredMesh, population: PopulationArrays, finish: Finish) -> ColoredMesh:
    """The mesh with the colours of the points its vertices are nearest to, where those differ."""
    is_painted = PAINT.name in population
    if (finish.variation == 0 and not is_painted) or len(mesh.vertices) == 0 or population.declared.kind != "points":
        return mesh
    colors: Any = np.array(finish.color)
    if is_painted:
        colors = covered_by(nearest_paint(population, mesh.vertices), finish)
    if finish.variation == 0:
        return replace(mesh, colors=colors)
    from scipy.spatial import cKDTree

    _, nearest = cKDTree(spatial(population["x"])).query(mesh.vertices, k=4, workers=-1)
    near = np.minimum(nearest, len(population["x"]) - 1)
    ids = np.asarray(population["id"] if "id" in population else np.arange(len(population["x"])))
    brightness = shades(ids, finish.variation)[near].mean(axis=1)
    return replace(mesh, colors=brightness[:, None] * colors)


def _by_material(
    mesh: ColoredMesh, kinds: NDArray[Any], finishes: list[Finish]
) -> Iterator[tuple[ColoredMesh, Finish]]:
    """The mesh in pieces of one material each, in its colour, cut along the borders; or the points of each material."""
    present = np.unique(kinds)
    if len(mesh.triangles) == 0:
        for kind in present:
            finish = finishes[int(kind) % len(finishes)]
            yield _picked(mesh, mesh.triangles, np.flatnonzero(kinds == kind), finish), finish
        return
    triangles, of_triangle = mesh.triangles, np.full(len(mesh.triangles), present[0] if len(present) else 0)
    if len(present) > 1:
        arrays = [mesh.vertices, mesh.normals, *(() if mesh.v is None else (mesh.v,))]
        triangles, of_triangle, grown = cut_at_borders(mesh.triangles, kinds, arrays)
        mesh = replace(mesh, vertices=grown[0], normals=grown[1], v=None if mesh.v is None else grown[2])
    for kind in np.unique(of_triangle):
        finish = finishes[int(kind) % len(finishes)]
        own = triangles[of_triangle == kind]
        yield _picked(mesh, own, np.unique(own), finish), finish


def _picked(mesh: ColoredMesh, triangles: NDArray[np.int32], used: NDArray[Any], finish: Finish) -> ColoredMesh:
    """The used vertices and their triangles, in the colour of a material."""
    new = np.zeros(len(mesh.vertices), np.int32)
    new[used] = np.arange(len(used), dtype=np.int32)
    colors = np.tile(finish.color, (len(used), 1))
    v = None if mesh.v is None else mesh.v[used]
    return ColoredMesh(mesh.vertices[used], new[triangles], mesh.normals[used], colors, mesh.spacing, v)


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
    """A drawer for 3D points, with a camera that shows the whole run."""
    scene = run.scene
    up = up_axis(scene)
    lower, upper, shown = shown_box(run, up)
    ground = ground_height(scene, up)
    own = scene_view(scene) if options.camera == "scene" else None
    framed = outermost_points(run)
    pad = 0.5 * max(point_spacing(run, each) for each in drawable(run.populations))
    view = own or view_of_points(framed, up, options.width / options.height, pad, automatic_angle(scene))
    color_label = "" if options.color is None else label(run.populations, options.color)
    return SpaceDrawer(
        run, options, limits, view, lower, upper, up, ground, shown,
        [solid_mesh(solid) for solid in shown], material_finishes(scene),
        ground_finish(scene, ground_obstacle(scene, up)), background(scene), color_label,
        framed, None if own is None else scene,
    )  # fmt: skip


def shown_box(run: Run, up: Floats) -> tuple[Floats, Floats, list[Solid]]:
    """Corners of the box that pictures of a run hold [m], and the obstacles in it."""
    scene = run.scene
    lower, upper = point_bounds(run)
    pad = max(point_spacing(run, each) for each in drawable(run.populations))
    lower, upper = lower - pad, upper + pad
    shown = solids(scene, lower, upper, up)
    room = np.max(upper - lower)  # what stands further away than this does not widen the view
    least, most = lower - room, upper + room
    poses = poses_in_frames(run, range(len(run))[:: max(1, len(run) // 20)])
    for solid in shown:
        corners = np.clip(np.concatenate([solid.corners(each) for each in poses]), least, most)
        lower, upper = np.minimum(lower, corners.min(axis=0)), np.maximum(upper, corners.max(axis=0))
    return *_down_to(lower, upper, up, ground_height(scene, up)), shown
