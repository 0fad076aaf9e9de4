"""Uniform B-splines on a grid: weights of the nodes along one axis and their derivatives.

Positions are in cells, nodes at the integers. A weight in three dimensions is the product over the axes [Steffen08];
its gradient in metres has an additional factor 1/h. The caller chooses the first node: for a point on the border
between two sets of nodes, up to rounding, both choices give the same weights up to rounding.
"""

from spume.numerics.jit import compiled

Three = tuple[float, float, float]
Four = tuple[float, float, float, float]


@compiled
def quadratic(t: float) -> tuple[Three, Three]:
    """Weights of three nodes and their derivatives at the position first node + 1/2 + t, with t in [0, 1]."""
    s = 1.0 - t
    return (0.5 * s * s, 0.5 + t * s, 0.5 * t * t), (-s, s - t, t)


@compiled
def cubic(t: float) -> tuple[Four, Four]:
    """Weights of four nodes and their derivatives at the position first node + 1 + t, with t in [0, 1]."""
    s = 1.0 - t
    # [Yue15] appendix E.1: N(d) = |d|³/2 − d² + 2/3 for |d| < 1, (2 − |d|)³/6 for 1 <= |d| < 2
    return (
        (s * s * s / 6.0, (0.5 * t - 1.0) * t * t + 2.0 / 3.0, (0.5 * s - 1.0) * s * s + 2.0 / 3.0, t * t * t / 6.0),
        (-0.5 * s * s, (1.5 * t - 2.0) * t, (2.0 - 1.5 * s) * s, 0.5 * t * t),
    )


SPLINES = {2: quadratic, 3: cubic}
"""By order."""


@compiled(inline="always")
def quadratic_value(d: float) -> float:
    """Quadratic spline at distance d from its node, computed without branches as a difference of squared ramps."""
    outer = max(1.5 - abs(d), 0.0)
    inner = max(0.5 - abs(d), 0.0)
    return 0.5 * (outer * outer - 3.0 * inner * inner)


@compiled(inline="always")
def cubic_value(d: float) -> float:
    """Cubic spline at distance d from its node, computed without branches as a difference of cubed ramps."""
    outer = max(2.0 - abs(d), 0.0)
    inner = max(1.0 - abs(d), 0.0)
    return (outer * outer * outer - 4.0 * inner * inner * inner) / 6.0
