"""Initial networks: Voronoi diagrams of seeds in a periodic box or in a shape, as duals of Delaunay triangulations.

The dual has three films at every vertex by construction, even for degenerate seeds.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.spatial import Delaunay, cKDTree

from spume.dryfoam.network.arcs import arc_factors
from spume.dryfoam.network.geometry import cell_areas
from spume.dryfoam.network.half_edges import (
    DEAD,
    OUTSIDE,
    Floats,
    Integers,
    Network,
    compact,
    empty_network,
    validate,
)
from spume.dryfoam.network.numbering import along_curve
from spume.dryfoam.network.seeds import SignedDistance
from spume.errors import SceneError

JITTER = 1e-3
"""Displacement of seeds if four of them lie on one circle, over their mean spacing."""
COINCIDENT = 1e-7
"""Length of a film, over the mean spacing, below which its ends coincide."""


def _triangles(points: Floats) -> Integers:
    """Delaunay triangles, counter-clockwise, shape (n, 3)."""
    simplices = Delaunay(points).simplices.astype(np.int64)
    a, b, c = (points[simplices[:, k]] for k in range(3))
    clockwise = np.cross(np.c_[b - a, 0 * a[:, :1]], np.c_[c - a, 0 * a[:, :1]])[:, 2] < 0
    simplices[clockwise] = simplices[clockwise][:, [0, 2, 1]]
    return simplices


def _circumcentres(a: Floats, b: Floats, c: Floats) -> Floats:
    u, v = b - a, c - a
    twice = 2.0 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    uu, vv = np.sum(u * u, axis=1), np.sum(v * v, axis=1)
    x = (v[:, 1] * uu - u[:, 1] * vv) / twice
    y = (u[:, 0] * vv - v[:, 0] * uu) / twice
    return np.asarray(a + np.stack([x, y], axis=1))


def _dual(positions: Floats, seeds: Integers, offsets: Integers, cells: int, lattice: Floats) -> Network | None:
    """Network whose vertices are the triangles, with seeds (n, 3) at lattice offsets (n, 3, 2); None if they do not
    close.

    The film of triangle t across its edge k (seed k to seed k+1) leaves t with seed k+1 on its left.
    """
    count = len(seeds)
    right, left = seeds.ravel(), np.roll(seeds, -1, axis=1).ravel()
    step = (np.roll(offsets, -1, axis=1) - offsets).reshape(-1, 2)
    key = np.stack([right, left, step[:, 0], step[:, 1]], axis=1)
    mirrored = np.stack([left, right, -step[:, 0], -step[:, 1]], axis=1)
    order, order_mirrored = np.lexsort(key.T), np.lexsort(mirrored.T)
    if not np.array_equal(key[order], mirrored[order_mirrored]):
        return None
    corner_twin = np.empty(3 * count, dtype=np.int64)
    corner_twin[order_mirrored] = order
    corner = np.arange(3 * count)
    first = corner[corner < corner_twin]
    half_of = np.empty(3 * count, dtype=np.int64)
    half_of[first] = 2 * np.arange(len(first))
    half_of[corner_twin[first]] = half_of[first] + 1
    network = empty_network(positions, len(first), cells, lattice)
    network.origin[half_of] = corner // 3
    network.cell[half_of] = left
    flat = offsets.reshape(-1, 2)
    # Seed k has the offset o in this triangle's frame and, as the left end of the twin, o' in the other's frame.
    twin_left = 3 * (corner_twin // 3) + (corner_twin % 3 + 1) % 3
    network.shift[half_of] = flat[corner] - flat[twin_left]
    following = 3 * (corner_twin // 3) + (corner_twin % 3 + 2) % 3
    network.next[half_of] = half_of[following]
    network.previous[network.next] = np.arange(2 * len(first))
    return network


def check_apart(seeds: Floats, lattice: Floats | None) -> None:
    """Raise SceneError for seeds [m] that are not finite points of the plane, or that coincide."""
    if seeds.ndim != 2 or seeds.shape[1] != 2 or not len(seeds):
        raise SceneError(f"seeds must have the shape (N, 2), found {seeds.shape}")
    if not np.all(np.isfinite(seeds)):
        raise SceneError(f"seed {int(np.argmin(np.all(np.isfinite(seeds), axis=1)))} is not finite")
    if lattice is None:
        points, number = seeds, np.arange(len(seeds))
    else:
        parts = np.linalg.solve(lattice, seeds.T).T
        parts = parts - np.floor(parts)
        images = [parts + np.array([i, j]) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        points, number = np.concatenate(images) @ lattice.T, np.tile(np.arange(len(seeds)), 9)
    closest = 1e-9 * float(np.ptp(points, axis=0).max())
    pairs = cKDTree(points).query_pairs(closest, output_type="ndarray")
    pairs = number[pairs]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if len(pairs):
        a, b = sorted(int(k) for k in pairs[0])
        raise SceneError(f"the seeds {a} and {b} coincide")


def jittered(seeds: Floats, spacing: float, size: float = JITTER) -> Floats:
    """Seeds with reproducible displacements of `size` over `spacing`, so that no four of them lie on one circle."""
    return seeds + size * spacing * np.random.default_rng(0).uniform(-1.0, 1.0, seeds.shape)


def periodic_voronoi(seeds: Floats, lattice: Floats) -> Network:
    """Voronoi network of `seeds` (N, 2), in fractions of the box, periodic along the columns of `lattice` [m].

    The label of a cell is the number of its seed. Four seeds on one circle would give a vertex with four films, which
    is impossible in a dry foam: all seeds are then displaced by up to JITTER of their mean spacing, which splits the
    vertex.
    """
    if np.linalg.det(lattice) <= 0:
        raise SceneError("the lattice vectors of the box must be given counter-clockwise, and not be parallel")
    check_apart(seeds @ lattice.T, lattice)
    spacing = np.sqrt(1.0 / len(seeds))
    network = periodic_dual(seeds, lattice)
    length = np.sqrt(np.linalg.det(lattice) / len(seeds))
    if network is None or np.min(np.hypot(*network.chords().T)) < COINCIDENT * length:
        network = periodic_dual(jittered(seeds, spacing), lattice)
    if network is None:
        raise SceneError(f"the {len(seeds)} seeds do not give a closed network: there are too few of them for this box")
    network = along_curve(network)
    network.targets = cell_areas(network)
    validate(network, network.targets)
    return network


def periodic_dual(seeds: Floats, lattice: Floats) -> Network | None:
    """Network of `periodic_voronoi`, without areas; None if the triangles of two copies of the box differ."""
    count = len(seeds)
    margin = 1.0 if count < 400 else 12.0 / np.sqrt(count)
    shifts = np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    if count < 12:
        shifts = np.array([(i, j) for i in range(-3, 4) for j in range(-3, 4)])
        margin = 3.0
    tiled = (seeds[None] + shifts[:, None]).reshape(-1, 2)
    number = np.tile(np.arange(count), len(shifts))
    offset = np.repeat(shifts, count, axis=0)
    near = np.all((tiled > -margin) & (tiled < 1.0 + margin), axis=1)
    tiled, number, offset = tiled[near], number[near], offset[near]
    triangles = _triangles(tiled @ lattice.T)
    corners, corner_offset = number[triangles], offset[triangles]
    # Identify all copies of a triangle by its sorted corners, starting in the box.
    order = np.lexsort((corner_offset[:, :, 1], corner_offset[:, :, 0], corners), axis=1)
    lowest = order[:, :1]
    start = np.take_along_axis(corner_offset, lowest[:, :, None], axis=1)
    turn = (lowest + np.arange(3)) % 3
    corners = np.take_along_axis(corners, turn, axis=1)
    corner_offset = np.take_along_axis(corner_offset, turn[:, :, None], axis=1) - start
    names = np.concatenate([corners, corner_offset.reshape(-1, 6)], axis=1)
    touching = np.all(start[:, 0] == 0, axis=1)  # complete in the middle copy, far from the edge of the tiling
    _, chosen = np.unique(names[touching], axis=0, return_index=True)
    corners, corner_offset = corners[touching][chosen], corner_offset[touching][chosen]
    at = (seeds[corners] + corner_offset) @ lattice.T
    return _dual(_circumcentres(at[:, 0], at[:, 1], at[:, 2]), corners, corner_offset, count, lattice.astype(float))


def free_voronoi(seeds: Floats, distance: SignedDistance) -> Network:
    """Voronoi network of `seeds` (N, 2) [m] inside the shape of `distance`, surrounded by the outside.

    The seeds are mirrored at the shape's edge; the cells of the images form the outside. The label of a cell is the
    number of its seed. If four seeds lie on one circle, all are displaced a little, as in `periodic_voronoi`.
    """
    check_apart(seeds, None)
    if outside := np.flatnonzero(distance(seeds) >= 0.0).tolist():
        raise SceneError(f"seed {outside[0]} lies outside the shape of the foam")
    spacing = float(np.sqrt(np.ptp(seeds[:, 0]) * np.ptp(seeds[:, 1]) / len(seeds)))
    network = _free_dual(seeds, distance, spacing)
    if np.min(np.hypot(*network.chords().T)) < COINCIDENT * spacing:
        network = _free_dual(jittered(seeds, spacing), distance, spacing)
    network = along_curve(network)
    network.targets = cell_areas(network)
    validate(network, network.targets)
    return network


def _gradient(points: Floats, distance: SignedDistance, spacing: float) -> Floats:
    """Gradient of the signed distance at `points` (n, 2), by central differences [1]."""
    step = 1e-6 * max(spacing, 1e-9)
    ahead, behind = ([distance(points + sign * step * axis) for axis in np.eye(2)] for sign in (1.0, -1.0))
    return np.asarray((np.stack(ahead, axis=1) - np.stack(behind, axis=1)) / (2 * step))


def _free_dual(seeds: Floats, distance: SignedDistance, spacing: float) -> Network:
    """Network of `free_voronoi`, without areas."""
    count = len(seeds)
    depth = distance(seeds)
    reach = max(6.0 * spacing, 1e-9) if count > 60 else np.inf
    images = (seeds - 2.0 * depth[:, None] * _gradient(seeds, distance, spacing))[-depth < reach]
    network = _cluster(seeds, images[distance(images) > 0], spacing)
    if network is None:
        network = _cluster(seeds, _edge_images(seeds, distance, spacing), spacing)
    if network is None:
        raise SceneError(
            f"the {count} cells are not one cluster without holes: give more cells, poisson-disk seeds, or a shape "
            "that is wider and has no holes"
        )
    return network


def _edge_images(seeds: Floats, distance: SignedDistance, spacing: float) -> Floats:
    """Images (n, 2) of the seed nearest to each of many points on the shape's edge, mirrored at the tangent there. The
    cells then end at the edge on all sides of a thin shape, which a single image per seed would not ensure."""
    low, high = seeds.min(axis=0) - 2.0 * spacing, seeds.max(axis=0) + 2.0 * spacing
    x, y = (np.arange(low[k], high[k], 0.2 * spacing) for k in range(2))
    places = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    away = distance(places)
    near = np.abs(away) < 0.2 * spacing
    normal = _gradient(places[near], distance, spacing)
    edge = places[near] - away[near, None] * normal
    flat = np.abs(distance(edge)) < 1e-3 * spacing  # false at corners
    edge, normal = edge[flat], normal[flat]
    own = seeds[cKDTree(seeds).query(edge)[1]]
    images = own - 2.0 * np.sum((own - edge) * normal, axis=1)[:, None] * normal
    images = images[distance(images) > 0]
    _, first = np.unique(np.round(images / (0.02 * spacing)), axis=0, return_index=True)
    return np.asarray(images[np.sort(first)])


def _cluster(seeds: Floats, images: Floats, spacing: float) -> Network | None:
    """Voronoi network of the seeds; the cells of `images` and of a far ring form the outside. None if it is not one
    cluster without holes."""
    count = len(seeds)
    centre, radius = seeds.mean(axis=0), 10.0 * (np.ptp(seeds, axis=0).max() + spacing)
    round_about = 2.0 * np.pi * np.arange(16) / 16
    far = centre + radius * np.stack([np.cos(round_about), np.sin(round_about)], axis=1)
    points = np.concatenate([seeds, images, far])
    triangles = _triangles(points)
    used = np.any(triangles < count, axis=1)
    at = points[triangles]
    network = _dissolve(_open_dual(_circumcentres(at[used, 0], at[used, 1], at[used, 2]), triangles[used], count))
    return network if network.vertices - network.films + network.cells == 1 else None


def _open_dual(positions: Floats, triangles: Integers, cells: int) -> Network:
    """Dual of triangles that do not close: edges between two images have no partner and are omitted."""
    corners = len(triangles) * 3
    right, left = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    outer = (right >= cells) & (left >= cells)
    number = {(int(a), int(b)): k for k, (a, b) in enumerate(zip(right, left, strict=True)) if not outer[k]}
    first = [k for (a, b), k in number.items() if k < number[b, a]]
    half_of = np.full(corners, DEAD)
    for e, opening in enumerate(first):
        half_of[opening] = 2 * e
        half_of[number[int(left[opening]), int(right[opening])]] = 2 * e + 1
    network = empty_network(positions, len(first), cells, np.zeros((2, 2)))
    for k in np.flatnonzero(~outer):
        h = half_of[k]
        network.origin[h] = k // 3
        network.cell[h] = left[k] if left[k] < cells else OUTSIDE
        t = number[int(left[k]), int(right[k])]
        onward = 3 * (t // 3) + (t % 3 + 2) % 3
        if half_of[onward] == DEAD:  # along the outside, across the edge between two images
            onward = 3 * (t // 3) + (t % 3 + 1) % 3
        network.next[h] = half_of[onward]
    network.previous[network.next] = np.arange(len(network.next))
    return network


def join_films(network: Network, h: int) -> None:
    """Join half-edge h, which leaves a vertex with two films, and the half-edge that arrives there into one film."""
    n = network
    k = int(n.previous[h])
    if k in (h, h ^ 1):
        raise SceneError("a cell would be bounded by a single film: give more seeds")
    n.origin[h] = n.origin[k]
    n.shift[h] += n.shift[k]
    n.shift[h ^ 1] = -n.shift[h]
    n.previous[h] = n.previous[k]
    n.next[n.previous[k]] = h
    n.next[h ^ 1] = n.next[k ^ 1]
    n.previous[n.next[k ^ 1]] = h ^ 1
    n.origin[k] = n.origin[k ^ 1] = DEAD


def _dissolve(network: Network) -> Network:
    """Join the two films of each vertex that has only two (corners of the outside), then compact the network.

    The joined film is bent so that areas do not change.
    """
    n = network
    bulge = np.zeros(2 * n.films)
    counts = np.bincount(n.origin, minlength=n.vertices)
    if np.any((counts != 2) & (counts != 3) & (counts != 0)):
        raise SceneError("the shape is too thin for the seeds: a part of the foam touches the rest in one point only")
    for v in np.flatnonzero(counts == 2):
        h = int(np.flatnonzero(n.origin == v)[0])  # leaves v; absorbs the film arriving on the same side
        k = int(n.previous[h])
        into, onward = n.positions[v] - n.positions[n.origin[k]], n.positions[n.origin[h ^ 1]] - n.positions[v]
        bulge[h] += bulge[k] + 0.5 * (into[0] * onward[1] - into[1] * onward[0])
        bulge[h ^ 1] = -bulge[h]
        join_films(n, h)
    c = np.hypot(*n.chords().T)
    for film in np.flatnonzero((bulge[0::2] != 0) & (n.origin[0::2] != DEAD)):
        n.half_angles[film] = half_angle_of_segment(bulge[2 * film] / c[film] ** 2)
    return compact(n)


def half_angle_of_segment(ratio: float) -> float:
    """Half angle of the arc whose circular segment has the area `ratio` times the square of its chord."""
    limit = np.pi * (1 - 1e-6)
    if abs(ratio) > arc_factors(limit)[3]:
        raise SceneError("a film on the edge of the foam would be a full circle: give more seeds")
    return float(brentq(lambda theta: arc_factors(theta)[3] - ratio, -limit, limit, xtol=1e-14))
