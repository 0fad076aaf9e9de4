"""Diagnostics of a world: conserved quantities, energies, and numbers about the steps."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.mpm.cloud_density import cloud_density, density_warning
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld


def elastic_energy(world: GridWorld) -> float:
    """Elastic energy of all points [J]."""
    dot = world.ranks.dot
    return sum(dot(s.energy_volume, s.model.energy(s.particles.arrays())) for s in world.species)


def kinetic_energy(world: GridWorld) -> float:
    """½ Σ m v² [J], including the affine part of APIC: the energy of the velocity field of each point. [Jiang15]"""
    moment = world.nodes.second_moment
    energy = 0.0
    for species in world.species:
        p, own = species.particles.arrays(), species.motion_of_nodes()
        energy += 0.5 * world.ranks.dot(p["mass"], squares(p, moment)) if own is None else own.kinetic_energy
    return energy


def squares(arrays: Mapping[str, NDArray[Any]], second_moment: float) -> NDArray[np.float64]:
    """Twice the kinetic energy per mass [m²/s²] of points with the fields `arrays`, which have C with APIC."""
    found = np.einsum("ij,ij->i", arrays["v"], arrays["v"])
    if "C" in arrays:
        found += second_moment * np.einsum("pij,pij->p", arrays["C"], arrays["C"])
    return np.asarray(found)


def angular_momentum(world: GridWorld) -> NDArray[np.float64]:
    """Σ m x × v about the origin [kg m²/s], including the affine part of APIC; in 2D only z differs from zero."""
    return sum((species_angular_momentum(world, species) for species in world.species), start=np.zeros(3))


def species_angular_momentum(world: GridWorld, species: GridSpecies) -> NDArray[np.float64]:
    """The part of one species [kg m²/s]."""
    if (own := species.motion_of_nodes()) is not None:
        return own.angular_momentum
    p = species.particles
    x, v = _spatial(p.x), _spatial(p.v)
    momentum = world.ranks.weighted_total(p.mass, np.cross(x, v))
    if species.scheme.affine:
        C = np.zeros((len(p), 3, 3))
        d = world.dimension
        C[:, :d, :d] = p.C
        # Σ_i m w (x_i − x_p) × C (x_i − x_p), [Jiang15]
        spin = np.stack([C[:, 2, 1] - C[:, 1, 2], C[:, 0, 2] - C[:, 2, 0], C[:, 1, 0] - C[:, 0, 1]], axis=1)
        momentum = momentum + world.nodes.second_moment * world.ranks.weighted_total(p.mass, spin)
    return momentum


def diagnose(world: GridWorld) -> dict[str, Any]:
    """Diagnostics of a frame in SI units and warnings by topic, JSON-serialisable."""
    ranks, points = world.ranks, [species.particles for species in world.species]
    ratios = [species.model.volume_ratio(species.particles.arrays()) for species in world.species]
    count = ranks.count(world.count)
    gravity = world.gravity(world.time)[: world.dimension]
    moment = sum((ranks.weighted_total(p.mass, p.x) for p in points), start=np.zeros(world.dimension))
    momentum = sum((ranks.weighted_total(p.mass, p.v) for p in points), start=np.zeros(world.dimension))
    fastest = max(float(np.einsum("ij,ij->i", p.v, p.v).max(initial=0.0)) for p in points)
    least = -ranks.largest(max(-float(J.min(initial=np.inf)) for J in ratios))
    most = ranks.largest(max(float(J.max(initial=-np.inf)) for J in ratios))
    report: dict[str, Any] = {
        "points": count,
        "mass": sum(ranks.total(p.mass) for p in points),
        "momentum": momentum.tolist(),
        "angular_momentum": angular_momentum(world).tolist(),
        "kinetic_energy": kinetic_energy(world),
        "elastic_energy": elastic_energy(world),
        "gravitational_energy": -float(moment @ gravity),
        "volume": sum(ranks.dot(p.volume, J) for p, J in zip(points, ratios)),
        "volume_ratio_min": least if count else None,
        "volume_ratio_max": most if count else None,
        "cloud_density": None,
        "speed_max": float(np.sqrt(ranks.largest(fastest))),
        "dt": world.time_step.last,
        "steps": world.steps,
        "seconds": {stage: round(spent, 6) for stage, spent in world.seconds.items()},
    }
    if world.obstacle_loads.active:
        report["obstacles"] = world.obstacle_loads.report()
    if any("dissipation" in p for p in points):
        flows = (s for s in world.species if "dissipation" in s.particles)
        dissipated = (ranks.dot(s.energy_volume, s.particles.dissipation) for s in flows)
        report["dissipated_energy"] = sum(dissipated)
    # Last, since ranks exchange points for it. Where species overlap, densities differ from J for other reasons, such
    # as water in the pores of sand.
    density = cloud_density(world, world.only) if len(world.species) == 1 else None
    report["cloud_density"] = None if density is None else density.ratio
    return report | {"warnings": density_warning(world, density)}


def _spatial(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """2D vectors with a zero third component added."""
    return a if a.shape[1] == 3 else np.pad(a, ((0, 0), (0, 1)))
