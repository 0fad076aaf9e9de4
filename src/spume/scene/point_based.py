"""Scenes of the point-based method."""

import math
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from spume.materials.law import Law
from spume.scene import material_checks
from spume.scene.bodies import Body, Walls
from spume.scene.common import Count, NotNegative, Positive, Scene
from spume.scene.emitter import Emitter, Fill
from spume.scene.material_scene import MaterialScene
from spume.scene.problems import Problem
from spume.tables import Table

EVERY = 1 << 20
"""More neighbours than a point can have."""


class PointFill(Fill):
    """How a shape is filled with points, one for each cube of the spacing."""

    points_per_axis: Literal[1] = Field(default=1, description="points along the spacing: always 1")


class PointBody(Body):
    """Material that fills a shape at its start time."""

    fill: PointFill = Field(default=PointFill(), description="how the shape is filled with points")
    volume: Literal["exact"] = Field(default="exact", description="rest volume of points: their share of the shape")


class PointEmitter(Emitter):
    """A source of material: a flow through a nozzle or the middle section of a shape, or copies of a shape one after
    another. The velocity of the emitter's motion is added to that of the released material."""

    fill: PointFill = Field(default=PointFill(), description="how released material is filled with points")


class Points(Table):
    """The points and their neighbourhoods."""

    spacing: Positive = Field(description="distance of the points at the start [m]")
    neighbours: Count | None = Field(
        default=None,
        description="most neighbours of a point, the nearest ones, besides points that have it among theirs; if "
        "absent, all within the radius with gradient 'reference', else 30",
    )
    radius: Annotated[float, Field(strict=True, gt=1, le=6)] | None = Field(
        default=None,
        description="radius of the kernels, in spacings; if absent, 2.2 with gradient 'reference', else 2.4 [1]",
    )
    skin: Annotated[float, Field(strict=True, ge=0, le=2)] = Field(
        default=0.4,
        description="how far neighbour lists reach beyond the radius, in spacings; 0 builds them in every step [1]",
    )
    least_neighbours: Count | None = Field(
        default=None, description="points with fewer neighbours are not deformed; 6 if absent, in 2D 4"
    )
    condition: Annotated[float, Field(strict=True, gt=1)] = Field(
        default=50.0, description="points whose fit has a larger condition number are not deformed [1]"
    )
    least_volume: Annotated[float, Field(strict=True, ge=0.05, lt=1)] = Field(
        default=0.1, description="points are not compressed below this fraction of their rest volume [1]"
    )
    walls: Walls | None = Field(default=None, description="box that points do not leave")


Gradient = Literal["reference", "corrected", "plain", "least-squares"]


class Forces(Table):
    """Forces between points."""

    stress: Literal["first-piola", "printed"] = Field(
        default="first-piola",
        description="stress in eq. (10) of [Gerszewski09]: U P Vᵀ, which has an energy, or U F P Vᵀ as printed",
    )
    gradient: Gradient | None = Field(
        default=None,
        description="weights of the forces: those of the fit to a reference that is renewed where material flows, "
        "which conserve energy; or anew in each step the gradient of the elastic kernel, corrected for the places of "
        "the neighbours or plain as in [Gerszewski09], or those of the fit; 'reference' if absent, with formulation "
        "'additive' 'corrected'",
    )
    hourglass: Annotated[float, Field(strict=True, ge=0, le=4)] = Field(
        default=1.0,
        description="stiffness against non-affine motion between neighbours, with gradient 'reference' [shear moduli]",
    )
    artificial_viscosity: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        default=0.3,
        description="viscosity against strain rates, in density × wave speed × spacing, with gradient 'reference': "
        "waves a few spacings long decay [1]",
    )
    pressure: NotNegative = Field(default=0.0, description="stiffness of the SPH pressure against crowding [Pa]")
    viscosity: NotNegative = Field(default=0.0, description="SPH viscosity [Pa s]")
    damping: Annotated[float, Field(strict=True, ge=0, le=2)] = Field(
        default=0.2, description="damping of non-affine motion between neighbours, which causes no deformation [1]"
    )


