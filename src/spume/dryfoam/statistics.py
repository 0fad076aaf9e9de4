"""Numbers about a foam: side distribution, μ2, Aboav-Weaire, energy, and the summary a run keeps per frame."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from spume.dryfoam.network.geometry import angles, film_lengths
from spume.dryfoam.network.half_edges import Floats, Integers, Network

if TYPE_CHECKING:
    from spume.dryfoam.foam import Foam


def side_distribution(network: Network) -> tuple[Integers, Floats]:
    """Numbers of sides that occur, and the part of cells that have them [1]."""
    sides, counts = np.unique(network.sides(), return_counts=True)
    return sides, counts / network.cells


def second_moment(network: Network) -> float:
    """μ2 = ⟨(n - ⟨n⟩)²⟩ of the numbers of sides [1]."""
    return float(np.var(network.sides()))


def aboav_weaire(network: Network) -> tuple[Integers, Floats]:
    """Numbers of sides n that occur, and n m(n): n times the mean number of sides of an n-sided cell's neighbours.

    The law of Aboav and Weaire says n m(n) = (6 - a) n + 6 a + μ2, with a near 1. The outside does not count.
    """
    sides = network.sides()
    own, other = network.cell, network.cell[np.arange(len(network.cell)) ^ 1]
    pairs = (own >= 0) & (other >= 0)
    total = np.bincount(sides[own[pairs]], weights=sides[other[pairs]])
    count = np.bincount(sides[own[pairs]])
    n = np.flatnonzero(count)
    return n, n * total[n] / count[n]


def summary(foam: "Foam") -> dict[str, Any]:
    """JSON-serialisable numbers about the present state."""
    network = foam.network
    counts = asdict(foam.happened)
    del counts["duration"]
    if network.is_lone:
        return {
            "cells": 1, "energy": foam.energy, "mean_area": float(network.targets[0]), "mu2": 0.0, **counts,
        }  # fmt: skip
    areas = foam.areas
    stress = foam.stress
    sides, part = side_distribution(network)
    return {
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
        "angle_error": float(np.max(np.abs(angles(network) - 2.0 * np.pi / 3.0)) / (2.0 * np.pi / 3.0)),
        "shortest_film": float(film_lengths(network).min()),
    }
