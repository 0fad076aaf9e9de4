"""What a law declares about itself for the code outside `materials/`.

Methods, solvers and checks ask for these traits, never for a particular law: a law of the user's with the same traits
is treated the same. Fields and constants are given by their names in `Law.fields` and `Law.constants`, functions take
the law's `Parameters`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

Shapes = dict[str, tuple[int, ...]]
"""History fields and their shapes"""
Failure = Literal["crushed", "blown up"]
"""What ended a run: a point with almost no volume, or one with many times its rest volume."""


@dataclass(frozen=True)
class Fluid:
    """A fluid: its pressure depends on the volume ratio J alone, and shear leaves no history.

    Bodies of a fluid are the water of a scene of sand and water.
    """

    volume_ratio: str
    """History field that holds J [1], a number; methods may correct it."""
    bulk_modulus: Callable[[Any], float]
    """bulk_modulus(Parameters) -> resistance to a change of volume at rest [Pa]."""
    separates: Callable[[Any], bool]
    """separates(Parameters) -> whether there is no pressure at J > 1, where J includes the space between drops."""

    @property
    def fields(self) -> Shapes:
        """Fields that the law must have."""
        return {self.volume_ratio: ()}


@dataclass(frozen=True)
class Granular:
    """Grains that separate without stress and give back the volume v_c they have gained: ln J = tr ε + v_c.

    With ε the elastic strain, a compression −tr ε causes no stress up to v_c (`materials/granular.py`).
    """

    gained_volume: str
    """History field that holds v_c, a logarithm [1]."""
    elastic_strain: str
    """History field that holds the elastic left Cauchy-Green tensor b = exp(2 ε) [1], a symmetric tensor."""
    corrects_volume: str
    """Constant that is positive for materials that give v_c back, and whose crowded points are pushed apart."""
    cohesion: Callable[[Any], float] | None = None
    """cohesion(Parameters) -> shear strength without pressure [Pa], for pictures. None: there is none."""
    cohesion_factor: str | None = None
    """History field that holds the active fraction of the cohesion [1], which water in the pores changes."""
    tip: Callable[..., Any] | None = None
    """Compiled function (parameters, history) -> strain tr ε/√3 at the tip of the yield surface [1], infinite if it has
    none. Laws with this function can have the unilateral energy in semi-implicit steps (`materials/unilateral.py`);
    their elasticity must be Hencky's, and the first two constants μ and λ [Pa]."""

    @property
    def fields(self) -> Shapes:
        """Fields that the law must have."""
        factor: Shapes = {} if self.cohesion_factor is None else {self.cohesion_factor: ()}
        return {self.gained_volume: (), self.elastic_strain: (6,)} | factor


@dataclass(frozen=True)
class Tearing:
    """Tears and recovers in the methods that let material tear. The law must have the fields F and be of [Yue15]."""

    threshold: str
    """Parameter that holds σT, plasticity ‖dev Cp‖ beyond which a point is torn [1]; its value None: never."""
    recovery_time: str
    """Parameter that holds ηp, time in which torn connections recover [s]; its value None: never."""

    fields: ClassVar[Shapes] = {"F": (3, 3), "be": (6,)}
    """Fields that the law must have."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of both."""
        return self.threshold, self.recovery_time

    def threshold_of(self, parameters: Any) -> float | None:
        """σT of a material [1]; None: it never tears."""
        value: float | None = getattr(parameters, self.threshold)
        return value

    def recovery_time_of(self, parameters: Any) -> float | None:
        """ηp of a material [s]; None: it never recovers."""
        value: float | None = getattr(parameters, self.recovery_time)
        return value


@dataclass(frozen=True)
class Traits:
    """Traits of a law; one without any is treated as a solid."""

    fluid: Fluid | None = None
    granular: Granular | None = None
    tearing: Tearing | None = None
    viscosity: Callable[[Any], float] | None = None
    """viscosity(Parameters) -> shear viscosity [Pa s]. Where it is positive, the second branch of the law is a viscous
    stress, which depends on the deformation of the step but not on an elastic strain. None: there is no such branch."""
    advice: Callable[[Any, Failure, float], str | None] | None = None
    """advice(Parameters, failure, speed) -> what to change after a failure, as the end of a sentence; `speed` is the
    median speed of the material [m/s]. None: the general advice."""

    @property
    def fields(self) -> Shapes:
        """Fields that the law must have."""
        found: Shapes = {}
        for trait in (self.fluid, self.granular, self.tearing):
            found |= {} if trait is None else trait.fields
        return found


NO_TRAITS = Traits()
