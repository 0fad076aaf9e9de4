"""Resampling on ranks has the bits of one process, for random points, whoever has which, and any cuts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lockstep import on_ranks
from void_oracles import R, make_state, scattered

from spume.foam.resampling import KeptBodies, ResamplingSettings, avoid_a_void, enter, leave
from spume.ranks.curve import places
from spume.ranks.cuts import Cuts
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team

SETTINGS = ResamplingSettings(merge_distance=0.3)


def cloud(d, seed, points, order, affine, shift):
    """A state full of voids and close pairs, with its points in two parts that touch or not."""
    rng = np.random.default_rng(seed)
    x = scattered(rng, d, points) - shift * R
    x[rng.random(len(x)) < 0.3, 0] += rng.uniform(0.0, 60.0) * R
    return make_state(x, order=order, affine=affine)


def resampled(state, ranks, kept):
    """All points by id, the report and the next id."""
    species = state.only
    territory = enter(ranks, species, species.cells, SETTINGS.merge_distance)
    species.arrange()
    territory.rows.reorder(species.cells.sorted_points)
    criterion = KeptBodies(state.particles, (2,)) if kept else None
    report = avoid_a_void(state, 0.0, (1, 2), SETTINGS, criterion, territory)
    leave(species, territory)
    return state.particles.arrays(), report, state.particles.next_id


def team_of(messages, state, rng, everyone):
    """Cuts of the blocks of all points `everyone` at random places."""
    team = Team(messages)
    cells = state.only.cells
    cells.sort(everyone)
    along = np.sort(places(cells.keys, state.dimension))
    team.cuts = Cuts(np.sort(rng.choice(along, messages.size - 1)), state.dimension)
    return team


def parts(rng, count, size, kind):
    """The rank that holds each point."""
    if kind == "one":
        return np.full(count, rng.integers(size))
    return rng.integers(0, size, count)


def assert_same_on_ranks(size, d, seed, points, order, affine, shift, kind, kept):
    whole, report, next_id = resampled(cloud(d, seed, points, order, affine, shift), ALONE, kept)

    def on_rank(messages):
        state = cloud(d, seed, points, order, affine, shift)
        everyone, rng = state.particles.x, np.random.default_rng(seed + 1)
        team = team_of(messages, state, rng, everyone)
        holder = parts(rng, len(everyone), size, kind)
        if kind == "home":
            holder = team.cuts.owners(state.only.cells.keys[state.only.cells.of_points() // 64])
        state.particles.take(holder == messages.rank)
        return resampled(state, team, kept)

    found = on_ranks(size, on_rank)
    assert [each[1:] for each in found] == [(report, next_id)] * size
    ids, expected = np.concatenate([each[0]["id"] for each in found]), np.argsort(whole["id"])
    order = np.argsort(ids)
    for name, array in whole.items():
        together = np.concatenate([each[0][name] for each in found])[order]
        assert together.tobytes() == array[expected].tobytes(), name
    return report


@settings(max_examples=25, deadline=None)
@given(
    size=st.sampled_from([1, 2, 3, 4, 8]),
    seed=st.integers(0, 10**6),
    points=st.sampled_from([0.02, 0.8, 1.5]),
    order=st.sampled_from([2, 3]),
    affine=st.booleans(),
    shift=st.floats(0.0, 20.0),
    kind=st.sampled_from(["home", "one", "anyone"]),
    kept=st.booleans(),
)
def test_random_clouds_are_resampled_as_in_one_process(size, seed, points, order, affine, shift, kind, kept):
    assert_same_on_ranks(size, 2, seed, points, order, affine, shift, kind, kept)


@pytest.mark.parametrize(
    ("order", "affine", "shift", "kind", "kept"),
    [(3, True, 0.0, "home", False), (2, False, 7.3, "home", False), (3, True, 3.1, "anyone", True)],
)
def test_a_block_that_is_active_everywhere(order, affine, shift, kind, kept):
    """Points wait for each other across many borders: all are in groups with common donors."""
    report = assert_same_on_ranks(8, 3, 5, 1.6, order, affine, shift, kind, kept)
    assert report.inserted > 100
    assert report.merged > 20
