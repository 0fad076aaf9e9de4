"""Scenes of the material point method."""

from typing import Literal

from pydantic import Field

from spume.scene import material_checks, solver_checks
from spume.scene.bodies import Frames, Walls
from spume.scene.common import Positive, Scene
from spume.scene.material_scene import MaterialScene
from spume.scene.problems import Problem
from spume.scene.semi_implicit import SemiImplicitTable, semi_implicit_problems
from spume.scene.stretching import Resampling, StretchTearing, stretching_problems
from spume.scene.time_stepping import Damping, Implicit, Transfer
from spume.tables import Table


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


class GridFrames(Frames):
    """What frames of methods with a grid hold besides the state of the points."""

    energy: bool = Field(
        default=False,
        description="whether each frame has a budget of the energy: what gravity, obstacles, flow, contacts and the "
        "method itself added or took; 'spume plot --energy' draws it",
    )


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
