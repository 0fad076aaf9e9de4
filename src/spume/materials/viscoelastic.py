"""Viscoelastic solids and fluids: two elastic solids in parallel, one of which relaxes. [Fang19] eqs. (4)-(8)

    equilibrium      μE, λE, with an optional von Mises yield stress
    non-equilibrium  μN, λN, whose strain relaxes by the dissipation potential of eq. (7)

Both tensors b are updated to f b fᵀ (eq. 4; eq. 3 prints ∇v where the transpose is meant). The corrector of eq. (8) is
implicit in time and, split into volume and shape, reads with d = 3

    dev ε ← dev ε/(1 + Δt 2 μN/νd),    tr ε ← tr ε/(1 + Δt 2 (2 μN + 3 λN)/(3 νv)),

so the relaxation time in shear is νd/(2 μN). After the relaxation the flow is Newtonian with the shear viscosity νd/2
and the bulk viscosity νv/2. With μE = 0 the equilibrium part resists changes of volume only: a viscoelastic fluid.

This is the law with Hencky's energy and one relaxing part. Other parameters choose one of `viscoelastic_forms`.
"""

import math

from spume.materials.drucker_prager import cone_coefficients
from spume.materials.hencky import (
    hencky_branch_stress,
    hencky_stiffness,
    hencky_stress,
    principal_strain,
)
from spume.materials.law import Branch, Law
from spume.materials.principal import (
    DISSIPATION,
    ELASTIC_STRAIN,
    elastic_volume,
    flow_derivative,
    hencky_energy,
    joined,
    kept_deformation,
    left_stretch,
    left_tensor,
    split,
    trial,
)
from spume.materials.viscoelastic_forms import Form, Surface, viscoelastic_law
from spume.materials.viscoelastic_parameters import ViscoelasticParameters
from spume.materials.von_mises import IDENTITY_MAP, radial_return
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym, eigenvalues_sym
from spume.numerics.tensor3 import compose_sym


@compiled
def equilibrium_flow(mu, k, strain):
    """Strain of the equilibrium part after its flow, its derivative, and ‖Δεp‖; k < 0: it never yields."""
    if mu == 0.0:  # the deviator carries no stress; keeping it would let b grow without bound
        trace, d, size = split(strain)
        return joined(trace, 0.0, d), flow_derivative(1.0, 0.0, 0.0, 0.0, d, size), size
    if k < 0.0:
        return strain, IDENTITY_MAP, 0.0
    return radial_return(mu, k, 0.0, strain)


@compiled
def relax(mu, lam, shape_viscosity, volume_viscosity, strain, dt):
    """Strain of the non-equilibrium part after dt, and the factors by which its deviator and its trace shrink."""
    shape = 1.0 / (1.0 + dt * 2.0 * mu / shape_viscosity)
    volume = 1.0 / (1.0 + dt * 2.0 * (2.0 * mu + 3.0 * lam) / (3.0 * volume_viscosity))
    trace, d, _ = split(strain)
    return joined(volume * trace, shape, d), shape, volume


@compiled
def stress(parameters, history):
    """Sum of both parts, τ = 2 μ ε + λ tr(ε) I each."""
    muE, lamE, muN, lamN, _, _, _ = parameters
    squares, V = eigen_sym(history[0])
    x0, x1, x2, x3, x4, x5 = compose_sym(hencky_stress(muE, lamE, principal_strain(squares)), V)
    squares, V = eigen_sym(history[1])
    y0, y1, y2, y3, y4, y5 = compose_sym(hencky_stress(muN, lamN, principal_strain(squares)), V)
    return (x0 + y0, x1 + y1, x2 + y2, x3 + y3, x4 + y4, x5 + y5)


@compiled
def energy(parameters, history):
    """Sum of both parts, W = μ tr ε² + λ/2 (tr ε)² each, eq. (2)."""
    muE, lamE, muN, lamN, _, _, _ = parameters
    equilibrium = hencky_energy(muE, lamE, principal_strain(eigenvalues_sym(history[0])))
    return equilibrium + hencky_energy(muN, lamN, principal_strain(eigenvalues_sym(history[1])))


@compiled
def update(f, dt, parameters, history):
    """Predictor, eq. (4), and correctors of both parts."""
    muE, lamE, muN, lamN, nud, nuv, k = parameters
    bE, bN, dissipation = history
    bE, strain, V = trial(f, bE)
    after, _, flowed = equilibrium_flow(muE, k, strain)
    if flowed > 0.0:
        _, _, size = split(strain)
        dissipation += muE * flowed * (2.0 * size - flowed)
        bE = left_tensor(after, V)
    x0, x1, x2, x3, x4, x5 = compose_sym(hencky_stress(muE, lamE, after), V)
    _, strain, V = trial(f, bN)
    relaxed, shape, volume = relax(muN, lamN, nud, nuv, strain, dt)
    trace, _, size = split(strain)
    dissipation += muN * size * size * (1.0 - shape) * (1.0 + shape)
    dissipation += (0.5 * lamN + muN / 3.0) * trace * trace * (1.0 - volume) * (1.0 + volume)
    y0, y1, y2, y3, y4, y5 = compose_sym(hencky_stress(muN, lamN, relaxed), V)
    return (x0 + y0, x1 + y1, x2 + y2, x3 + y3, x4 + y4, x5 + y5), (bE, left_tensor(relaxed, V), dissipation)


