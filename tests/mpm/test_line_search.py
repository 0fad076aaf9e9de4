"""The line search of the semi-implicit step, on a stand-in whose residual is a given function."""

import numpy as np
import pytest

from spume.mpm.implicit.line_search import LEAST_VOLUME, search


class Stand:
    """One unknown with the residual `slope`, and a contact that engages at 5."""

    def __init__(self, slope, volume=lambda v: 1.0, energy=lambda v: np.nan):
        self.slope, self.volume, self.energy_at = slope, volume, energy
        self.contact = np.zeros(1, bool)
        self.at = None

    def engaged(self):
        return [self.contact.copy()]

    def engage(self, contacts):
        self.contact[:] = contacts[0]

    def close_contacts(self, v):
        self.contact |= v[0, 0] >= 5.0

    def residual(self, v):
        """The residual of the contact, too: it is 100 while engaged."""
        self.at = float(v[0, 0])
        return np.full((1, 1), self.slope(self.at) + 100.0 * self.contact[0]), self.volume(self.at)

    def energy(self):
        return self.energy_at(self.at)

    def dot(self, a, b):
        return float(np.sum(a * b))

    def project(self, x):
        pass


def searched(stand, dv, start=0.0):
    v = np.full((1, 1), start)
    r, _ = stand.residual(v)
    found, r, fraction = search(stand, v, np.full((1, 1), dv), r)
    assert stand.at == found[0, 0] or fraction == 0.0
    return float(found[0, 0]), float(r[0, 0]), fraction


def test_a_full_step_is_taken_while_the_energy_falls():
    """Also if the residual grows: here from -1 to -3."""
    assert searched(Stand(lambda v: -1.0 - v), 2.0) == (2.0, -3.0, 1.0)


def test_a_step_beyond_the_minimum_is_shortened_by_the_secant():
    """r = v - 1: the secant from 0 to 4 has its zero at 1, the minimum."""
    found, r, fraction = searched(Stand(lambda v: v - 1.0), 4.0)
    assert (found, fraction) == pytest.approx((1.0, 0.25))
    assert r == pytest.approx(0.0, abs=1e-12)


def test_a_step_that_crushes_a_point_is_halved():
    stand = Stand(lambda v: -1.0, volume=lambda v: 1.0 - v / 3.9)
    found, _, fraction = searched(stand, 4.0)
    assert (found, fraction) == (2.0, 0.5)
    assert stand.volume(found) > LEAST_VOLUME


def test_an_uphill_direction_is_refused_at_once():
    stand = Stand(lambda v: 1.0 - v)
    assert searched(stand, 5.0) == (0.0, 1.0, 0.0)
    assert stand.at == 0.0, "nothing was tried"


def test_a_direction_without_slope_is_refused():
    assert searched(Stand(lambda v: 0.0), 1.0) == (0.0, 0.0, 0.0)


def test_velocities_that_are_not_finite_are_never_returned():
    found, _, fraction = searched(Stand(lambda v: -1.0 if v < 0.3 else np.nan), 1.0)
    assert (found, fraction) == (0.25, 0.25)


def test_without_an_acceptable_length_the_smallest_slope_is_used():
    """A kink at 0: no length has a slope of at most half; the shortest are as good as any."""
    found, r, fraction = searched(Stand(lambda v: -1.0 if v <= 0.0 else 1.0 + v), 1.0)
    assert 0.0 < found < 0.5
    assert r == 1.0 + found
    assert fraction == 0.0


def test_contacts_met_only_by_longer_trials_stay_open():
    """The full step of 8 engages the contact; the one accepted does not reach it."""
    stand = Stand(lambda v: v - 1.0)
    found, r, _ = searched(stand, 8.0)
    assert found < 5.0
    assert not stand.contact[0]
    assert r == pytest.approx(found - 1.0)


def test_a_valley_behind_a_barrier_is_refused_if_its_energy_is_higher():
    """W = v² (v − 2)² − v/4 + 0.3 v² from 0: the full step of 2 ends with a slope below half of that at the start, but
    above the start; without the energy it is taken."""

    def energy(v):
        return v**2 * (v - 2.0) ** 2 - 0.25 * v + 0.15 * v**2

    def slope(v):
        return 2.0 * v * (v - 2.0) ** 2 + 2.0 * v**2 * (v - 2.0) - 0.25 + 0.3 * v

    assert energy(1.9) > 0.0
    assert slope(1.9) < 0.125
    assert searched(Stand(slope), 1.9)[2] == 1.0
    found, _, fraction = searched(Stand(slope, energy=energy), 1.9)
    assert fraction < 1.0
    assert energy(found) < 0.0
