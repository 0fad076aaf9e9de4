"""Areas, lengths, angles, energy and stress of a network of circular films."""

import math

import numpy as np

from spume.dryfoam.network.arcs import arc_factors
from spume.dryfoam.network.half_edges import ALL, OUTSIDE, Floats, Integers, Network
from spume.dryfoam.network.walls import corner_paths, polygon_moments, wall_half_edges
from spume.numerics.jit import compiled


@compiled
def half_edge_vector(n, h):
    """Chord of a half-edge, as (x, y)."""
    positions, lattice, origin, shift = n.positions, n.lattice, n.origin, n.shift
    a, b = origin[h], origin[h ^ 1]
    sx, sy = shift[h, 0], shift[h, 1]
    x = positions[b, 0] - positions[a, 0] + lattice[0, 0] * sx + lattice[0, 1] * sy
    y = positions[b, 1] - positions[a, 1] + lattice[1, 0] * sx + lattice[1, 1] * sy
    return x, y


@compiled
def turn(n, h):
    """Half angle of a half-edge: that of its film, with the opposite sign against the film's direction."""
    half_angles = n.half_angles
    return half_angles[h >> 1] if (h & 1) == 0 else -half_angles[h >> 1]


@compiled
def along_wall(n, h):
    """Whether half-edge h or its twin is a part of a wall."""
    cell = n.cell
    return (cell[h] < 0 or cell[h ^ 1] < 0) and n.wall[n.origin[h]] >= 0


@compiled
def pressure_drop(n, h):
    """Pressure left minus right of half-edge h; that of the outside is zero."""
    pressures, cell = n.pressures, n.cell
    i, j = cell[h], cell[h ^ 1]
    return (pressures[i] if i >= 0 else 0.0) - (pressures[j] if j >= 0 else 0.0)


@compiled(forceinline=True)
def one_cell_area(n, h0):
    """Area of the cell left of half-edge h0: polygon of the vertices, relative to the first, plus the segments."""
    next_ = n.next
    area, x, y = 0.0, 0.0, 0.0
    h = h0
    while True:
        dx, dy = half_edge_vector(n, h)
        theta = turn(n, h)
        S = arc_factors(theta)[3]
        area += 0.5 * (x * dy - y * dx) + S * (dx * dx + dy * dy)
        x += dx
        y += dy
        h = next_[h]
        if h == h0:
            return area


@compiled
def area_with_segments(n, h0, segments, film_index):
    """As `one_cell_area`, with given segment areas, segments[film_index[e]] for film e."""
    next_ = n.next
    area, x, y = 0.0, 0.0, 0.0
    h = h0
    while True:
        dx, dy = half_edge_vector(n, h)
        s = segments[film_index[h >> 1]]
        area += 0.5 * (x * dy - y * dx) + (s if (h & 1) == 0 else -s)
        x += dx
        y += dy
        h = next_[h]
        if h == h0:
            return area


@compiled
def cell_area_kernel(n, first, areas):
    for f in range(len(first)):
        if first[f] >= 0:
            areas[f] = one_cell_area(n, first[f])


@compiled
def _film_length_kernel(chords, half_angles, lengths):
    for e in range(len(half_angles)):
        lengths[e] = math.hypot(chords[e, 0], chords[e, 1]) * arc_factors(half_angles[e])[0]


def cell_areas(network: Network) -> Floats:
    """Area of each cell including circular segments [m²], shape (F,)."""
    if network.is_lone:
        return network.targets.copy()
    n = network
    areas = np.empty(n.cells)
    cell_area_kernel(n.mesh, n.first_half_edges(), areas)
    for h, path in corner_paths(n):
        areas[n.cell[h]] += polygon_moments(path)[0]
    return areas


@compiled
def _segment_moment(theta, S):
    """First moment of an arc's circular segment about its chord, over c³: 1/12 - S cot(θ)/2, even in θ.

    A segment of radius R has the moment (2/3) R³ sin³ θ = c³/12 about the centre of its circle.
    """
    return theta * theta / 60.0 if abs(theta) < 1e-3 else 1.0 / 12.0 - 0.5 * S / math.tan(theta)


