"""Scenes of porous sand and water: those of the material point method, and what [Tampubolon17] adds."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from spume.materials.water import WATER
from spume.scene.common import Count, NotNegative, Positive
from spume.scene.force import ForceTable
from spume.scene.mpm import Grid, MpmScene, ObstacleTable, Time
from spume.scene.problems import Problem
from spume.tables import Number, Table


class QuadraticGrid(Grid):
    """The background grid; it is sparse and has no bounds but the walls."""

    spline: Literal["cubic", "quadratic"] = Field(default="quadratic", description="B-spline of the nodes")


class SelectiveObstacle(ObstacleTable):
    """A solid that material cannot enter, or a sieve; it is not moved by the material."""

    holds: Literal["all", "sand", "water"] = Field(
        default="all", description="what cannot pass: 'all', or one of 'sand' (a sieve) and 'water' (a membrane)"
    )


class SelectiveForce(ForceTable):
    """A force on the sand, the water or both in a shape."""

    acts_on: Literal["all", "sand", "water"] = Field(default="all", description="what it acts on")


class MixtureTable(Table):
    """What sand and water do to each other. Drag needs one of drag_coefficient and hydraulic_conductivity."""

    drag_coefficient: NotNegative | None = Field(
        default=None, description="c_E of [Tampubolon17] eqs. 20 and 21 [1/(kg s)]; it is tied to the size of the cells"
    )
    hydraulic_conductivity: Positive | None = Field(
        default=None, description="k̂ of saturated sand [m/s], gravel 1e-2, sand 1e-3 to 1e-4; for any size of the cells"
    )
    porosity: Annotated[float, Field(strict=True, gt=0, lt=1)] = Field(
        default=0.4, description="n, volume of the pores over bulk volume [1]"
    )
    water_density: Positive = Field(default=1000.0, description="density of the water in the pores itself [kg/m³]")
    buoyancy: Literal["none", "archimedes", "paper"] = Field(
        default="none",
        description="part of the water's pressure force that acts on the sand: 'none', the part of the solids "
        "('archimedes'), or the water's part of the mass, as printed in [Tampubolon17] section 5.3 ('paper')",
    )
    saturation: Literal["overlap", "degree"] = Field(
        default="overlap",
        description="saturation of a node: 1 where both species have mass ([Tampubolon17] eq. 24), or the degree of "
        "saturation of the pores",
    )
    cohesion_curve: Literal["constant", "linear", "robert-soga"] = Field(
        default="linear",
        description="cohesion against saturation: 'constant', 'linear' to zero ([Tampubolon17] eq. 25), or "
        "'robert-soga', which rises to all at 0.4 and then falls; this one needs saturation = 'degree'",
    )


class MixtureTime(Time):
    """Time stepping."""

    integrator: Literal["explicit", "semi-implicit"] = Field(  # type: ignore[assignment]  # those of a mixture
        default="explicit",
        description="symplectic Euler with implicit drag, whose steps must not exceed the time of elastic waves "
        "through a cell, or backward Euler with plasticity at its end ([Tampubolon17]), whose steps follow the speed "
        "of the points; see [semi_implicit]",
    )


class UnilateralTable(Table):
    """Energy of sand that fades to zero where the cone allows no stress; all values are strains but for c0."""

    a: Number = Field(description="strain on the hydrostatic axis where the energy begins to fade [1]")
    b: Number = Field(description="strain on the hydrostatic axis from which on it is zero [1]")
    c0: NotNegative = Field(description="opening of the region: small values follow a wide cone [1]")
    s_C: Number = Field(default=0.0, description="shift along the hydrostatic axis, for cohesion [1]")
    v0: Positive = Field(description="strain scale of the bend at the tip [1]; the paper's is 1 at strains of order 1")


class SemiImplicitTable(Table):
    """How the equations of a semi-implicit step are solved."""

    tolerance: Positive = Field(default=1e-3, description="residual at which Newton's method stops [1]")
    accepted_residual: Positive = Field(
        default=0.05, description="residual accepted when the iterations are used up; else the step is shortened [1]"
    )
    iterations: Count = Field(default=6, description="most iterations of Newton's method in a step")
    linear_iterations: Count = Field(default=500, description="most iterations of MINRES in each of them")
    linear_tolerance: Positive = Field(default=1e-2, description="relative residual at which MINRES stops [1]")
    preconditioner: Literal["blocks", "mass"] = Field(
        default="blocks", description="of MINRES: mass, drag and stiffness of each node, or its mass alone"
    )
    unilateral: UnilateralTable | None = Field(
        default=None, description="the unilateral energy of [Tampubolon17] for sand; that of Hencky if absent"
    )


class SandWaterScene(MpmScene):
    """A scene of sand and water: bodies of the law 'water' are water, all others sand."""

    # a literal type cannot be narrowed to another: this scene is an MpmScene in everything but its method
    method: Literal["sand-water"] = Field(description="name of the simulation method")  # type: ignore[assignment]
    grid: QuadraticGrid = Field(description="the background grid")
    time: MixtureTime = Field(default=MixtureTime(), description="time stepping")
    semi_implicit: SemiImplicitTable | None = Field(
        default=None, description="how semi-implicit steps are solved; only with integrator 'semi-implicit'"
    )
    obstacle: tuple[SelectiveObstacle, ...] = Field(default=(), description="solids in the way")
    force: tuple[SelectiveForce, ...] = Field(default=(), description="forces from outside")
    mixture: MixtureTable = Field(description="what sand and water do to each other")

    def species_of(self, material: str) -> str:
        """Bodies of the law "water" are "water", all others "sand"."""
        return "water" if self._resolution[0][material].law is WATER else "sand"

    def holds(self, obstacle: ObstacleTable, species: str) -> bool:
        """Whether `obstacle` stops `species`."""
        return not isinstance(obstacle, SelectiveObstacle) or obstacle.holds in ("all", species)

    def problems(self) -> list[Problem]:
        """What is wrong across the scene."""
        return [*super().problems(), *self._mixture_problems()]

    def _mixture_problems(self) -> Iterator[Problem]:
        table = self.mixture
        if self.damping.rpic_iterations or self.damping.viscosity:
            yield Problem("damping", "is given, but mixtures have no such damping: drop it")
        for k, body in enumerate(self.body):
            if body.surface == "embedded":
                yield Problem(f"body.{k}.surface", "is 'embedded', which mixtures do not have: drop it")
        if (table.drag_coefficient is None) == (table.hydraulic_conductivity is None):
            found = "neither {} nor {}" if table.drag_coefficient is None else "both {} and {}"
            keys = found.format("drag_coefficient", "hydraulic_conductivity")
            yield Problem("mixture", f"has {keys}: the drag needs one of them")
        if self.implicit is not None:
            yield Problem("implicit", "is given in a scene of sand and water: its solver is that of [semi_implicit]")
        for k, each in enumerate(self.body):
            if each.surface == "embedded":
                yield Problem(f"body.{k}.surface", "is 'embedded': scenes of sand and water embed no surfaces")
        if self.semi_implicit is not None and self.time.integrator != "semi-implicit":
            yield Problem(
                "semi_implicit", f"is given with integrator '{self.time.integrator}': it belongs to 'semi-implicit'"
            )
        fading = None if self.semi_implicit is None else self.semi_implicit.unilateral
        if fading is not None and not fading.a < fading.b:
            yield Problem("semi_implicit.unilateral.a", f"is {fading.a:g}: it should be below b, {fading.b:g}")
        if table.cohesion_curve == "robert-soga" and table.saturation != "degree":
            yield Problem(
                "mixture.saturation",
                f"is '{table.saturation}' with cohesion_curve 'robert-soga': that curve needs saturation = 'degree'",
            )
