"""Material in the barrel of a nozzle, which moves with the prescribed flow until it has left the opening."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spume.matter.particles import Particles
from spume.matter.sources import FlowSource, Source


class HeldLayers:
    """The layers that are still in barrels."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.flows = {k: s for k, s in enumerate(sources) if isinstance(s, FlowSource) and s.barrel > 0.0}
        """The sources with a barrel, by their index."""
        self.layers: list[tuple[int, int, int]] = []
        """Source, number, and id of the first point of each layer."""
        self._found: dict[int, tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = {}
        """For each source: generation of the points, indices of held points, their layers, their indices in these."""

    def add(self, source: int, number: int, first_id: int) -> None:
        """Add a released layer, whose points have consecutive ids."""
        if source in self.flows:
            self.layers.append((source, number, first_id))
            self._found.pop(source, None)

    def restore(self, layers: Sequence[Sequence[int]]) -> None:
        """Restore `layers`, checked."""
        for source, number, _ in layers:
            if source not in self.flows or not 0 <= number < len(self.flows[source].depths):
                raise ValueError(f"layer {number} of source {source} is held, which does not exist")
        self.layers = [(source, number, first_id) for source, number, first_id in layers]
        self._found.clear()

    def hold(self, particles: Sequence[Particles], time: float) -> None:
        """Set position and velocity of the held points to those of the flow at `time` [s], and release those that have
        left the opening.

        particles: for each source, the particles that contain its points.
        """
        if not self.layers:
            return
        ways = {source: self.flows[source].way(time) for source in {layer[0] for layer in self.layers}}
        inside = [layer for layer in self.layers if ways[layer[0]] < self.flows[layer[0]].depths[layer[1]]]
        if len(inside) < len(self.layers):
            self.layers = inside
            self._found.clear()
        for source in {layer[0] for layer in self.layers}:
            p = particles[source]
            where, number, member = self._find(source, p)
            if not where.size:  # none of them is on this rank
                continue
            values = self.flows[source].held(number, member, time)
            for name in values.keys() & {"x", "v", "C"}:
                getattr(p, name)[where] = values[name]

    def _find(self, source: int, p: Particles) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        known = self._found.get(source)
        if known is not None and known[0] == p.generation:
            return known[1:]
        own = sorted((first_id, number) for k, number, first_id in self.layers if k == source)
        first_ids, numbers = np.array(own, np.int64).reshape(-1, 2).T
        layer = np.searchsorted(first_ids, p.id, side="right") - 1
        where = np.flatnonzero((layer >= 0) & (p.id - first_ids[layer] < self.flows[source].count))
        layer = layer[where]
        self._found[source] = p.generation, where, numbers[layer], p.id[where] - first_ids[layer]
        return self._found[source][1:]
