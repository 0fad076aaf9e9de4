"""The contract of a constitutive law: a few functions of one point.

A law sees neither a solver nor a grid. Deformation of the step, time step, parameters and history of one point go in;
Kirchhoff stress and new history come out. The same functions therefore serve explicit and implicit MPM, point-based
methods, the rheometer and the tests. `materials.loops` makes all loops over points, for every law.

All functions are compiled (`numerics.jit.compiled`), work on numbers and tuples, and allocate nothing. Tensors are
three-dimensional in every scene: a 2D scene is plane strain, its deformation having (0, 0, 1) in the third row and
column. Full tensors are row-major 9-tuples, symmetric ones 6-tuples (xx, yy, zz, xy, xz, yz).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Describe

from spume.fields import Field


class Parameters(BaseModel):
    """Parameters of one material; each law extends it. Units stand in the descriptions."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    density: float = Describe(gt=0, description="rest density [kg/m³]")


@dataclass(frozen=True)
class Branch:
    """An elastic strain of a law with its stress and its flow, in principal space. Implicit solvers work on these.

    The strain of a branch is the principal logarithmic (Hencky) strain ε of its elastic deformation Fe, a 3-tuple. The
    stress of the law is the sum over its branches. A viscoelastic law has two of them, most laws have one.
    """

    deformation: Callable[..., Any]
    """deformation(parameters, history) -> Fe. Any rotation may be multiplied from the right: laws are isotropic."""
    principal_stress: Callable[..., Any]
    """principal_stress(parameters, history, strain) -> τ, dτ/dε: principal Kirchhoff stresses [Pa] and their derivative
    (a row-major 9-tuple) for the elastic strain after the flow."""
    return_map: Callable[..., Any] | None = None
    """return_map(parameters, history, strain, dt) -> ε, dε/dε_trial: the elastic strain after the flow of a step, and
    its derivative by the trial strain, a row-major 9-tuple. None: the branch never flows."""
    left: Callable[..., Any] | None = None
    """left(parameters, history) -> b = Fe Feᵀ, a 6-tuple, for laws that keep it or reach it without a spectral
    decomposition. None: it is computed from `deformation`."""


@dataclass(frozen=True)
class Law:
    """A constitutive law.

    In its functions, `parameters` is the tuple of numbers that `pack` returns, and `history` a tuple with one entry for
    each of `fields`: a number, a 6-tuple or a 9-tuple.
    """

    name: str
    parameters: type[Parameters]
    fields: tuple[Field, ...]
    """The history a point keeps. The initial values must be free of stress."""
    constants: tuple[str, ...]
    """Names of the numbers the functions take as `parameters`."""
    pack: Callable[[Any], tuple[float, ...]]
    """pack(Parameters) -> the values of `constants`; derived constants are computed here, once."""
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
    """What implicit solvers need. Empty: the law works with explicit steps only."""
    in_dimension: Callable[[Any, int], Any] | None = None
    """in_dimension(Parameters, dimension) -> Parameters: choices left to the dimension of the scene, made. None: there
    are none."""
    derived: Callable[[Any], dict[str, tuple[float, str]]] | None = None
    """derived(Parameters) -> values and units of further quantities that people ask for, by name."""
    description: str = ""
