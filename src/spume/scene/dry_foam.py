"""Scenes of the two-dimensional dry foam."""

from typing import Annotated, Any, Literal

from pydantic import Field

from spume.errors import SceneError
from spume.geometry.shapes import Shape
from spume.geometry.shapes.parts import check_dimension
from spume.scene.common import Count, NotNegative, Positive, Scene
from spume.scene.problems import Problem
from spume.tables import Number, Table


class FoamTable(Table):
    """The bubbles and their films at the start."""

    cells: Annotated[int, Field(strict=True, ge=2, le=10**12)] = Field(description="number of bubbles")
    boundary: Literal["periodic", "free", "box", "channel"] = Field(
        default="periodic",
        description="a periodic box; a free cluster surrounded by the atmosphere; a box with four walls, on which "
        "films slide; a channel between two walls, periodic along them",
    )
    aspect: Positive = Field(default=1.0, description="width over height of a box, or of a period of a channel [1]")
    seeds: Literal["random", "poisson-disk", "hexagonal"] = Field(
        default="random", description="arrangement of the Voronoi seeds; 'hexagonal' for a free cluster only"
    )
    cell_area: Positive = Field(default=1.0, description="mean area of a bubble [m²]")
    polydispersity: Annotated[float, Field(strict=True, ge=0, le=100)] | None = Field(
        default=None, description="standard deviation of the areas over their mean [1]; Voronoi areas if absent"
    )
    shape: Shape | None = Field(
        default=None, description="outline of a free cluster, scaled to the area of the bubbles; a disc if absent"
    )
    tension: Positive = Field(default=1.0, description="film tension T, twice the surface tension [N]")
    start: Literal["equilibrium", "voronoi"] = Field(
        default="equilibrium", description="whether frame 0 is in equilibrium or shows the bare Voronoi diagram"
    )


class EquilibriumTable(Table):
    """The search for equilibria, and the thresholds of topological changes."""

    solver: Literal["newton", "gauss-seidel"] = Field(
        default="newton", description="steps of the whole foam, or of one vertex after another [DryFoam], eq. 11"
    )
    tolerance: Positive = Field(
        default=1e-9, description="largest net tension at a vertex over T, and largest relative error of an area [1]"
    )
    flip_length: Positive = Field(
        default=0.1,
        description="length of a film, over the root of the smaller area beside it, below which it changes neighbours "
        "(T1) if its ends meet [1]",
    )
    t_dist: Positive | None = Field(
        default=None,
        description="length of a film, over the root of the mean area, below which it changes neighbours in any case, "
        "T_dist of [DryFoam], eq. 2, there 0.01 to 0.25 [1]; none if absent",
    )
    t_area: Positive | None = Field(
        default=None,
        description="area of a three-sided bubble, over the mean area, below which it vanishes, T_area of [DryFoam], "
        "eq. 3, there 0.01 to 0.25 [1]; if absent, bubbles vanish when their gas is gone",
    )


class CoarseningTable(Table):
    """Diffusion of gas through the films."""

    diffusion: Positive = Field(description="gas through a film per time, length and pressure difference, K [m²/(N s)]")
    scheme: Literal["adaptive", "unit"] = Field(
        default="adaptive", description="steps to the next event, or unit time steps of von Neumann's law [DryFoam]"
    )
    event_tolerance: Positive = Field(
        default=0.005, description="accuracy of the times of T1 and T2 events, in mean areas over K T [1]"
    )
    until_cells: Count = Field(default=1, description="number of bubbles at which coarsening stops")


class DeformationTable(Table):
    """Quasi-static deformation of the box, or of the edge of a free cluster."""

    kind: Literal["shear", "extension"] = Field(default="shear", description="simple shear, or extension at equal area")
    rate: Number = Field(description="strain per time [1/s]")
    amplitude: Positive | None = Field(
        default=None, description="strain at which the deformation reverses, for cyclic shear [1]; monotonic if absent"
    )
    increment: Positive = Field(default=0.01, description="largest strain between two equilibria [1]")


class Collapse(Table):
    """A bubble that is made to burst."""

    time: NotNegative = Field(description="when [s]")
    cell: Annotated[int, Field(strict=True, ge=0, le=10**12)] = Field(description="number of the bubble, from 0")


class DryFoamScene(Scene):
    """A scene of the vertex model of a dry foam."""

    method: Literal["dry-foam"] = Field(description="name of the simulation method")
    dimension: Literal[2] = Field(default=2, description="dimension: the model is plane")
    foam: FoamTable = Field(description="the bubbles and their films")
    equilibrium: EquilibriumTable = Field(default=EquilibriumTable(), description="the search for equilibria")
    coarsening: CoarseningTable | None = Field(default=None, description="diffusion of gas; none if absent")
    deformation: DeformationTable | None = Field(default=None, description="imposed deformation; none if absent")
    collapse: tuple[Collapse, ...] = Field(default=(), description="bubbles made to burst")

    def problems(self) -> list[Problem]:
        """Problems of the scene as a whole."""
        found = []
        boundary = self.foam.boundary
        if boundary != "free" and self.foam.shape is not None:
            found.append(Problem("foam.shape", f"is given, but with the boundary '{boundary}' a foam fills its box"))
        if boundary != "free" and self.foam.seeds == "hexagonal":
            found.append(Problem("foam.seeds", "is 'hexagonal', which needs the boundary 'free'"))
        if boundary in ("periodic", "free") and self.foam.aspect != 1.0:
            found.append(Problem("foam.aspect", f"is for the boundaries 'box' and 'channel', not for '{boundary}'"))
        if boundary in ("box", "channel") and self.deformation is not None and self.deformation.kind == "shear":
            found.append(
                Problem("deformation.kind", "is 'shear', but films slide on walls: use 'extension' or another boundary")
            )
        if self.foam.shape is not None:
            try:
                check_dimension(self.foam.shape, 2)
            except SceneError as error:
                found.append(Problem("foam.shape", f"cannot be used: {error}"))
        bursting = [entry.cell for entry in self.collapse]
        for k, entry in enumerate(self.collapse):
            if entry.cell >= self.foam.cells:
                found.append(
                    Problem(
                        f"collapse.{k}.cell", f"is {entry.cell}: the bubbles are numbered 0 to {self.foam.cells - 1}"
                    )
                )
            if entry.cell in bursting[:k]:
                found.append(Problem(f"collapse.{k}.cell", f"is {entry.cell}, which has burst already"))
        if self.coarsening is not None and self.coarsening.scheme == "unit" and self.frame_rate > 1:
            found.append(Problem("frame_rate", "must be at most 1 with the unit scheme, whose steps take one second"))
        return found

    def coarser(self) -> tuple[Scene, str]:
        """The scene with a quarter of the bubbles."""
        cells = max(2, self.foam.cells // 4)
        tables: dict[str, Any] = self.resolved()
        tables["foam"] = {**tables["foam"], "cells": cells}
        tables["collapse"] = [entry for entry in tables.get("collapse", []) if entry["cell"] < cells]
        return Scene(**tables), f"{cells} bubbles instead of {self.foam.cells}"
