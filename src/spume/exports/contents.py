"""The contents of an export in any format: points with their fields, skins, meshes, obstacles."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.exports.formats import What
from spume.fields import PAINT, Field, Population
from spume.frames.extent import point_bounds, point_spacing, run_dimension
from spume.frames.names import Names, identifier
from spume.frames.populations import PopulationArrays
from spume.frames.poses import ObstaclePoses, poses_in_frames
from spume.frames.quantities import DRAWN, drawable, has_quantity, quantity, spatial
from spume.frames.reader import Frame, Run
from spume.look.finish import Finish, ground_finish, material_finishes
from spume.look.grains import DROP, WHITE, colors_of, is_granular, nearest_paint
from spume.look.ground import ground_square
from spume.look.obstacles import (
    Solid,
    ground_height,
    ground_obstacle,
    solid_mesh,
    solids,
)
from spume.look.pictures.camera import View, scene_view, up_axis
from spume.look.pictures.framing import view_of_run
from spume.look.surface.files import skin_of, skinned_populations
from spume.look.triangle_mesh import TriangleMesh, vertex_normals
from spume.runs.folder import RunFolder
from spume.scene.surroundings import materials, materials_of
from spume.whitewater.making import has_whitewater, whitewater, whitewater_file

FieldNames = str | Iterable[str] | None
"""Names of fields, as one text with commas or one by one; None for the defaults of the format."""
ASPECT = 16 / 9
"""Of the camera's picture."""
FORMAT = 8
"""Incremented whenever existing exports must be made again."""
WHITEWATER = "whitewater"
"""Name of spray, foam and bubbles."""
SHAPE = ("x", "triangles", "lines")
"""Fields that define the geometry."""


class Piece(NamedTuple):
    """A population of a frame in the form other programs expect: points, a mesh, or lines."""

    name: str
    x: NDArray[Any]
    """positions of points or vertices [m], shape (n, 3)"""
    triangles: NDArray[np.int32] | None
    """vertices of each triangle, shape (t, 3); None for points"""
    normals: NDArray[Any] | None
    """unit normals at the vertices of a mesh, shape (n, 3)"""
    fields: dict[str, NDArray[Any]]
    """by name; vectors have three components"""
    spacing: float
    """distance between points [m]"""
    dimension: int
    lines: NDArray[np.int64] | None = None
    """where each of m curves begins among the points and the last one ends, shape (m + 1,); None for other pieces"""
    kinds: NDArray[np.int64] = np.zeros(0, np.int64)
    """material of each point or vertex, shape (n,)"""
    materials: tuple[int, ...] = ()
    """materials that the points or vertices can have in any frame"""
    colors: NDArray[np.float64] | None = None
    """linear RGB of each point, shape (n, 3); None for lines, and for meshes unless points carry colours"""

    def take(self, index: Any) -> "Piece":
        """The points that `index` selects."""
        fields = {name: values[index] for name, values in self.fields.items()}
        colors = None if self.colors is None else self.colors[index]
        return self._replace(x=self.x[index], fields=fields, kinds=self.kinds[index], colors=colors)


