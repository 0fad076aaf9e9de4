"""Viscoelastic laws with other energies, friction, and several relaxation times: one specialised law for each form.

    equilibrium    a spring that may yield: ‖dev τ‖ ≤ √(2/3) σY, or ‖dev τ‖ + c_F tr τ ≤ c_C as sand
    branches       springs whose strains relax by dev ε' = −dev τ/νd and tr ε' = −2/3 tr τ/νv, [Fang19] eqs. (7), (8)

All springs have the same energy (`springs`), each its own moduli. A step deforms every b to f b fᵀ, and each principal
strain then flows implicitly by the stress of its own spring: steady flow is Newtonian with the viscosity Σ νd/2 for
every energy, and a strain of any size dissipates. At small strain the branches are a Prony series,
G(t) = μE + Σ μN exp(−2 μN t/νd). With friction, grains that separate gain volume as in `granular`.
"""

import math
from dataclasses import replace
from functools import cache
from typing import Any, Literal, NamedTuple

from spume.materials.granular import GAINED_VOLUME, give_back
from spume.materials.law import Branch, Law
from spume.materials.principal import (
    DISSIPATION,
    ELASTIC_STRAIN,
    elastic_volume,
    kept_deformation,
    kept_left_tensor,
    left_stretch,
    left_tensor,
    trial,
)
from spume.materials.springs import Elasticity, Spring, add_to_all, apart, projected, spring, together
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym, eigenvalues_sym
from spume.numerics.tensor3 import compose_sym

Surface = Literal["von-mises", "drucker-prager"]
AT_TIP = (0.0,) * 9
YIELD = ("limit", "friction", "forgiving")
"""Constants of the yield surface: √(2/3) σY, or −1 without, and zeros; or c_C, c_F and whether gained volume is given
back."""


class Form(NamedTuple):
    """What distinguishes laws with kernels of their own."""

    elasticity: Elasticity
    terms: int
    """Terms of Ogden's energy."""
    surface: Surface
    branches: int
    """Number of those that relax."""

    @property
    def words(self) -> str:
        """A description."""
        energy = f"ogden with {self.terms} terms" if self.elasticity == "ogden" else self.elasticity
        return f"{energy}, {self.surface}, {self.branches} relaxing"


@compiled
def logarithms(squares):
    """ε_i = ½ ln l_i."""
    return (0.5 * math.log(squares[0]), 0.5 * math.log(squares[1]), 0.5 * math.log(squares[2]))


