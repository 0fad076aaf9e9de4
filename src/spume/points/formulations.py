"""Formulations: how the deformation passed to the law follows from the fitted motion, [Gerszewski09] figure 8.

composed            the law gets the deformation of the step and composes it with its history (eq. 8), as in the paper
rest-configuration  neighbours and fit use the positions at the start, as in [Muller04]: F maps these to the present
                    positions, and the law gets F_new F_old⁻¹. The law removes plastic flow
additive            Green's strain of the step is added to the elastic strain: b_new = b + fᵀ f − I. The law gets
                    √b_new √b⁻¹, which takes b to b_new
"""

from typing import Literal

from numba import prange

from spume.fields import IDENTITY, Field
from spume.materials.kinematics import load, load_sym, store
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import compose_sym, gram, inverse, multiply, transpose
from spume.points.deformation import FITTED, INVERTED

Formulation = Literal["composed", "rest-configuration", "additive"]


def formulation_fields(formulation: Formulation, dimension: int) -> tuple[Field, ...]:
    """Fields of points that a formulation needs."""
    if formulation != "rest-configuration":
        return ()
    return (
        Field("rest_x", (dimension,), 0.0, "m", "average", description="position at rest", in_frames=False),
        Field(
            "rest_F", (3, 3), IDENTITY, "1", "average-keep-determinant", description="deformation since rest",
            in_frames=False,
        ),
    )  # fmt: skip


@compiled(parallel=True)
def step_from_rest(outcome, rest_F, deformation):
    """Replace the fitted F in `deformation` by f = F_new F_old⁻¹ and store F_new; points without a fit keep F."""
    for p in prange(outcome.size):
        if outcome[p] == FITTED:
            F = load(deformation, p)
            store(deformation, p, multiply(F, inverse(load(rest_F, p))))
            store(rest_F, p, F)


@compiled
def _additive(C, f):
    """√(b + fᵀf − I) √b⁻¹ for the metric C = b⁻¹, and whether the sum has positive eigenvalues."""
    squares, V = eigen_sym(C)
    b = compose_sym((1.0 / squares[0], 1.0 / squares[1], 1.0 / squares[2]), V)
    xx, yy, zz, xy, xz, yz = gram(transpose(f))
    moved = (b[0] + xx - 1.0, b[1] + yy - 1.0, b[2] + zz - 1.0, b[3] + xy, b[4] + xz, b[5] + yz)
    values, W = eigen_sym(moved)
    if not values[2] > 0.0:
        return False, f
    a = compose_sym((values[0] ** 0.5, values[1] ** 0.5, values[2] ** 0.5), W)
    r = compose_sym((squares[0] ** 0.5, squares[1] ** 0.5, squares[2] ** 0.5), V)
    return True, multiply(
        (a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]), (r[0], r[3], r[4], r[3], r[1], r[5], r[4], r[5], r[2])
    )


@compiled(parallel=True)
def add_green_strain(metric, outcome, deformation):
    """Replace f by the deformation that adds its Green's strain; sums that are not positive definite count as inverted
    fits."""
    for p in prange(outcome.size):
        if outcome[p] == FITTED:
            positive, f = _additive(load_sym(metric, p), load(deformation, p))
            if positive:
                store(deformation, p, f)
            else:
                outcome[p] = INVERTED
                store(deformation, p, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
