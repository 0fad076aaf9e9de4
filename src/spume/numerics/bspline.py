"""Uniform B-splines on a grid: weights of the nodes along one axis and their derivatives.

Positions are in cells, nodes at the integers. A weight in three dimensions is the product over the axes [Steffen08];
its gradient in metres takes one factor 1/h.
"""

import math

from spume.numerics.jit import compiled

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]


@compiled
def quadratic(x: float) -> tuple[int, Three, Three]:
    """First of three nodes, their weights at x, and the derivatives of the weights with respect to x."""
    base = math.floor(x - 0.5)
    t = x - base - 0.5  # in [0, 1): the distance from the border of the nodes' territories
    s = 1.0 - t
    return base, (0.5 * s * s, 0.5 + t * s, 0.5 * t * t), (-s, s - t, t)


@compiled
def cubic(x: float) -> tuple[int, Four, Four]:
    """First of four nodes, their weights at x, and the derivatives of the weights with respect to x."""
    cell = math.floor(x)
    t = x - cell
    s = 1.0 - t
    # [Yue15] appendix E.1: N(d) = |d|³/2 − d² + 2/3 for |d| < 1, (2 − |d|)³/6 for 1 <= |d| < 2
    return (
        cell - 1,
        (s * s * s / 6.0, (0.5 * t - 1.0) * t * t + 2.0 / 3.0, (0.5 * s - 1.0) * s * s + 2.0 / 3.0, t * t * t / 6.0),
        (-0.5 * s * s, (1.5 * t - 2.0) * t, (2.0 - 1.5 * s) * s, 0.5 * t * t),
    )
