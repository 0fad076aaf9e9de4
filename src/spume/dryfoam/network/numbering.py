"""Renumbering of a network along a space-filling curve, so that neighbours in the plane are close in memory."""

import numpy as np

from spume.dryfoam.network.half_edges import Floats, Integers, Network, renumbered

BITS = 16
"""Number of binary digits of each coordinate: the curve fills a square of 2^16 by 2^16."""


def curve_order(places: Floats) -> Integers:
    """Order of points (n, 2) of the unit square along the Morton curve, which interleaves the digits of x and y."""
    cells = np.minimum((places * (1 << BITS)).astype(np.int64), (1 << BITS) - 1)
    key = np.zeros(len(places), dtype=np.int64)
    for bit in range(BITS):
        for axis in range(2):
            key |= ((cells[:, axis] >> bit) & 1) << (2 * bit + axis)
    return np.argsort(key, kind="stable")


def unit_places(positions: Floats, lattice: Floats) -> Floats:
    """Positions (n, 2) as fractions of the periodic box, or of the square around them if there is none."""
    if np.any(lattice):
        inverse = np.linalg.inv(lattice)
        parts = positions[:, :1] * inverse[:, 0] + positions[:, 1:] * inverse[:, 1]
        return np.asarray(parts - np.floor(parts))
    low = positions.min(axis=0)
    return np.asarray((positions - low) / np.ptp(positions, axis=0).max())


def along_curve(network: Network) -> Network:
    """The same network with vertices numbered along the curve, and films and cells in the order of their first
    vertices.

    Cells keep their labels. Loops over a large foam then access memory locally.
    """
    n = network
    vertices = curve_order(unit_places(n.positions, n.lattice))
    place = np.argsort(vertices, kind="stable")[n.origin]
    films = np.argsort(np.minimum(place[0::2], place[1::2]), kind="stable")
    first = np.full(n.cells + 1, n.vertices)  # the last is the outside
    np.minimum.at(first, n.cell, place)
    return renumbered(n, vertices, films, np.argsort(first[:-1], kind="stable"))
