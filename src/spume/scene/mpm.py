"""Scenes of the material point method."""

from abc import abstractmethod
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Discriminator, Field, Tag, field_validator

from spume.geometry.motion import Motion
from spume.geometry.obstacles.contact import Contact
from spume.geometry.shapes import Shape
from spume.materials.appearance import Appearance, merged
from spume.materials.law import Law
from spume.materials.table import Material
from spume.scene import material_checks, solver_checks
from spume.scene.common import Count, NotNegative, Positive, Scene, Tolerance
from spume.scene.emitter import Emitter, Fill, Spin, spelling
from spume.scene.force import ForceTable
from spume.scene.material import MaterialTable, resolve_materials
from spume.scene.measure import MeasureTable
from spume.scene.problems import Problem
from spume.scene.semi_implicit import SemiImplicitTable, semi_implicit_problems
from spume.scene.stretching import Resampling, StretchTearing, stretching_problems
from spume.tables import Number, Table, Vector

STANDARD_GRAVITY = 9.81
"""Magnitude of the default gravity [m/s²]."""

PAPER_RATE = 5000.0
"""Default damping rate [1/s]: 5 % in a step of 1e-5 s, as in [Yue15]."""


class GravityKeyframes(Table):
    """Gravity that changes in time: linear between the times, constant before the first and after the last."""

    times: tuple[Number, ...] = Field(min_length=1, description="times, increasing [s]")
    values: tuple[Vector, ...] = Field(min_length=1, description="gravity at each time [m/s²]")


Gravity = Annotated[
    Annotated[Vector, Tag("list")] | Annotated[GravityKeyframes, Tag("table")],
    Discriminator(lambda value: "list" if spelling(value) in ("list", "number", "word") else "table"),
]
TimeStep = Annotated[
    Annotated[Literal["auto"], Tag("word")] | Annotated[Positive, Tag("number")],
    Discriminator(lambda value: "word" if spelling(value) == "word" else "number"),
]


class Walls(Table):
    """A box that points do not leave."""

    lower: Vector = Field(description="corner with the smallest coordinates [m]")
    upper: Vector = Field(description="corner with the largest coordinates [m]")
    contact: Contact = Field(default="slip", description="what the walls do to the material that touches them")
    friction: NotNegative = Field(default=0.0, description="Coulomb coefficient of contact 'separate' [1]")


class Grid(Table):
    """The background grid, which is sparse and unbounded except for the walls."""

    cell: Positive = Field(description="edge length of a cell [m]")
    spline: Literal["cubic", "quadratic"] = Field(default="cubic", description="B-spline of the nodes")
    walls: Walls | None = Field(default=None, description="box that points do not leave")
    frame: Literal["updated", "total"] = Field(
        default="updated",
        description="the grid is fixed in space, or ('total') deforms with the one solid body of the scene, which then "
        "has no memory of its path and never breaks numerically",
    )


