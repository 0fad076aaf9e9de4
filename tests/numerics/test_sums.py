"""Sums whose bits depend neither on order nor on threads."""

import itertools
import math

import numba
import numpy as np
import pytest

from spume.numerics.sums import block_dots, dot, total, weighted_total


def numbers(rng, count):
    """Numbers of both signs over sixteen decades."""
    return rng.normal(size=count) * 10.0 ** rng.integers(-8, 8, count)


@pytest.mark.parametrize("count", [0, 1, 7, 4096, 4097, 30_000])
def test_a_sum_has_the_same_bits_in_any_order_and_is_right_to_the_last_one(count):
    """The three parts keep 66 binary digits below the largest number, so the error of a sum of n numbers is at most
    n 2⁻⁶⁶ times the largest, and the rounding of the result."""
    rng = np.random.default_rng(count)
    a, b = numbers(rng, count), rng.normal(size=count)
    order = rng.permutation(count)
    found = dot(a, b)
    assert dot(a[order], b[order]) == found
    assert total(a[order]) == total(a)
    exact = math.fsum(a * b)
    bound = count * 2.0**-66 * np.abs(a * b).max(initial=0.0) + 2.0**-52 * abs(exact)
    assert abs(found - exact) <= bound


def test_a_sum_does_not_depend_on_the_number_of_threads():
    a = numbers(np.random.default_rng(3), 50_000)
    threads = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        alone = total(a)
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
        assert total(a) == alone
    finally:
        numba.set_num_threads(threads)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_tiny_and_huge_numbers_are_summed(scale):
    a = np.array([1.0, 2.0, -0.5]) * scale
    assert total(a) == pytest.approx(2.5 * scale, rel=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_stays_so(bad):
    assert not math.isfinite(total(np.array([1.0, bad, 2.0])))


def test_weighted_sums_of_vectors():
    w, q = np.array([1.0, 2.0]), np.array([[1.0, 0.0], [0.5, 3.0]])
    np.testing.assert_array_equal(weighted_total(w, q), [2.0, 6.0])


@pytest.mark.parametrize("count", [100, 3000])
def test_the_products_of_blocks_are_summed_block_by_block(count):
    """The same bits as a sum of the sums of each block alone, whoever computes these."""
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(count, 3)), rng.normal(size=(count, 3))
    starts = np.concatenate([[0], np.sort(rng.integers(0, count, 40)), [count]])
    expected = 0.0
    for first, last in itertools.pairwise(starts):
        expected += block_dots([(a[first:last], b[first:last])], np.array([0, last - first]))[0]
    assert block_dots([(a, b), (b, a)], starts) == [expected, expected]
    assert expected == pytest.approx(np.sum(a * b), abs=1e-12 * np.abs(a * b).sum())
