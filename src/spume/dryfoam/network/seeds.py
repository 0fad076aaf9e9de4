"""Where the cells of an initial foam are: seeds in the periodic unit square or in a shape."""

from collections.abc import Callable

import numpy as np

from spume.dryfoam.network.half_edges import Floats
from spume.errors import SceneError
from spume.geometry.darts import Domain, Thrower, periodic_cells
from spume.numerics.jit import compiled

SignedDistance = Callable[[Floats], Floats]
"""Signed distance [m] of points (N, 2) to the edge of a shape, negative inside."""

APART = 0.75
"""Least distance of Poisson-disk seeds, over that of a square lattice. Random addition jams at 0.835 [Zhang13]."""


def random_seeds(count: int, generator: np.random.Generator) -> Floats:
    """`count` points uniform in the unit square (a Poisson process)."""
    return generator.random((count, 2))


@compiled
def _no_points(arrays, cell, alpha, points):
    return 0


@compiled
def _everywhere(arrays, cell, numbers):
    return True


@compiled
def _contains(arrays, numbers, x, y, z):
    return True


@compiled
def _reaches(arrays, numbers, x, y, z, w):
    return True


_SQUARE = Thrower(2, Domain(_no_points, _everywhere, _contains, _reaches), levels=5, rounds=20)


def poisson_disk_seeds(count: int, generator: np.random.Generator) -> Floats:
    """`count` points in the periodic unit square, none closer to another than APART/√count: darts thrown at random. If
    there is no room for the last ones, as happens with a few seeds, it starts again."""
    apart = APART / np.sqrt(count)
    side = max(int(1.0 / apart), 1)
    cells = periodic_cells(side)
    while True:
        cell, place = _SQUARE.throw(cells, (), apart * side, np.uint64(generator.integers(2**63)), limit=count)
        if len(cell) == count:
            return (cells.index[cell] + place)[:, :2] / side


def hexagonal_seeds(columns: int, rows: int) -> Floats:
    """Centres of a honeycomb of `columns` by `rows` (even) cells, in fractions of its box."""
    if rows % 2:
        raise SceneError(f"a periodic honeycomb needs an even number of rows, found {rows}")
    i, j = np.meshgrid(np.arange(columns), np.arange(rows), indexing="ij")
    x = (i + 0.5 * (j % 2) + 0.25) / columns
    y = (j + 0.5) / rows
    return np.stack([x.ravel(), y.ravel()], axis=1)


def disc_around(points: Floats) -> SignedDistance:
    """A disc that holds `points` (N, 2), with about as much room around the outermost as between them."""
    centre = points.mean(axis=0)
    farthest = float(np.max(np.hypot(*(points - centre).T)))
    radius = farthest * (1.0 + 0.5 / np.sqrt(len(points)))
    return lambda places: np.hypot(places[:, 0] - centre[0], places[:, 1] - centre[1]) - radius


def seeds_in_shape(
    count: int, kind: str, generator: np.random.Generator, shape: SignedDistance | None
) -> tuple[Floats, SignedDistance]:
    """`count` seeds inside `shape` (the unit disc when None), and the distance function they belong to."""
    if kind not in ("random", "poisson-disk", "hexagonal"):
        raise SceneError(f"seeds are 'random', 'poisson-disk' or 'hexagonal', found '{kind}'")
    distance = shape or (lambda points: np.hypot(points[:, 0], points[:, 1]) - 1.0)
    box = _box_of(distance) if shape else 1.0
    probe = box * (2.0 * generator.random((20000, 2)) - 1.0)
    fraction = float(np.mean(distance(probe) < 0))
    if fraction == 0.0:
        raise SceneError("the shape of the foam has no inside near the origin")
    if kind == "hexagonal":
        return _honeycomb_inside(count, distance, box, fraction), distance
    draw = poisson_disk_seeds if kind == "poisson-disk" else random_seeds
    wanted = int(np.ceil(count / fraction))
    while True:
        points = box * (2.0 * draw(wanted, generator) - 1.0)
        inside = points[distance(points) < 0]
        if len(inside) >= count:
            return inside[:count] if kind == "random" else _thin(inside, count, generator), distance
        wanted = int(np.ceil(1.05 * wanted)) + 1


def _thin(points: Floats, count: int, generator: np.random.Generator) -> Floats:
    return points[np.sort(generator.permutation(len(points))[:count])]


def _box_of(distance: SignedDistance) -> float:
    """Half the side of a square around the origin that holds the shape [m]."""
    box = 1e-4
    for _ in range(60):
        edge = np.linspace(-box, box, 257)
        frame = np.concatenate([np.stack([edge, s * box + 0 * edge], axis=1) for s in (-1, 1)])
        frame = np.concatenate([frame, frame[:, ::-1]])
        grid = np.stack(np.meshgrid(edge, edge), axis=-1).reshape(-1, 2)
        if np.all(distance(frame) > 0) and np.any(distance(grid) < 0):
            reach = np.abs(grid[distance(grid) < 0]).max() + 2.0 * (edge[1] - edge[0])
            return float(min(box, reach))
        box *= 1.5
    raise SceneError("the shape of the foam is not bounded, or has no inside near the origin")


def _honeycomb_inside(count: int, distance: SignedDistance, box: float, fraction: float) -> Floats:
    """The `count` honeycomb centres deepest inside the shape."""
    width = np.sqrt(2.0 / np.sqrt(3.0) * 4.0 * box * box * fraction / count)
    reach = int(np.ceil(1.5 * box / width)) + 2
    i, j = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1), indexing="ij")
    points = width * np.stack([(i + 0.5 * (j % 2)).ravel(), (j * np.sqrt(3.0) / 2.0).ravel()], axis=1)
    depth = distance(points)
    return np.asarray(points[np.sort(np.argsort(depth, kind="stable")[:count])])
