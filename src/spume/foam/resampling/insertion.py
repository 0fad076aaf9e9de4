"""Insertion of new points, with all fields computed as they declare. [Yue15] section 6.1"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.foam.resampling.bins import PointBins
from spume.foam.resampling.conserved_values import Donors, find_donors, share, share_mass
from spume.foam.resampling.darts import Darts
from spume.foam.resampling.determinants import determinants, restore_determinant
from spume.foam.resampling.field_values import COLUMNS, Stencils, average, find_stencils, pack
from spume.foam.resampling.sampled import Sampled
from spume.foam.resampling.stress import recompute_stress
from spume.matter.particles import Particles

COMPUTED = ("x", "stress")
"""Fields of a new point that are not averaged: its position is given, and its stress follows from its history."""


def insert(world: Sampled, bins: PointBins, darts: Darts) -> int:
    """Add the darts to the points. Returns the number of tensors whose average was degenerate and was replaced by that
    of the nearest point."""
    particles = world.particles
    x = bins.position(darts.y)
    donors = find_donors(bins, darts, particles.material, particles.mass)
    fresh, degenerate = _averaged_fields(world, donors, x)
    for field in particles.fields:
        if field.resample == "share":
            fresh[field.name] = np.zeros((len(x), *field.shape))
        elif field.resample == "nearest":
            fresh[field.name] = particles.arrays()[field.name][donors.nearest]
    new = particles.add(len(x), x=x, **fresh)
    affine_velocity = world.affine_velocity
    fraction = share_mass(
        donors, new.start, particles.mass, particles.x, particles.v, affine_velocity, world.nodes.second_moment
    )
    for field in particles.fields:
        if field.resample == "share" and field.name != "mass":
            share(donors, new.start, fraction, particles.arrays()[field.name])
    recompute_stress(world, np.arange(new.start, new.stop))
    return degenerate


def _averaged_fields(world: Sampled, donors: Donors, x: NDArray[np.float64]) -> tuple[dict[str, NDArray[Any]], int]:
    """All averaged fields of new points at `x`, and the number of degenerate averages."""
    particles = world.particles
    fields = [f for f in particles.fields if f.resample.startswith("average") and f.name not in COMPUTED]
    sources = [particles.arrays()[f.name].reshape(len(particles), -1) for f in fields]
    for field in fields:
        if field.resample == "average-keep-determinant":
            sources.append(determinants(particles.arrays()[field.name])[:, None])
    averages = _average_all(sources, find_stencils(particles.x, x, world.nodes), particles, donors)
    kept = averages[len(fields) :]
    fresh = {}
    degenerate = 0
    for field, averaged in zip(fields, averages):
        determinant = kept.pop(0)[:, 0] if field.resample == "average-keep-determinant" else None
        nearest = particles.arrays()[field.name][donors.nearest]
        fresh[field.name], count = restore_determinant(
            field, averaged.reshape(len(x), *field.shape), determinant, nearest
        )
        degenerate += count
    return fresh, degenerate


def _average_all(
    sources: list[NDArray[np.float64]], stencils: Stencils, particles: Particles, donors: Donors
) -> list[NDArray[np.float64]]:
    """Averages of each of `sources`, shape (points, width), at the new points over the points of their material."""
    old = stencils.members < len(particles)
    index = np.where(old, stencils.members, 0)
    new_material = particles.material[donors.nearest]
    ends = np.cumsum([source.shape[1] for source in sources])
    averages = np.empty((len(new_material), ends[-1]))
    columns = np.zeros((index.size, COLUMNS))
    for first in range(0, int(ends[-1]), COLUMNS):
        last = min(first + COLUMNS, int(ends[-1]))
        for source, end in zip(sources, ends):
            start = end - source.shape[1]
            low, high = max(first, start), min(last, end)
            if low < high:
                pack(source, index, low - start, columns, low - first, high - low)
        for material in np.unique(new_material):
            mass = np.where(old & (particles.material[index] == material), particles.mass[index], 0.0)
            chosen = np.flatnonzero(new_material == material)
            averages[chosen, first:last] = average(stencils, mass, columns, chosen)[:, : last - first]
    return np.split(averages, ends[:-1], axis=1)
