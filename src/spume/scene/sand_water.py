"""Scenes of porous sand and water: those of the material point method with the additions of [Tampubolon17]."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from spume.materials import LAWS
from spume.scene.bodies import ObstacleTable
from spume.scene.common import NotNegative, Positive
from spume.scene.force import ForceTable
from spume.scene.mpm import Grid, MpmScene
from spume.scene.problems import Problem, shown
from spume.scene.time_stepping import Time
from spume.tables import Number, Table


class QuadraticGrid(Grid):
    """The background grid, which is sparse and unbounded except for the walls."""

    spline: Literal["cubic", "quadratic"] = Field(default="quadratic", description="B-spline of the nodes")


class SelectiveObstacle(ObstacleTable):
    """A solid that material cannot enter, or a sieve; it is not moved by the material."""

    holds: Literal["all", "sand", "water", "none"] = Field(
        default="all",
        description="what cannot pass: 'all', 'sand' (a sieve), 'water' (a membrane), or 'none' (a drained region)",
    )
    drained: bool = Field(
        default=False,
        strict=True,
        description="whether water drains into the solid: it passes the surface without resistance and is removed two "
        "cells behind it, or at once if the obstacle holds 'none'",
    )


class SelectiveForce(ForceTable):
    """A force on the sand, the water or both in a shape."""

    acts_on: Literal["all", "sand", "water"] = Field(default="all", description="what it acts on")

    @property
    def species(self) -> str:
        """Name of the species it acts on, or "all"."""
        return self.acts_on


Pair = Annotated[tuple[Number, Number], Field(description="degree of saturation [1], fraction of the cohesion [1]")]
Curve = Annotated[
    Annotated[Literal["constant", "linear", "robert-soga"], Tag("name")] | Annotated[tuple[Pair, ...], Tag("pairs")],
    Discriminator(lambda value: "name" if isinstance(value, str) else "pairs"),
]


class MixtureTable(Table):
    """Interaction of sand and water. Drag needs one of drag_coefficient and hydraulic_conductivity."""

    drag_coefficient: NotNegative | None = Field(
        default=None, description="c_E of [Tampubolon17] eqs. 20 and 21 [1/(kg s)], which depends on the cell size"
    )
    hydraulic_conductivity: Positive | None = Field(
        default=None, description="k̂ of saturated sand [m/s], gravel 1e-2, sand 1e-3 to 1e-4; for any cell size"
    )
    porosity: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        default=0.4, description="n, volume of the pores over bulk volume [1]"
    )
    water_density: Positive = Field(default=1000.0, description="density of the water in the pores itself [kg/m³]")
    buoyancy: Literal["none", "archimedes", "paper"] = Field(
        default="none",
        description="pressure force of the water on the solids: 'none', Archimedes' law by coupling = 'pore-pressure' "
        "('archimedes'), or the water's part of the mass, as printed in [Tampubolon17] section 5.3 ('paper')",
    )
    coupling: Literal["drag", "pore-pressure"] | None = Field(
        default=None,
        description="what the water's pressure follows: the motion of the water alone ('drag', [Tampubolon17]), so "
        "that sand displaces no water, or the motion of both phases by their porosity ('pore-pressure', "
        "[BandaraSoga15]), with buoyancy and consolidation; 'drag' if absent, 'pore-pressure' with buoyancy = "
        "'archimedes'",
    )
    saturation: Literal["overlap", "degree"] = Field(
        default="overlap",
        description="saturation of a node: 1 where both species have mass ([Tampubolon17] eq. 24), or the degree of "
        "saturation of the pores",
    )
    cohesion_curve: Curve = Field(
        default="linear",
        description="cohesion against saturation: 'constant', 'linear' to zero ([Tampubolon17] eq. 25), 'robert-soga', "
        "the suction of moist sand, by default largest at a saturation of 0.4, or pairs of saturation and fraction of "
        "the cohesion, with straight lines between them; the last two need saturation = 'degree'",
    )
    retention_exponent: Annotated[float, Field(strict=True, gt=2, le=20)] | None = Field(
        default=None,
        description="n of van Genuchten's water retention curve, for 'robert-soga' [1]; 2.24 if absent",
    )


def coupling_of(table: MixtureTable) -> Literal["drag", "pore-pressure"]:
    """The coupling of a mixture; Archimedes' buoyancy needs water that sand displaces."""
    if table.coupling is not None:
        return table.coupling
    return "pore-pressure" if table.buoyancy == "archimedes" else "drag"


