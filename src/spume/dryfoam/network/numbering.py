"""Renumbering of a network along a space-filling curve, so that neighbours in the plane are close in memory."""

from dataclasses import replace

import numpy as np

from spume.dryfoam.network.half_edges import OUTSIDE, Floats, Integers, Network

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


def _inverse(order: Integers) -> Integers:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


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
    origin = _inverse(vertices)[n.origin]
    films = np.argsort(np.minimum(origin[0::2], origin[1::2]), kind="stable")
    half = np.stack([2 * films, 2 * films + 1], axis=1).ravel()
    first = np.full(n.cells + 1, n.vertices)  # the last is the outside
    np.minimum.at(first, n.cell, origin)
    cells = np.argsort(first[:-1], kind="stable")
    new_half, new_cell = _inverse(half), np.append(_inverse(cells), OUTSIDE)
    return replace(
        n, positions=n.positions[vertices], half_angles=n.half_angles[films], origin=origin[half],
        next=new_half[n.next[half]], previous=new_half[n.previous[half]], cell=new_cell[n.cell[half]],
        shift=n.shift[half], pressures=n.pressures[cells], targets=n.targets[cells], labels=n.labels[cells],
        wall=n.wall[vertices],
    )  # fmt: skip
