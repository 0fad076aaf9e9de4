"""The dollop under a shaken block and its variants: runs and measures shared by figures 1, 3, 7, 8 and 9."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray
from reports.case import Surroundings
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from figures.panels import Camera
from figures.repeats import at_sizes
from spume import Run
from spume.frames.reader import Frame

CELLS = {"draft": (0.009, 0.007), "medium": (0.005, 0.0035), "paper": (0.0035, 0.003)}
"""The two resolutions of each preset [m]; the last is drawn."""
SHORT = {"draft": (0.009, 0.008)} | {preset: cells for preset, cells in CELLS.items() if preset != "draft"}
"""The same for figures with more than two models: drafts are shorter [m]."""
DRAFT_END = 1.2
"""End of the drafts [s]."""
UNDER_BLOCK = 0.235
"""Height [m] below which foam has left the block, whose underside is at 0.25 m."""
CAMERA, SIZE = Camera((0.16, 0.165, 0.62), (0.0, 0.143, 0.0), 29.5), (560, 640)
"""From where block, dollop and ground fill upright panels, and the size of these [pixels]."""
SLIVER = 0.01
"""Ratio of the smallest and the largest eigenvalue of the covariance of a neighbourhood below which it is a sliver."""


def runs(
    around: Surroundings,
    scene: str,
    changes: Mapping[str, object] | None = None,
    end: float = DRAFT_END,
    cells: Iterable[float] | None = None,
) -> list[Run]:
    """The scene with `changes` at both resolutions, or with `cells` [m], drafts until `end` [s], when foam of Table I
    has landed."""
    own = dict(changes or {}) | ({"duration": end} if around.preset == "draft" else {})
    return at_sizes(around, scene, "grid.cell", cells or CELLS[around.preset], own)


def cell_of(run: Run) -> float:
    """Width of a cell of the run's grid [m]."""
    return float(run.scene.grid.cell)  # type: ignore[attr-defined]  # scenes of this figure have a grid


def pieces(frame: Frame, cell: float) -> NDArray[np.intp]:
    """Number of the piece of each point: points within a cell of each other belong together."""
    pairs = cKDTree(frame["x"]).query_pairs(cell, output_type="ndarray")
    count = len(frame["x"])
    links = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return np.asarray(connected_components(links, directed=False)[1])


def parting(run: Run) -> float:
    """Time at which no piece any more reaches from the block down to where a tenth of the mass hangs [s]; the end of
    the run if that does not happen."""
    for record, frame in zip(run.diagnostics, run):
        y, mass = frame["x"][:, 1], frame["mass"]
        order = np.argsort(y)
        tenth = y[order][np.searchsorted(np.cumsum(mass[order]), 0.1 * mass.sum())]
        label = pieces(frame, cell_of(run))
        if not set(label[y > UNDER_BLOCK]) & set(label[y <= tenth]):
            return float(record["time"])
    return float(run.diagnostics[-1]["time"])


def fallen(run: Run, time: float) -> float:
    """Part of the mass that has left the block at a time."""
    times = np.array([record["time"] for record in run.diagnostics])
    frame = run[int(np.argmin(np.abs(times - time)))]
    mass = frame["mass"]
    return float(mass[frame["x"][:, 1] < UNDER_BLOCK].sum() / mass.sum())


def slivers(frame: Frame, cell: float) -> int:
    """Points whose neighbourhood within two cells is nearly a line or a sheet."""
    x = frame["x"]
    tree = cKDTree(x)
    thin = 0
    for near in tree.query_ball_point(x, 2.0 * cell):
        away = x[near] - x[near].mean(axis=0)
        values = np.linalg.eigvalsh(away.T @ away)
        thin += bool(len(near) < 4 or values[0] < SLIVER * values[2])
    return thin
