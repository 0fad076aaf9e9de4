"""Roots of numbers close to one, such as determinants of small deformation increments."""

from spume.numerics.jit import compiled

_NEAR = 0.05


@compiled(fastmath=False)
def inverse_cube_root(x: float) -> float:
    """x^(−1/3) for x > 0, without a call of pow near x = 1.

    Near one, a second-order series gives y with a residual r = 1 − x y³ below 7e-5; y (1 − r)^(−1/3), expanded to third
    order, then has a relative error below 35/243 r⁴ = 4e-18.
    """
    e = x - 1.0
    if not abs(e) < _NEAR:
        return x ** (-1.0 / 3.0)
    y = 1.0 + e * (-1.0 / 3.0 + e * (2.0 / 9.0))
    r = 1.0 - x * y * y * y
    return y + y * r * (1.0 / 3.0 + r * (2.0 / 9.0 + r * (14.0 / 81.0)))
