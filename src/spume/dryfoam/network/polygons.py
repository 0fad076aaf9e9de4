"""Networks given by hand: polygons over numbered vertices."""

from collections.abc import Sequence

import numpy as np

from spume.dryfoam.network.geometry import cell_areas
from spume.dryfoam.network.half_edges import DEAD, OUTSIDE, Floats, Network, validate
from spume.errors import SceneError
from spume.numerics.jit import compiled


@compiled
def first_crossing(order, low, high, start, end):
    """A pair of segments that cross in their insides, by a sweep along x; (-1, -1) when none do."""
    for p in range(len(order)):
        i = order[p]
        for q in range(p + 1, len(order)):
            j = order[q]
            if low[j] > high[i]:
                break
            ux, uy = end[i, 0] - start[i, 0], end[i, 1] - start[i, 1]
            vx, vy = end[j, 0] - start[j, 0], end[j, 1] - start[j, 1]
            wx, wy = start[j, 0] - start[i, 0], start[j, 1] - start[i, 1]
            det = ux * vy - uy * vx
            if det == 0.0:
                continue
            s, t = (wx * vy - wy * vx) / det, (wx * uy - wy * ux) / det
            if 1e-9 < s < 1 - 1e-9 and 1e-9 < t < 1 - 1e-9:
                return i, j
    return -1, -1


def network_of_polygons(positions: Floats, cells: Sequence[Sequence[int]]) -> Network:
    """Free network of straight films whose cells are the polygons `cells`, vertex numbers counter-clockwise."""
    if positions.ndim != 2 or positions.shape[1] != 2:
        raise SceneError(f"vertex positions must have the shape (V, 2), found {positions.shape}")
    half: dict[tuple[int, int], int] = {}
    owner: dict[tuple[int, int], int] = {}
    for f, loop in enumerate(cells):
        for a, b in zip(loop, [*loop[1:], loop[0]], strict=True):
            if not (0 <= a < len(positions) and 0 <= b < len(positions)):
                raise SceneError(f"cell {f} names a vertex that is not there: {max(a, b)} of {len(positions)}")
            if (a, b) in owner:
                raise SceneError(
                    f"the film from vertex {a} to {b} belongs to the cells {owner[a, b]} and {f} on one side"
                )
            owner[a, b] = f
    for a, b in list(owner):
        owner.setdefault((b, a), OUTSIDE)
    for a, b in owner:
        if (b, a) not in half:
            half[a, b] = len(half)
        else:
            half[a, b] = half[b, a] ^ 1
        if (b, a) not in half:
            half[b, a] = half[a, b] + 1
    count = len(half)
    origin, cell = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    following = np.full(count, DEAD, dtype=np.int64)
    for (a, b), h in half.items():
        origin[h], cell[h] = a, owner[a, b]
    for loop in cells:
        edges = list(zip(loop, [*loop[1:], loop[0]], strict=True))
        for here, there in zip(edges, [*edges[1:], edges[0]], strict=True):
            following[half[here]] = half[there]
    degree = np.bincount(origin, minlength=len(positions))
    if np.any(degree != 3):
        v = int(np.flatnonzero(degree != 3)[0])
        raise SceneError(f"vertex {v} has {degree[v]} films, where a dry foam has three")
    for outer in np.flatnonzero(cell == OUTSIDE):
        onward = [k for k in np.flatnonzero(origin == origin[outer ^ 1]) if cell[k] == OUTSIDE]
        if len(onward) != 1:
            raise SceneError(f"the outside of the foam is not a simple loop at vertex {origin[outer ^ 1]}")
        following[outer] = onward[0]
    previous = np.empty_like(following)
    previous[following] = np.arange(count)
    network = Network(
        positions=positions.copy(), half_angles=np.zeros(count // 2), origin=origin, next=following, previous=previous,
        cell=cell, shift=np.zeros((count, 2), dtype=np.int64), pressures=np.zeros(len(cells)),
        targets=np.zeros(len(cells)), labels=np.arange(len(cells)), lattice=np.zeros((2, 2)),
    )  # fmt: skip
    ends = network.positions[network.origin[1::2]]
    begins = network.positions[network.origin[0::2]]
    low, high = np.minimum(begins[:, 0], ends[:, 0]), np.maximum(begins[:, 0], ends[:, 0])
    i, j = first_crossing(np.argsort(low, kind="stable"), low, high, begins, ends)
    if i >= 0:
        raise SceneError(f"the films {i} and {j} cross: the start of a foam must not intersect itself")
    network.targets = cell_areas(network)
    validate(network, network.targets)
    return network
