"""Parameters of the viscoelastic law."""

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator
from pydantic import Field as Describe

from spume.materials.drucker_prager import Cone
from spume.materials.law import Parameters
from spume.materials.springs import Elasticity

MOST_TERMS, MOST_BRANCHES = 6, 12
LARGEST_EXPONENT = 30.0
FROM_LIST = BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value)
"""TOML has lists only, and a tuple can be hashed."""
Exponent = Annotated[float, Describe(ge=-LARGEST_EXPONENT, le=LARGEST_EXPONENT)]
Weight = Annotated[float, Describe(gt=0, le=1)]


class RelaxingPart(BaseModel):
    """A part that relaxes: a spring with a dashpot."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    shear_modulus: float = Describe(ge=0, description="μN, shear modulus [Pa]")
    lame_modulus: float = Describe(default=0.0, ge=0, description="λN, Lamé's first parameter [Pa]")
    deviatoric_viscosity: float = Describe(gt=0, description="νd, viscosity of the change of shape [Pa s]")
    volumetric_viscosity: float = Describe(gt=0, description="νv, viscosity of the change of volume [Pa s]")

    @property
    def relaxation_time(self) -> float:
        """νd/(2 μN) [s]; infinite if it does not relax."""
        return self.deviatoric_viscosity / (2.0 * self.shear_modulus) if self.shear_modulus else math.inf


class ViscoelasticParameters(Parameters):
    """Standard linear solid at finite strain; a viscoelastic fluid if the shear modulus is zero."""

    shear_modulus: float = Describe(ge=0, description="μE, long-term shear modulus; 0 is a fluid [Pa]")
    lame_modulus: float = Describe(ge=0, description="λE, long-term Lamé's first parameter [Pa]")
    viscous_shear_modulus: float = Describe(ge=0, description="μN, shear modulus of the part that relaxes [Pa]")
    viscous_lame_modulus: float = Describe(ge=0, description="λN, Lamé's first parameter of the part that relaxes [Pa]")
    deviatoric_viscosity: float = Describe(
        gt=0, description="νd, viscosity of the change of shape; the shear viscosity is νd/2 [Pa s]"
    )
    volumetric_viscosity: float = Describe(
        gt=0, description="νv, viscosity of the change of volume; the bulk viscosity is νv/2 [Pa s]"
    )
    yield_stress: float | None = Describe(
        default=None,
        gt=0,
        description="σY, von Mises yield stress of the equilibrium part in uniaxial tension; none: never [Pa]",
    )
    elasticity: Elasticity = Describe(
        default="hencky",
        description="energy of all springs: 'hencky', whose tension falls beyond a stretch of e, 'neo-hookean' or "
        "'ogden' [1]",
    )
    ogden_exponents: Annotated[tuple[Exponent, ...], FROM_LIST] = Describe(
        default=(), max_length=MOST_TERMS, description="α of each term of Ogden's energy, not 0 [1]"
    )
    ogden_weights: Annotated[tuple[Weight, ...], FROM_LIST] = Describe(
        default=(),
        max_length=MOST_TERMS,
        description="share of each term of Ogden's energy in the shear modulus; they add up to one, and one term needs "
        "none [1]",
    )
    friction_angle: float | None = Describe(
        default=None,
        ge=0,
        lt=90,
        description="φ, angle of internal friction of the equilibrium part, which then yields as sand; none: it does "
        "not [°]",
    )
    cohesion: float = Describe(default=0.0, ge=0, description="c, Mohr-Coulomb cohesion, with a friction angle [Pa]")
    volume_correction: bool = Describe(
        default=True,
        description="whether volume gained by separation is given back when compressed, with a friction angle, true or "
        "false [1]",
    )
    cone: Cone = Describe(
        default="auto",
        description="loading in which friction angle and cohesion hold: 'compression' (triaxial), 'plane-strain', or "
        "'auto': plane-strain in 2D scenes, compression otherwise [1]",
    )
    further_parts: Annotated[tuple[RelaxingPart, ...], FROM_LIST] = Describe(
        default=(),
        max_length=MOST_BRANCHES - 1,
        description="further parts that relax, each a table of shear_modulus [Pa], lame_modulus [Pa], "
        "deviatoric_viscosity [Pa s] and volumetric_viscosity [Pa s]: a Prony series [1]",
    )

    @property
    def unused(self) -> tuple[str, ...]:
        """Without friction there is no cone."""
        return ("cohesion", "volume_correction", "cone") if self.friction_angle is None else ()

    @property
    def parts(self) -> tuple[RelaxingPart, ...]:
        """All parts that relax."""
        first = RelaxingPart(
            shear_modulus=self.viscous_shear_modulus,
            lame_modulus=self.viscous_lame_modulus,
            deviatoric_viscosity=self.deviatoric_viscosity,
            volumetric_viscosity=self.volumetric_viscosity,
        )
        return (first, *self.further_parts)

    @property
    def instantaneous_modulus(self) -> float:
        """μE + Σ μN [Pa]."""
        return self.shear_modulus + sum(part.shear_modulus for part in self.parts)

    @model_validator(mode="after")
    def _resists_compression(self) -> "ViscoelasticParameters":
        if self.shear_modulus == 0.0 and self.lame_modulus == 0.0:
            raise ValueError(
                "shear_modulus and lame_modulus are both 0: one of them should be positive to keep the volume"
            )
        return self

    @model_validator(mode="before")
    @classmethod
    def _single_term(cls, data: Any) -> Any:
        """The weight of a single term is one."""
        if isinstance(data, dict) and "ogden_weights" not in data:
            exponents = data.get("ogden_exponents")
            if isinstance(exponents, list | tuple) and len(exponents) == 1:
                return data | {"ogden_weights": [1.0]}
        return data

    @model_validator(mode="after")
    def _ogden_is_complete(self) -> "ViscoelasticParameters":
        exponents, weights = self.ogden_exponents, self.ogden_weights
        if (self.elasticity == "ogden") != bool(exponents):
            told = "given with" if exponents else "missing with"
            hint = "drop them, or set elasticity = 'ogden'" if exponents else "give one number or more, as in [1.3]"
            raise ValueError(f"ogden_exponents are {told} elasticity '{self.elasticity}': {hint}")
        if 0.0 in exponents:
            raise ValueError("ogden_exponents contain 0: use a small number such as 0.01, or elasticity = 'hencky'")
        if len(weights) != len(exponents):
            raise ValueError(
                f"ogden_weights are {len(weights)} numbers for {len(exponents)} exponents: there should be one for each"
            )
        if weights and abs(sum(weights) - 1.0) > 1e-6:
            raise ValueError(f"ogden_weights add up to {sum(weights):.6g}: they should add up to 1")
        return self

    @model_validator(mode="after")
    def _yields_in_one_way(self) -> "ViscoelasticParameters":
        if self.friction_angle is None:
            if self.cohesion:
                raise ValueError("cohesion is given without a friction_angle: give both, or a yield_stress")
            return self
        if self.yield_stress is not None:
            raise ValueError("yield_stress and friction_angle are both given: the equilibrium part has one of them")
        if self.shear_modulus == 0.0:
            raise ValueError("friction_angle is given with shear_modulus 0: a fluid has no friction")
        return self