class MixtureTime(Time):
    """Time stepping."""

    integrator: Literal["explicit", "semi-implicit"] = Field(  # those of a mixture
        default="explicit",
        description="symplectic Euler with implicit drag, whose steps must not exceed the time of elastic waves "
        "through a cell, or backward Euler by Newton's method and MINRES ([Tampubolon17]), whose steps follow the "
        "speed of the points; see [semi_implicit]",
    )


class SandWaterScene(MpmScene):
    """A scene of sand and water: bodies of a fluid are water, all others sand."""

    # a literal type cannot be narrowed to another: this scene is an MpmScene in everything but its method
    method: Literal["sand-water"] = Field(description="name of the simulation method")  # type: ignore[assignment]
    grid: QuadraticGrid = Field(description="the background grid")
    time: MixtureTime = Field(default=MixtureTime(), description="time stepping")
    obstacle: tuple[SelectiveObstacle, ...] = Field(default=(), description="solids in the way")
    force: tuple[SelectiveForce, ...] = Field(default=(), description="forces from outside")
    mixture: MixtureTable = Field(description="what sand and water do to each other")

    def species_of(self, material: str) -> str:
        """Bodies of a fluid are "water", all others "sand"; "" if the file of their law has not been loaded."""
        law = self._resolution[0][material].law
        if law.family not in LAWS:
            return ""
        return "sand" if law.traits.fluid is None else "water"

    def holds(self, obstacle: ObstacleTable, species: str) -> bool:
        """Whether `obstacle` stops `species`."""
        if not isinstance(obstacle, SelectiveObstacle):
            return True
        return obstacle.holds in ("all", species) and not (obstacle.drained and species == "water")

    def problems(self) -> list[Problem]:
        """Problems of the scene as a whole."""
        return [*super().problems(), *self._mixture_problems()]

    def _mixture_problems(self) -> Iterator[Problem]:
        table = self.mixture
        if (table.drag_coefficient is None) == (table.hydraulic_conductivity is None):
            found = "neither {} nor {}" if table.drag_coefficient is None else "both {} and {}"
            keys = found.format("drag_coefficient", "hydraulic_conductivity")
            yield Problem("mixture", f"has {keys}: the drag needs one of them")
        for k, obstacle in enumerate(self.obstacle):
            if obstacle.drained and obstacle.holds == "water":
                yield Problem(f"obstacle.{k}.drained", "is true with holds = 'water': water passes a drained surface")
            if obstacle.holds == "none" and not obstacle.drained:
                yield Problem(f"obstacle.{k}.holds", "is 'none' without drained = true: it would have no effect")
        if self.implicit is not None:
            yield Problem("implicit", "is given in a scene of sand and water, whose solver is that of [semi_implicit]")
        for k, each in enumerate(self.body):
            if each.surface == "embedded":
                yield Problem(f"body.{k}.surface", "is 'embedded': scenes of sand and water embed no surfaces")
        if table.coupling == "drag" and table.buoyancy == "archimedes":
            yield Problem(
                "mixture.buoyancy",
                "is 'archimedes' with coupling 'drag', in which sand displaces no water and the water would carry too "
                "much or the sand too little: drop the coupling, or set it to 'pore-pressure' and drop the buoyancy",
            )
        if table.coupling == "pore-pressure" and table.buoyancy != "none":
            yield Problem(
                "mixture.buoyancy",
                f"is '{table.buoyancy}' with coupling 'pore-pressure', which includes buoyancy: drop it",
            )
        curve = table.cohesion_curve
        if (curve == "robert-soga" or not isinstance(curve, str)) and table.saturation != "degree":
            name = f"'{curve}'" if isinstance(curve, str) else "of pairs"
            yield Problem(
                "mixture.saturation",
                f"is '{table.saturation}' with cohesion_curve {name}: that curve needs saturation = 'degree'",
            )
        if table.retention_exponent is not None and curve != "robert-soga":
            yield Problem(
                "mixture.retention_exponent",
                f"is {table.retention_exponent:g}, but only cohesion_curve = 'robert-soga' uses it: drop one of them",
            )
        if not isinstance(curve, str):
            yield from _curve_problems(curve)


def _curve_problems(pairs: tuple[tuple[float, float], ...]) -> Iterator[Problem]:
    path = "mixture.cohesion_curve"
    if len(pairs) < 2:
        yield Problem(path, f"is {shown(pairs)}: a curve needs at least two pairs of saturation and fraction")
    if any(later[0] <= earlier[0] for earlier, later in pairwise(pairs)):
        yield Problem(path, f"is {shown(pairs)}: each saturation should be greater than the one before")
    for k, pair in enumerate(pairs):
        if not all(0.0 <= value <= 1.0 for value in pair):
            yield Problem(f"{path}.{k}", f"is {shown(pair)}: saturation and fraction should be between 0 and 1")
