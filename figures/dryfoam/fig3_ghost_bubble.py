"""[DryFoam] figure 3: the ghost bubble around a free foam."""

import numpy as np
from reports.case import Outcome, Surroundings, deviation, states

from figures.dryfoam.drawing import axes_of, save, show
from figures.figure import Figure
from figures.panels import MARKED
from spume.dryfoam import Foam
from spume.dryfoam.network.half_edges import OUTSIDE
from spume.dryfoam.statistics import summary

CELLS = 40


def run(around: Surroundings) -> Outcome:
    """Draw a free foam and the loop of its ghost bubble; move the foam."""
    foam = Foam.voronoi(CELLS, "free", seed=5, seeds="poisson-disk")
    foam.equilibrate()
    network = foam.network
    edge = np.flatnonzero(network.cell == OUTSIDE)
    vertices = np.unique(network.origin[edge])
    figure, axes = axes_of(2)
    show(axes[0], network, f"front: {network.cells} bubbles")
    show(axes[1], network, f"back: the ghost bubble uses the {len(vertices)} vertices of the edge")
    axes[1].fill(*_loop(foam, edge).T, facecolor="#e8e4dc", edgecolor=MARKED, linewidth=2.5)
    axes[1].plot(*network.positions[vertices].T, "o", color=MARKED, markersize=4)
    euler = network.vertices - network.films + network.cells + 1
    # pressure of each cell on the edge against the curvature of its outer film: Laplace's law with zero outside
    theta = network.half_angles[edge >> 1] * np.where(edge % 2 == 0, -1.0, 1.0)
    length = np.hypot(*network.chords(edge >> 1).T)
    curvature = 2.0 * np.sin(theta) / length
    inside = network.pressures[network.cell[edge ^ 1]]
    laplace = float(np.max(np.abs(inside - foam.T * curvature)) / np.max(inside))
    # a foam in a free surrounding can be moved and turned at no cost: three modes without stiffness
    energy = foam.energy
    turn = np.array([[np.cos(0.7), -np.sin(0.7)], [np.sin(0.7), np.cos(0.7)]])
    foam.network.positions[:] = foam.network.positions @ turn.T + np.array([3.0, -2.0])
    report = foam.equilibrate()
    outcome = Outcome(
        [
            states("V − E + F with the ghost bubble", str(euler), "2, as on a sphere", euler == 2),
            deviation(
                "pressures on the edge: T κ, with zero outside", laplace, 1e-8, "Laplace's law", "all on the edge"
            ),
            deviation(
                "energy after moving and turning the foam",
                abs(foam.energy / energy - 1.0),
                1e-12,
                "unchanged",
                "moved and turned",
            ),
            states("T1s after moving and turning it", str(report.flips), "none", report.flips == 0),
            deviation("angles", summary(foam)["angle_error"], 1e-8, "120°", "largest"),
        ]
    )
    outcome.figures.append((save(around, "dryfoam-3", figure), "A free foam and the one cell that is its outside."))
    return outcome


def _loop(foam: Foam, edge: np.ndarray) -> np.ndarray:
    """Points along the outline of the foam (n, 2) [m]."""
    from spume.dryfoam.drawing import arc_points, half_edge_chords

    network, chords = foam.network, half_edge_chords(foam.network)
    parts, h = [], int(edge[0])
    for _ in edge:
        theta = network.half_angles[h >> 1] * (1.0 if h % 2 == 0 else -1.0)
        parts.append(arc_points(network.positions[network.origin[h]], chords[h], theta))
        h = int(network.next[h])
    return np.concatenate(parts)


FIGURE = Figure(
    "dryfoam-3",
    "Figure 3: the ghost bubble",
    "The outside of a free foam is one more cell, on the back of the mesh, that reuses the vertices of the edge; its "
    "pressure and area are constants, so the foam can move freely.",
    run,
    paper="DryFoam",
    finding="The outside is a cell without unknowns in our network, too; its pressure is zero where the paper sets "
    "one, which only shifts all pressures.",
    presets=("paper",),
)
