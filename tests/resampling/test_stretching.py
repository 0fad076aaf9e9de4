"""[Yue15] figure 6: a block under large deformation with and without resampling."""

import numpy as np
import pytest
from scipy.spatial import cKDTree
from void_oracles import ALPHA, R, lattice, make_state, totals

from spume.foam.resampling import ResamplingSettings, avoid_a_void

STRETCH = 2.5
STEPS = 40


def core_uncovered(x, size, rng):
    """Part of the places at least 5 r inside a box about the origin that have no point within αr."""
    d = len(size)
    half = 0.5 * np.asarray(size) - 5 * R
    places = rng.uniform(-half, half, (20_000, d))
    return np.mean(cKDTree(x).query(places)[0] > ALPHA[d] * R)


@pytest.mark.parametrize("d", [2, 3])
def test_a_stretched_block_has_voids_without_and_none_with_resampling(d):
    """Stretched 2.5 times along x and compressed as much along y, in small increments. The block is thick enough that
    its core, 5 r below the surface, exists at the end."""
    rng = np.random.default_rng(30)
    shape = (12, 40) if d == 2 else (8, 36, 14)
    x = lattice(shape) - 0.5 * R * np.array(shape) + rng.uniform(-0.2, 0.2, (np.prod(shape), d)) * R
    factor = np.ones(d)
    factor[:2] = STRETCH, 1 / STRETCH
    size = np.array(shape) * R * factor
    assert core_uncovered(x * factor, size, rng) > 0.1
    state = make_state(x)
    before = totals(state)
    for step in range(STEPS):
        state.particles.x[:] *= factor ** (1 / STEPS)
        avoid_a_void(state, 0.0, (1, step), ResamplingSettings())
    assert core_uncovered(state.particles.x, size, rng) == 0.0
    np.testing.assert_allclose(totals(state), before, rtol=0, atol=1e-12 * before[0])
