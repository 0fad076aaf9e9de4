"""Semi-implicit steps: the table [semi_implicit] of scenes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from spume.materials import LAWS
from spume.materials.law import Law
from spume.scene.common import Count, NotNegative, Positive, Tolerance
from spume.scene.material_checks import with_known_laws
from spume.scene.problems import Problem
from spume.tables import Number, Table

if TYPE_CHECKING:
    from spume.scene.mpm import MpmScene


class UnilateralTable(Table):
    """Energy of sand that fades to zero where the cone allows no stress; all values except c0 are strains."""

    a: Number = Field(description="strain on the hydrostatic axis where the energy begins to fade [1]")
    b: Number = Field(description="strain on the hydrostatic axis beyond which it is zero [1]")
    c0: NotNegative = Field(
        description="opening of the region: small values follow a wide cone; 'spume materials' shows the c0 that "
        "follows the cone of a sand [1]"
    )
    s_C: NotNegative = Field(
        default=0.0, description="shift along the hydrostatic axis, in addition to the strain of the cone's tip [1]"
    )
    b_tip: NotNegative = Field(
        default=0.0, description="increase of b per strain of the cone's tip, for cohesive sand (b = 100 c_C) [1]"
    )
    v0: Positive = Field(description="strain scale of the bend at the tip [1]; the paper's is 1 at strains of order 1")


class SemiImplicitTable(Table):
    """Solver of semi-implicit steps."""

    plasticity: Literal["lagged", "in-step"] = Field(
        default="lagged",
        description="whether the equations of a step know the flow: 'lagged' to its end as in [Tampubolon17], which "
        "holds sand together when steps are long, or 'in-step', which lets it run too far when they are",
    )
    unilateral: UnilateralTable | None = Field(
        default=None,
        description="the unilateral energy of [Tampubolon17] for sand; only with plasticity = 'lagged', whose energy "
        "is Hencky's if absent",
    )
    scheme: Literal["converged", "printed"] = Field(
        default="converged",
        description="'converged': Newton's method with a line search, to the tolerance; 'printed': a few full "
        "iterations as in [Tampubolon17], whatever residual they leave, which diagnostics report",
    )
    tolerance: Tolerance = Field(default=1e-3, description="residual at which Newton's method stops [1]")
    accepted_residual: Positive = Field(
        default=0.05,
        description="residual accepted after the last iteration, not with scheme = 'printed'; above it the step is "
        "shortened [1]",
    )
    iterations: Count | None = Field(
        default=None,
        description="maximum number of Newton iterations in a step, 60 if absent; all are done with "
        "scheme = 'printed', 3 if absent",
    )
    linear_iterations: Count = Field(default=500, description="maximum number of MINRES iterations in each of them")
    linear_tolerance: Tolerance = Field(default=1e-2, description="relative residual at which MINRES stops [1]")
    preconditioner: Literal["blocks", "mass"] = Field(
        default="blocks", description="of MINRES: mass, drag and stiffness of each node, or its mass alone"
    )


def semi_implicit_problems(scene: "MpmScene") -> Iterator[Problem]:
    """Problems of [semi_implicit], and laws that such steps do not support."""
    table, integrator = scene.semi_implicit, scene.time.integrator
    if integrator != "semi-implicit":
        if table is not None and not scene.time.names_integrator:
            yield Problem(
                "semi_implicit",
                f"is given with integrator '{integrator}': it belongs to 'semi-implicit'; drop it, or set "
                "time.integrator",
            )
        return
    if scene.time.deformation == "second-order":
        yield Problem(
            "time.deformation", "is 'second-order' with integrator 'semi-implicit': such steps deform by I + Δt L"
        )
    known = with_known_laws(scene)
    for material in known:
        if material.law.elastic_branches != 1:
            count = "several elastic strains" if material.law.branches else "no elastic strain"
            yield Problem(
                f"material.{material.name}.law",
                f"is '{material.law.name}', which has {count}: semi-implicit steps need one; use another integrator",
            )
    fading = None if table is None else table.unilateral
    if table is None or fading is None:
        return
    if len(known) == len(scene.materials) and not any(_is_unilateral(material.law) for material in known):
        laws = " or ".join(f"'{law.name}'" for law in LAWS.values() if _is_unilateral(law))
        yield Problem(
            "semi_implicit.unilateral", f"is given, but no material has the law {laws}, which has that energy: drop it"
        )
    if not fading.a < fading.b:
        yield Problem("semi_implicit.unilateral.a", f"is {fading.a:g}: it should be below b, {fading.b:g}")
    if table.plasticity != "lagged":
        yield Problem(
            "semi_implicit.unilateral",
            f"is given with plasticity = '{table.plasticity}': it belongs to 'lagged'; drop it, or say so",
        )


def _is_unilateral(law: Law) -> bool:
    return law.traits.granular is not None and law.traits.granular.tip is not None
