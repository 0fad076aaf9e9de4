"""A run as shown by the viewers: frames as coloured points or skins, obstacles with their poses, series to plot."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError, SceneError
from spume.frames.extent import point_bounds, point_spacing, quantity_limits, run_dimension
from spume.frames.populations import PopulationArrays
from spume.frames.poses import ObstaclePoses, obstacle_poses
from spume.frames.quantities import DRAWN, drawable, has_quantity, quantity, quantity_names, spatial
from spume.frames.reader import BodySkin, Frame, Run, open_run
from spume.look.embedded_edges import sharp_mesh
from spume.look.finish import Finish, material_finishes
from spume.look.grains import colors_of, is_granular
from spume.look.obstacles import Solid, ground_height, solid_mesh, solids
from spume.look.pictures.camera import up_axis
from spume.look.pictures.lettering import MAP, map_colors
from spume.look.surface.files import skin_of
from spume.look.triangle_mesh import TriangleMesh
from spume.scene.overrides import Changes
from spume.srgb import to_srgb

Show = Literal["points", "surface"]
MATERIAL = "material"
INK = (20, 20, 20)
"""Colour of lines."""
LINE_WIDTH = 0.3
"""Width of lines, relative to the distance between their points."""
PLOTTED = ("time", "kinetic_energy", "elastic_energy", "volume", "points")
"""Diagnostics listed first."""


class Shown(NamedTuple):
    """What is shown of a population in a frame."""

    vertices: NDArray[np.float32]
    triangles: NDArray[np.int32]
    """empty for points"""
    normals: NDArray[np.float32]
    values: dict[str, NDArray[Any]]
    """quantities at the vertices, those that the population has"""
    spacing: float
    """distance between the points it represents [m]"""
    plain: tuple[int, int, int] | None = None
    """colour of vertices without a quantity and a material, sRGB; None: that of the first material"""
    tints: NDArray[np.uint8] | None = None
    """colours of the points themselves where those of a material vary or are wet, sRGB, shape (n, 3)"""

    def parts(self, finishes: list[Finish]) -> list[tuple[NDArray[np.int32], Finish]]:
        """The triangles of each material, with its finish."""
        if len(finishes) == 1 or MATERIAL not in self.values:
            return [(self.triangles, finishes[0])]
        kinds = np.clip(np.round(self.values[MATERIAL][self.triangles[:, 0]]).astype(int), 0, len(finishes) - 1)
        return [(self.triangles[kinds == kind], finishes[kind]) for kind in np.unique(kinds)]


@dataclass
class WatchedRun:
    """A run that may still be in progress."""

    run: Run
    names: list[str]
    """quantities to colour by"""
    spatial: bool
    solids: list[Solid]
    meshes: list[TriangleMesh]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    up: NDArray[np.float64]
    ground: float | None
    finishes: list[Finish]
    """of the materials"""
    limits: dict[str, tuple[float, float]]
    is_empty: bool
    """whether there was nothing to show when it was opened, as before an emitter starts"""

    @property
    def size(self) -> float:
        """Largest side of the box of the points [m]."""
        return float(np.max(self.upper - self.lower))

    @property
    def colors(self) -> NDArray[np.uint8]:
        """Colours of the materials, sRGB."""
        return to_srgb(np.array([each.color for each in self.finishes]))

    def refresh(self) -> bool:
        """Look for new frames; returns whether there are any."""
        try:
            newer = open_run(self.run.path, self.run.skin, self.run.looks)
        except CacheError:
            return False
        grown = len(newer) != len(self.run) or newer.complete != self.run.complete
        if grown:
            self.run = newer
            self.limits.clear()
        return grown

    def frame(self, number: int, show: Show, names: list[str]) -> dict[str, Shown]:
        """The populations of a frame by name, each with those of the quantities `names` that it has."""
        return self.shown(self.run[number], show, names)

    def snapshot(self, file: Path) -> Frame:
        """A state that is not one of the frames."""
        return self.run.frame_in(file)

    def poses(self, frame: Frame) -> ObstaclePoses:
        """The poses of the obstacles in `frame`."""
        return obstacle_poses(self.run, frame)

    def shown(self, frame: Frame, show: Show, names: list[str]) -> dict[str, Shown]:
        """The populations of `frame` by name, each with those of the quantities `names` that it has."""
        return {each.declared.name: self._shown(frame, each, show, names) for each in frame.of_kind(*DRAWN)}

    def _shown(self, frame: Frame, population: PopulationArrays, show: Show, names: list[str]) -> Shown:
        spacing = point_spacing(self.run, population.declared)
        own = tuple(name for name in names if has_quantity(population, name))
        smooth = show == "surface" and not is_granular(self.run.scene, population.declared, self.finishes)
        if smooth and self.spatial and population.declared.kind == "points":
            made = skin_of(self.run, frame, population.declared, ("fine", "preview"), own)
            carried: dict[str, NDArray[Any]] = {name: made.fields[name] for name in own}
            return Shown(made.vertices, made.triangles, made.normals, carried, spacing)
        values = {name: quantity(population, name) for name in own}
        if population.declared.kind == "mesh":
            mesh = sharp_mesh(self.run, population)
            values = {name: each[mesh.origin] for name, each in values.items()}
            return Shown(
                mesh.vertices.astype(np.float32), mesh.triangles, mesh.normals.astype(np.float32), values, spacing
            )
        x = spatial(population["x"])
        triangles, normals = np.empty((0, 3), np.int32), np.empty((0, 3), np.float32)
        if population.declared.kind == "lines":
            ribbons, triangles = _ribbons(x, np.asarray(population["lines"]), LINE_WIDTH * spacing)
            values = {name: np.repeat(each, 2) for name, each in values.items()}
            normals = np.tile(np.array([0.0, 0.0, 1.0], np.float32), (len(ribbons), 1))
            return Shown(ribbons.astype(np.float32), triangles, normals, values, spacing, INK)
        tints = _tints(population, self.finishes) if population.declared.kind == "points" else None
        return Shown(x.astype(np.float32), triangles, normals, values, spacing, tints=tints)

    def color(self, shown: Shown, name: str) -> NDArray[np.uint8]:
        """Colours of a quantity, sRGB, shape (n, 3). Materials, and populations without the quantity, keep their own
        colours."""
        if name != MATERIAL and name in shown.values:
            return to_srgb(map_colors(shown.values[name], self.range(name), MAP))
        if shown.tints is not None:
            return shown.tints
        if shown.plain is not None and MATERIAL not in shown.values:
            return np.tile(np.array(shown.plain, np.uint8), (len(shown.vertices), 1))
        kinds = np.round(shown.values.get(MATERIAL, np.zeros(len(shown.vertices)))).astype(int)
        return np.asarray(self.colors[np.clip(kinds, 0, len(self.colors) - 1)])

    def range(self, name: str) -> tuple[float, float]:
        """The quantity's limits in the whole run."""
        if name not in self.limits:
            self.limits[name] = quantity_limits(self.run, name)
        return self.limits[name]

    def series(self) -> dict[str, NDArray[np.float64]]:
        """The diagnostics that are single numbers, by name, with "time" [s]; absent values are NaN."""
        entries = self.run.diagnostics
        names = [key for key, value in entries[-1].items() if isinstance(value, int | float) and key != "frame"]
        names.sort(key=lambda name: PLOTTED.index(name) if name in PLOTTED else len(PLOTTED))
        plain = {name: [entry.get(name) for entry in entries] for name in names}
        return {name: np.array([np.nan if v is None else v for v in values], float) for name, values in plain.items()}


