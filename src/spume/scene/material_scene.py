"""What scenes of all methods with material points have in common."""

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from spume.materials.appearance import Appearance, merged
from spume.materials.law import Law, Parameters
from spume.materials.table import Material
from spume.scene import material_checks
from spume.scene.bodies import Body, Frames, Gravity, GravityKeyframes, ObstacleTable, Walls
from spume.scene.common import Scene
from spume.scene.emitter import Emitter
from spume.scene.force import ForceTable
from spume.scene.material import MaterialTable, resolve_materials
from spume.scene.measure import MeasureTable
from spume.scene.problems import Problem
from spume.scene.time_stepping import Time

STANDARD_GRAVITY = 9.81
"""Magnitude of the default gravity [m/s²]."""


def _look(material: Material) -> dict[str, Any]:
    return {} if material.look is None else {"look": material.look.model_dump(exclude_none=True)}


class MaterialScene(Scene):
    """Bodies, emitters and obstacles: the part common to the scenes of all methods with material points."""

    spacing_key: ClassVar[str] = "grid.cell"
    """The key on which the number of points depends."""
    walls_key: ClassVar[str] = "grid.walls"
    """The key of the walls."""
    dimension: Literal[2, 3] = Field(default=3, description="dimension; 2 is plane strain")
    gravity: Gravity | None = Field(
        default=None, description="gravity [m/s²], or keyframes { times, values }; 9.81 m/s² down the y axis if absent"
    )
    time: Time = Field(default=Time(), description="time stepping")
    body: tuple[Body, ...] = Field(default=(), description="bodies of material")
    emitter: tuple[Emitter, ...] = Field(default=(), description="sources of material")
    obstacle: tuple[ObstacleTable, ...] = Field(default=(), description="solids in the way")
    force: tuple[ForceTable, ...] = Field(default=(), description="forces from outside")
    frames: Frames = Field(default=Frames(), description="what frames hold besides the state of the points")
    measure: tuple[MeasureTable, ...] = Field(default=(), description="what is measured at every frame")
    material: dict[str, MaterialTable] = Field(default={}, description="materials of this scene, by name")
    laws: tuple[str, ...] = Field(
        default=(), description="Python files with laws of your own, beside the scene file; their code is run"
    )

    @property
    def has_painted_points(self) -> bool:
        """Whether points of a body carry colours of their own."""
        return any(body.colors == "mesh" for body in self.body)

    @property
    @abstractmethod
    def cell(self) -> float:
        """Edge length of a cell, or the spacing of the points of a method without a grid [m]."""

    @property
    @abstractmethod
    def walls(self) -> Walls | None:
        """Box that points do not leave."""

    @property
    @abstractmethod
    def affine(self) -> bool:
        """Whether points carry an affine velocity."""

    @field_validator("laws", mode="before")
    @classmethod
    def _one_file(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    def notes(self) -> list[str]:
        """Parameters of the scene's own materials that its method does not use, and what laws without branches cost."""
        known = self._resolution[0]
        own = [(known[name], table.entry()) for name, table in self.material.items() if name in known]
        return [
            f"material.{each.name}: method '{self.method}' does not use {' and '.join(unused)}; 'continuum-foam' does"
            for each, entry in own
            if (unused := [key for key in self.unused_parameters(each.law) if key in entry])
        ] + material_checks.branch_notes(self)

    def unused_parameters(self, law: Law) -> tuple[str, ...]:
        """Parameters of a law that the method does not use."""
        return () if law.traits.tearing is None else law.traits.tearing.parameters

    @cached_property
    def _resolution(self) -> tuple[dict[str, Material], list[Problem]]:
        bodies = ((f"body.{k}.material", body.material) for k, body in enumerate(self.body))
        emitters = ((f"emitter.{k}.material", emitter.material) for k, emitter in enumerate(self.emitter))
        return resolve_materials(self.material, [*bodies, *emitters], self.dimension, self.laws)

    @cached_property
    def _used_materials(self) -> dict[str, Material]:
        used = {body.material for body in self.body} | {emitter.material for emitter in self.emitter}
        return {name: material for name, material in self._resolution[0].items() if name in used}

    @cached_property
    def _seen_materials(self) -> dict[tuple[str, Appearance | None], Material]:
        """The used materials, and after them those of bodies and emitters that look different."""
        tables: tuple[Body | Emitter, ...] = (*self.body, *self.emitter)
        plain = {table.material for table in tables if table.look is None}
        found: dict[tuple[str, Appearance | None], Material] = {
            (name, None): material for name, material in self._used_materials.items() if name in plain
        }
        for k, table in enumerate(tables):
            is_new = table.look is not None and (table.material, table.look) not in found
            if not is_new or table.material not in self._used_materials:
                continue
            own = self._used_materials[table.material]
            name = f"{own.name} of {table.name or f'source {k}'}"
            look = merged(own.look, table.look)
            found[own.name, table.look] = replace(own, name=name, look=look, base=own.name)
        return found

    @property
    def materials(self) -> tuple[Material, ...]:
        """Law, parameters and look of the points, in the order in which they count materials: the order of the file,
        then bodies and emitters with a look of their own."""
        return tuple(self._seen_materials.values())

    @property
    def material_laws(self) -> list[tuple[Law, Parameters]]:
        """Law and parameters of each of the `materials`."""
        return [(material.law, material.parameters) for material in self.materials]

    def material_index(self, name: str, look: Appearance | None = None) -> int:
        """Index in `materials` of the material `name`, for bodies with their own `look`."""
        return list(self._seen_materials).index((name, look))

    def species_of(self, material: str) -> str:
        """The species of bodies made of `material`; bodies of different species may overlap."""
        return "points"

    def holds(self, obstacle: ObstacleTable, species: str) -> bool:
        """Whether `obstacle` stops `species`."""
        return True

    @property
    def gravity_keyframes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times (k,) [s] and gravity at them (k, dimension) [m/s²]; constant gravity has one time."""
        if isinstance(self.gravity, GravityKeyframes):
            return np.array(self.gravity.times), np.array(self.gravity.values)
        down = (0.0, -STANDARD_GRAVITY, 0.0)[: self.dimension]
        return np.zeros(1), np.array([down if self.gravity is None else self.gravity])

    def gravity_at(self, time: float) -> NDArray[np.float64]:
        """Gravity at a time [m/s²], shape (dimension,)."""
        times, values = self.gravity_keyframes
        return np.array([np.interp(time, times, component) for component in values.T])

    @property
    def folder(self) -> Path:
        """The folder that relative names of mesh files refer to; names in a scene file become absolute on loading."""
        return Path()

    def resolved(self) -> dict[str, Any]:
        """The scene with the parameters of every material written out."""
        tables = super().resolved()
        tables["material"] = {
            material.name: {
                "law": material.law.family,
                **material.parameters.model_dump(mode="json"),
                **_look(material),
            }
            for material in self._used_materials.values()
        }
        return tables
