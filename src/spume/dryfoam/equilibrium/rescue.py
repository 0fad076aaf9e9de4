"""Restoring an earlier state of a spot of a foam, including its topology."""

import numpy as np

from spume.dryfoam.network.half_edges import Mask, Network
from spume.numerics.jit import compiled


@compiled
def _changed(n, kept, h):
    if n.origin[h] != kept.origin[h] or n.cell[h] != kept.cell[h]:
        return True
    return n.next[h] != kept.next[h] or n.previous[h] != kept.previous[h]


@compiled
def _close(n, kept, spot):
    """Add to `spot` (V,) the vertices of all films that T1s have changed together with its own."""
    grown = True
    while grown:
        grown = False
        for h in range(len(n.origin)):
            twin = h ^ 1
            if not _changed(n, kept, h):
                continue
            ends = n.origin[h], kept.origin[h], n.origin[twin], kept.origin[twin]
            inside = 0
            for v in ends:
                inside += spot[v]
            if 0 < inside < 4:
                grown = True
                for v in ends:
                    spot[v] = True


def put_back(network: Network, kept: Network, spot: Mask) -> Mask:
    """Restore the vertices `spot` (V,), their films and their cells to their state in `kept`, the same network before
    some T1s. Returns the restored vertices: those, and any whose films flipped with theirs.

    Targets are not changed. The network may be invalid where T1s on both sides have undone each other.
    """
    n, spot = network, spot.copy()
    _close(n.mesh, kept.mesh, spot)
    half = np.flatnonzero(spot[kept.origin])
    for name in ("origin", "next", "previous", "cell", "shift"):
        getattr(n, name)[half] = getattr(kept, name)[half]
    n.positions[spot], n.wall[spot] = kept.positions[spot], kept.wall[spot]
    within = spot[kept.origin[0::2]] & spot[kept.origin[1::2]]
    n.half_angles[within] = kept.half_angles[within]
    touched = np.unique(kept.cell[half])
    touched = touched[touched >= 0]
    n.pressures[touched] = kept.pressures[touched]
    return spot
