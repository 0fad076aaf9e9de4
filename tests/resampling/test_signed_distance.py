"""The sparse signed distance against the paper's algorithm on a dense grid."""

import numpy as np
import pytest
from void_oracles import DenseDistance, R, lattice, scattered

from spume.foam.resampling.bins import bin_points
from spume.foam.resampling.signed_distance import signed_distance
from spume.grid.blocks import BLOCK


def node_values(bins, field):
    """Places of all listed nodes [m], their signs and distances."""
    side = np.array(BLOCK[bins.dimension])
    local = np.stack(np.unravel_index(np.arange(64), side), axis=1)
    nodes = (bins.blocks[:, None, :] * side + local).reshape(-1, 3).astype(float)
    return bins.position(nodes), field.inside == 1, field.distance


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("points", [0.3, 1.0, 3.0])
def test_distances_equal_those_of_the_dense_algorithm(d, points):
    x = scattered(np.random.default_rng(1), d, points) - 5.3 * R
    bins = bin_points(x, R)
    places, inside, distance = node_values(bins, signed_distance(bins))
    oracle = DenseDistance(x)
    expected = oracle(places)
    known = np.isfinite(distance)
    assert np.array_equal(inside, expected < 0)
    # the oracle is read at its own nodes: only the rounding of coordinates of size 50 r separates the two
    np.testing.assert_allclose(distance[known], expected[known], rtol=0, atol=1e-12 * 50)
    assert np.all(expected[~known] > -np.sqrt(3.0))


@pytest.mark.parametrize("d", [2, 3])
def test_every_deep_node_is_known(d):
    x = lattice((14,) * d)
    bins = bin_points(x, R)
    places, _, distance = node_values(bins, signed_distance(bins))
    deep = DenseDistance(x)(places) < -np.sqrt(3.0)
    assert deep.sum() >= 8**d
    assert np.isfinite(distance[deep]).all()


@pytest.mark.parametrize("d", [2, 3])
def test_far_apart_blobs_cost_what_they_cost_alone(d):
    """Blocks listed, on which all time and memory depend, are those of each blob, 10⁵ cells apart."""
    one = lattice((9,) * d)
    other = one + 1e5 * R * 16
    together = bin_points(np.concatenate([one, other]), R)
    assert len(together.blocks) == len(bin_points(one, R).blocks) + len(bin_points(other, R).blocks)
    assert len(together.blocks) <= 2 * 5**d