@dataclass(frozen=True)
class Contents:
    """The part of a run that is exported."""

    run: Run
    numbers: list[int]
    what: What
    fields: tuple[str, ...] | None = None
    """names of the fields to write; None for the defaults of the format"""
    keeps_skins: bool = False
    """whether skins are written to disk, so that an export that was stopped does not make them again"""

    @property
    def name(self) -> str:
        """A name for objects in other programs: letters, digits and underscores."""
        return identifier(self.run.name)

    @property
    def up(self) -> NDArray[np.float64]:
        """The axis that is up."""
        return up_axis(self.run.scene)

    @property
    def materials(self) -> list[tuple[str, Finish]]:
        """Name and finish of each material."""
        scene = self.run.scene
        names = [material.name for material in materials(scene)] or ["material"]
        white = [(WHITEWATER, WHITE)] if self.has_whitewater else []
        return [*zip(names, material_finishes(scene)), *white]

    @property
    def material_names(self) -> list[str]:
        """The names of the materials as identifiers that differ."""
        names = Names()
        return [names.add(name) for name, _ in self.materials]

    @property
    def piece_names(self) -> list[str]:
        """The names of the pieces of every frame: a population has its own name, a skin is called "surface", followed
        by the population's name if there are several."""
        listed = drawable(self.run.populations)
        skins = [each for each in listed if self._is_skinned(each)]
        own = [
            ("surface" if len(skins) == 1 else f"surface_{each.name}") if each in skins else each.name
            for each in listed
        ]
        return [*own, WHITEWATER] if self.has_whitewater else own

    @cached_property
    def has_paint(self) -> bool:
        """Whether points carry colours of their own; every piece then has colours."""
        return any(field.name == PAINT.name for each in self.run.populations for field in each.fields)

    @cached_property
    def has_whitewater(self) -> bool:
        """Whether spray, foam and bubbles have been made for these frames."""
        return has_whitewater(self.run, self.numbers)

    def population_files(self, file: Path) -> list[Path]:
        """`file`, or one beside it for each population if there are several, such as points_sand.vtkhdf."""
        names = self.piece_names
        return [file] if len(names) == 1 else [file.with_name(f"{file.stem}_{name}{file.suffix}") for name in names]

    @property
    def skinned(self) -> list[str]:
        """The names of the populations that are exported as skins."""
        return [each.name for each in drawable(self.run.populations) if self._is_skinned(each)]

    def _is_skinned(self, population: Population) -> bool:
        """Whether a population is exported as a skin; sand is exported as grains."""
        if self.what != "surface" or population.kind != "points" or population.dimension != 3:
            return False
        return not is_granular(self.run.scene, population, material_finishes(self.run.scene))

    def time(self, number: int) -> float:
        """Time of a frame [s]."""
        return float(self.run.diagnostics[number]["time"])

    def pieces(self, number: int, tensors: bool = True) -> list[Piece]:
        """The populations of a frame with the chosen fields, in the order of `piece_names`."""
        frame = self.run[number]
        if self.fields is not None:
            self._check_fields(frame)
        populations = frame.of_kind(*DRAWN)
        found = [self._piece(frame, name, each, tensors) for name, each in zip(self.piece_names, populations)]
        return [*found, self._whitewater(number)] if self.has_whitewater else found

    def _whitewater(self, number: int) -> Piece:
        """Spray, foam and bubbles, as points of a material of their own."""
        points = whitewater(self.run, number)
        last = len(self.materials) - 1
        spacing = DROP * max(point_spacing(self.run, each) for each in drawable(self.run.populations))
        fields = {name: values for name, values in points.arrays().items() if name != "x"}
        kinds, colors = np.full(len(points.x), last, np.int64), np.tile(WHITE.color, (len(points.x), 1))
        return Piece(
            WHITEWATER, points.x, None, None, fields, spacing, 3, kinds=kinds, materials=(last,), colors=colors
        )

    def _check_fields(self, frame: Frame) -> None:
        populations = frame.of_kind(*DRAWN)
        for name in self.fields or ():
            if not any(has_quantity(each, name) for each in populations):
                quantity(populations[0], name)  # says what there is instead

    def _piece(self, frame: Frame, name: str, population: PopulationArrays, tensors: bool) -> Piece:
        declared = population.declared
        spacing, dimension = point_spacing(self.run, declared), declared.dimension or 3
        possible = materials_of(self.run.scene, declared.name) or (0,)
        if self._is_skinned(declared):
            own = tuple(each for each in self.fields or () if has_quantity(population, each))
            made = skin_of(self.run, frame, declared, ("fine",), own, self.keeps_skins)
            piece = Piece(name, made.vertices, made.triangles, made.normals, dict(made.fields), spacing, dimension)
            kinds = np.round(made.fields.get("material", np.full(len(made.vertices), possible[0]))).astype(np.int64)
            return self._painted(piece._replace(kinds=kinds, materials=possible), population)
        fields = {each: _values(population, each) for each in self._names(population, tensors)}
        x = spatial(population["x"])
        kinds = np.asarray(population["material"] if "material" in population else np.full(len(x), possible[0]))
        piece = Piece(name, x, None, None, fields, spacing, dimension, kinds=kinds.astype(np.int64), materials=possible)
        if declared.kind == "points":
            return piece._replace(colors=colors_of(population, kinds, material_finishes(self.run.scene)))
        if declared.kind == "lines":
            return piece._replace(lines=np.asarray(population["lines"], dtype=np.int64))
        triangles = np.asarray(population["triangles"], dtype=np.int32)
        return self._painted(piece._replace(triangles=triangles, normals=vertex_normals(x, triangles)), population)

    def _painted(self, mesh: Piece, population: PopulationArrays) -> Piece:
        """The mesh with the colours of the points its vertices are nearest to, or of its materials; as it is if no
        points carry colours."""
        if not self.has_paint:
            return mesh
        finishes = material_finishes(self.run.scene)
        colors = np.array([finishes[int(kind) % len(finishes)].color for kind in mesh.kinds]).reshape(-1, 3)
        if PAINT.name in population and len(population["x"]):
            paint = nearest_paint(population, mesh.x)
            colors = paint[:, :3] + (1.0 - paint[:, 3:]) * colors
        return mesh._replace(colors=colors)

    def _names(self, population: PopulationArrays, tensors: bool) -> list[str]:
        """The fields of a population that are written; without `tensors` only scalars and the velocity."""
        if self.fields is not None:
            return [name for name in self.fields if has_quantity(population, name)]
        declared = [field for field in population.declared.fields if field.name in population]
        return sorted(field.name for field in declared if field.name not in SHAPE and (tensors or _is_plain(field)))

    def obstacles(self) -> Iterator[tuple[Solid, TriangleMesh]]:
        """The obstacles in their own frames; none for 2D runs."""
        if run_dimension(self.run) == 3:
            for solid in solids(self.run.scene, *point_bounds(self.run), self.up):
                yield solid, solid_mesh(solid)

    @cached_property
    def poses(self) -> list[ObstaclePoses]:
        """The poses of the obstacles in each frame."""
        return poses_in_frames(self.run, self.numbers)

    def ground(self) -> TriangleMesh | None:
        """A square, ten times as wide as the box of the points, if there is a ground; none for 2D runs."""
        height = ground_height(self.run.scene, self.up)
        if height is None or run_dimension(self.run) != 3:
            return None
        lower, upper = self.box
        reach = 5 * float(np.max(upper - lower)) or 1.0
        return ground_square(self.up, height, 0.5 * (lower + upper), reach)

    @property
    def ground_finish(self) -> Finish:
        """The finish of the ground."""
        return ground_finish(self.run.scene, ground_obstacle(self.run.scene, self.up))

    @property
    def box(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Corners of a box around the points of all frames [m]."""
        lower, upper = point_bounds(self.run)
        return np.asarray(spatial(lower[None])[0]), np.asarray(spatial(upper[None])[0])

    def views(self) -> dict[int, View]:
        """The camera at each frame: the scene's own, or one that the material fills; none for 2D runs."""
        if run_dimension(self.run) != 3:
            return {}
        scene = self.run.scene
        if scene_view(scene) is None:
            return dict.fromkeys(self.numbers, view_of_run(self.run, self.up, ASPECT))
        found = {number: scene_view(scene, self.time(number)) for number in self.numbers}
        return {number: view for number, view in found.items() if view is not None}

    def recipe(self, *more: Any) -> str:
        """A digest of everything that an export depends on, including the modification times of the frames."""
        stamps = [RunFolder(self.run.path).frame(number).stat().st_mtime_ns for number in self.numbers]
        about = [FORMAT, self.numbers, stamps, self.what, self.fields, *more]
        if self.has_whitewater:
            about.append([whitewater_file(self.run, number).stat().st_mtime_ns for number in self.numbers])
        if self.run.skin == "reconstructed":
            about.append(self.run.skin)
        if self.run.looks:
            about.append(self.run.looks)
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()


def _is_plain(field: Field) -> bool:
    return field.shape == () or field.name == "v"


def _values(population: PopulationArrays, name: str) -> NDArray[Any]:
    if name not in population:
        return quantity(population, name)
    values = population[name]
    return spatial(values) if values.ndim == 2 and values.shape[1] == 2 else values


def contents(run: Run, numbers: list[int], what: What, fields: FieldNames) -> Contents:
    """The part of a run to export. Raises SceneError for runs that hold no points, or no skin."""
    if not drawable(run.populations):
        raise SceneError(f"'{run.path}' is a run of the method '{run.method}', which has no points to export")
    if what == "surface":
        skinned_populations(run)
    listed = fields.split(",") if isinstance(fields, str) else fields
    names = None if listed is None else tuple(name.strip() for name in listed if name.strip())
    return Contents(run, numbers, what, names)


def default_place(run: Run, name: str, suffix: str = "") -> Path:
    """The default file or folder of an export."""
    skin = "-reconstructed" if run.skin == "reconstructed" else ""
    return run.output("export", f"{name}{skin}{suffix}")