def _tints(population: PopulationArrays, finishes: list[Finish]) -> NDArray[np.uint8] | None:
    """Colours of points by their finishes, sRGB; None where each material has one colour."""
    if MATERIAL not in population or not any(each.variation or each.grain for each in finishes):
        return None
    return to_srgb(colors_of(population, np.asarray(population[MATERIAL]), finishes))


def _ribbons(x: NDArray[Any], lines: NDArray[Any], width: float) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """2D lines as bands of the given width [m], just in front of filled cells: two vertices for each point,
    shape (2n, 3), and triangles."""
    ahead, behind = np.arange(len(x)) + 1, np.arange(len(x)) - 1
    ahead[lines[1:] - 1] -= 1
    behind[lines[:-1]] += 1
    along = x[ahead] - x[behind]
    across = np.stack([-along[:, 1], along[:, 0], 0 * along[:, 0]], axis=1)
    across *= 0.5 * width / np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
    front = np.array([0.0, 0.0, 0.2 * width])
    vertices = np.stack([x + across + front, x - across + front], axis=1).reshape(-1, 3)
    first = np.delete(np.arange(len(x)), lines[1:] - 1)
    a, b, c, d = 2 * first, 2 * first + 1, 2 * first + 2, 2 * first + 3
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([b, d, c], axis=1)])
    return vertices, triangles.astype(np.int32)


def watch(folder: Path, skin: BodySkin = "embedded", looks: Changes = ()) -> WatchedRun:
    """The run in `folder`, ready to be shown. Raises SceneError for runs that are not made of points."""
    run = open_run(folder, skin, looks)
    if len(run) == 0:
        raise SceneError(f"'{folder}' has no frames yet: wait for the first one")
    if not drawable(run.populations):
        raise SceneError(
            f"'{folder}' is a run of '{run.method}', which the viewer does not show; 'spume render' draws it"
        )
    scene = run.scene
    up = up_axis(scene)
    lower, upper = point_bounds(run)
    flat = run_dimension(run) == 2
    shown = [] if flat else solids(scene, lower, upper, up)
    names = quantity_names(run.populations)
    if "pressure" not in names and any(has_quantity(each, "pressure") for each in run[0].of_kind(*DRAWN)):
        names.append("pressure")
    names = [MATERIAL, *(name for name in names if name != MATERIAL)] if MATERIAL in names else names
    meshes = [solid_mesh(solid) for solid in shown]
    ground = ground_height(scene, up)
    is_empty = not any(len(each["x"]) for each in run[len(run) - 1].of_kind(*DRAWN))
    return WatchedRun(
        run, names, not flat, shown, meshes, lower, upper, up, ground, material_finishes(scene), {}, is_empty
    )