@compiled
def plus(a, b):
    """Sum of two symmetric tensors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


class _Parts:
    """Compiled functions of one part, a spring with its flow. `first` is the place of its μ and λ in the constants."""

    def __init__(self, energy: Spring, first: int) -> None:
        shape, volume = energy.shape, energy.volume
        shape_energy, volume_energy = energy.shape_energy, energy.volume_energy
        second = first + 1

        @compiled
        def principal(parameters, strain):
            """Principal Kirchhoff stresses and their derivative."""
            mu = parameters[first]
            t, d = apart(strain)
            pressure, stiffness = volume(parameters[second] + 2.0 / 3.0 * mu, t)
            s, a = shape(parameters, mu, d)
            return (pressure + s[0], pressure + s[1], pressure + s[2]), add_to_all(stiffness, projected(a))

        @compiled
        def stored(parameters, strain):
            """Energy per rest volume."""
            mu = parameters[first]
            t, d = apart(strain)
            return volume_energy(parameters[second] + 2.0 / 3.0 * mu, t) + shape_energy(parameters, mu, d)

        self.principal, self.stored = principal, stored


def _relaxation(energy: Spring, first: int) -> Any:
    """return_map(parameters, strain, dt) of a branch whose constants μ, λ, νd, νv start at `first`."""
    relax_shape, relax_volume = energy.relax_shape, energy.relax_volume

    @compiled
    def relaxed(parameters, strain, dt):
        mu, lam = parameters[first], parameters[first + 1]
        t, d = apart(strain)
        t, slope = relax_volume(lam + 2.0 / 3.0 * mu, 2.0 * dt / parameters[first + 3], t)
        d, derivative = relax_shape(parameters, mu, dt / parameters[first + 2], d)
        return together(t, d), add_to_all(slope / 3.0, derivative)

    return relaxed


def _mises(energy: Spring, first: int) -> Any:
    """flow(parameters, gained, strain) -> strain after the flow, derivative."""
    limit = energy.limit

    @compiled
    def flow(parameters, gained, strain):
        mu, k = parameters[first], parameters[first + 2]
        t, d = apart(strain)
        if mu == 0.0:  # the deviator carries no stress; keeping it would let b grow without bound
            return together(t, (0.0, 0.0, 0.0)), add_to_all(1.0 / 3.0, AT_TIP)
        if k < 0.0:
            return strain, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        d, derivative, _, flows = limit(parameters, mu, k, d)
        if flows:
            strain = together(t, d)
        return strain, add_to_all(1.0 / 3.0, derivative)

    return flow


def _cone(energy: Spring, first: int) -> Any:
    limit, volume, trace_of = energy.limit, energy.volume, energy.trace

    @compiled
    def flow(parameters, gained, strain):
        mu, lam, c_C, c_F, forgiving = (
            parameters[first], parameters[first + 1], parameters[first + 2], parameters[first + 3],
            parameters[first + 4],
        )  # fmt: skip
        kappa = lam + 2.0 / 3.0 * mu
        whole, d = apart(strain)
        t, slope = give_back(whole, gained, forgiving)
        pressure, stiffness = volume(kappa, t)
        k = c_C - 3.0 * c_F * pressure
        if k <= 0.0:
            if c_F > 0.0:
                return together(trace_of(kappa, c_C / (3.0 * c_F)), (0.0, 0.0, 0.0)), AT_TIP
            return together(t, (0.0, 0.0, 0.0)), add_to_all(slope / 3.0, AT_TIP)
        d, derivative, by_k, flows = limit(parameters, mu, k, d)
        if flows or t != whole:
            strain = together(t, d)
        c = -3.0 * c_F * stiffness * slope
        g0, g1, g2 = c * by_k[0] + slope / 3.0, c * by_k[1] + slope / 3.0, c * by_k[2] + slope / 3.0
        return strain, (
            derivative[0] + g0, derivative[1] + g0, derivative[2] + g0,
            derivative[3] + g1, derivative[4] + g1, derivative[5] + g1,
            derivative[6] + g2, derivative[7] + g2, derivative[8] + g2,
        )  # fmt: skip

    return flow


def _relaxing_branch(parts: _Parts, relaxed: Any, place: int) -> Branch:
    """The branch whose b is the field at `place`."""
    principal = parts.principal

    @compiled
    def deformation(parameters, history):
        return left_stretch(history[place])

    @compiled
    def left(parameters, history):
        return history[place]

    @compiled
    def principal_stress(parameters, history, strain):
        return principal(parameters, strain)

    @compiled
    def return_map(parameters, history, strain, dt):
        return relaxed(parameters, strain, dt)

    return Branch(deformation, principal_stress, return_map, left)


def _equilibrium_branch(parts: _Parts, flow: Any, gained: int) -> Branch:
    principal = parts.principal

    @compiled
    def principal_stress(parameters, history, strain):
        return principal(parameters, strain)

    if gained < 0:

        @compiled
        def return_map(parameters, history, strain, dt):
            return flow(parameters, 0.0, strain)

    else:

        @compiled
        def return_map(parameters, history, strain, dt):
            return flow(parameters, history[gained], strain)

    return Branch(kept_deformation, principal_stress, return_map, kept_left_tensor)


def _sums(parts: _Parts, place: int, before: tuple[Any, Any] | None) -> tuple[Any, Any]:
    """`stress` and `energy` of the parts up to the one whose b is the field at `place`."""
    principal, stored = parts.principal, parts.stored

    @compiled
    def own_stress(parameters, history):
        squares, V = eigen_sym(history[place])
        tau, _ = principal(parameters, logarithms(squares))
        return compose_sym(tau, V)

    @compiled
    def own_energy(parameters, history):
        return stored(parameters, logarithms(eigenvalues_sym(history[place])))

    if before is None:
        return own_stress, own_energy
    earlier_stress, earlier_energy = before

    @compiled
    def stress(parameters, history):
        return plus(earlier_stress(parameters, history), own_stress(parameters, history))

    @compiled
    def energy(parameters, history):
        return earlier_energy(parameters, history) + own_energy(parameters, history)

    return stress, energy


def _first_update(parts: _Parts, flow: Any, gained: int) -> Any:
    """Function (f, dt, parameters, history) -> stress, (b,), dissipated energy and volume gained, of the equilibrium
    part."""
    principal, stored = parts.principal, parts.stored

    @compiled
    def update(f, dt, parameters, history):
        held = history[gained] if gained >= 0 else 0.0
        b, strain, V = trial(f, history[0])
        after, _ = flow(parameters, held, strain)
        dissipated = 0.0
        if after[0] != strain[0] or after[1] != strain[1] or after[2] != strain[2]:
            dissipated = max(stored(parameters, strain) - stored(parameters, after), 0.0)  # negative only by rounding
            held = max(held + (strain[0] + strain[1] + strain[2]) - (after[0] + after[1] + after[2]), 0.0)
            b = left_tensor(after, V)
        tau, _ = principal(parameters, after)
        return compose_sym(tau, V), (b,), dissipated, held

    return update


def _further_update(parts: _Parts, relaxed: Any, place: int, before: Any) -> Any:
    """The update of the parts up to the branch whose b is the field at `place`."""
    principal, stored = parts.principal, parts.stored

    @compiled
    def update(f, dt, parameters, history):
        tau, tensors, dissipated, held = before(f, dt, parameters, history)
        _, strain, V = trial(f, history[place])
        after, _ = relaxed(parameters, strain, dt)
        dissipated += max(stored(parameters, strain) - stored(parameters, after), 0.0)
        own, _ = principal(parameters, after)
        return plus(tau, compose_sym(own, V)), tensors + (left_tensor(after, V),), dissipated, held  # noqa: RUF005

    return update


@cache
def viscoelastic_law(form: Form, base: Law) -> Law:
    """The law of a form: `base` with other functions, fields and constants."""
    energy, cone = spring(form.elasticity, form.terms), form.surface == "drucker-prager"
    ogden = tuple(f"{word}{k + 1}" for word in ("alpha", "w") for k in range(form.terms))
    first = len(ogden)
    relaxing = [first + 5 + 4 * k for k in range(form.branches)]
    constants = [*ogden, "muE", "lamE", *YIELD]
    constants += [f"{word}{k + 1}" for k in range(form.branches) for word in ("muN", "lamN", "nud", "nuv")]
    fields = [ELASTIC_STRAIN]
    fields += [ELASTIC_STRAIN.renamed("b_viscous" + (f"_{k + 1}" if k else "")) for k in range(form.branches)]
    gained = len(fields) if cone else -1
    fields += [GAINED_VOLUME, DISSIPATION] if cone else [DISSIPATION]
    last = len(fields) - 1

    equilibrium = _Parts(energy, first)
    flow = (_cone if cone else _mises)(energy, first)
    branches = [_equilibrium_branch(equilibrium, flow, gained)]
    sums = _sums(equilibrium, 0, None)
    updated = _first_update(equilibrium, flow, gained)
    for k, at in enumerate(relaxing):
        parts, relaxed = _Parts(energy, at), _relaxation(energy, at)
        branches.append(_relaxing_branch(parts, relaxed, k + 1))
        sums = _sums(parts, k + 1, sums)
        updated = _further_update(parts, relaxed, k + 1, updated)

    if cone:

        @compiled
        def update(f, dt, parameters, history):
            tau, tensors, dissipated, held = updated(f, dt, parameters, history)
            return tau, tensors + (held, history[last] + dissipated)  # noqa: RUF005

        @compiled
        def volume_ratio(history):
            """J = det Fe exp(v_c)."""
            return elastic_volume(history[0]) * math.exp(history[gained])

    else:

        @compiled
        def update(f, dt, parameters, history):
            tau, tensors, dissipated, _ = updated(f, dt, parameters, history)
            return tau, tensors + (history[last] + dissipated,)  # noqa: RUF005

        @compiled
        def volume_ratio(history):
            """J = √det b: the flow of the equilibrium part keeps the volume."""
            return elastic_volume(history[0])

    return replace(
        base,
        name=f"{base.name} ({form.words})",
        form_of=base.name,
        fields=tuple(fields),
        constants=tuple(constants),
        update=update,
        stress=sums[0],
        energy=sums[1],
        volume_ratio=volume_ratio,
        branches=tuple(branches),
        forms=None,
    )
