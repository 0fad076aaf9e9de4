"""Where the cells of an initial foam are: seeds in the periodic unit square or in a shape."""

from collections.abc import Callable

import numpy as np

from spume.dryfoam.network.half_edges import Floats
from spume.errors import SceneError
from spume.numerics.jit import compiled

SignedDistance = Callable[[Floats], Floats]
"""Signed distance [m] of points (N, 2) to the edge of a shape, negative inside."""

APART = 0.75
"""Least distance of Poisson-disk seeds, over that of a square lattice. Random addition jams at 0.835 [Zhang13]."""
PATIENCE = 1000
"""Darts for each seed that may miss before all is begun anew: the first of a few seeds can block the last."""


def random_seeds(count: int, generator: np.random.Generator) -> Floats:
    """`count` points uniform in the unit square (a Poisson process)."""
    return generator.random((count, 2))


@compiled
def _throw(darts, apart, side, owner, points, placed):
    """Adds the darts that land at least `apart` from all points of the periodic unit square; `owner` (side, side) is
    the point in each square, small enough for one. Returns how many points there are."""
    for d in range(len(darts)):
        x, y = darts[d, 0], darts[d, 1]
        i, j = int(x * side), int(y * side)
        free = True
        for di in range(-2, 3):
            for dj in range(-2, 3):
                q = owner[(i + di) % side, (j + dj) % side]
                if q >= 0:
                    dx, dy = x - points[q, 0], y - points[q, 1]
                    dx, dy = dx - round(dx), dy - round(dy)
                    if dx * dx + dy * dy < apart * apart:
                        free = False
        if free:
            points[placed, 0], points[placed, 1] = x, y
            owner[i, j] = placed
            placed += 1
            if placed == len(points):
                break
    return placed


def poisson_disk_seeds(count: int, generator: np.random.Generator) -> Floats:
    """`count` points in the periodic unit square, none closer to another than APART/√count: thrown at random, one after
    another, and left out where too close to one before."""
    apart = APART / np.sqrt(count)
    side = int(np.ceil(np.sqrt(2.0) / apart))
    while True:
        points, owner = np.empty((count, 2)), np.full((side, side), -1)
        placed, thrown = 0, 0
        while thrown < PATIENCE * count:
            placed = _throw(generator.random((4 * count, 2)), apart, side, owner, points, placed)
            thrown += 4 * count
            if placed == count:
                return points


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
    return points[np.sort(np.argsort(depth, kind="stable")[:count])]