@compiled
def volume_ratio(history):
    """J = √det bE: the flow of the equilibrium part keeps the volume."""
    return elastic_volume(history[0])


@compiled
def equilibrium_return_map(parameters, history, strain, dt):
    """Strain of the equilibrium part after its flow and its derivative."""
    after, derivative, _ = equilibrium_flow(parameters[0], parameters[6], strain)
    return after, derivative


@compiled
def viscous_deformation(parameters, history):
    """FN = √bN."""
    return left_stretch(history[1])


@compiled
def viscous_stress(parameters, history, strain):
    """Principal Kirchhoff stresses of the non-equilibrium part and their derivative."""
    mu, lam = parameters[2], parameters[3]
    return hencky_stress(mu, lam, strain), hencky_stiffness(mu, lam)


@compiled
def viscous_return_map(parameters, history, strain, dt):
    """Strain of the non-equilibrium part after its relaxation, and its derivative, which is constant."""
    _, _, mu, lam, nud, nuv, _ = parameters
    after, shape, volume = relax(mu, lam, nud, nuv, strain, dt)
    return after, flow_derivative(volume, shape, shape, 0.0, (0.0, 0.0, 0.0), 0.0)


def form_of(p: ViscoelasticParameters) -> Form:
    """The form of the law that these parameters choose."""
    surface: Surface = "von-mises" if p.friction_angle is None else "drucker-prager"
    return Form(p.elasticity, len(p.ogden_exponents), surface, len(p.parts))


def _forms(p: ViscoelasticParameters) -> Law:
    form = form_of(p)
    return VISCOELASTIC if form == PLAIN else viscoelastic_law(form, VISCOELASTIC)


def _pack(p: ViscoelasticParameters) -> tuple[float, ...]:
    k = -1.0 if p.yield_stress is None else math.sqrt(2.0 / 3.0) * p.yield_stress
    if form_of(p) == PLAIN:
        return (
            p.shear_modulus, p.lame_modulus, p.viscous_shear_modulus, p.viscous_lame_modulus,
            p.deviatoric_viscosity, p.volumetric_viscosity, k,
        )  # fmt: skip
    limit, friction, forgiving = k, 0.0, 0.0
    if p.friction_angle is not None:
        friction, limit = cone_coefficients(p.friction_angle, p.cohesion, p.cone)
        forgiving = float(p.volume_correction)
    packed = [*p.ogden_exponents, *p.ogden_weights, p.shear_modulus, p.lame_modulus, limit, friction, forgiving]
    for part in p.parts:
        packed += [part.shear_modulus, part.lame_modulus, part.deviatoric_viscosity, part.volumetric_viscosity]
    return tuple(packed)


def _in_dimension(p: ViscoelasticParameters, dimension: int) -> ViscoelasticParameters:
    if p.friction_angle is None or p.cone != "auto":
        return p
    return p.model_copy(update={"cone": "plane-strain" if dimension == 2 else "compression"})


def _wave_speed(p: ViscoelasticParameters) -> float:
    stiffness = 2.0 * p.shear_modulus + p.lame_modulus
    stiffness += sum(2.0 * part.shear_modulus + part.lame_modulus for part in p.parts)
    return math.sqrt(stiffness / p.density)


def _derived(p: ViscoelasticParameters) -> dict[str, tuple[float, str]]:
    found = {
        "instantaneous shear modulus": (p.instantaneous_modulus, "Pa"),
        "shear viscosity": (sum(part.deviatoric_viscosity for part in p.parts) / 2.0, "Pa s"),
        "bulk viscosity": (sum(part.volumetric_viscosity for part in p.parts) / 2.0, "Pa s"),
    }
    for k, part in enumerate(p.parts):
        if part.shear_modulus:
            found["relaxation time in shear" + (f", part {k + 1}" if k else "")] = (part.relaxation_time, "s")
    return found


PLAIN = Form("hencky", 0, "von-mises", 1)
"""The form whose functions stand in this file."""

VISCOELASTIC = Law(
    name="viscoelastic",
    parameters=ViscoelasticParameters,
    fields=(ELASTIC_STRAIN, ELASTIC_STRAIN.renamed("b_viscous"), DISSIPATION),
    constants=("muE", "lamE", "muN", "lamN", "nud", "nuv", "k"),
    pack=_pack,
    update=update,
    stress=stress,
    energy=energy,
    volume_ratio=volume_ratio,
    wave_speed=_wave_speed,
    branches=(
        Branch(kept_deformation, hencky_branch_stress, equilibrium_return_map),
        Branch(viscous_deformation, viscous_stress, viscous_return_map),
    ),
    in_dimension=_in_dimension,
    derived=_derived,
    forms=_forms,
    description="silicone, memory foam, cream: an elastic and a relaxing solid in parallel ([Fang19])",
)
