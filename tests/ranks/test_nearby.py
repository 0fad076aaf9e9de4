"""Copies of rows near the blocks of a rank: which there are, and that all that is known of them is kept up to date."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lockstep import on_ranks

from spume.foam.resampling.turns import find_turns, members_of
from spume.grid.blocks import BLOCK, keys_of_cells
from spume.grid.cells import Cells
from spume.ranks.curve import places
from spume.ranks.cuts import Cuts, even_cuts
from spume.ranks.places import places as places_among_all
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team
from spume.ranks.unions import united


def owner_of(cuts, index):
    return cuts.owners(keys_of_cells(index, cuts.dimension)[0])


def reached_by(cuts, index, rank, reach):
    """Whether a cell at most `reach` cells from this one is in a block of the rank: all cells around it, one by one."""
    d = cuts.dimension
    steps = np.zeros(((2 * reach + 1) ** d, 3), np.int64)
    steps[:, :d] = np.stack(np.unravel_index(np.arange(len(steps)), (2 * reach + 1,) * d), axis=1) - reach
    return bool((owner_of(cuts, index + steps) == rank).any())


@settings(max_examples=25, deadline=None)
@given(
    dimension=st.sampled_from([2, 3]),
    seed=st.integers(0, 10**6),
    count=st.sampled_from([0, 1, 60]),
    size=st.sampled_from([1, 2, 3, 5]),
    reach=st.integers(0, 4),
)
def test_rows_are_copied_where_they_are_near_and_changes_reach_all(dimension, seed, count, size, reach):
    rng = np.random.default_rng(seed)
    cells = Cells(dimension, 0.3, rng.choice([0.0, 0.5, 1.0]))
    x = rng.uniform(-4.0, 4.0, (count, dimension))
    index, holder = cells.coordinates(x), rng.integers(0, size, count)
    keys = np.append(keys_of_cells(index, dimension)[0], 1 << 62)
    cuts = Cuts(np.sort(rng.choice(places(keys, dimension), size - 1)), dimension)
    value, dropped = rng.normal(size=(count + 1, 2)), rng.random(count) < 0.3

    def on_rank(messages):
        team = Team(messages)
        team.cuts = cuts
        own = np.flatnonzero(holder == messages.rank)
        rows = team.nearby(cells, x[own], reach)
        known = rows.extended({"number": own})["number"]
        expected = [
            p for p in range(count)
            if holder[p] != messages.rank and reached_by(cuts, index[p], messages.rank, reach)
        ]  # fmt: skip
        assert sorted(known[rows.copies]) == expected
        assert np.array_equal(rows.here, owner_of(cuts, index[known]) == messages.rank)
        assert np.array_equal(team.owns(cells, x[known]), rows.here)
        # shuffle, drop the same rows on all ranks, and add one of its own
        order = np.random.default_rng(messages.rank).permutation(len(known))
        rows.reorder(order)
        known = known[order]
        rows.reorder(~dropped[known])
        known = np.append(known[~dropped[known]], -1)
        rows.append(1)
        values = np.where(rows.own[:, None], value[known], 0.0)
        needed = ~rows.own & (known % 2 == 0)
        rows.fetch({"values": values}, needed)
        assert np.array_equal(values, np.where((rows.own | needed)[:, None], value[known], 0.0))
        # the owner of the block of each third row changes it
        values = np.zeros((len(known), 2))
        changed = rows.here & (known % 3 == 0)
        values[changed] = value[known[changed]]
        rows.publish({"values": values}, changed)
        assert np.array_equal(values[:-1], np.where((known % 3 == 0)[:-1, None], value[known[:-1]], 0.0))
        return rows.any(messages.rank == size - 1)

    assert on_ranks(size, on_rank) == [True] * size


def test_a_process_that_is_alone_has_all_rows():
    rows = ALONE.nearby(Cells(2, 1.0, 0.0), np.zeros((3, 2)), 4)
    assert rows.own.tolist() == rows.here.tolist() == [True] * 3
    assert not rows.copies.size
    assert not rows.any(False)


def test_rows_farther_away_than_a_block_are_not_copied():
    """Nobody would know of them; the error is one of the program."""
    team = Team(on_ranks(1, lambda messages: messages)[0])
    team.cuts = Cuts(np.empty(0, np.int64), 3)
    with pytest.raises(ValueError, match="must not be more than 4"):
        team.nearby(Cells(3, 1.0, 0.0), np.zeros((1, 3)), BLOCK[3][0] + 1)


def test_groups_with_a_common_member_take_turns():
    """0 and 1 share a point, 3 shares one with 2, which is another rank's; 4 has none in common with any."""
    start, members = np.array([0, 2, 4, 6, 8, 9]), np.array([0, 1, 1, 2, 5, 6, 6, 7, 9])
    mine = np.array([True, True, False, True, True])
    done = np.zeros(5, np.bool_)
    turn = find_turns(start, members, mine, done)
    assert turn.tolist() == [0, 1, 4]  # in their order, 1 after 0
    assert members_of(turn, start, members).tolist() == [0, 1, 1, 2, 9]
    done[turn] = True
    assert find_turns(start, members, mine, done).tolist() == []
    done[2] = True
    assert find_turns(start, members, mine, done).tolist() == [3]


def test_labels_are_united_along_chains():
    labels = np.array([9, 5, 3, 7, 4])
    pairs = np.array([[9, 5], [5, 7], [4, 2**62]])
    assert united(labels, pairs).tolist() == [5, 5, 3, 5, 4]
    assert united(labels, pairs[:0]).tolist() == labels.tolist()


def test_places_of_numbers_as_large_as_an_integer_can_be():
    numbers = np.sort(np.random.default_rng(2).integers(0, 2**63 - 1, 50))
    holder = np.random.default_rng(3).integers(0, 4, 50)
    found = on_ranks(4, lambda messages: places_among_all(numbers[holder == messages.rank], messages))
    assert np.array_equal(np.sort(np.concatenate(found)), np.arange(50))
    for rank in range(4):
        assert np.array_equal(found[rank], np.flatnonzero(holder == rank))


@pytest.mark.parametrize("moved", [(0.0, 0.0, 0.0), (0.0, 0.0, -40.0), (100.0, 7.0, 3.0)])
def test_points_far_from_their_reference_are_divided_evenly_and_mostly_stay_where_they_are(moved):
    """A cube of 40³ points on 8 ranks by cells of another size and at other positions: each rank gets at most twice its
    share, and copies of a part of the others. By the cuts of the reference one rank would get all of them."""
    size, side = 8, 40
    rest = np.stack(np.meshgrid(*[np.arange(side) + 0.5] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    own = Cells(3, 1.1, 0.0)
    own.sort(rest)
    counts = np.diff(own.cell_start[::64])
    cuts = even_cuts(own.keys, counts, size, 3)
    holder = cuts.owners(own.keys)[own.of_points() // 64]

    def on_rank(messages):
        team = Team(messages)
        team.cuts = cuts
        x = (rest + moved)[holder == messages.rank]
        cells = Cells(3, 2.47, 0.0)
        rows = team.divided(cells, x).nearby(cells, x, 4, 0.0)
        return rows.here.sum(), rows.copies.size

    here, copies = np.array(on_ranks(size, on_rank)).T
    assert here.sum() == side**3
    assert here.max() <= 2 * side**3 / size
    # the share of a rank and a layer of blocks around it: 27 of 64 blocks where they match those of the cube
    assert copies.max() < side**3 * 0.6
