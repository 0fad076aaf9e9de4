"""Eight numbers at once, against NumPy."""

import numpy as np
import pytest

from spume.numerics.jit import compiled
from spume.numerics.lane_functions import exp_of_lanes, log_of_lanes
from spume.numerics.lanes import (
    LANES,
    LINE,
    abs_of_lanes,
    aligned_zeros,
    all_less,
    exponent_and_fraction,
    gather_lanes,
    gather_rows,
    load_lanes,
    root_of_lanes,
    store_lanes,
    sum_each,
    sum_lanes,
    where_at_most,
    where_less,
    with_sign_of,
    zero_lanes,
)

EPS = np.finfo(float).eps

pytestmark = pytest.mark.numba_versions


@compiled
def _gather(table, column, index, first, columns):
    a, b, c, d, e, f, g, h = gather_rows(table, column, index, first)
    store_lanes(columns[0], 0, a)
    store_lanes(columns[1], 0, b)
    store_lanes(columns[2], 0, c)
    store_lanes(columns[3], 0, d)
    store_lanes(columns[4], 0, e)
    store_lanes(columns[5], 0, f)
    store_lanes(columns[6], 0, g)
    store_lanes(columns[7], 0, h)
    return sum_each(a, b, c, d, e, f, g, h)


@pytest.mark.parametrize("column", [0, 5])
def test_rows_become_columns_and_their_sums(column):
    rng = np.random.default_rng(3)
    table = rng.normal(size=(40, 13))
    index = rng.integers(0, 40, 30).astype(np.int32)
    columns = np.zeros((LANES, LANES))
    sums = _gather(table, column, index, 11, columns)
    expected = table[index[11:19], column : column + LANES]
    np.testing.assert_array_equal(columns, expected.T)
    np.testing.assert_allclose(sums, expected.sum(axis=0), rtol=0, atol=8 * 8 * 2.0**-53 * np.abs(expected).max())


@compiled
def _arithmetic(a, index, results):
    x, y = load_lanes(a, 3), gather_lanes(a, index, 2)
    store_lanes(results, 0, x + y)
    store_lanes(results, 8, x - 2.0)
    store_lanes(results, 16, 3.0 * y)
    store_lanes(results, 24, 1.0 / x)
    store_lanes(results, 32, root_of_lanes(x))
    store_lanes(results, 40, where_less(x, y, x, 7.0))
    total = zero_lanes()
    total += y
    return sum_lanes(total)


def test_arithmetic_and_nothing_else_is_touched():
    rng = np.random.default_rng(4)
    a, index = rng.uniform(1, 2, 20), rng.integers(0, 20, 12).astype(np.int32)
    results = np.full(50, np.nan)
    total = _arithmetic(a, index, results)
    x, y = a[3:11], a[index[2:10]]
    expected = [x + y, x - 2.0, 3.0 * y, 1.0 / x, np.sqrt(x), np.where(x < y, x, 7.0)]
    np.testing.assert_array_equal(results[:48], np.concatenate(expected))
    assert np.isnan(results[48:]).all()
    assert total == pytest.approx(y.sum(), rel=8 * 2.0**-53)


@compiled
def _signs(a, b, results):
    x, y = load_lanes(a, 0), load_lanes(b, 0)
    store_lanes(results, 0, abs_of_lanes(x))
    store_lanes(results, 8, with_sign_of(x, y))
    store_lanes(results, 16, with_sign_of(2.0, y))
    store_lanes(results, 24, where_at_most(x, y, 1.0, 0.0))
    store_lanes(results, 32, where_less(x, y, 1.0, 0.0))
    return all_less(x, y)


def test_signs_and_comparisons_with_zeros_infinities_and_nan():
    a = np.array([0.0, -0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, 2.0])
    b = np.array([-0.0, 0.0, -2.0, -1.0, 1.0, -np.inf, 3.0, np.nan])
    results = np.zeros(40)
    assert not _signs(a, b, results)
    expected = [np.abs(a), np.copysign(a, b), np.copysign(2.0, b), 1.0 * (a <= b), 1.0 * (a < b)]
    np.testing.assert_array_equal(results, np.concatenate(expected))
    np.testing.assert_array_equal(np.signbit(results[8:24]), np.tile(np.signbit(b), 2))


def test_all_less_asks_every_lane():
    a, b = np.arange(8.0), np.arange(8.0) + 1.0
    assert _signs(a, b, np.zeros(40))
    for k in range(LANES):
        for other in (a[k], np.nan):
            changed = b.copy()
            changed[k] = other
            assert not _signs(a, changed, np.zeros(40))


@compiled
def _functions(a, exponents, fractions, logs, exps):
    for first in range(0, len(a), LANES):
        x = load_lanes(a, first)
        k, f = exponent_and_fraction(x)
        store_lanes(exponents, first, k)
        store_lanes(fractions, first, f)
        store_lanes(logs, first, log_of_lanes(x))
        store_lanes(exps, first, exp_of_lanes(x))


def _of(a):
    results = np.zeros((4, len(a)))
    _functions(a, *results)
    return results


def test_logarithms_of_numbers_of_any_size_and_near_one():
    """A dozen operations round; the terms that follow the first are smaller by an order of magnitude."""
    rng = np.random.default_rng(5)
    edges = np.sqrt(0.5) * (1.0 + EPS * np.arange(-4, 4))
    for a in (
        rng.uniform(0.3, 3.0, 8000),
        1.0 + 1e-8 * rng.normal(size=8000),
        10.0 ** rng.uniform(-307, 308, 8000),
        edges,
    ):
        exponents, fractions, logs, _ = _of(a)
        np.testing.assert_array_equal(np.ldexp(fractions, exponents.astype(int)), a)
        assert fractions.min() >= np.sqrt(0.5)
        assert fractions.max() < np.sqrt(2.0) * (1.0 + EPS)
        exact = np.log(a.astype(np.longdouble))  # NumPy 1.26 errs by 1.5 EPS in float64
        np.testing.assert_allclose(logs, exact, rtol=2 * EPS, atol=0)


def test_logarithms_of_what_has_none_are_not_numbers():
    logs = _of(np.array([0.0, -0.0, -1.0, np.nan, -np.inf, 5e-324, np.inf, 1.0]))[2]
    np.testing.assert_array_equal(logs, [np.nan] * 6 + [np.inf, 0.0])


def test_exponentials_up_to_one():
    """Errors are those of the largest term of the series, 1, relative to e⁻¹ at least."""
    x = np.concatenate([np.linspace(-1.0, 1.0, 8000), np.full(8, 1e-9)])
    np.testing.assert_allclose(_of(x)[3], np.exp(x), rtol=3 * EPS, atol=0)
    assert np.isnan(_of(np.full(8, np.nan))[3]).all()


def test_aligned_memory_begins_at_a_line_and_is_zero():
    for n in range(1, 10):
        memory = aligned_zeros((n, 3))
        assert memory.ctypes.data % LINE == 0
        assert memory.flags.c_contiguous
        assert not memory.any()