class PointTearing(Table):
    """Torn points, by the criterion of continuum foam, which resist compression only."""

    enabled: bool = Field(default=True, strict=True, description="whether material tears")
    threshold: Positive | None = Field(
        default=None,
        description="plasticity ‖dev Cp‖ beyond which a point is torn, for materials without a tear_threshold of their "
        "own; none: never [1]",
    )
    recovery_time: Positive | None = Field(
        default=None,
        description="time in which torn connections grow again, for materials without one of their own; none: never "
        "[s]",
    )


class PointResampling(Table):
    """Insertion of points where material is stretched, and merging of points that have come too close."""

    enabled: bool = Field(default=False, strict=True, description="whether points are inserted and merged")
    every: Count = Field(default=40, description="steps between two searches")
    coverage: Positive | None = Field(
        default=None,
        description="distance from every interior place to the nearest point, in spacings [1]; 1.25 times that of a "
        "cubic lattice if absent",
    )
    merge_distance: NotNegative = Field(
        default=0.3, description="points nearer than this are merged, in spacings; 0 merges none [1]"
    )


class PointBasedScene(MaterialScene):
    """A scene of the point-based method."""

    method: Literal["point-based"] = Field(description="name of the simulation method")
    points: Points = Field(description="the points and their neighbourhoods")
    forces: Forces = Field(default=Forces(), description="forces between points")
    formulation: Literal["composed", "rest-configuration", "additive"] = Field(
        default="composed",
        description="what the law sees of the motion: each step composed with those before, the deformation since the "
        "start, or a sum of strains; the last two for comparison",
    )
    tearing: PointTearing = Field(default=PointTearing(), description="tearing of material")
    resampling: PointResampling = Field(default=PointResampling(), description="insertion and merging of points")
    body: tuple[PointBody, ...] = Field(default=(), description="bodies of material")
    emitter: tuple[PointEmitter, ...] = Field(default=(), description="sources of material")

    @property
    def has_reference(self) -> bool:
        """Whether forces come from a reference that is renewed where material flows."""
        return self.formulation == "composed" and self.gradient == "reference"

    @property
    def gradient(self) -> Gradient:
        """Weights of the forces."""
        return self.forces.gradient or ("corrected" if self.formulation == "additive" else "reference")

    @property
    def radius(self) -> float:
        """Radius of the kernels [spacings]."""
        return self.points.radius or (2.2 if self.has_reference else 2.4)

    @property
    def neighbours(self) -> int:
        """Most neighbours of a point."""
        return self.points.neighbours or (EVERY if self.has_reference else 30)

    spacing_key: ClassVar[str] = "points.spacing"
    walls_key: ClassVar[str] = "points.walls"

    @property
    def cell(self) -> float:
        """Spacing of the lattice that shapes are filled on [m]."""
        return self.points.spacing

    @property
    def walls(self) -> Walls | None:
        """Box that points do not leave."""
        return self.points.walls

    @property
    def affine(self) -> bool:
        """No: points carry no affine velocity."""
        return False

    def problems(self) -> list[Problem]:
        """Problems of the scene as a whole."""
        return [
            *self._resolution[1],
            *material_checks.problems(self),
            *self._step_problems(),
            *self._formulation_problems(),
            *self._tearing_problems(),
            *self._resampling_problems(),
        ]

    def unused_parameters(self, law: Law) -> tuple[str, ...]:
        """None: this method uses the tearing and recovery parameters of laws."""
        return ()

    def _step_problems(self) -> Iterator[Problem]:
        if self.time.integrator != "explicit":
            yield Problem("time.integrator", f"is '{self.time.integrator}': point-based steps are 'explicit'")
        if self.time.deformation is not None:
            yield Problem("time.deformation", "is given, but the deformation of a step is a fit to the neighbours")
        if not self.time.consistency:
            yield Problem("time.consistency", "is false, but deformations are fitted to the positions already: drop it")
        nearest = 2 * self.dimension
        if self.neighbours < nearest:
            yield Problem(
                "points.neighbours",
                f"is {self.neighbours}: in {self.dimension}D it should be at least {nearest}, the number of "
                "nearest neighbours in the lattice that bodies start from",
            )
        for k, body in enumerate(self.body):
            if body.surface == "embedded":
                yield Problem(f"body.{k}.surface", "is 'embedded', which point-based scenes do not have: drop it")

    def _formulation_problems(self) -> Iterator[Problem]:
        if self.has_reference and self.forces.stress == "printed":
            yield Problem(
                "forces.stress", "is 'printed', which has no energy, with gradient 'reference': use another gradient"
            )
        if self.formulation == "additive" and self.gradient == "reference":
            yield Problem(
                "forces.gradient",
                "is 'reference' with formulation 'additive', which sums the strains of steps: use 'corrected', 'plain' "
                "or 'least-squares'",
            )
        if self.formulation == "composed":
            return
        several = [material.name for material in self.materials if len(material.law.branches) != 1]
        if several:
            yield Problem(
                "formulation",
                f"is '{self.formulation}', which needs laws with one elastic deformation: that of "
                f"'{several[0]}' has {'none' if not self._branches(several[0]) else 'several'}; use 'composed'",
            )
        if self.formulation == "rest-configuration" and (
            self.forces.stress != "first-piola" or self.forces.gradient == "plain"
        ):
            yield Problem(
                "forces",
                "has stress 'printed' or gradient 'plain' with formulation 'rest-configuration', whose forces are "
                "always the derivative of its energy: drop them",
            )
        late = bool(self.emitter) or any(body.start > 0 for body in self.body)
        if self.formulation == "rest-configuration" and late:
            yield Problem(
                "formulation", "is 'rest-configuration', which needs all material to be there at the start of the scene"
            )

    def _tearing_problems(self) -> Iterator[Problem]:
        if self.tearing.threshold is None:
            return
        for material in self.materials:
            if len(material.law.branches) != 1:
                yield Problem(
                    "tearing.threshold",
                    f"is given, but points of '{material.name}' have no plastic part that could be compared with it: "
                    "drop it, and give the other materials a tear_threshold of their own",
                )
        if self.formulation == "rest-configuration":
            yield Problem(
                "tearing.threshold", "is given, but a body held together by its rest configuration never tears"
            )

    def _resampling_problems(self) -> Iterator[Problem]:
        table = self.resampling
        lattice = math.sqrt(self.dimension) / 2
        coverage = 1.25 * lattice if table.coverage is None else table.coverage
        if coverage <= lattice:
            yield Problem(
                "resampling.coverage",
                f"is {coverage:g}: in {self.dimension}D it should be greater than {lattice:.4g}, or a lattice would "
                "have voids",
            )
        if table.merge_distance >= min(coverage, 1.0):
            yield Problem(
                "resampling.merge_distance",
                f"is {table.merge_distance:g}: it should be less than {min(coverage, 1.0):.4g}, or merging opens voids",
            )

    def _branches(self, name: str) -> int:
        return len(next(material for material in self.materials if material.name == name).law.branches)

    def coarser(self) -> tuple[Scene, str]:
        """The scene with twice the point spacing."""
        spacing = 2 * self.points.spacing
        less, work = 2**self.dimension, 2 ** (self.dimension + 1)
        gain = f"1/{less} of the points, about 1/{work} of the time"
        tables: dict[str, Any] = self.resolved()
        sentence = f"a spacing of {spacing:g} m instead of {self.points.spacing:g} m: {gain}"
        return Scene(**{**tables, "points": {**tables["points"], "spacing": spacing}}), sentence
