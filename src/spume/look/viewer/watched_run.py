"""A run as the viewers show it: frames as coloured points or skins, obstacles with their places, series to plot."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError, SceneError
from spume.frames.extent import point_bounds, quantity_limits
from spume.frames.quantities import quantity, quantity_names, spatial
from spume.frames.reader import Frame, Run, open_run
from spume.look.appearance import appearances, to_srgb
from spume.look.obstacles import Solid, TriangleMesh, ground_height, solid_mesh, solids
from spume.look.pictures.camera import up_axis
from spume.look.pictures.lettering import map_colors
from spume.look.surface.files import make_skin, read_skin

Show = Literal["points", "surface"]
MATERIAL = "material"
MAP = "viridis"
PLOTTED = ("time", "kinetic_energy", "elastic_energy", "volume", "points")
"""Diagnostics that stand first."""


class Shown(NamedTuple):
    """What is seen of a frame."""

    vertices: NDArray[np.float32]
    triangles: NDArray[np.int32]
    """empty for points"""
    normals: NDArray[np.float32]
    values: dict[str, NDArray[Any]]
    """quantities at the vertices"""


@dataclass
class WatchedRun:
    """A run that may still be going on."""

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
    colors: NDArray[np.uint8]
    """of the materials, sRGB"""
    limits: dict[str, tuple[float, float]]

    @property
    def cell(self) -> float:
        """Edge of a cell of the grid [m]."""
        scene: Any = self.run.scene
        return float(scene.grid.cell)

    def refresh(self) -> bool:
        """Look for frames that were written since; returns whether there are any."""
        try:
            newer = open_run(self.run.path)
        except CacheError:
            return False
        grown = len(newer) != len(self.run) or newer.complete != self.run.complete
        if grown:
            self.run = newer
            self.limits.clear()
        return grown

    def frame(self, number: int, show: Show, names: list[str]) -> Shown:
        """A frame with the quantities `names`."""
        frame = self.run[number]
        if show == "surface" and self.spatial:
            return self._skin(frame, names)
        x = spatial(frame["x"]).astype(np.float32)
        nothing = np.empty((0, 3))
        values = {name: quantity(frame, name) for name in names}
        return Shown(x, nothing.astype(np.int32), nothing.astype(np.float32), values)

    def _skin(self, frame: Frame, names: list[str]) -> Shown:
        made = read_skin(self.run.path, frame.number) or read_skin(self.run.path, frame.number, "preview")
        if made is None or set(names) - set(made.fields):
            everything = np.ones(len(frame["x"]), dtype=bool)
            made = make_skin(frame, everything, self.cell, "preview", tuple(names))
        return Shown(made.vertices, made.triangles, made.normals, {name: made.fields[name] for name in names})

    def color(self, values: NDArray[Any], name: str) -> NDArray[np.uint8]:
        """Colours of a quantity, sRGB, shape (n, 3); materials have their own."""
        if name == MATERIAL:
            return np.asarray(self.colors[np.clip(np.round(values).astype(int), 0, len(self.colors) - 1)])
        return to_srgb(map_colors(values, self.range(name), MAP))

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


def watch(folder: Path) -> WatchedRun:
    """The run in `folder`, ready to be shown. Raises SceneError for runs that are not made of points."""
    run = open_run(folder)
    if len(run) == 0:
        raise SceneError(f"'{folder}' has no frames yet: wait for the first one")
    if "x" not in run[0]:
        raise SceneError(
            f"'{folder}' is a run of '{run.method}', which the viewer does not show; 'spume render' draws it"
        )
    scene: Any = run.scene
    up = up_axis(scene)
    lower, upper = point_bounds(run)
    flat = getattr(scene, "dimension", 3) == 2
    shown = [] if flat else solids(scene, lower, upper, up)
    looks = appearances([material.name for material in getattr(scene, "materials", ())] or ["material"])
    colors = to_srgb(np.array([each.color for each in looks]))
    names = quantity_names(run.fields)
    names = [MATERIAL, *(name for name in names if name != MATERIAL)] if MATERIAL in names else names
    meshes = [solid_mesh(solid) for solid in shown]
    ground = ground_height(scene, up)
    return WatchedRun(run, names, not flat, shown, meshes, lower, upper, up, ground, colors, {})
