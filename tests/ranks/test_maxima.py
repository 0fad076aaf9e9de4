"""Maxima of numbers over ranks, NaN included, by integers in the order of the numbers."""

import numpy as np

from spume.ranks.mpi import _number, _rank

NUMBERS = np.array([-np.inf, -1e300, -2.0, -1.0, -1e-320, -0.0, 0.0, 5e-324, 1.0, 1.5, 1e300, np.inf])


def test_integers_have_the_order_of_the_numbers_with_nan_last():
    assert (np.diff(_rank(NUMBERS)) > 0).all()
    for nan in (np.nan, -np.nan, np.array([0xFFF8000000000001], np.uint64).view(np.float64)[0]):
        assert _rank(np.array([nan]))[0] > _rank(NUMBERS).max()


def test_numbers_come_back_with_their_bits():
    assert _number(_rank(NUMBERS)).tobytes() == NUMBERS.tobytes()
    assert np.isnan(_number(_rank(np.array([-np.nan])))).all()
