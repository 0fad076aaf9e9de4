"""The network of a dry foam: cells, films and three-film vertices as integer arrays, with its invariants.

Film e consists of the half-edges 2e and 2e+1, each the twin of the other (h ^ 1). A half-edge runs from its origin to
the origin of its twin, with its cell on its left; `next` and `previous` run around that cell counter-clockwise. In a
periodic foam the end of a half-edge is its destination moved by `lattice @ shift`, with an integer shift.
The outside of a free foam is the cell OUTSIDE, at pressure zero.

With walls, OUTSIDE is the region behind them, and the half-edges with OUTSIDE on one side are parts of a wall, without
tension: each vertex on a wall has one film, and the wall on both sides of it. A part of a wall may go around corners.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.numerics.jit import compiled

OUTSIDE = -1
DEAD = -2
ALL = slice(None)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
Boundary = Literal["periodic", "free", "box", "channel"]
"""periodic: a periodic box; free: a cluster surrounded by the atmosphere; box: four walls; channel: two parallel walls,
periodic along them."""


class Mesh(NamedTuple):
    """Arrays of a `Network`, without the labels, as kernels take them and change them in place.

    Kernels unpack an array that they use more than once: Numba counts a reference for every access to the tuple.
    """

    positions: Floats
    half_angles: Floats
    origin: Integers
    next: Integers
    previous: Integers
    cell: Integers
    shift: Integers
    pressures: Floats
    targets: Floats
    lattice: Floats
    wall: Integers
    walls: Floats


@dataclass
class Network:
    """Arrays of a foam with V vertices, E films and F cells."""

    positions: Floats
    """Vertex positions [m], shape (V, 2); for a lone bubble, which has no vertices, its centre, shape (1, 2)."""
    half_angles: Floats
    """Half the angle by which the half-edge 2e turns left [rad], shape (E,)."""
    origin: Integers
    """Start vertex of each half-edge, shape (2E,)."""
    next: Integers
    previous: Integers
    cell: Integers
    """Cell on the left of each half-edge, OUTSIDE for the outside of a free foam, shape (2E,)."""
    shift: Integers
    """Lattice vectors from the stored destination to the true one, shape (2E, 2)."""
    pressures: Floats
    """Pressure of each cell [N/m]: relative to the outside, or to the mean of a periodic foam; shape (F,)."""
    targets: Floats
    """Target area of each cell [m²], shape (F,)."""
    labels: Integers
    """Permanent number of each cell, shape (F,)."""
    lattice: Floats
    """Columns are the lattice vectors of the periodic box [m]; zero for a free foam and in a box with walls. In a
    channel they point along and across it; shifts never use the second. Shape (2, 2)."""
    wall: Integers = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Wall on which a vertex slides, -1 for none, shape (V,)."""
    walls: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    """A point [m] and the direction of each wall, with the foam on its left: (x, y, t_x, t_y), shape (W, 4). The walls
    of a box are in counter-clockwise order, and the points are its corners; a channel has two walls."""

    def __post_init__(self) -> None:
        if len(self.wall) != len(self.positions):
            self.wall = np.full(len(self.positions), -1, dtype=np.int64)

    @property
    def mesh(self) -> Mesh:
        """The present arrays, for kernels."""
        return Mesh(
            self.positions, self.half_angles, self.origin, self.next, self.previous, self.cell, self.shift,
            self.pressures, self.targets, self.lattice, self.wall, self.walls,
        )  # fmt: skip

    @property
    def boundary(self) -> Boundary:
        if len(self.walls):
            return "channel" if len(self.walls) == 2 else "box"
        return "periodic" if np.any(self.lattice) else "free"

    @property
    def is_closed(self) -> bool:
        """Whether the cells fill a given area: true for all foams except free ones."""
        return self.boundary != "free"

    @property
    def cells(self) -> int:
        return len(self.targets)

    @property
    def films(self) -> int:
        return len(self.half_angles)

    @property
    def vertices(self) -> int:
        return 0 if self.is_lone else len(self.positions)

    @property
    def is_lone(self) -> bool:
        """Whether this is a single bubble without vertices and films: a free circle, or one that fills its walls."""
        return len(self.half_angles) == 0

    @property
    def is_wall(self) -> Mask:
        """Mask of the films that are parts of a wall, shape (E,)."""
        if not len(self.walls):
            return np.zeros(self.films, dtype=np.bool_)
        return np.asarray(np.any(self.cell.reshape(-1, 2) == OUTSIDE, axis=1))

    def copy(self) -> "Network":
        return Network(**{f.name: getattr(self, f.name).copy() for f in fields(self)})

    def chords(self, films: slice | Integers = ALL) -> Floats:
        """Vector from the start to the end of each film's half-edge 2e [m], shape (E, 2)."""
        a, b = self.origin[0::2][films], self.origin[1::2][films]
        return self.positions[b] - self.positions[a] + self.translations(films)

    def translations(self, films: slice | Integers = ALL) -> Floats:
        """Lattice translation of each film's half-edge 2e [m], shape (E, 2)."""
        # written out: the threads of a linear algebra library would cost more time than they save
        s, l = self.shift[0::2][films], self.lattice
        return np.stack([l[0, 0] * s[:, 0] + l[0, 1] * s[:, 1], l[1, 0] * s[:, 0] + l[1, 1] * s[:, 1]], axis=1)

    def sides(self) -> Integers:
        """Number of films around each cell, excluding parts of walls, shape (F,)."""
        films = (self.cell >= 0) & ~np.repeat(self.is_wall, 2)
        return np.bincount(self.cell[films], minlength=self.cells)

    def first_half_edges(self) -> Integers:
        """Lowest half-edge of each cell, shape (F,)."""
        first = np.full(self.cells, DEAD, dtype=np.int64)
        inside = np.flatnonzero(self.cell >= 0)[::-1]
        first[self.cell[inside]] = inside
        return first

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by name, for checkpoints."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def box_area(self) -> float:
        """Area of the periodic box, or between the walls [m²]."""
        if self.boundary == "box":
            x, y = self.walls[:, 0], self.walls[:, 1]
            return float(0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
        return float(abs(np.linalg.det(self.lattice)))


def network_of(arrays: Mapping[str, Any]) -> Network:
    """Network from the arrays of a frame, by name; frames of early versions contain no walls."""
    return Network(**{part.name: arrays[part.name] for part in fields(Network) if part.name in arrays})


def checked_network(arrays: Mapping[str, Any]) -> Network:
    """As `network_of`. Raises ValueError if they are not those of a foam: somebody else may have written them."""
    network = network_of(arrays)
    try:
        validate(network)
    except SceneError as error:
        raise ValueError(str(error)) from None
    return network


def empty_network(positions: Floats, films: int, cells: int, lattice: Floats) -> Network:
    """Network of straight films between the given positions, to be connected."""
    half = 2 * films
    origin, following, previous, cell = (np.zeros(half, dtype=np.int64) for _ in range(4))
    return Network(
        positions, np.zeros(films), origin, following, previous, cell, np.zeros((half, 2), dtype=np.int64),
        np.zeros(cells), np.zeros(cells), np.arange(cells), lattice,
    )  # fmt: skip


def _numbers(chosen: Integers, count: int, other: int) -> Integers:
    """New number of each of `count` objects of which those `chosen` are kept, in this order; `other` for the rest."""
    numbers = np.full(count, other, dtype=np.int64)
    numbers[chosen] = np.arange(len(chosen))
    return numbers


def renumbered(network: Network, vertices: Integers, films: Integers, cells: Integers) -> Network:
    """Network of the given vertices, films and cells, numbered in this order."""
    n = network
    half = np.stack([2 * films, 2 * films + 1], axis=1).ravel()
    new_half, new_vertex = _numbers(half, len(n.origin), DEAD), _numbers(vertices, len(n.positions), DEAD)
    new_cell = _numbers(cells, n.cells + 1, OUTSIDE)  # the last is the outside
    return replace(
        n, positions=n.positions[vertices], half_angles=n.half_angles[films], origin=new_vertex[n.origin[half]],
        next=new_half[n.next[half]], previous=new_half[n.previous[half]], cell=new_cell[n.cell[half]],
        shift=n.shift[half], pressures=n.pressures[cells], targets=n.targets[cells], labels=n.labels[cells],
        wall=n.wall[vertices],
    )  # fmt: skip


def compact(network: Network) -> Network:
    """Network without the films and cells that topology changes have marked as dead (origin, label DEAD)."""
    live = network.origin != DEAD
    return renumbered(
        network, np.unique(network.origin[live]), np.flatnonzero(live[0::2]), np.flatnonzero(network.labels != DEAD)
    )


@compiled
def cell_walk(n, h0):
    """Number of sides and total lattice shift of the loop of half-edges from h0; -1 sides if it does not close."""
    next_, shift = n.next, n.shift
    sides, sx, sy = 0, 0, 0
    h = h0
    while True:
        sides += 1
        sx += shift[h, 0]
        sy += shift[h, 1]
        h = next_[h]
        if h == h0 or sides > len(next_):
            break
    return (sides if h == h0 else -1), sx, sy


@compiled
def _broken_loops(n, seen):
    """First half-edge whose loop does not close, changes its cell or winds around the box (-1 if all are valid), and
    the number of loops."""
    next_, cell = n.next, n.cell
    loops = 0
    for h0 in range(len(next_)):
        if seen[h0]:
            continue
        sides, sx, sy = cell_walk(n, h0)
        if sides < 0 or ((sx != 0 or sy != 0) and cell[h0] >= 0):
            return h0, loops
        loops += 1
        h = h0
        for _ in range(sides):
            if cell[h] != cell[h0]:
                return h, loops
            seen[h] = True
            h = next_[h]
    return -1, loops


def _require(right: bool, found: str) -> None:
    if not right:
        raise SceneError(f"the foam network is not valid: {found}")


def _validate_walls(network: Network) -> None:
    n = network
    on_wall = np.zeros(n.vertices, dtype=np.bool_)
    if len(n.walls):
        on_wall[n.origin[n.cell == OUTSIDE]] = True
    _require(bool(np.all((n.wall >= 0) == on_wall)), "the vertices of the walls are not those that have a wall")
    _require(bool(np.all(n.wall < len(n.walls))), "an index in 'wall' is out of range")
    _require(not np.any(n.half_angles[n.is_wall]), "a part of a wall is bent")
    arm, t = n.positions[on_wall] - n.walls[n.wall[on_wall], :2], n.walls[n.wall[on_wall], 2:]
    off = np.abs(t[:, 0] * arm[:, 1] - t[:, 1] * arm[:, 0])
    _require(bool(np.all(off <= 1e-9 * np.sqrt(n.box_area() if len(n.walls) else 1.0))), "a vertex has left its wall")


def validate(network: Network, areas: Floats | None = None) -> None:
    """Raise SceneError with the first invariant of a dry foam that does not hold.

    Invariants: three films per vertex; consistent twins and loops; one loop of at least two sides per cell; Euler's
    formula, V - E + F = 0 on the torus and in a channel, 1 in the plane and in a box; vertices on their walls; finite
    numbers; positive areas (if given).
    """
    n = network
    half = len(n.origin)
    if n.is_lone:
        _require(n.cells == 1 and n.boundary != "periodic", "only a lone bubble, not in a periodic box, has no films")
        _require(n.positions.shape == (1, 2), "a lone bubble has its centre as its one position")
        return
    lengths = {len(n.next), len(n.previous), len(n.cell), len(n.shift), 2 * n.films}
    _require(lengths == {half}, "half-edge arrays differ in length")
    _require(len(n.pressures) == len(n.labels) == n.cells, "arrays of cells differ in length")
    for name, limit in (("origin", n.vertices), ("next", half), ("previous", half)):
        values = getattr(n, name)
        _require(bool(np.all((values >= 0) & (values < limit))), f"an index in '{name}' is out of range")
    _require(bool(np.all((n.cell >= OUTSIDE) & (n.cell < n.cells))), "an index in 'cell' is out of range")
    counts = np.bincount(n.origin, minlength=n.vertices)
    wrong = np.flatnonzero(counts != 3)
    _require(not len(wrong), f"vertex {wrong[:1]} has {counts[wrong[:1]]} films, where a dry foam has three")
    index = np.arange(half)
    _require(bool(np.all(n.previous[n.next] == index)), "'previous' is not the inverse of 'next'")
    _require(
        bool(np.all(n.origin[n.next] == n.origin[index ^ 1])), "a half-edge does not start where the last one ends"
    )
    _require(bool(np.all(n.shift == -n.shift[index ^ 1])), "a film has two lattice shifts")
    turned = n.next[index ^ 1]
    _require(bool(np.all(n.next[n.next[turned ^ 1] ^ 1] == index)), "the films of a vertex are not in cyclic order")
    bad, loops = _broken_loops(n.mesh, np.zeros(half, dtype=np.bool_))
    _require(bad < 0, f"the films around cell {n.cell[bad]} do not close")
    sides = np.bincount(n.cell[n.cell >= 0], minlength=n.cells)  # walls included
    _require(bool(np.all(sides >= 2)), f"cell {np.argmin(sides)} has {sides.min()} sides, where two is the least")
    if n.boundary == "periodic":
        _require(bool(np.all(n.cell >= 0)), "a periodic foam has no outside")
        _require(n.vertices - n.films + n.cells == 0, "V - E + F is not 0, as on a torus")
        _require(n.vertices == 2 * n.cells, "V is not 2 F")
    else:
        _require(bool(np.any(n.cell == OUTSIDE)), "no film has the outside on one side")
        euler = 0 if n.boundary == "channel" else 1
        _require(n.vertices - n.films + n.cells == euler, f"V - E + F is not {euler}, as for one cluster without holes")
    outer = {"periodic": 0, "free": 1, "box": 1, "channel": 2}[n.boundary]
    _require(loops == n.cells + outer, "a cell is not bounded by one loop of films")
    _validate_walls(n)
    for name in ("positions", "half_angles", "pressures", "targets", "lattice", "walls"):
        _require(bool(np.all(np.isfinite(getattr(n, name)))), f"'{name}' holds a number that is not finite")
    _require(bool(np.all(np.abs(n.half_angles) < np.pi)), "a film turns by more than a full circle")
    if areas is not None:
        smallest = int(np.argmin(areas))
        _require(bool(areas[smallest] > 0), f"cell {smallest} has the area {areas[smallest]:.3g} m², not positive")
