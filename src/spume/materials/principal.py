"""Principal logarithmic strains, for laws that store their elastic left Cauchy-Green tensor b = Fe Feᵀ.

A step takes b to f b fᵀ, whose eigenvalues exp(2 ε) give the principal trial strains ε; the flow changes ε but not the
directions ([SimoHughes98] chapter 9). b is symmetric and independent of the rotation of Fe; it can be averaged over
neighbouring points after any amount of flow, when the rotations of their Fe are unrelated.
"""

import math

from spume.fields import SYMMETRIC_IDENTITY, Field
from spume.numerics.jit import compiled
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import compose_sym, congruence, det_sym

ELASTIC_STRAIN = Field(
    "b", (6,), SYMMETRIC_IDENTITY, "1", "average-keep-determinant",
    description="elastic left Cauchy-Green tensor", in_frames=False,
)  # fmt: skip
DISSIPATION = Field("dissipation", (), 0.0, "J/m³", "average", description="energy dissipated so far per rest volume")


@compiled
def trial(f, b):
    """f b fᵀ, its principal logarithmic strains ε and the rotation V of its eigenvectors."""
    moved = congruence(f, b)
    squares, V = eigen_sym(moved)
    return moved, (0.5 * math.log(squares[0]), 0.5 * math.log(squares[1]), 0.5 * math.log(squares[2])), V


@compiled
def hencky_energy(mu, lam, strain):
    """W = μ tr ε² + λ/2 (tr ε)² [J/m³]."""
    e0, e1, e2 = strain
    trace = e0 + e1 + e2
    return mu * (e0 * e0 + e1 * e1 + e2 * e2) + 0.5 * lam * trace * trace


@compiled
def left_tensor(strain, V):
    """b = V exp(2 ε) Vᵀ."""
    e0, e1, e2 = strain
    return compose_sym((math.exp(2.0 * e0), math.exp(2.0 * e1), math.exp(2.0 * e2)), V)


@compiled
def left_stretch(b):
    """√b as a full tensor: the elastic deformation without rotation."""
    squares, V = eigen_sym(b)
    xx, yy, zz, xy, xz, yz = compose_sym((math.sqrt(squares[0]), math.sqrt(squares[1]), math.sqrt(squares[2])), V)
    return (xx, xy, xz, xy, yy, yz, xz, yz, zz)


@compiled
def kept_left_tensor(parameters, history):
    """b, the first field of the history."""
    return history[0]


@compiled
def kept_deformation(parameters, history):
    """Fe = √b with b, the first field of the history: the rotation is left out."""
    return left_stretch(history[0])


@compiled
def elastic_volume(b):
    """det Fe = √det b."""
    return math.sqrt(det_sym(b))


@compiled
def split(strain):
    """tr ε, the deviator of ε and its norm."""
    e0, e1, e2 = strain
    a, b, c = e0 - e1, e1 - e2, e2 - e0
    d = ((a - c) / 3.0, (b - a) / 3.0, (c - b) / 3.0)
    return e0 + e1 + e2, d, math.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])


@compiled
def joined(trace, scale, d):
    """tr/3 + scale · d in each principal direction."""
    third = trace / 3.0
    return (third + scale * d[0], third + scale * d[1], third + scale * d[2])


@compiled
def flow_derivative(trace, turn, length, coupling, d, size):
    """Derivative (row-major 9-tuple) of a map of tr ε and dev ε that keeps the direction n = d/size of the deviator.

    With tr' and ρ' the new trace and norm: trace = dtr'/dtr, turn = ρ'/size, length = dρ'/dsize, coupling = dρ'/dtr.
    """
    if size > 0.0:
        n0, n1, n2 = d[0] / size, d[1] / size, d[2] / size
    else:
        n0, n1, n2 = 0.0, 0.0, 0.0
    c, s = (trace - turn) / 3.0, length - turn
    a0, a1, a2 = c + coupling * n0, c + coupling * n1, c + coupling * n2
    return (
        a0 + turn + s * n0 * n0, a0 + s * n0 * n1, a0 + s * n0 * n2,
        a1 + s * n1 * n0, a1 + turn + s * n1 * n1, a1 + s * n1 * n2,
        a2 + s * n2 * n0, a2 + s * n2 * n1, a2 + turn + s * n2 * n2,
    )  # fmt: skip
