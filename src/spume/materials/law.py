"""The contract of a constitutive law: a few functions of one point.

A law does not depend on a solver or a grid. Its functions take the deformation of the step, the time step, parameters
and history of one point, and return the Kirchhoff stress and the new history. Explicit and implicit MPM, point-based
methods, the rheometer and the tests use the same functions. `materials.loops` makes the loops over points for every
law.

All functions are compiled (`numerics.jit.compiled`), work on numbers and tuples, and allocate nothing. Tensors are
three-dimensional in every scene: a 2D scene is plane strain, with (0, 0, 1) in the third row and column of the
deformation. Full tensors are row-major 9-tuples, symmetric tensors 6-tuples (xx, yy, zz, xy, xz, yz).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Describe

from spume.fields import Field
from spume.materials.traits import NO_TRAITS, Traits


class Parameters(BaseModel):
    """Parameters of one material; each law extends this model. Descriptions end with the unit in brackets."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    density: float = Describe(gt=0, description="rest density [kg/m³]")

    @property
    def unused(self) -> tuple[str, ...]:
        """Parameters without effect beside the others."""
        return ()


@dataclass(frozen=True)
class Branch:
    """An elastic strain of a law with its stress and its flow in principal space, as used by implicit solvers.

    The strain of a branch is the principal logarithmic (Hencky) strain ε of its elastic deformation Fe, a 3-tuple. The
    stress of the law is the sum over its branches. Most laws have one branch, a viscoelastic law has two.
    """

    deformation: Callable[..., Any]
    """deformation(parameters, history) -> Fe, up to a rotation from the right, because laws are isotropic."""
    principal_stress: Callable[..., Any]
    """principal_stress(parameters, history, strain) -> τ, dτ/dε: principal Kirchhoff stresses [Pa] and their derivative
    (a row-major 9-tuple), given the elastic strain after the flow."""
    return_map: Callable[..., Any] | None = None
    """return_map(parameters, history, strain, dt) -> ε, dε/dε_trial: the elastic strain after the flow of a step, and
    its derivative with respect to the trial strain, a row-major 9-tuple. None: the branch never flows."""
    left: Callable[..., Any] | None = None
    """left(parameters, history) -> b = Fe Feᵀ, a 6-tuple, for laws that store b or compute it without a spectral
    decomposition. None: b is computed from `deformation`."""
    by_differences: bool = False
    """Whether it was made from the other functions of the law, see `materials.derived_branches`."""


@dataclass(frozen=True)
class Law:
    """A constitutive law.

    In its functions, `parameters` is the tuple of numbers returned by `pack`, and `history` a tuple with one entry per
    field in `fields`: a number, a 6-tuple or a 9-tuple.
    """

    name: str
    parameters: type[Parameters]
    fields: tuple[Field, ...]
    """History fields of a point. The initial values must give zero stress."""
    constants: tuple[str, ...]
    """Names of the numbers in `parameters`."""
    pack: Callable[[Any], tuple[float, ...]]
    """pack(Parameters) -> values of `constants`; computes derived constants once."""
    update: Callable[..., Any]
    """update(f, dt, parameters, history) -> stress, history: the Kirchhoff stress [Pa] (6-tuple) and the history after
    a step of dt [s] that deforms the point by f (9-tuple)."""
    stress: Callable[..., Any]
    """stress(parameters, history) -> Kirchhoff stress [Pa]."""
    energy: Callable[..., Any]
    """energy(parameters, history) -> elastic energy per rest volume [J/m³]."""
    volume_ratio: Callable[..., Any]
    """volume_ratio(history) -> J, present volume over rest volume."""
    wave_speed: Callable[[Any], float]
    """wave_speed(Parameters) -> speed of pressure waves at rest [m/s], for the time step."""
    branches: tuple[Branch, ...] = ()
    """Used by implicit solvers. A user's law that declares none gets one made from its other functions, if possible.
    Empty: the law works with explicit steps only."""
    in_dimension: Callable[[Any, int], Any] | None = None
    """in_dimension(Parameters, dimension) -> Parameters, with the choices that depend on the dimension of the scene.
    None: there are none."""
    derived: Callable[[Any], dict[str, tuple[float, str]]] | None = None
    """derived(Parameters) -> values and units of derived quantities, by name."""
    description: str = ""
    traits: Traits = NO_TRAITS
    """What methods and solvers may ask of the law."""
    forms: Callable[[Any], "Law"] | None = None
    """forms(Parameters) -> the law with the functions and fields for these parameters, which may choose between
    energies, yield surfaces or numbers of branches: each form has kernels of its own. None: there is only this one."""
    form_of: str = ""
    """Name of the law of which this is a form; its own name says which one."""

    @property
    def family(self) -> str:
        """Name by which scenes know the law."""
        return self.form_of or self.name

    def of(self, parameters: Any) -> "Law":
        """The form of the law for these parameters."""
        return self if self.forms is None else self.forms(parameters)

    def position(self, field: str) -> int:
        """Index of a history field."""
        return [each.name for each in self.fields].index(field)

    @property
    def is_elastic(self) -> bool:
        """Whether neighbouring points stay neighbours: the law neither flows nor tears, so it dissipates nothing."""
        traits = self.traits
        changes = traits.fluid or traits.granular or traits.tearing or traits.viscosity
        return not changes and not any(field.name == "dissipation" for field in self.fields)

    @property
    def elastic_branches(self) -> int:
        """Number of branches that have an elastic strain: all but the viscous one."""
        return len(self.branches) - (self.traits.viscosity is not None)