class Time(Table):
    """Time stepping."""

    integrator: Literal["explicit", "implicit", "semi-implicit"] = Field(
        default="explicit",
        description="symplectic Euler, whose steps must not exceed the time of elastic waves through a cell, or "
        "backward Euler, whose steps only follow the speed of the points: 'implicit' by ADMM or Newton's method, see "
        "[implicit], 'semi-implicit' by Newton's method and MINRES as in [Tampubolon17], see [semi_implicit]",
    )
    dt: TimeStep = Field(
        default="auto",
        description="time step [s], or 'auto': the largest stable one, or with integrator 'implicit' the time in which "
        "points move by `courant` cells",
    )
    courant: Annotated[float, Field(strict=True, gt=0, le=1)] = Field(
        default=0.5, description="fraction of a cell that waves and points may cross in a step when dt is 'auto' [1]"
    )
    growth: Annotated[float, Field(strict=True, gt=1)] = Field(
        default=1.1, description="factor by which an 'auto' step may exceed the one before [1]"
    )
    deformation: Literal["first-order", "second-order"] | None = Field(
        default=None,
        description="deformation of a step from the velocity gradient L: I + Δt L, as in [Yue15] and always with "
        "integrator 'implicit', or + ½ (Δt L)²; the latter if absent",
    )
    consistency: Annotated[bool, Field(strict=True)] = Field(
        default=True,
        description="whether deformation gradients of elastic bodies are led back to the positions of their points, "
        "in explicit and implicit steps of method 'mpm' with a transfer other than 'flip'; false is the step of the "
        "papers",
    )
    max_dt: Positive | None = Field(
        default=None,
        description="largest 'auto' time step [s]; with integrator 'implicit' that of a frame if absent. Implicit "
        "steps slow a spin ω at the rate ω² Δt",
    )

    @property
    def names_integrator(self) -> bool:
        """Whether the scene states its integrator. Tables of other solvers then have no effect, so that a change of the
        integrator is enough to compare two of them; without a stated integrator they are a mistake."""
        return "integrator" in self.model_fields_set

    @property
    def deformation_of_step(self) -> Literal["first-order", "second-order"]:
        """`deformation`, or its default for the integrator."""
        if self.deformation is not None:
            return self.deformation
        return "second-order" if self.integrator == "explicit" else "first-order"


class Implicit(Table):
    """Solver of implicit steps."""

    solver: Literal["admm", "newton"] = Field(
        default="admm",
        description="alternating direction method of multipliers of [Fang19], or Newton's method, which reaches small "
        "residuals in fewer but longer iterations",
    )
    iterations: Count = Field(default=60, description="most iterations of a step")
    tolerance: Tolerance = Field(
        default=1e-3, description="iterations stop when both relative residuals are below this [1]"
    )
    accepted_residual: Positive = Field(
        default=0.2,
        description="a step whose residuals are larger than this after all iterations is repeated with half the "
        "length; above half of this the next 'auto' step is shorter [1]",
    )
    rho: Positive = Field(default=0.3, description="penalty in units of the weights, ADMM only [1]")
    balancing: Literal["none", "residual"] = Field(
        default="none",
        description="whether rho changes during a step to keep primal and dual residual within a factor of ten",
    )
    weights: Literal["stiffness", "plain-stiffness", "bulk-modulus", "unit", "ruiz"] = Field(
        default="stiffness",
        description="weight of each point in ADMM: its current stiffness (less if it can flow or yields, more where "
        "its energy is concave), the same as it is in [Fang19], its bulk modulus at rest, 1 Pa, or by Ruiz "
        "equilibration of the linearised step",
    )
    start: Literal["acceleration", "free"] = Field(
        default="acceleration",
        description="velocities that iterations start from: those of the last step's acceleration, or those without "
        "stress, ADMM only",
    )
    over_relaxation: Annotated[float, Field(strict=True, ge=1, lt=2)] = Field(
        default=1.0,
        description="α of ADMM: 1 is plain; up to 1.6 may need fewer iterations; it ends where the "
        "iterations stall [1]",
    )
    anderson_memory: Annotated[int, Field(strict=True, ge=0, le=10)] = Field(
        default=2,
        description="earlier iterations of ADMM that Anderson acceleration combines with the latest one; 0 for none",
    )
    linear_iterations: Count = Field(default=200, description="maximum number of iterations of each linear solve")
    linear_tolerance: Tolerance = Field(
        default=0.2, description="relative residual at which the linear solves of ADMM stop [1]"
    )


class Damping(Table):
    """Damping by round trips between points and grid that keep only the rigid motion around points."""

    rpic_iterations: Annotated[int, Field(strict=True, ge=0)] = Field(
        default=0,
        description="round trips before each step; one is a viscosity h²/(8 Δt) with quadratic and h²/(6 Δt) with "
        "cubic splines",
    )
    viscosity: NotNegative = Field(
        default=0.0, description="kinematic viscosity by as many, possibly partial, round trips as it needs [m²/s]"
    )


