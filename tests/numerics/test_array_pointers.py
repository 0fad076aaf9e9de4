"""Pointers to the memory of arrays, against the arrays."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from spume.numerics.array_pointers import open_arrays, stack_memory
from spume.numerics.jit import compiled

pytestmark = pytest.mark.numba_versions


class Inner(NamedTuple):
    scale: float
    numbers: NDArray[np.float64]


class Outer(NamedTuple):
    index: NDArray[np.int32]
    inner: Inner


@compiled
def _scaled(record, result):
    index, scale, numbers = open_arrays(record)
    for i in range(len(result)):
        result[i] = scale * numbers[index[i]]


def test_fields_of_nested_tuples_become_pointers_and_numbers_in_order():
    numbers, index = np.arange(5.0), np.array([4, 0, 2], np.int32)
    result = np.zeros(3)
    _scaled(Outer(index, Inner(3.0, numbers)), result)
    np.testing.assert_array_equal(result, 3.0 * numbers[index])


@compiled
def _reversed(rows):
    for i in range(len(rows)):
        stack = stack_memory(8)
        for k in range(8):
            stack[k] = rows[i, k]
        for k in range(8):
            rows[i, k] = stack[7 - k]


def test_memory_on_the_stack_can_be_used_in_a_loop_of_any_length():
    """The stack has 8 MB: memory that each pass allocated anew would not fit."""
    rows = np.arange(8.0 * 200_000).reshape(-1, 8)
    expected = rows[:, ::-1].copy()
    _reversed(rows)
    np.testing.assert_array_equal(rows, expected)
