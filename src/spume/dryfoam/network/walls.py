"""Walls: straight lines on which the ends of films slide, with the corners between those of a box.

A wall has no tension, so a film in equilibrium meets it at 90°. A part of a wall between two vertices does not
contribute to the forces along the wall; if it goes around corners, the area between it and its chord belongs to its
cell.
"""

import numpy as np

from spume.dryfoam.network.half_edges import OUTSIDE, Floats, Integers, Network
from spume.errors import SceneError


def box_walls(width: float, height: float) -> Floats:
    """Walls of the box from the origin to (width, height) [m], shape (4, 4)."""
    return np.array(
        [
            [0.0, 0.0, 1.0, 0.0],
            [width, 0.0, 0.0, 1.0],
            [width, height, -1.0, 0.0],
            [0.0, height, 0.0, -1.0],
        ]
    )


def channel_walls(height: float) -> Floats:
    """Walls y = 0 and y = height [m] of a channel, shape (2, 4)."""
    return np.array([[0.0, 0.0, 1.0, 0.0], [0.0, height, -1.0, 0.0]])


def normals(network: Network) -> Floats:
    """Unit normal of each vertex's wall, into the foam; zero for vertices that are not on walls, shape (V, 2)."""
    n = network
    found = np.zeros((n.vertices, 2))
    on_wall = np.flatnonzero(n.wall[: n.vertices] >= 0)
    t = n.walls[n.wall[on_wall], 2:]
    found[on_wall] = np.stack([-t[:, 1], t[:, 0]], axis=1)
    return found


def wall_half_edges(network: Network) -> Integers:
    """Half-edges along the walls with a cell on their left, counter-clockwise."""
    if not len(network.walls):
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(network.cell == OUTSIDE) ^ 1


def corner_counts(network: Network, half: Integers) -> Integers:
    """Number of corners that each of the half-edges `half` of `wall_half_edges` goes around, shape (n,)."""
    n = network
    if n.boundary != "box":
        return np.zeros(len(half), dtype=np.int64)
    a, b = n.origin[half], n.origin[half ^ 1]
    count = (n.wall[b] - n.wall[a]) % len(n.walls)
    along = np.sum((n.positions[b] - n.positions[a]) * n.walls[n.wall[a], 2:], axis=1)
    return np.where((count == 0) & (along < 0.0), len(n.walls), count)


def corner_paths(network: Network) -> list[tuple[int, Floats]]:
    """Half-edges that go around corners, each with its start, corners and end as points (k + 2, 2) [m]."""
    n, found = network, []
    half = wall_half_edges(n)
    counts = corner_counts(n, half)
    for h, count in zip(half[counts > 0], counts[counts > 0], strict=True):
        a, b = n.origin[h], n.origin[h ^ 1]
        corners = n.walls[(n.wall[a] + 1 + np.arange(count)) % len(n.walls), :2]
        found.append((int(h), np.concatenate([n.positions[[a]], corners, n.positions[[b]]])))
    return found


def polygon_moments(points: Floats) -> tuple[float, Floats]:
    """Area [m²], positive if counter-clockwise, and centroid [m] of a polygon; the first point if the area is zero."""
    x, y = (points - points[0]).T
    cross = x * np.roll(y, -1) - y * np.roll(x, -1)
    area = 0.5 * float(np.sum(cross))
    if area == 0.0:
        return 0.0, points[0]
    centre = np.array([np.sum((x + np.roll(x, -1)) * cross), np.sum((y + np.roll(y, -1)) * cross)]) / (6.0 * area)
    return area, points[0] + centre


def corners_of_cells(network: Network) -> Integers:
    """Number of corners of the box in each cell, shape (F,)."""
    counts = np.zeros(network.cells, dtype=np.int64)
    half = wall_half_edges(network)
    np.add.at(counts, network.cell[half], corner_counts(network, half))
    return counts


def contacts_of_cells(network: Network) -> Integers:
    """Number of parts of walls around each cell, shape (F,)."""
    return np.bincount(network.cell[wall_half_edges(network)], minlength=network.cells)


def attach_to_walls(network: Network, tolerance: float) -> None:
    """Assign each vertex on the outside to the wall within `tolerance` [m], in place, and move it exactly there.

    A vertex in a corner is assigned to either wall. Raises SceneError for a vertex that is on none.
    """
    n = network
    n.wall[:] = -1
    for v in np.unique(n.origin[n.cell == OUTSIDE]):
        arm, t = n.positions[v] - n.walls[:, :2], n.walls[:, 2:]
        away = t[:, 0] * arm[:, 1] - t[:, 1] * arm[:, 0]
        nearest = int(np.argmin(np.abs(away)))
        if abs(away[nearest]) > tolerance:
            x, y = n.positions[v]
            raise SceneError(f"vertex {v} at ({x:.6g}, {y:.6g}) m has a cell on one side only and is on no wall")
        n.wall[v] = nearest
        n.positions[v] -= away[nearest] * np.array([-t[nearest, 1], t[nearest, 0]])
    n.half_angles[n.is_wall] = 0.0
