"""Insertion of new points, with all fields computed as they declare. [Yue15] section 6.1"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.foam.resampling.bins import PointBins
from spume.foam.resampling.conserved_values import Donors, find_donors, share_all
from spume.foam.resampling.darts import Darts
from spume.foam.resampling.determinants import determinants, restore_determinant
from spume.foam.resampling.field_values import COLUMNS, Stencils, average, find_stencils, pack
from spume.foam.resampling.new_points import NewPoints
from spume.foam.resampling.sampled import Sampled
from spume.foam.resampling.stress import recompute_stress
from spume.foam.resampling.territory import Territory
from spume.matter.particles import Particles

COMPUTED = ("x", "stress")
"""Fields of a new point that are not averaged: its position is given, and its stress follows from its history."""


def insert(world: Sampled, bins: PointBins, darts: Darts, territory: Territory) -> int:
    """Add the darts to the points; all fields of the points around them are known. Returns the number of tensors whose
    average was degenerate and was replaced by that of the nearest point."""
    particles, rows = world.particles, territory.rows
    new = NewPoints.of(darts, bins, territory)
    donors = find_donors(bins, new, particles.material, particles.mass)
    fresh, degenerate = _averaged_fields(world, donors, new)
    for field in particles.fields:
        if field.resample == "share":
            fresh[field.name] = np.zeros((len(darts), *field.shape))
        elif field.resample == "nearest":
            fresh[field.name] = particles.arrays()[field.name][donors.nearest]
    fresh["id"] = particles.next_id + new.place[new.mine]
    added = particles.add(len(darts), x=new.x[new.mine], **fresh)
    particles.next_id += territory.ranks.count(len(darts))
    rows.append(len(darts))
    share_all(world, donors, new, added.start, rows)
    if len(darts):
        recompute_stress(world, np.arange(added.start, added.stop))
    return degenerate


def _averaged_fields(world: Sampled, donors: Donors, new: NewPoints) -> tuple[dict[str, NDArray[Any]], int]:
    """All averaged fields of the new points of this rank, and the number of degenerate averages."""
    particles = world.particles
    count = int(np.count_nonzero(new.mine))
    if count == 0:
        return {}, 0
    fields = [f for f in particles.fields if f.resample.startswith("average") and f.name not in COMPUTED]
    sources = [particles.arrays()[f.name].reshape(len(particles), -1) for f in fields]
    for field in fields:
        if field.resample == "average-keep-determinant":
            sources.append(determinants(particles.arrays()[field.name])[:, None])
    averages = _average_all(sources, find_stencils(particles.x, new.x, world.nodes), particles, donors, new.mine)
    kept = averages[len(fields) :]
    fresh = {}
    degenerate = 0
    for field, averaged in zip(fields, averages):
        determinant = kept.pop(0)[:, 0] if field.resample == "average-keep-determinant" else None
        nearest = particles.arrays()[field.name][donors.nearest]
        fresh[field.name], replaced = restore_determinant(
            field, averaged.reshape(count, *field.shape), determinant, nearest
        )
        degenerate += replaced
    return fresh, degenerate


def _average_all(
    sources: list[NDArray[np.float64]], stencils: Stencils, particles: Particles, donors: Donors,
    mine: NDArray[np.bool_],
) -> list[NDArray[np.float64]]:  # fmt: skip
    """Averages of each of `sources`, shape (points, width), at the new points `mine` over the points of their
    material."""
    old = stencils.members < len(particles)
    index = np.where(old, stencils.members, 0)
    new_material, own = particles.material[donors.nearest], np.flatnonzero(mine)
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
            averages[chosen, first:last] = average(stencils, mass, columns, own[chosen])[:, : last - first]
    return np.split(averages, ends[:-1], axis=1)
