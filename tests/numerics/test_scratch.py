"""Scratch arrays of kernels."""

import pytest

from spume.numerics.jit import compiled
from spume.numerics.scratch import LINE, zeros


@compiled
def address_and_sum(count):
    """Address of a scratch array, and the sum of its numbers after ones were added to it."""
    room = zeros(count)
    for k in range(count):
        room[k] += 1.0
    return room.ctypes.data, room.sum()


@pytest.mark.parametrize("count", [1, 7, 8, 864])
def test_scratch_begins_at_a_cache_line_and_is_zero(count):
    kept = [address_and_sum(count + k) for k in range(20)]  # lengths, because the allocator moves on by them
    assert all(address % LINE == 0 for address, _ in kept)
    assert [total for _, total in kept] == [count + k for k in range(20)]
