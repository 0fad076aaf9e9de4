"""What is counted of ranks that do not run is what ranks that run send."""

import numpy as np
import pytest
from lockstep import on_ranks

from spume.cli import main
from spume.grid.cells import STENCIL_OFFSET, Cells
from spume.grid.nodes import Nodes
from spume.ranks.cuts import costs, even_cuts
from spume.ranks.halo import Halo
from spume.ranks.surface import exchanged, surface


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_slots_and_peers_are_those_of_ranks(dimension, size):
    cells = Cells(dimension, 1.0, STENCIL_OFFSET[3])
    x = np.random.default_rng(4).uniform(-12.0, 12.0, (900, dimension))
    cells.sort(x)
    points = np.diff(cells.cell_start[::64])
    cuts = even_cuts(cells.keys, costs(points), size, dimension)
    owner = cuts.owners(cells.keys)

    def work(messages):
        mine = Cells(dimension, 1.0, STENCIL_OFFSET[3])
        mine.sort(x[np.repeat(owner, points)[np.argsort(cells.sorted_points)] == messages.rank])
        nodes = Nodes(dimension, 1.0, 3)
        nodes.cover([mine])
        halo = Halo(messages, cuts, nodes, mine.keys)
        return halo.sent_nodes, halo.peers

    sent, peers = exchanged(cells.keys, owner, size, dimension)
    assert list(zip(sent.tolist(), peers.tolist())) == on_ranks(size, work)
    busiest = surface(cells.keys, points, size, dimension)
    assert busiest.peers == peers.max()
    assert busiest.sent == sent.max() * 8 * (1 + 2 * dimension)


@pytest.mark.parametrize(
    ("scene", "options", "words"),
    [
        ("dough-star", ["--ranks", "2"], ["2 with about 570 points", "600.8 MB on one machine"]),
        pytest.param(
            "dough-star",
            ["--ranks", "4", "--per-node", "3"],
            ["900.6 MB on a node with 3 of them"],
            marks=pytest.mark.slow_suite,
        ),
        pytest.param(
            "shaving-cream",
            ["--ranks", "4"],
            ["4 with about 1,380 points", "to at most 3 others"],
            marks=pytest.mark.slow_suite,
        ),
    ],
)
def test_an_estimate_says_what_ranks_would_have(capsys, scene, options, words):
    assert main(["estimate", scene, "--preset", "draft", *options]) in (0, None)
    said = capsys.readouterr().out
    assert all(word in said for word in words)


@pytest.mark.parametrize(
    ("scene", "options", "words"),
    [
        ("dry-foam-shear", ["--ranks", "2"], "does not run on several ranks"),
        ("slump", ["--ranks", "0"], "1 rank or more"),
        ("slump", ["--ranks", "4", "--per-node", "5"], "a node has 1 to 4 of the ranks"),
        ("slump", ["--ranks", "4", "--per-node", "0"], "a node has 1 to 4 of the ranks"),
        ("slump", ["--per-node", "2"], "--per-node needs --ranks"),
    ],
)
def test_an_estimate_refuses_what_ranks_cannot_do(capsys, scene, options, words):
    assert main(["estimate", scene, *options]) == 2
    assert words in capsys.readouterr().err
