"""Separate pieces of a body are counted alike, whoever has its points."""

import numpy as np
import pytest
from lockstep import on_ranks
from scipy.ndimage import label

from spume.mpm.separate_pieces import separate_pieces
from spume.ranks.ranks import ALONE
from spume.ranks.team import Team


def spiral(d):
    """A thin spiral, in which the cells of a rank are connected only through those of others."""
    angle = np.linspace(0.0, 40.0, 8000)
    x = np.stack([angle * np.cos(angle), angle * np.sin(angle), np.zeros_like(angle)], axis=1)
    return 2.5 * x[:, :d]


def dust(d):
    return np.random.default_rng(d).uniform(-20.0, 20.0, (600 if d == 2 else 4000, d))


def by_labels(x):
    """On a dense array of all cells."""
    index = np.floor(x).astype(int)
    index -= index.min(axis=0)
    filled = np.zeros(index.max(axis=0) + 1, bool)
    filled[tuple(index.T)] = True
    return label(filled, np.ones((3,) * x.shape[1]))[1]


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("body", [spiral, dust])
@pytest.mark.parametrize("how", ["slabs", "anyone", "all on one"])
def test_pieces_are_those_of_one_process(d, body, how):
    x = body(d)
    expected = by_labels(x)
    assert expected == 1 if body is spiral else expected > 5
    assert separate_pieces(x, 1.0, ALONE) == expected
    for size in (2, 5):
        owner = np.zeros(len(x), int)
        if how == "slabs":
            owner = np.argsort(np.argsort(x[:, 0])) * size // len(x)
        elif how == "anyone":
            owner = np.random.default_rng(size).integers(size, size=len(x))
        found = on_ranks(size, lambda m, owner=owner: separate_pieces(x[owner == m.rank], 1.0, Team(m)))
        assert found == [expected] * size
