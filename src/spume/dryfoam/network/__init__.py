"""The network of a dry foam: half-edges, geometry of its arcs, topological changes, initial networks."""

from spume.dryfoam.network.half_edges import OUTSIDE, Boundary, Network, validate

__all__ = ["OUTSIDE", "Boundary", "Network", "validate"]
