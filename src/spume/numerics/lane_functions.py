"""Logarithm and exponential function of eight numbers at once, with errors of a few roundings."""

import math

from spume.numerics.jit import compiled
from spume.numerics.lanes import exponent_and_fraction, where_less

LOG_2 = 6.93147180369123816490e-01
"""The first 32 bits of ln 2, so that multiples by exponents are exact."""
LOG_2_REST = 1.90821492927058770002e-10
"""ln 2 minus LOG_2."""
LEAST_NORMAL = 2.0**-1022


@compiled(forceinline=True)
def log_of_lanes(a):
    """ln a; NaN unless a is positive and normal."""
    k, f = exponent_and_fraction(a)
    # ln f = 2 artanh z, z² <= 0.0295; the first omitted term is below 1e-17 of the sum
    z = (f - 1.0) / (f + 1.0)
    y = z * z
    rest = 1.0 / 19.0 + y * (1.0 / 21.0)
    rest = 1.0 / 15.0 + y * (1.0 / 17.0 + y * rest)
    rest = 1.0 / 11.0 + y * (1.0 / 13.0 + y * rest)
    rest = 1.0 / 7.0 + y * (1.0 / 9.0 + y * rest)
    rest = y * (1.0 / 3.0 + y * (1.0 / 5.0 + y * rest))
    result = k * LOG_2 + (2.0 * z + (2.0 * z * rest + k * LOG_2_REST))
    return where_less(a, math.inf, where_less(LEAST_NORMAL, a, result, math.nan), a)


@compiled(forceinline=True)
def exp_of_lanes(x):
    """exp x for |x| <= 1."""
    # the first omitted term is x¹⁹/19!, below 1e-17
    a = x * x
    even = 1.0 / 87178291200.0 + a * (1.0 / 20922789888000.0 + a * (1.0 / 6402373705728000.0))
    even = 1.0 / 40320.0 + a * (1.0 / 3628800.0 + a * (1.0 / 479001600.0 + a * even))
    even = a * (0.5 + a * (1.0 / 24.0 + a * (1.0 / 720.0 + a * even)))
    odd = 1.0 / 6227020800.0 + a * (1.0 / 1307674368000.0 + a * (1.0 / 355687428096000.0))
    odd = 1.0 / 5040.0 + a * (1.0 / 362880.0 + a * (1.0 / 39916800.0 + a * odd))
    odd = 1.0 + a * (1.0 / 6.0 + a * (1.0 / 120.0 + a * odd))
    return 1.0 + (x * odd + even)
