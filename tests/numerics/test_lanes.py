"""Eight numbers at once, against NumPy."""

import numpy as np
import pytest

from spume.numerics.jit import compiled
from spume.numerics.lanes import (
    LANES,
    LINE,
    aligned_zeros,
    gather_lanes,
    gather_rows,
    load_lanes,
    root_of_lanes,
    store_lanes,
    sum_each,
    sum_lanes,
    where_less,
    zero_lanes,
)


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


def test_aligned_memory_begins_at_a_line_and_is_zero():
    for n in range(1, 10):
        memory = aligned_zeros((n, 3))
        assert memory.ctypes.data % LINE == 0
        assert memory.flags.c_contiguous
        assert not memory.any()
