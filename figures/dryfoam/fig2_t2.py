"""[DryFoam] figure 2: a T2 of ours."""

from dataclasses import replace

import numpy as np
from reports.case import Outcome, Surroundings, deviation, states

from figures.dryfoam.drawing import PALE, around_cells, axes_of, index_of, save, show
from figures.figure import Figure
from figures.panels import MARKED
from spume.dryfoam import Foam
from spume.dryfoam.network.half_edges import Network, compact
from spume.dryfoam.network.topology import remove_cell
from spume.dryfoam.statistics import summary

CELLS = 60
SEED = 3
SHARES = (1.0, 0.3, 0.05)
"""Areas of the shrinking cell that are shown, over its area when it had three sides."""


def corners(network: Network, cell: int) -> np.ndarray:
    """Positions of the vertices of a cell that does not cross the periodic box (n, 2) [m]."""
    return network.positions[np.unique(network.origin[network.cell == cell])]


def three_sided() -> tuple[Foam, int]:
    """A free foam with a three-sided cell off its edge, and the label of this cell: one that is given less and less
    area until it has lost its other sides."""
    foam = Foam.voronoi(CELLS, "free", seed=SEED, seeds="poisson-disk")
    foam.equilibrate()
    inner = np.flatnonzero(np.hypot(*(foam.centroids - foam.centroid).T) < 0.5 * np.sqrt(foam.areas.sum() / np.pi))
    label = int(foam.labels[inner[np.argmin(foam.sides[inner])]])
    foam.options = replace(foam.options, t_dist=0.25)
    while True:
        cell = index_of(foam.network, label)
        if foam.sides[cell] == 3:
            foam.options = replace(foam.options, t_dist=None)
            return foam, label
        foam.network.targets[cell] *= 0.9
        foam.equilibrate()


def run(around: Surroundings) -> Outcome:
    """Shrink a three-sided cell, and remove it."""
    foam, label = three_sided()
    start = foam.network.targets[index_of(foam.network, label)]
    stages = []
    for share in SHARES:
        foam.network.targets[index_of(foam.network, label)] = share * start
        foam.equilibrate()
        stages.append(foam.network.copy())
    before = stages[-1]
    cell = index_of(before, label)
    neighbours = [int(before.labels[before.cell[h ^ 1]]) for h in np.flatnonzero(before.cell == cell)]
    mean = corners(before, cell).mean(axis=0)
    removed = before.copy()
    remove_cell(removed, cell)
    removed = compact(removed)
    distance = float(np.min(np.hypot(*(removed.positions - mean).T)))
    foam.collapse(cell)
    after = foam.network
    changes = [before.vertices - after.vertices, before.films - after.films, before.cells - after.cells]
    lost = [before.sides()[index_of(before, n)] - after.sides()[index_of(after, n)] for n in neighbours]
    figure, axes = axes_of(2, 2)
    view = around_cells(stages[0], [label], 0.3)
    for place, network, share in zip(axes, stages, SHARES):
        show(place, network, f"{share:.0%} of its area", {index_of(network, label): PALE}, view=view)
    show(axes[3], after, "one vertex", view=view)
    axes[3].plot(*mean, "o", color=MARKED, markersize=5)
    outcome = Outcome(
        [
            deviation(
                "distance of the new vertex from the mean of the three, over the mean edge of a cell",
                distance / float(np.sqrt(before.targets.mean())), 1e-12, "mean of the vertices", "one vertex",
            ),
            states("vertices, films, cells lost", ", ".join(map(str, changes)), "2, 3, 1", changes == [2, 3, 1]),
            states("sides that its neighbours lose", ", ".join(map(str, lost)), "1, 1, 1", lost == [1, 1, 1]),
            deviation("angles afterwards", summary(foam)["angle_error"], 1e-8, "120°", "largest"),
        ]
    )  # fmt: skip
    outcome.figures.append((save(around, "dryfoam-2", figure), "A three-sided bubble of a free foam loses its gas."))
    return outcome


FIGURE = Figure(
    "dryfoam-2",
    "Figure 2: the T2 process",
    "A three-sided cell that approaches zero area through the diffusion of its gas perishes: it becomes one vertex at "
    "the mean of its three.",
    run,
    paper="DryFoam",
    finding="The figure is a drawing in the paper; here it is a bubble of ours whose gas is taken away step by step. "
    "The dot is the mean of its last three vertices; in equilibrium the vertex lies beside it by a fraction of the "
    "bubble's last size.",
    presets=("paper",),
)
