"""Closed forms of arcs against finite differences and against the geometry of circles."""

import math

import numpy as np
import pytest

from spume.dryfoam.network.arcs import SERIES, arc_factors, film_energy

ANGLES = [-2.9, -1.6, -math.pi / 2, -0.31, -0.29, -1e-3, -1e-9, 0.0, 1e-12, 0.2, SERIES, 1.0, math.pi / 2, 2.0, 3.0]


@pytest.mark.parametrize("theta", ANGLES)
def test_derivatives_are_those_of_the_values(theta):
    # Central differences with step e err by e² f'''/6 plus rounding/e: 1e-5 gives about 1e-9 of the local scale.
    e = 1e-5
    _, dL, ddL, _, dS, ddS = arc_factors(theta)
    below, above = arc_factors(theta - e), arc_factors(theta + e)
    for k, value in ((0, dL), (1, ddL), (3, dS), (4, ddS)):
        scale = 1.0 + abs(value) + abs(above[k + 1]) / math.sin(theta) ** 2 if abs(theta) > 1 else 1.0 + abs(value)
        assert (above[k] - below[k]) / (2 * e) == pytest.approx(value, abs=1e-8 * scale)


def test_series_and_closed_forms_meet_without_a_jump():
    # Either side of the switch the functions differ by their slope times the gap, and by rounding.
    gap = 1e-13
    for low, high in zip(arc_factors(SERIES - gap), arc_factors(SERIES + gap), strict=True):
        assert high == pytest.approx(low, abs=1e-12)


@pytest.mark.parametrize("theta", [0.4, math.pi / 2, 2.5])
def test_an_arc_is_part_of_its_circle(theta):
    c = 0.7
    radius = c / (2 * math.sin(theta))
    L, _, _, S, _, _ = arc_factors(theta)
    assert c * L == pytest.approx(2 * theta * radius, rel=1e-14)
    assert c * c * S == pytest.approx(radius**2 * (theta - math.sin(theta) * math.cos(theta)), rel=1e-13)


def test_length_grows_by_curvature_times_area_at_a_fixed_chord():
    for theta in ANGLES:
        if theta:
            _, dL, _, _, dS, _ = arc_factors(theta)
            assert dL == pytest.approx(2 * math.sin(theta) * dS, rel=1e-10)


def test_film_energy_derivatives():
    tension, dp, theta = 1.3, 0.4, 0.6
    d = np.array([0.5, -0.8])
    e = 1e-6

    def value(d, theta):
        return film_energy(math.hypot(*d), arc_factors(theta), tension, dp)[0]

    def gradient(d, theta):
        return film_energy(math.hypot(*d), arc_factors(theta), tension, dp)[1] * d

    c = math.hypot(*d)
    _, g, f_theta, h_cc, h, f_tt = film_energy(c, arc_factors(theta), tension, dp)
    for k in range(2):
        step = e * np.eye(2)[k]
        assert (value(d + step, theta) - value(d - step, theta)) / (2 * e) == pytest.approx(g * d[k], abs=1e-8)
        column = (gradient(d + step, theta) - gradient(d - step, theta)) / (2 * e)
        assert column == pytest.approx((g * np.eye(2) + h_cc * np.outer(d, d))[:, k], abs=1e-8)
    assert (value(d, theta + e) - value(d, theta - e)) / (2 * e) == pytest.approx(f_theta, abs=1e-8)
    assert (gradient(d, theta + e) - gradient(d, theta - e)) / (2 * e) == pytest.approx(h * d, abs=1e-8)
    bend = [film_energy(c, arc_factors(theta + s), tension, dp)[2] for s in (-e, e)]
    assert (bend[1] - bend[0]) / (2 * e) == pytest.approx(f_tt, abs=1e-8)