class Transfer(Table):
    """Transfer of velocities between points and grid."""

    scheme: Literal["flip", "apic", "pic", "aflip"] = Field(
        default="apic",
        description="transfer scheme; with 'flip', points drift from their volume at steps as long as 'auto' ones; "
        "'aflip' is APIC whose damping is a rate per time, not per step",
    )
    flip: Annotated[float, Field(strict=True, ge=0, le=1)] | None = Field(
        default=None, description="fraction of FLIP in the blend with PIC [1]; only with scheme 'flip', 0.95 if absent"
    )
    damping_rate: NotNegative | None = Field(
        default=None,
        description="decay rate of the velocities that the grid does not resolve [1/s]; with scheme 'aflip', "
        f"{PAPER_RATE:g} if absent, or with 'flip' instead of a blend per step",
    )

    @property
    def blend(self) -> float:
        """Fraction of FLIP in the velocity update: 0 is pure PIC [1]."""
        if self.scheme != "flip":
            return 0.0
        return 0.95 if self.flip is None else self.flip

    @property
    def rate(self) -> float | None:
        """The damping rate [1/s]; none for schemes that damp by step."""
        return PAPER_RATE if self.scheme == "aflip" and self.damping_rate is None else self.damping_rate

    @property
    def affine(self) -> bool:
        """Whether points carry an affine velocity."""
        return self.scheme in ("apic", "aflip")


class Frames(Table):
    """What frames hold besides the state of the points."""

    fields: tuple[Literal["stress", "pressure", "strain_rate", "dissipation_rate"], ...] = Field(
        default=(),
        description="fields of the points that frames hold in addition: Cauchy stress [Pa], pressure [Pa], rate of "
        "strain [1/s], power dissipated per volume [W/m³]; the rates are those of the last step",
    )

    @field_validator("fields")
    @classmethod
    def _once(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value))


class GridFrames(Frames):
    """What frames of methods with a grid hold besides the state of the points."""

    energy: bool = Field(
        default=False,
        description="whether each frame has a budget of the energy: what gravity, obstacles, flow, contacts and the "
        "method itself added or took; 'spume plot --energy' draws it",
    )


class VelocityWave(Table):
    """An initial velocity that varies in space as a sine: velocity · sin(wave_vector · x)."""

    velocity: Vector = Field(description="amplitude [m/s]")
    wave_vector: Vector = Field(description="direction and 2π / wavelength of the wave [rad/m]")


class Body(Table):
    """Material that fills a shape at its start time."""

    name: str = Field(default="", description="a name for messages and pictures")
    material: str = Field(description="name of a material of this file or of the table of materials")
    shape: Shape = Field(description="the shape that is filled")
    velocity: Vector | None = Field(default=None, description="initial velocity [m/s]; at rest if absent")
    spin: Spin | None = Field(
        default=None, description="initial angular velocity about the centroid [rad/s]; a vector, in 2D a number"
    )
    wave: VelocityWave | None = Field(default=None, description="sine wave of velocity added to the motion")
    start: NotNegative = Field(default=0.0, description="time at which the body appears [s]")
    fill: Fill = Field(default=Fill(), description="how the shape is filled with points")
    surface: Literal["reconstructed", "embedded"] = Field(
        default="reconstructed",
        description="what pictures and exports show: a skin around the points of each frame, or a fine mesh of the "
        "initial shape that travels with the material and keeps its topology (3D only)",
    )
    volume: Literal["exact", "grid"] = Field(
        default="exact", description="rest volume of points: their share of the shape, or [Yue15]'s estimate by grid"
    )
    look: Appearance | None = Field(default=None, description="how it looks, where that differs from its material")
    colors: Literal["material", "mesh"] = Field(
        default="material",
        description="colours of its points: that of the material, or those that the mesh of its shape has at the "
        "nearest place of its surface, from textures, materials or vertices, which travel with the points",
    )


