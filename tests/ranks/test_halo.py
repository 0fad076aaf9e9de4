"""Sums on shared nodes, and points that move, for random points, cuts and numbers of ranks: the bits of one process."""

from unittest.mock import patch

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lockstep import on_ranks
from rank_clouds import Cloud, points

from spume.grid.nodes import Nodes
from spume.grid.transfers import FEW_BLOCKS
from spume.numerics.sums import total
from spume.ranks.cuts import Cuts
from spume.ranks.slots import Contributions, with_earlier
from spume.ranks.team import Team


def sums_of_node(nodes, target):
    """The sums at each block of nodes, by its key."""
    return {int(key): target[n].tobytes() for n, key in enumerate(nodes.keys)}


def moved(arrays, shift):
    return arrays | {"x": arrays["x"] + shift * np.sin(7.0 * arrays["id"])[:, None]}


def steps_of_one(arrays, dimension, order, shift):
    """Sums at the nodes before and after the points have moved."""
    found = []
    for _ in range(2):
        cloud, nodes = Cloud(arrays, dimension, order), Nodes(dimension, 1.0, order)
        cloud.sort()
        nodes.cover([cloud.cells])
        cloud.transfers.connect(nodes)
        found.append(sums_of_node(nodes, cloud.node_sums(nodes)))
        arrays = moved(arrays, shift)
    return found


def steps_of_rank(messages, arrays, dimension, order, shift, first, many=50):
    """The same with the points of one rank, and their ids at the end. `first` are the cuts; None: even ones."""
    team = Team(messages, every=1, uneven=1.1 if first is None else np.inf, many=many)
    part = team.part(len(arrays["x"]))
    cloud, nodes = Cloud({name: a[part] for name, a in arrays.items()}, dimension, order), Nodes(dimension, 1.0, order)
    if first is not None:
        team.cuts = Cuts(first, dimension)
    found = []
    for step in range(2):
        cloud.sort()
        team.settle([cloud], dimension, step)
        nodes.cover([cloud.cells])
        team.join(nodes, [cloud.cells])
        cloud.transfers.connect(nodes)
        found.append(sums_of_node(nodes, cloud.node_sums(nodes)))
        assert (team.cuts.owners(cloud.cells.keys) == messages.rank).all()
        cloud.arrays = moved(cloud.arrays, shift)
    return found, cloud.arrays["id"], team.total(cloud.arrays["mass"])


@pytest.mark.parametrize("grid", [(2, 2), (2, 3), (3, 3), pytest.param((3, 2), marks=pytest.mark.slow_suite)], ids=str)
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 5),
    count=st.integers(0, 300),
    width=st.floats(1.0, 25.0),
    shift=st.floats(0.0, 9.0),
    random_cuts=st.booleans(),
    many=st.sampled_from([0, 20, 300]),
    threads=st.integers(1, numba.config.NUMBA_NUM_THREADS),
    few=st.sampled_from([0, FEW_BLOCKS]),
)
def test_any_ranks_with_any_cuts_have_the_sums_of_one_process(
    grid, seed, size, count, width, shift, random_cuts, many, threads, few
):
    """Dimension and order of the splines are given by `grid`."""
    dimension, order = grid
    rng = np.random.default_rng(seed)
    arrays = points(rng, dimension, count, width)
    first = None
    if random_cuts:
        middle = 1 << (dimension * (20 if dimension == 3 else 21) - 1)
        first = np.sort(middle + rng.integers(-middle // 2, middle // 2, size - 1) // 10 ** rng.integers(0, 12))
    whole = steps_of_one(arrays, dimension, order, shift)

    def work(messages):
        numba.set_num_threads(threads)
        return steps_of_rank(messages, arrays, dimension, order, shift, first, many)

    with patch("spume.grid.transfers.FEW_BLOCKS", few):
        ranks = on_ranks(size, work)
    for step in range(2):
        for found, _, _ in ranks:
            assert found[step].items() <= whole[step].items()
        assert set().union(*(found[step] for found, _, _ in ranks)) == set(whole[step])
    assert sorted(np.concatenate([ids for _, ids, _ in ranks])) == list(range(count))
    assert {mass for _, _, mass in ranks} == {total(arrays["mass"])}


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), unique=True, max_size=12),
    st.lists(st.booleans(), min_size=10, max_size=10),
    st.permutations([0, 1, 2, 3, 4, 4, 5, 6, 7, 7]),
)
def test_what_must_come_before_the_first_blocks_is_added_with_them(listed, chosen, colour_of_cell):
    """What is added first, then the others: the order of the colours on every node, and no more first than needed."""
    listed = sorted(pair for k, pair in enumerate(listed) if all(
        pair[0] != other[0] or colour_of_cell[pair[1]] != colour_of_cell[other[1]] for other in listed[:k]
    ))  # fmt: skip
    node, cell = np.array(listed, np.int64).reshape(-1, 2).T
    colour, first = np.array(colour_of_cell)[cell], np.array(chosen)
    found = with_earlier(Contributions(node, np.zeros_like(node), cell), colour, first)
    assert found[first].all()
    turn = np.lexsort((colour, ~found[cell]))
    for each in range(4):
        assert (np.diff(colour[turn][node[turn] == each]) > 0).all()
    for added in np.flatnonzero(found & ~first):
        mine = node[cell == added]
        assert ((colour > colour_of_cell[added]) & found[cell] & np.isin(node, mine)).any()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dimension", [2, 3])
def test_threads_of_a_rank_change_no_bit(dimension, threads):
    if threads > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("this process may use one thread only")
    arrays = points(np.random.default_rng(3), dimension, 2000, 9.0)
    whole = steps_of_one(arrays, dimension, 3, 1.0)

    def work(messages):
        numba.set_num_threads(threads)
        return steps_of_rank(messages, arrays, dimension, 3, 1.0, None)[0]

    for found in on_ranks(3, work):
        assert found[0].items() <= whole[0].items()
        assert found[1].items() <= whole[1].items()


@settings(max_examples=30, deadline=None)
@given(
    parts=st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), max_size=5), min_size=1, max_size=4
    )
)
def test_a_sum_over_ranks_has_the_bits_of_one(parts):
    whole = total(np.array([x for part in parts for x in part]))
    assert set(on_ranks(len(parts), lambda m: Team(m).total(np.array(parts[m.rank])))) == {whole}


def test_no_node_is_around_places_where_there_are_none():
    """A rank without points has no nodes, but may get points of adjacent blocks to look at."""
    assert len(Nodes(3, 0.1, 3).around(np.zeros((2, 3)))) == 0
