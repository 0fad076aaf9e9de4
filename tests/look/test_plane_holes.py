"""Gaps between points of 2D pictures."""

import numpy as np

from spume.look.pictures.plane_drawer import without_holes


def test_small_gaps_are_filled_and_large_ones_and_the_outside_stay() -> None:
    covered = np.zeros((60, 80))
    covered[10:50, 10:70] = 1.0
    covered[20:23, 20:23] = 0.2  # 9 pixels
    covered[30:40, 40:50] = 0.2  # 100 pixels
    covered[10:12, 60:62] = 0.2  # a bay of the outside
    filled = without_holes(covered, 16.0)
    assert (filled[20:23, 20:23] == 1.0).all()
    assert (filled[30:40, 40:50] == 0.2).all()
    assert (filled[10:12, 60:62] == 0.2).all()
    np.testing.assert_array_equal(filled[:9], covered[:9])


def test_nothing_is_filled_where_all_is_covered() -> None:
    np.testing.assert_array_equal(without_holes(np.ones((8, 8)), 5.0), np.ones((8, 8)))