@compiled
def _centroid_kernel(n, first, centroids):
    positions, origin, next_ = n.positions, n.origin, n.next
    for f in range(len(first)):
        if first[f] < 0:  # a cell that has vanished
            continue
        area, x, y, mx, my = 0.0, 0.0, 0.0, 0.0, 0.0
        h = first[f]
        while True:
            dx, dy = half_edge_vector(n, h)
            theta = turn(n, h)
            S = arc_factors(theta)[3]
            c = math.hypot(dx, dy)
            triangle, segment, moment = 0.5 * (x * dy - y * dx), S * c * c, c * c * _segment_moment(theta, S)
            area += triangle + segment
            # triangle from the first vertex; segment about the middle of its chord, on its right
            mx += triangle * (2.0 * x + dx) / 3.0 + segment * (x + 0.5 * dx) + moment * dy
            my += triangle * (2.0 * y + dy) / 3.0 + segment * (y + 0.5 * dy) - moment * dx
            x += dx
            y += dy
            h = next_[h]
            if h == first[f]:
                break
        v = origin[first[f]]
        centroids[f, 0], centroids[f, 1] = positions[v, 0] + mx / area, positions[v, 1] + my / area


def cell_centroids(network: Network) -> Floats:
    """Centroid of each cell [m], shape (F, 2); in a periodic foam it may lie outside the box."""
    n = network
    if n.is_lone:
        return n.positions.copy()
    centroids = np.empty((n.cells, 2))
    first = n.first_half_edges()
    _centroid_kernel(n.mesh, first, centroids)
    if paths := corner_paths(n):
        areas = np.empty(n.cells)
        cell_area_kernel(n.mesh, first, areas)
        for h, path in paths:
            f, (area, centre) = n.cell[h], polygon_moments(path)
            centroids[f] = (areas[f] * centroids[f] + area * centre) / (areas[f] + area)
            areas[f] += area
    return centroids


@compiled
def _arm_kernel(n, first, offsets, arms):
    """Compute the vectors from the centroid of each cell to the origins of its half-edges."""
    next_ = n.next
    for f in range(len(first)):
        h = first[f]
        x, y = offsets[f, 0], offsets[f, 1]
        while True:
            arms[h, 0], arms[h, 1] = x, y
            dx, dy = half_edge_vector(n, h)
            x += dx
            y += dy
            h = next_[h]
            if h == first[f]:
                break


def centre_links(network: Network) -> tuple[Floats, Integers]:
    """Vectors between the centroids of two cells that share a film [m], shape (n, 2), and the pairs of cells, from the
    first to the second, shape (n, 2)."""
    n = network
    arms = np.zeros((2 * n.films, 2))
    first = n.first_half_edges()
    offsets = n.positions[n.origin[first]] - cell_centroids(n)
    _arm_kernel(n.mesh, first, offsets, arms)
    links = n.chords() + arms[0::2] - arms[1::2]
    pairs = n.cell.reshape(-1, 2)
    between = np.all(pairs >= 0, axis=1)
    return links[between], pairs[between]


def centroid(network: Network) -> Floats:
    """Centroid of a free foam [m], shape (2,)."""
    areas = cell_areas(network)
    return np.asarray(areas @ cell_centroids(network) / areas.sum())


def film_lengths(network: Network, films: slice | Integers = ALL) -> Floats:
    """Arc length of all films, or of the chosen ones [m], zero for parts of walls, shape (E,)."""
    half_angles = network.half_angles[films]
    lengths = np.empty(len(half_angles))
    _film_length_kernel(network.chords(films), half_angles, lengths)
    if len(network.walls):
        lengths[network.is_wall[films]] = 0.0
    return lengths


