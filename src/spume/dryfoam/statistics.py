"""Statistics of a foam: side distribution, μ2, Aboav-Weaire, texture, and the summary stored for each frame.

Cells on the edge of a free foam have a side to the outside, cells on a wall a part of the wall. Statistics of the bulk
exclude them.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from spume.dryfoam.network.geometry import angle_errors, centre_links, film_lengths
from spume.dryfoam.network.half_edges import OUTSIDE, Floats, Integers, Mask, Network

if TYPE_CHECKING:
    from spume.dryfoam.foam import Foam


def bulk_cells(network: Network, rings: int = 1) -> Mask:
    """Mask (F,) of the cells that are at least `rings` cells away from the outside or the walls: 1 excludes the cells
    on the edge, 2 also their neighbours. All cells of a periodic foam."""
    inside = np.ones(network.cells + 1, dtype=np.bool_)  # the last is the outside
    inside[OUTSIDE] = network.boundary == "periodic"
    for _ in range(rings):
        pairs = network.cell.reshape(-1, 2)
        reached = ~inside[pairs]
        inside[pairs[reached[:, 1], 0]] = False
        inside[pairs[reached[:, 0], 1]] = False
    return inside[:-1]


def side_distribution(network: Network, cells: Mask | None = None) -> tuple[Integers, Floats]:
    """Numbers of sides that occur among `cells` (None: all), and the fractions of cells that have them [1]."""
    sides = network.sides() if cells is None else network.sides()[cells]
    found, counts = np.unique(sides, return_counts=True)
    return found, counts / max(len(sides), 1)


def second_moment(network: Network, cells: Mask | None = None) -> float:
    """μ2 = ⟨(n - ⟨n⟩)²⟩ of the numbers of sides of `cells` (None: all) [1]; NaN if there are none."""
    sides = network.sides() if cells is None else network.sides()[cells]
    return float(np.var(sides)) if len(sides) else float("nan")


def aboav_weaire(network: Network) -> tuple[Integers, Floats]:
    """Numbers of sides n that occur, and n m(n): n times the mean number of sides of an n-sided cell's neighbours.

    The law of Aboav and Weaire is n m(n) = (6 - a) n + 6 a + μ2, with a near 1. In a free foam, only cells without
    neighbours on the edge are used.
    """
    sides, inner = network.sides(), bulk_cells(network, 2)
    own, other = network.cell, network.cell[np.arange(len(network.cell)) ^ 1]
    pairs = (own >= 0) & inner[own]
    total = np.bincount(sides[own[pairs]], weights=sides[other[pairs]])
    count = np.bincount(sides[own[pairs]])
    n = np.flatnonzero(count)
    return n, n * total[n] / count[n]


def texture(network: Network, cells: Mask | None = None) -> Floats:
    """Texture tensor ⟨ℓ ℓᵀ⟩ [m²], shape (2, 2): ℓ joins the centroids of two cells that share a film [Graner08].

    It is averaged over links between `cells` (None: all). For a honeycomb it is half the square of the distance between
    centres, times the identity.
    """
    links, pairs = centre_links(network)
    if cells is not None:
        links = links[cells[pairs[:, 0]] & cells[pairs[:, 1]]]
    if not len(links):
        raise ValueError("no two of the cells share a film")
    return np.asarray(links.T @ links / len(links))


def statistical_strain(present: Floats, reference: Floats) -> Floats:
    """Strain ½ (log M - log M0) [1], shape (2, 2), of the texture M relative to a reference state [Graner08]."""

    def logarithm(tensor: Floats) -> Floats:
        values, vectors = np.linalg.eigh(tensor)
        return np.asarray((vectors * np.log(values)) @ vectors.T)

    return 0.5 * (logarithm(present) - logarithm(reference))


def summary(foam: "Foam") -> dict[str, Any]:
    """JSON-serialisable numbers about the present state."""
    network = foam.network
    counts = foam.happened.counts()
    if network.is_lone:
        return {
            "cells": 1, "energy": foam.energy, "mean_area": float(network.targets[0]), "mu2": 0.0, **counts,
        }  # fmt: skip
    areas = foam.areas
    stress = foam.stress
    sides, part = side_distribution(network)
    found = {
        "cells": network.cells,
        "energy": foam.energy,
        "mean_area": float(areas.mean()),
        "area_spread": float(areas.std() / areas.mean()),
        "mu2": second_moment(network),
        "sides": {int(n): float(p) for n, p in zip(sides, part, strict=True)},
        "shear_stress": float(stress[0, 1]),
        "normal_stress_difference": float(stress[0, 0] - stress[1, 1]),
        **counts,
        "area_error": float(np.max(np.abs(areas - network.targets) / network.targets)),
        "angle_error": float(np.max(np.abs(angle_errors(network))) / (2.0 * np.pi / 3.0)),
        "shortest_film": float(film_lengths(network)[~network.is_wall].min()),
    }
    bulk = bulk_cells(network)
    if network.boundary != "periodic" and np.any(bulk):
        found["bulk_cells"] = int(np.sum(bulk))
        found["bulk_mu2"] = second_moment(network, bulk)
    return found
