"""Branches for laws that declare none, so that implicit steps support them: derivatives by differences.

A law whose history is F, or begins with b = Fe Feᵀ, has one elastic strain. Its principal stress is `stress` at the
diagonal tensor with that strain, and its flow is what `update` does to this tensor in a step without deformation. Both
hold for isotropic laws that depend on the deformation through b alone, which `checks.branches_of_update` finds out with
the parameters of a material. Central differences with δ = ε^(1/3) are exact to about ε^(2/3) of the stiffness.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from spume.materials.law import Branch, Law
from spume.materials.neo_hookean import deformation
from spume.materials.principal import kept_deformation, kept_left_tensor
from spume.numerics.jit import compiled

DELTA = 6e-6
NO_DEFORMATION = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
SHAPES = ((3, 3), (6,))
"""Shapes of the first field: F, or b."""


def with_branches(law: Law) -> Law:
    """The law with a branch made from its functions, if it declares none and its history allows it."""
    shape = law.fields[0].shape if law.fields else ()
    if law.branches or shape not in SHAPES or (shape == (3, 3) and len(law.fields) > 1):
        return law
    principal_stress = _principal_stress(law.stress, _start(shape))
    if shape == (3, 3):
        branch = Branch(deformation, principal_stress, by_differences=True)
    else:
        flow = _return_map(law.update) if len(law.fields) > 1 else None
        branch = Branch(kept_deformation, principal_stress, flow, kept_left_tensor, by_differences=True)
    return replace(law, branches=(branch,))


def _start(shape: tuple[int, ...]) -> Any:
    """Compiled function (history, strain) -> the history whose tensor is diagonal with this strain."""
    if shape == (3, 3):

        @compiled
        def of_deformation(history, strain):
            e0, e1, e2 = strain
            return ((math.exp(e0), 0.0, 0.0, 0.0, math.exp(e1), 0.0, 0.0, 0.0, math.exp(e2)),)

        return of_deformation

    return _with_left_tensor


@compiled
def _with_left_tensor(history, strain):
    e0, e1, e2 = strain
    b = (math.exp(2.0 * e0), math.exp(2.0 * e1), math.exp(2.0 * e2), 0.0, 0.0, 0.0)
    return (b,) + history[1:]  # noqa: RUF005 - Numba has no starred tuples


@compiled
def _columns(c0, c1, c2):
    """The row-major tensor with these columns."""
    return (c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2])


@compiled
def _shifted(strain, k, by):
    e0, e1, e2 = strain
    return (e0 + by, e1, e2) if k == 0 else (e0, e1 + by, e2) if k == 1 else (e0, e1, e2 + by)


def _differentiated(value: Callable[..., Any]) -> Any:
    """Compiled function of the same arguments -> value(parameters, history, strain, dt) and its derivative."""

    @compiled
    def slope(parameters, history, strain, dt, k):
        a0, a1, a2 = value(parameters, history, _shifted(strain, k, DELTA), dt)
        b0, b1, b2 = value(parameters, history, _shifted(strain, k, -DELTA), dt)
        return ((a0 - b0) / (2.0 * DELTA), (a1 - b1) / (2.0 * DELTA), (a2 - b2) / (2.0 * DELTA))

    @compiled
    def differentiated(parameters, history, strain, dt):
        return value(parameters, history, strain, dt), _columns(
            slope(parameters, history, strain, dt, 0),
            slope(parameters, history, strain, dt, 1),
            slope(parameters, history, strain, dt, 2),
        )

    return differentiated


def _principal_stress(stress: Callable[..., Any], start: Callable[..., Any]) -> Any:
    @compiled
    def value(parameters, history, strain, dt):
        tau = stress(parameters, start(history, strain))
        return (tau[0], tau[1], tau[2])

    differentiated = _differentiated(value)

    @compiled
    def principal_stress(parameters, history, strain):
        return differentiated(parameters, history, strain, 0.0)

    return principal_stress


def _return_map(update: Callable[..., Any]) -> Any:
    @compiled
    def value(parameters, history, strain, dt):
        _, after = update(NO_DEFORMATION, dt, parameters, _with_left_tensor(history, strain))
        b = after[0]
        return (0.5 * math.log(b[0]), 0.5 * math.log(b[1]), 0.5 * math.log(b[2]))

    return _differentiated(value)