def energy(network: Network, tension: float) -> float:
    """T times the length of all films [J/m]; a lone bubble is a circle, or fills its walls and has no films."""
    if network.is_lone:
        if network.is_closed:
            return 0.0
        return tension * 2.0 * math.sqrt(math.pi * network.targets[0])
    return tension * float(np.sum(film_lengths(network)))


def directions(network: Network) -> Floats:
    """Direction in which each half-edge leaves its origin, as an angle [rad], shape (2E,)."""
    n = network
    chords = n.chords()
    angle = np.arctan2(chords[:, 1], chords[:, 0])
    leaving = np.empty(2 * n.films)
    leaving[0::2] = angle - n.half_angles
    leaving[1::2] = angle + np.pi + n.half_angles
    along = wall_half_edges(n)
    if len(along):  # a part of a wall may go around corners
        slope = np.arctan2(n.walls[:, 3], n.walls[:, 2])
        leaving[along] = slope[n.wall[n.origin[along]]]
        leaving[along ^ 1] = slope[n.wall[n.origin[along ^ 1]]] + np.pi
    return leaving


def angles(network: Network) -> Floats:
    """Interior angle at each cell corner, between a half-edge and the previous one around the cell [rad], shape (2E,).

    Half-edge h leaves the corner; the angle is measured from it to the twin of the previous half-edge, in (0, 2π).
    """
    leaving = directions(network)
    return np.asarray(np.mod(leaving[network.previous ^ 1] - leaving, 2.0 * np.pi))


def angle_errors(network: Network) -> Floats:
    """Interior angles at the corners of cells minus those in equilibrium [rad]: 120° between films, 90° between a film
    and a wall; shape (n,)."""
    n = network
    inside = n.cell != OUTSIDE if len(n.walls) else np.ones(2 * n.films, dtype=np.bool_)
    right = np.where(n.wall[n.origin] >= 0, 0.5 * np.pi, 2.0 * np.pi / 3.0)
    return np.asarray((angles(n) - right)[inside])


def reversed_vertices(network: Network) -> Integers:
    """Vertices whose films leave in clockwise order, where the network overlaps itself: their angles add up to two full
    turns."""
    total = np.bincount(network.origin, weights=angles(network), minlength=network.vertices)
    return np.flatnonzero(total > 3.0 * np.pi)


def pressure_differences(network: Network) -> Floats:
    """Pressure left minus right of each film [N/m], shape (E,)."""
    pressures = np.append(network.pressures, 0.0)
    return np.asarray(pressures[network.cell[0::2]] - pressures[network.cell[1::2]])


def stress(network: Network, tension: float) -> Floats:
    """Stress tensor of the foam [N/m], shape (2, 2): (T ∫ t tᵀ dℓ - Σ p A 1) / area, tension positive.

    This is Batchelor's average. Along an arc of half angle θ with the chord direction e and its normal n, the integral
    of t tᵀ is ℓ/2 1 + c cos θ / 2 (e eᵀ - n nᵀ). The stress of a lone free bubble in equilibrium is zero.
    """
    if network.is_lone:
        if network.is_closed:
            return np.asarray(-network.pressures[0] * np.eye(2))
        tangent = 0.5 * energy(network, tension) / network.targets[0]
        return np.asarray((tangent - network.pressures[0]) * np.eye(2))
    chords = network.chords()
    c = np.hypot(chords[:, 0], chords[:, 1])
    e = chords / c[:, None]
    normal = np.stack([-e[:, 1], e[:, 0]], axis=1)
    lengths = film_lengths(network)
    weight = 0.5 * c * np.cos(network.half_angles) * ~network.is_wall
    film = 0.5 * np.sum(lengths) * np.eye(2) + np.einsum("e,ei,ej->ij", weight, e, e)
    film -= np.einsum("e,ei,ej->ij", weight, normal, normal)
    areas = cell_areas(network)
    gas = float(np.sum(network.pressures * areas))
    return np.asarray((tension * film - gas * np.eye(2)) / np.sum(areas))
