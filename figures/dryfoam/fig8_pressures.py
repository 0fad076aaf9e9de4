"""[DryFoam] figure 8: pressures of a large foam."""

import numpy as np
from numpy.typing import NDArray
from reports.case import Outcome, Surroundings, states
from reports.runs import run_of

from figures.dryfoam.drawing import axes_of, save, show
from figures.figure import Figure
from spume.dryfoam.network.half_edges import Network, network_of

SCENE = "dry-foam-pressure"
SHUFFLES = 200
"""Random arrangements of the same pressures to compare with."""
LOWEST = 0.3
"""Share of the cells, those with the lowest pressures, whose chains are measured."""


def likeness(network: Network, values: NDArray[np.float64]) -> float:
    """Correlation of the values of neighbouring cells (Moran's I with a weight of one per film)."""
    pairs = network.cell.reshape(-1, 2)
    pairs = pairs[np.all(pairs >= 0, axis=1)]
    d = values - values.mean()
    return float(np.mean(d[pairs[:, 0]] * d[pairs[:, 1]]) / np.mean(d**2))


def largest_cluster(network: Network, chosen: NDArray[np.bool_]) -> int:
    """Number of cells of the largest connected cluster of the chosen cells."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    pairs = network.cell.reshape(-1, 2)
    pairs = pairs[np.all(pairs >= 0, axis=1)]
    pairs = pairs[chosen[pairs[:, 0]] & chosen[pairs[:, 1]]]
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(network.cells, network.cells))
    _, parts = connected_components(graph, directed=False)
    return int(np.bincount(parts[chosen]).max())


def run(around: Surroundings) -> Outcome:
    """Run the scene, and compare its last frame with random arrangements."""
    made = run_of(around, SCENE)
    foam = network_of(made[len(made) - 1])
    p = foam.pressures
    generator = np.random.default_rng(0)
    shuffled = [generator.permutation(p) for _ in range(SHUFFLES)]
    random = np.array([likeness(foam, values) for values in shuffled])
    own = likeness(foam, p)
    low = p <= np.quantile(p, LOWEST)
    clusters = np.array([largest_cluster(foam, values <= np.quantile(values, LOWEST)) for values in shuffled])
    chain = largest_cluster(foam, low)
    figure, axes = axes_of(1, size=9.0)
    show(axes[0], foam, "", shading="pressure")
    outcome = Outcome(
        [
            states(
                "correlation of the pressures of neighbours", f"{own:+.3f}",
                f"above random arrangements ({random.mean():+.3f} ± {random.std(ddof=1):.3f}) by three spreads",
                own >= random.mean() + 3.0 * random.std(ddof=1),
            ),
            states(
                f"largest chain of cells among the {LOWEST:.0%} with the lowest pressures", str(chain),
                f"longer than random ({clusters.mean():.0f} ± {clusters.std(ddof=1):.0f}) by three spreads",
                chain >= clusters.mean() + 3.0 * clusters.std(ddof=1),
            ),
        ]
    )  # fmt: skip
    text = f"{foam.cells} bubbles of a periodic foam, shaded by pressure between its 5th and 95th percentile."
    outcome.figures.append((save(around, "dryfoam-8", figure), text))
    return outcome


FIGURE = Figure(
    "dryfoam-8",
    "Figure 8: pressures",
    "Cells with similar pressures tend to group together and form walls that almost look like a labyrinth.",
    run,
    paper="DryFoam",
    finding="Tested against the same pressures in random places. The pressures of neighbours are not alike: their "
    "correlation is zero, since large cells have low pressures and small neighbours (Aboav and Weaire). What the eye "
    "follows are the cells of low pressure, which form one network through the foam: the labyrinth of the caption. The "
    "paper's foam is larger and its colours are exaggerated.",
    presets=("paper",),
)
