"""Networks from given polygons over numbered vertices, in the plane or in a periodic box."""

from collections.abc import Sequence

import numpy as np

from spume.dryfoam.network.geometry import cell_areas
from spume.dryfoam.network.half_edges import DEAD, OUTSIDE, Floats, Network, validate
from spume.dryfoam.network.walls import attach_to_walls
from spume.errors import SceneError
from spume.numerics.jit import compiled

Corner = int | tuple[int, int, int]
"""A vertex, or (vertex, i, j): its image moved by i and j lattice vectors."""
Side = tuple[int, int, int, int]
"""A half-edge: from vertex, to vertex, lattice vectors from the stored destination to the true one."""


@compiled
def first_crossing(order, low, high, start, end):
    """A pair of segments that cross in their interiors, by a sweep along x; (-1, -1) if there is none."""
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


def _sides(positions: Floats, cells: Sequence[Sequence[Corner]], lattice: Floats) -> list[list[Side]]:
    """Half-edges around each cell. In a box, a corner without an image is the image nearest to the previous corner."""
    periodic = bool(np.any(lattice))
    loops = []
    for f, corners in enumerate(cells):
        named = [(corner, 0, 0) if not isinstance(corner, tuple | list) else tuple(corner) for corner in corners]
        given = [isinstance(corner, tuple | list) for corner in corners]
        if len(named) < 2:
            raise SceneError(f"cell {f} has {len(named)} vertices, where two is the least")
        for v, *image in named:
            if not 0 <= v < len(positions):
                raise SceneError(f"cell {f} names a vertex that is not there: {v} of {len(positions)}")
            if any(image) and not periodic:
                raise SceneError(f"cell {f} names an image of vertex {v}, which only a foam in a box has")
        loop = []
        for k in range(len(named)):
            (a, *image), (b, *other) = named[k], named[(k + 1) % len(named)]
            step = np.array(other) - np.array(image)
            if periodic and not (given[k] and given[(k + 1) % len(named)]):
                step = -np.round(np.linalg.solve(lattice, positions[b] - positions[a])).astype(int)
            loop.append((int(a), int(b), int(step[0]), int(step[1])))
        if any(sum(side[k] for side in loop) for k in (2, 3)):
            raise SceneError(f"the corners of cell {f} do not close: they lead around the box")
        loops.append(loop)
    return loops


def _opposite(side: Side) -> Side:
    a, b, i, j = side
    return b, a, -i, -j


def network_of_polygons(
    positions: Floats,
    cells: Sequence[Sequence[Corner]],
    lattice: Floats | None = None,
    walls: Floats | None = None,
) -> Network:
    """Network of straight films whose cells are the polygons `cells`, vertices counter-clockwise.

    It is free, or periodic along the columns of `lattice` [m], or between `walls` (W, 4), with a lattice in a channel.
    The corners of a box are not vertices: the side of a polygon may go around them.
    """
    if positions.ndim != 2 or positions.shape[1] != 2:
        raise SceneError(f"vertex positions must have the shape (V, 2), found {positions.shape}")
    box = np.zeros((2, 2)) if lattice is None else np.asarray(lattice, dtype=float)
    if lattice is not None and (box.shape != (2, 2) or not np.linalg.det(box) > 0):
        raise SceneError("the lattice of a box is a matrix (2, 2) whose columns stand counter-clockwise")
    loops = _sides(positions, cells, box)
    owner: dict[Side, int] = {}
    for f, loop in enumerate(loops):
        for side in loop:
            if side in owner:
                a, b, *_ = side
                raise SceneError(f"the film from vertex {a} to {b} has the cells {owner[side]} and {f} on one side")
            owner[side] = f
    for side in list(owner):
        if _opposite(side) not in owner and lattice is not None and walls is None:
            raise SceneError(f"the film from vertex {side[0]} to {side[1]} has a cell on one side only")
        owner.setdefault(_opposite(side), OUTSIDE)
    half: dict[Side, int] = {}
    for side in owner:
        if side not in half:
            half[side] = len(half)
            half[_opposite(side)] = half[side] + 1
    count = len(half)
    origin, cell = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    shift = np.zeros((count, 2), dtype=np.int64)
    following = np.full(count, DEAD, dtype=np.int64)
    for side, h in half.items():
        origin[h], cell[h], shift[h] = side[0], owner[side], side[2:]
    for loop in loops:
        for here, there in zip(loop, [*loop[1:], loop[0]], strict=True):
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
        cell=cell, shift=shift, pressures=np.zeros(len(cells)), targets=np.zeros(len(cells)),
        labels=np.arange(len(cells)), lattice=box,
    )  # fmt: skip
    if walls is not None:
        network.walls = walls
        attach_to_walls(network, 1e-6 * float(np.sqrt(network.box_area())))
    _check_crossings(network)
    network.targets = cell_areas(network)
    validate(network, network.targets)
    return network


def _check_crossings(network: Network) -> None:
    begins = network.positions[network.origin[0::2]]
    ends = begins + network.chords()
    films = np.arange(network.films)
    if np.any(network.lattice):  # each film in the box, and its images
        begins = begins - np.floor(np.linalg.solve(network.lattice, begins.T)).T @ network.lattice.T
        ends = begins + network.chords()
        moves = [network.lattice @ np.array([i, j]) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        begins, ends = (np.concatenate([points + move for move in moves]) for points in (begins, ends))
        films = np.tile(films, len(moves))
    low, high = np.minimum(begins[:, 0], ends[:, 0]), np.maximum(begins[:, 0], ends[:, 0])
    i, j = first_crossing(np.argsort(low, kind="stable"), low, high, begins, ends)
    if i >= 0:
        raise SceneError(f"the films {films[i]} and {films[j]} cross: the start of a foam must not intersect itself")
