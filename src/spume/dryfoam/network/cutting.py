"""Initial networks between walls: the periodic Voronoi diagram of seeds and their mirror images, cut at the walls."""

from typing import Literal

import numpy as np

from spume.dryfoam.network.geometry import cell_areas
from spume.dryfoam.network.half_edges import DEAD, OUTSIDE, Floats, Network, compact, validate
from spume.dryfoam.network.numbering import along_curve
from spume.dryfoam.network.voronoi import check_apart, jittered, join_films, periodic_dual
from spume.dryfoam.network.walls import attach_to_walls, box_walls, channel_walls
from spume.errors import SceneError

Walls = Literal["box", "channel"]
SPLIT = 1e-7
"""Displacement of seeds and images over their mean spacing. It tilts the bisector of a seed and its image, and more so
the nearer the seed is to the wall: with 1e-3 one foam in ten had a vertex far from its wall."""


def walls_and_lattice(kind: Walls, width: float, height: float) -> tuple[Floats, Floats]:
    """Walls (W, 4) and lattice (2, 2) [m] of a box from the origin to (width, height), or of a channel between y = 0
    and y = height with the period `width`."""
    if kind == "box":
        return box_walls(width, height), np.zeros((2, 2))
    return channel_walls(height), np.diag([width, height])


def walled_voronoi(seeds: Floats, kind: Walls, width: float, height: float) -> Network:
    """Voronoi network of `seeds` (N, 2) [m] in a box or a channel, see `walls_and_lattice`.

    The seeds are mirrored at the walls, which gives a periodic foam with two or four times as many cells; the part
    behind the walls is cut off. Seeds and their images lie in fours on circles, so all are displaced by up to SPLIT of
    their spacing. The label of a cell is the number of its seed.
    """
    check_apart(seeds, None)
    size = np.array([width, height])
    outside = ~np.all((seeds > 0.0) & (seeds < size), axis=1)
    if np.any(outside):
        k = int(np.argmax(outside))
        raise SceneError(f"seed {k} at ({seeds[k, 0]:.6g}, {seeds[k, 1]:.6g}) m is not between the walls")
    mirrored, whole = np.concatenate([seeds, seeds * [1.0, -1.0]]), np.array([width, 2.0 * height])
    if kind == "box":
        mirrored, whole = np.concatenate([mirrored, mirrored * [-1.0, 1.0]]), 2.0 * size
    spacing = float(np.sqrt(width * height / len(seeds)))
    parts = jittered(mirrored, spacing, SPLIT) / whole
    network = periodic_dual(parts - np.floor(parts), np.diag(whole))
    if network is None:
        raise SceneError(f"the {len(seeds)} seeds do not give a network between these walls: give more of them")
    network = _cut(network, len(seeds))
    network.walls, network.lattice = walls_and_lattice(kind, width, height)
    if np.any(network.shift[:, 1]) or (kind == "box" and np.any(network.shift)):
        raise SceneError(f"one of the {len(seeds)} cells reaches through a wall: give more seeds")
    attach_to_walls(network, 0.1 * spacing)
    network = along_curve(network)
    network.targets = cell_areas(network)
    validate(network, network.targets)
    return network


def _cut(network: Network, kept: int) -> Network:
    """First `kept` cells of a periodic network, without a lattice; the other cells become the outside."""
    n = network
    # images of the vertices between minus a quarter and three quarters of the box; the kept cells are in one half
    turns = np.floor(n.positions / np.diag(n.lattice) + 0.25).astype(np.int64)
    n.positions = n.positions - turns * np.diag(n.lattice)
    twin = np.arange(len(n.origin)) ^ 1
    n.shift = n.shift + turns[n.origin[twin]] - turns[n.origin]
    n.cell = np.where(n.cell < kept, n.cell, OUTSIDE)
    for e in np.flatnonzero(np.all(n.cell.reshape(-1, 2) == OUTSIDE, axis=1)):
        for h in (2 * e, 2 * e + 1):
            before, after = n.previous[h], n.next[h ^ 1]
            n.next[before], n.previous[after] = after, before
        n.origin[2 * e] = n.origin[2 * e + 1] = DEAD
    live = np.flatnonzero(n.origin != DEAD)
    degree = np.bincount(n.origin[live], minlength=len(n.positions))
    leaving = np.zeros(len(n.positions), dtype=np.int64)
    leaving[n.origin[live]] = live
    for v in np.flatnonzero(degree == 2):
        into = int(leaving[v])
        join_films(n, into)
        leaving[n.origin[into]] = into
    n.pressures, n.targets, n.labels = n.pressures[:kept], n.targets[:kept], n.labels[:kept]
    return compact(n)
