"""Rows of a table as columns, against NumPy's indexing."""

import numpy as np
import pytest

from spume.numerics.jit import compiled
from spume.numerics.row_gather import LANES, gather_rows


@compiled
def _gather(table, column, index, first, columns, line, place):
    gather_rows(table, column, index, first, columns, line, place)


@pytest.mark.parametrize("column", [0, 5])
def test_rows_become_columns_where_they_belong_and_nothing_else_is_touched(column):
    rng = np.random.default_rng(3)
    table = rng.normal(size=(40, 13))
    index = rng.integers(0, 40, 30).astype(np.int32)
    columns = np.full((20, 24), np.nan)
    _gather(table, column, index, 11, columns, 7, 9)
    expected = np.full((20, 24), np.nan)
    expected[7 : 7 + LANES, 9 : 9 + LANES] = table[index[11:19], column : column + LANES].T
    np.testing.assert_array_equal(columns, expected)
