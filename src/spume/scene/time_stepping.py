"""Tables of time steps, solvers and transfers."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from spume.scene.common import Count, NotNegative, Positive, Tolerance
from spume.scene.emitter import spelling
from spume.tables import Table

PAPER_RATE = 5000.0
"""Default damping rate [1/s]: 5 % in a step of 1e-5 s, as in [Yue15]."""

TimeStep = Annotated[
    Annotated[Literal["auto"], Tag("word")] | Annotated[Positive, Tag("number")],
    Discriminator(lambda value: "word" if spelling(value) == "word" else "number"),
]


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
