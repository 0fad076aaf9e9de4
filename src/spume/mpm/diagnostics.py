"""Diagnostics of a state: conserved quantities, energies, and numbers about the steps."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.mpm.cloud_density import cloud_density, density_warning
from spume.mpm.species import Species
from spume.mpm.state import State
from spume.numerics.sums import dot, total, weighted_total


def elastic_energy(state: State) -> float:
    """Elastic energy of all points [J]."""
    return sum(dot(s.particles.volume, s.model.energy(s.particles.arrays())) for s in state.species)


def kinetic_energy(state: State) -> float:
    """½ Σ m v² [J], including the affine part of APIC: the energy of the velocity field of each point. [Jiang15]"""
    energy = 0.0
    for species in state.species:
        p = species.particles
        squares = np.einsum("ij,ij->i", p.v, p.v)
        if species.scheme.affine:
            squares = squares + state.nodes.second_moment * np.einsum("pij,pij->p", p.C, p.C)
        energy += 0.5 * dot(p.mass, squares)
    return energy


def angular_momentum(state: State) -> NDArray[np.float64]:
    """Σ m x × v about the origin [kg m²/s], including the affine part of APIC; in 2D only z differs from zero."""
    return sum((species_angular_momentum(state, species) for species in state.species), start=np.zeros(3))


def species_angular_momentum(state: State, species: Species) -> NDArray[np.float64]:
    """The part of one species [kg m²/s]."""
    p = species.particles
    x, v = _spatial(p.x), _spatial(p.v)
    momentum = weighted_total(p.mass, np.cross(x, v))
    if species.scheme.affine:
        C = np.zeros((len(p), 3, 3))
        d = state.dimension
        C[:, :d, :d] = p.C
        # Σ_i m w (x_i − x_p) × C (x_i − x_p), [Jiang15]
        spin = np.stack([C[:, 2, 1] - C[:, 1, 2], C[:, 0, 2] - C[:, 2, 0], C[:, 1, 0] - C[:, 0, 1]], axis=1)
        momentum = momentum + state.nodes.second_moment * weighted_total(p.mass, spin)
    return momentum


def diagnose(state: State) -> dict[str, Any]:
    """Diagnostics of a frame in SI units and warnings by topic, JSON-serialisable."""
    points = [species.particles for species in state.species]
    ratios = [species.model.volume_ratio(species.particles.arrays()) for species in state.species]
    gravity = state.gravity(state.time)[: state.dimension]
    moment = sum((weighted_total(p.mass, p.x) for p in points), start=np.zeros(state.dimension))
    momentum = sum((weighted_total(p.mass, p.v) for p in points), start=np.zeros(state.dimension))
    squares = [float(np.einsum("ij,ij->i", p.v, p.v).max(initial=0.0)) for p in points]
    # where species overlap, densities differ from J for other reasons, such as water in the pores of sand
    density = cloud_density(state, state.only) if len(state.species) == 1 else None
    report: dict[str, Any] = {
        "points": state.count,
        "mass": sum(total(p.mass) for p in points),
        "momentum": momentum.tolist(),
        "angular_momentum": angular_momentum(state).tolist(),
        "kinetic_energy": kinetic_energy(state),
        "elastic_energy": elastic_energy(state),
        "gravitational_energy": -float(moment @ gravity),
        "volume": sum(dot(p.volume, J) for p, J in zip(points, ratios)),
        "volume_ratio_min": min(float(J.min(initial=np.inf)) for J in ratios) if state.count else None,
        "volume_ratio_max": max(float(J.max(initial=-np.inf)) for J in ratios) if state.count else None,
        "cloud_density": None if density is None else density.ratio,
        "speed_max": float(np.sqrt(max(squares))),
        "dt": state.time_step.last,
        "steps": state.steps,
        "seconds": {stage: round(spent, 6) for stage, spent in state.seconds.items()},
        "warnings": density_warning(state, density),
    }
    if state.obstacle_loads.active:
        report["obstacles"] = state.obstacle_loads.report()
    if any("dissipation" in p for p in points):
        report["dissipated_energy"] = sum(dot(p.volume, p.dissipation) for p in points if "dissipation" in p)
    return report


def _spatial(a: NDArray[np.float64]) -> NDArray[np.float64]:
    """2D vectors with a zero third component added."""
    return a if a.shape[1] == 3 else np.pad(a, ((0, 0), (0, 1)))
