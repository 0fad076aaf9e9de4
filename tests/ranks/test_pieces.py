"""Labels of pieces: those of a slow search over all pairs of points, and the same on ranks."""

from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from lockstep import on_ranks

from spume.foam.pieces.connection import FIRM_REACH, TORN_REACH, find_pieces
from spume.foam.pieces.fusion import FUSED
from spume.grid.cells import Cells
from spume.ranks.curve import places
from spume.ranks.cuts import Cuts
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team
from spume.ranks.unions import united

CELL, SPACING = 1.0, 0.5
TEARS = np.array([0.1, np.inf])


def cloud(rng, dimension, count, width):
    """Clumps of points, some of which have had other labels before, or none."""
    middle = rng.uniform(-width, width, (rng.integers(1, 12), dimension))
    clump = rng.integers(0, len(middle), count)
    x = middle[clump] + rng.normal(0.0, rng.uniform(0.3, 3.0), (count, dimension))
    if rng.random() < 0.5:
        x = np.round(x * 4.0) / 4.0 + 0.125  # a lattice, with many equal distances
    before = np.array([0, 1, 2, 5])[clump % 4] if rng.random() < 0.7 else np.ones(count)
    before[rng.random(count) < 0.1] = 0
    return {
        "x": x,
        "id": rng.permutation(3 * count)[:count].astype(np.int64),
        "material": (clump % 3 == 0).astype(np.int32) if rng.random() < 0.5 else np.zeros(count, np.int32),
        "volume": rng.uniform(0.5, 1.5, count) * SPACING**dimension,
        "piece": before.astype(np.int64),
    }


class Arrays(SimpleNamespace):
    """What `find_pieces` asks of `Particles`."""

    def arrays(self):
        return dict(vars(self))


def labelled(points, dimension, ranks, cells=None):
    cells = Cells(dimension, CELL, 1.0) if cells is None else cells
    cells.sort(points["x"], points["id"])
    p = Arrays(**{name: array.copy() for name, array in points.items()})
    world = SimpleNamespace(
        particles=p, ranks=ranks, dimension=dimension, cell=CELL, steps=0, only=SimpleNamespace(cells=cells)
    )
    find_pieces(world, 0.0, SimpleNamespace(tear_threshold=TEARS), SPACING)
    return dict(zip(p.id.tolist(), p.piece.tolist()))


def on_team(points, dimension, size, rng):
    cells = Cells(dimension, CELL, 1.0)
    cells.sort(points["x"], points["id"])
    cuts = Cuts(np.sort(rng.choice(np.sort(places(cells.keys, dimension)), size - 1)), dimension)
    owner = cuts.owners(cells.keys)[cells.of_points() // 64]

    def on_rank(messages):
        team = Team(messages)
        team.cuts = cuts
        return labelled({name: a[owner == messages.rank] for name, a in points.items()}, dimension, team)

    found = {}
    for part in on_ranks(size, on_rank):
        found |= part
    return found


def by_all_pairs(points, dimension):
    """The rules of `pieces`, from the distances of all pairs."""
    x, ids, material, piece = points["x"], points["id"], points["material"], points["piece"].copy()
    order = np.argsort(ids)
    square = ((x[:, None] - x[None]) ** 2).sum(axis=2)

    def nearest(p, among, reach):
        """Of equally near points that with the least id."""
        among = order[among[order]]
        if not among.size or square[p, among].min() >= reach**2:
            return -1
        return among[square[p, among].argmin()]

    old = piece != 0
    for p in np.flatnonzero(~old):
        q = nearest(p, old, TORN_REACH * SPACING)
        if q >= 0:
            piece[p] = piece[q]
    firm = np.isinf(TEARS)[material]
    linked = (square <= (TORN_REACH * SPACING) ** 2) | (firm[:, None] & firm & (square <= (FIRM_REACH * CELL) ** 2))
    first, second = np.nonzero(linked & (piece[:, None] == piece))
    label = united(ids, np.stack([ids[first], ids[second]], axis=1))
    labels, number, counts = np.unique(label, return_inverse=True, return_counts=True)
    now, size = labels.copy(), points["volume"] ** (1.0 / dimension)
    for k in np.argsort(counts, kind="stable")[:-1]:
        pairs = [(p, nearest(p, number != k, FIRM_REACH * CELL)) for p in order[number[order] == k]]
        gaps = [(np.sqrt(square[p, q]) - 0.5 * (size[p] + size[q]), q) for p, q in pairs if q >= 0]
        if gaps and max(gap for gap, _ in gaps) <= FUSED * CELL:
            now[k] = now[number[min(gaps, key=lambda each: each[0])[1]]]
    return dict(zip(ids.tolist(), (now[number] + 1).tolist()))


@settings(max_examples=40, deadline=None)
@given(
    dimension=st.sampled_from([2, 3]),
    seed=st.integers(0, 10**6),
    count=st.sampled_from([1, 20, 300]),
    width=st.sampled_from([4.0, 15.0]),
    size=st.sampled_from([2, 3, 4, 8]),
)
def test_labels_are_those_of_a_search_over_all_pairs_on_any_number_of_ranks(dimension, seed, count, width, size):
    rng = np.random.default_rng(seed)
    points = cloud(rng, dimension, count, width)
    expected = by_all_pairs(points, dimension)
    assert labelled(points, dimension, ALONE) == expected
    assert on_team(points, dimension, size, rng) == expected


def test_a_thread_along_many_blocks_is_one_piece_on_all_ranks():
    """Its label travels from one end to the other, by way of all ranks."""
    x = np.stack([np.arange(400) * 0.4 - 80.0, np.full(400, 0.3)], axis=1)
    rng = np.random.default_rng(3)
    points = {
        "x": x, "id": rng.permutation(400) + 7, "material": np.zeros(400, np.int32), "volume": np.full(400, 0.2),
        "piece": np.zeros(400, np.int64),
    }  # fmt: skip
    assert set(on_team(points, 2, 8, rng).values()) == {8}


def test_points_apart_by_a_gap_that_the_thread_cannot_bridge_are_two_pieces():
    points = {
        "x": np.array([[0.0, 0.0], [1.0, 0.0], [2.0 + 1e-9, 0.0]]), "id": np.array([4, 9, 2]),
        "material": np.zeros(3, np.int32), "volume": np.full(3, 1e-6), "piece": np.zeros(3, np.int64),
    }  # fmt: skip
    assert labelled(points, 2, ALONE) == {4: 5, 9: 5, 2: 3}
