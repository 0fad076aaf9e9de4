"""Diagnostics of a world: conserved quantities, energies, and counts of the stability rules."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.points.deformation import OUTCOMES
from spume.points.world import PointWorld


def angular_momentum(world: PointWorld) -> NDArray[np.float64]:
    """Σ m x × v about the origin [kg m²/s], three components."""
    p = world.particles
    fill = ((0, 0), (0, 3 - world.dimension))
    return world.ranks.weighted_total(p.mass, np.cross(np.pad(p.x, fill), np.pad(p.v, fill)))


def diagnose(world: PointWorld) -> dict[str, Any]:
    """Diagnostics of a frame in SI units, JSON-serialisable."""
    p, ranks = world.particles, world.ranks
    arrays = p.arrays()
    J = world.model.volume_ratio(arrays)
    squares = np.einsum("ij,ij->i", p.v, p.v)
    gravity = world.gravity(world.time)[: world.dimension]
    count, neighbours = ranks.counts(len(p), int(p.neighbours.sum()))
    least, most, fastest, fewest = ranks.maxima(
        np.array([
            -J.min(initial=np.inf), J.max(initial=-np.inf), squares.max(initial=0.0),
            -float(p.neighbours.min(initial=np.iinfo(np.int32).max)),
        ])
    ).tolist()  # fmt: skip
    report: dict[str, Any] = {
        "points": count,
        "mass": ranks.total(p.mass),
        "momentum": ranks.weighted_total(p.mass, p.v).tolist(),
        "angular_momentum": angular_momentum(world).tolist(),
        "kinetic_energy": 0.5 * ranks.dot(p.mass, squares),
        "elastic_energy": ranks.dot(p.volume, world.model.energy(arrays)),
        "gravitational_energy": -float(ranks.weighted_total(p.mass, p.x) @ gravity),
        "volume": ranks.dot(p.volume, J),
        "volume_ratio_min": -least if count else None,
        "volume_ratio_max": most if count else None,
        "speed_max": math.sqrt(fastest),
        "neighbours_min": -int(fewest) if world.steps else None,
        "neighbours_mean": neighbours / count if world.steps and count else None,
        "not_deformed": dict(zip(OUTCOMES[1:], world.outcomes[1:].tolist())),
        "gradient_not_corrected": world.uncorrected,
        "neighbour_lists_built": world.rebuilds,
        "dt": world.time_step.last,
        "steps": world.steps,
        "seconds": {stage: round(spent, 6) for stage, spent in world.seconds.items()},
    }
    if world.obstacle_loads.active:
        report["obstacles"] = world.obstacle_loads.report()
    if "dissipation" in p:
        report["dissipated_energy"] = ranks.dot(p.volume, p.dissipation)
    return report