class ObstacleTable(Table):
    """A solid that material cannot enter; it is not moved by the material."""

    name: str = Field(default="", description="a name for messages and pictures")
    shape: Shape = Field(description="the solid")
    contact: Contact = Field(default="separate", description="what touching material may do")
    friction: NotNegative = Field(default=0.0, description="Coulomb coefficient of contact 'separate' [1]")
    motion: Motion | None = Field(default=None, description="how the solid moves; at rest if absent")
    follows: str | None = Field(
        default=None,
        description="name of an emitter or another obstacle that it moves with, such as the nozzle that it is the tip "
        "of; its own motion comes first",
    )
    look: Appearance | None = Field(
        default=None, description="how the solid looks in pictures; a neutral grey if absent"
    )


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


class MpmScene(MaterialScene):
    """A scene of the material point method."""

    method: Literal["mpm"] = Field(description="name of the simulation method")
    grid: Grid = Field(description="the background grid")
    implicit: Implicit | None = Field(
        default=None, description="how implicit steps are solved; without effect if another integrator is stated"
    )
    semi_implicit: SemiImplicitTable | None = Field(
        default=None, description="how semi-implicit steps are solved; without effect if another integrator is stated"
    )
    resampling: Resampling | None = Field(
        default=None, description="filling of voids where material is stretched; none: points stay as they are"
    )
    tearing: StretchTearing | None = Field(
        default=None, description="tearing of material that is stretched too far; none: it never tears"
    )
    transfer: Transfer = Field(default=Transfer(), description="velocities between points and grid")
    damping: Damping = Field(default=Damping(), description="damping of the velocities")
    frames: GridFrames = Field(default=GridFrames(), description="what frames hold besides the state of the points")

    @property
    def cell(self) -> float:
        """Edge length of a cell [m]."""
        return self.grid.cell

    @property
    def walls(self) -> Walls | None:
        """Box that points do not leave."""
        return self.grid.walls

    @property
    def affine(self) -> bool:
        """Whether points carry an affine velocity."""
        return self.transfer.affine

    @property
    def embedded_bodies(self) -> tuple[int, ...]:
        """Indices of the bodies with an embedded surface."""
        return tuple(k for k, body in enumerate(self.body) if body.surface == "embedded")

    @property
    def leads_elastic_bodies(self) -> bool:
        """Whether deformation gradients of elastic bodies are led back to the positions of their points, see
        `mpm/consistency.py`. With FLIP the positions are noisy themselves."""
        return (
            self.method == "mpm"
            and self.time.consistency
            and self.grid.frame == "updated"
            and self.time.integrator != "semi-implicit"
            and self.transfer.scheme != "flip"
            and any(self.materials[self.material_index(body.material, body.look)].law.is_elastic for body in self.body)
        )

    @property
    def implicit_settings(self) -> Implicit:
        """The table [implicit], or its defaults."""
        return Implicit() if self.implicit is None else self.implicit

    def notes(self) -> list[str]:
        """Parameters without effect, and tables of solvers that are not used."""
        integrator = self.time.integrator
        tables = {"implicit": self.implicit, "semi-implicit": self.semi_implicit}
        unused = [name for name, table in tables.items() if table is not None and name != integrator]
        return super().notes() + [
            f"[{name.replace('-', '_')}] has no effect: the integrator is '{integrator}', not '{name}'"
            for name in unused
        ]

    def problems(self) -> list[Problem]:
        """Problems of the scene as a whole."""
        return [
            *self._resolution[1],
            *material_checks.problems(self),
            *solver_checks.solver_problems(self),
            *semi_implicit_problems(self),
            *stretching_problems(self),
        ]

    def coarser(self) -> tuple[Scene, str]:
        """The scene with cells twice as large."""
        cell = 2 * self.grid.cell
        less, work = 2**self.dimension, 2 ** (self.dimension + 1)
        gain = f"1/{less} of the points, about 1/{work} of the time"
        sentence = f"cells of {cell:g} m instead of {self.grid.cell:g} m: {gain}"
        tables = self.resolved()
        return Scene(**{**tables, "grid": {**tables["grid"], "cell": cell}}), sentence
