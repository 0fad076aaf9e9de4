"""[DryFoam] figure 1: a T1 of ours."""

import numpy as np
from reports.case import Outcome, Surroundings, deviation, states

from figures.dryfoam.drawing import PALE, around_cells, axes_of, index_of, save, show
from figures.figure import Figure
from figures.panels import MARKED
from spume.dryfoam import Foam
from spume.dryfoam.network.half_edges import Network
from spume.dryfoam.network.topology import flip_film
from spume.dryfoam.statistics import bulk_cells, summary

CELLS = 40
SEED = 2
SHORT = 0.35
"""Length of the film that flips, over the root of the mean area: just below this. Shorter ones are hard to see."""


def film_to_flip(network: Network) -> int:
    """The longest film below SHORT between cells of four sides or more, off the edge of the foam."""
    lengths = np.hypot(*network.chords().T) / np.sqrt(network.targets.mean())
    sides, inner = network.cell.reshape(-1, 2), bulk_cells(network)
    whole = np.all(sides >= 0, axis=1) & np.all(inner[sides] & (network.sides()[sides] > 3), axis=1)
    return int(np.argmax(np.where(whole & (lengths < SHORT), lengths, -1.0)))


def run(around: Surroundings) -> Outcome:
    """Flip a film of a free foam, and find the new equilibrium."""
    foam = Foam.voronoi(CELLS, "free", seed=SEED, seeds="poisson-disk")
    foam.equilibrate()
    before = foam.network.copy()
    film = film_to_flip(before)
    ends = before.origin[[2 * film, 2 * film + 1]]
    parted = [int(before.labels[cell]) for cell in before.cell[[2 * film, 2 * film + 1]]]
    old = before.chords()[film]
    flip_film(foam.network, film)
    unrelaxed = foam.network.copy()
    joined = [int(before.labels[cell]) for cell in unrelaxed.cell[[2 * film, 2 * film + 1]]]
    new = unrelaxed.chords()[film]
    report = foam.equilibrate()
    after = foam.network
    cosine = abs(float(old @ new)) / float(np.linalg.norm(old) * np.linalg.norm(new))
    sides = {label: (before.sides()[index_of(before, label)], after.sides()[index_of(after, label)])
             for label in (*parted, *joined)}  # fmt: skip
    figure, axes = axes_of(3)
    colours = dict.fromkeys(parted, PALE) | dict.fromkeys(joined, "#cfe3e3")
    view = around_cells(before, [*parted, *joined], 0.2)
    for place, network, title in (
        (axes[0], before, "before: the film between the pale cells is short"),
        (axes[1], unrelaxed, "the new film, perpendicular to the old one"),
        (axes[2], after, "in equilibrium again"),
    ):
        show(place, network, title, {index_of(network, label): colour for label, colour in colours.items()}, view=view)
    for place, network in ((axes[0], before), (axes[1], unrelaxed)):
        place.plot(*network.positions[ends].T, color=MARKED, linewidth=3)
    outcome = Outcome(
        [
            deviation("cosine of the angle between the old and the new film", cosine, 1e-9, "perpendicular", "largest"),
            states(
                "sides of the cells that part and of those that join, before and after",
                ", ".join(f"{a} → {b}" for a, b in sides.values()), "one fewer, one more",
                all(b == a - 1 for a, b in (sides[label] for label in parted))
                and all(b == a + 1 for a, b in (sides[label] for label in joined)),
            ),
            states("T1s that undo it on the way to equilibrium", str(report.flips), "none", report.flips == 0),
            deviation("angles afterwards", summary(foam)["angle_error"], 1e-8, "120°", "largest"),
        ]
    )  # fmt: skip
    outcome.figures.append((save(around, "dryfoam-1", figure), "A T1 off the edge of a free foam of 40 cells."))
    return outcome


FIGURE = Figure(
    "dryfoam-1",
    "Figure 1: the T1 process",
    "An approaching unstable four-fold vertex is split into two stable three-fold vertices. The new film is "
    "perpendicular to the old one (section 3), and the vertices then move apart until angles are 120° again.",
    run,
    paper="DryFoam",
    finding="The figure is a drawing in the paper; here a film is flipped that is long enough to be seen.",
    presets=("paper",),
)
