"""Diagnostics of a world: conserved quantities, energies, and counts of the stability rules."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.numerics.sums import dot, total, weighted_total
from spume.points.deformation import OUTCOMES
from spume.points.world import PointWorld


def angular_momentum(world: PointWorld) -> NDArray[np.float64]:
    """Σ m x × v about the origin [kg m²/s], three components."""
    p = world.particles
    fill = ((0, 0), (0, 3 - world.dimension))
    return weighted_total(p.mass, np.cross(np.pad(p.x, fill), np.pad(p.v, fill)))


def diagnose(world: PointWorld) -> dict[str, Any]:
    """Diagnostics of a frame in SI units, JSON-serialisable."""
    p = world.particles
    arrays = p.arrays()
    J = world.model.volume_ratio(arrays)
    squares = np.einsum("ij,ij->i", p.v, p.v)
    gravity = world.gravity(world.time)[: world.dimension]
    report: dict[str, Any] = {
        "points": len(p),
        "mass": total(p.mass),
        "momentum": weighted_total(p.mass, p.v).tolist(),
        "angular_momentum": angular_momentum(world).tolist(),
        "kinetic_energy": 0.5 * dot(p.mass, squares),
        "elastic_energy": dot(p.volume, world.model.energy(arrays)),
        "gravitational_energy": -float(weighted_total(p.mass, p.x) @ gravity),
        "volume": dot(p.volume, J),
        "volume_ratio_min": float(J.min(initial=np.inf)) if len(p) else None,
        "volume_ratio_max": float(J.max(initial=-np.inf)) if len(p) else None,
        "speed_max": float(np.sqrt(squares.max(initial=0.0))),
        "neighbours_min": int(p.neighbours.min(initial=np.iinfo(np.int32).max)) if world.steps else None,
        "neighbours_mean": float(p.neighbours.mean()) if world.steps and len(p) else None,
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
        report["dissipated_energy"] = dot(p.volume, p.dissipation)
    return report
