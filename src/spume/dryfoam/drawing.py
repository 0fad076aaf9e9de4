"""Outlines of cells and films for pictures and exports: arcs as end points and radius, or as points along them."""

import numpy as np

from spume.dryfoam.network.half_edges import Floats, Network
from spume.dryfoam.network.walls import corner_paths

STEP = np.radians(6.0)
"""Largest change of direction between two points of a drawn arc [rad]."""


def arc_points(start: Floats, chord: Floats, theta: float, step: float = STEP) -> Floats:
    """Points along an arc from `start`, without its end, shape (n, 2) [m]."""
    pieces = max(1, int(np.ceil(2.0 * abs(theta) / step)))
    s = np.arange(pieces) / pieces
    if abs(theta) < 1e-9:
        return start + s[:, None] * chord
    # the chord to the point at fraction s of the arc has length c sin(θ s)/sin θ and is rotated by θ (s - 1)
    factor, turned = np.sin(theta * s) / np.sin(theta), theta * (s - 1.0)
    x = factor * (np.cos(turned) * chord[0] - np.sin(turned) * chord[1])
    y = factor * (np.sin(turned) * chord[0] + np.cos(turned) * chord[1])
    return np.asarray(start + np.stack([x, y], axis=1))


def cell_half_edges(network: Network) -> list[list[int]]:
    """Half-edges around each cell. Raises ValueError if they do not return to the first, as in a damaged frame."""
    loops = []
    for h0 in network.first_half_edges():
        loop, h = [int(h0)], int(network.next[h0])
        while h != h0:
            if len(loop) == len(network.next):
                raise ValueError("its half-edges do not form loops")
            loop.append(h)
            h = int(network.next[h])
        loops.append(loop)
    return loops


def half_edge_chords(network: Network) -> Floats:
    """Chord of every half-edge [m], shape (2E, 2)."""
    chords = network.chords()
    both = np.empty((2 * len(chords), 2))
    both[0::2], both[1::2] = chords, -chords
    return both


def cell_outlines(network: Network, step: float = STEP) -> list[Floats]:
    """Closed outline of each cell as points (n, 2) [m], its centre moved into the periodic box."""
    if network.is_lone and network.is_closed:
        return [wall_outline(network)]
    if network.is_lone:
        angle = np.arange(0.0, 2.0 * np.pi, step)
        circle = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return [network.positions[0] + np.sqrt(network.targets[0] / np.pi) * circle]
    chords, corners = half_edge_chords(network), dict(corner_paths(network))
    outlines = []
    for loop in cell_half_edges(network):
        at, parts = network.positions[network.origin[loop[0]]].copy(), []
        for h in loop:
            theta = network.half_angles[h >> 1] * (1.0 if h % 2 == 0 else -1.0)
            parts.append(corners[h][:-1] if h in corners else arc_points(at, chords[h], theta, step))
            at = at + chords[h]
        points = np.concatenate(parts)
        outlines.append(points + box_translation(network, points.mean(axis=0)))
    return outlines


def wall_outline(network: Network) -> Floats:
    """Corners of the box, or of a period of the channel [m], shape (4, 2)."""
    if network.boundary == "box":
        return network.walls[:, :2].copy()
    a, b = network.lattice.T
    return np.stack([0.0 * a, a, a + b, b])


def box_translation(network: Network, place: Floats) -> Floats:
    """Lattice translation [m] that moves `place` into the box; zero for a foam that is not periodic."""
    if not np.any(network.lattice):
        return np.zeros(2)
    return np.asarray(-network.lattice @ np.floor(np.linalg.solve(network.lattice, place)))
