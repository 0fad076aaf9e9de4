"""Rows are replaced in place, and arrays grow and shrink without being copied each time."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spume.numerics.room import SPARE, Room


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    count=st.integers(0, 60),
    steps=st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 40)), min_size=1, max_size=6),
)
def test_rows_that_go_and_come(seed, count, steps):
    rng, room = np.random.default_rng(seed), Room()
    array, next_one = np.arange(2 * count).reshape(-1, 2), 2 * count
    for part, new in steps:
        gone = np.flatnonzero(rng.random(len(array)) < part)
        rows = next_one + np.arange(2 * new).reshape(-1, 2)
        next_one += 2 * new
        before = array.copy()
        kept = np.delete(np.arange(len(before)), gone)
        array = room.swap("x", array, gone, rows)
        assert array.flags.c_contiguous
        assert sorted(map(tuple, array)) == sorted(map(tuple, np.concatenate([before[kept], rows])))
        staying = kept[kept < len(array)]
        assert (array[staying] == before[staying]).all()


def test_an_array_that_grows_a_little_is_not_copied():
    room, none = Room(), np.empty(0, np.int64)
    first = room.swap("x", np.arange(1000.0), none, np.ones(1))
    again = room.swap("x", first, none, np.ones(int(1000 * SPARE) - 1))
    assert np.shares_memory(first, again)
    assert not np.shares_memory(room.swap("x", again.copy(), none, np.ones(1)), again)


def test_an_array_that_loses_most_of_its_rows_gives_back_their_memory():
    room = Room()
    few = room.swap("x", np.arange(1000.0), np.arange(10, 1000), np.empty(0))
    assert few.base.nbytes < 2 * few.nbytes
    assert (few == np.arange(10.0)).all()
