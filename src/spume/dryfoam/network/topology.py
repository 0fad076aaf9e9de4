"""Topological changes of a network, in place: T1, T2 and the removal of two-sided cells.

Each function leaves a valid network (see `network.validate`) or fails without changing anything. Removed films and
cells are marked DEAD and deleted by `network.compact`.
"""

import math

import numpy as np

from spume.dryfoam.network.geometry import half_edge_vector, turn
from spume.dryfoam.network.half_edges import DEAD, Network
from spume.numerics.jit import compiled


@compiled
def count_sides(n, h0):
    next_ = n.next
    sides, h = 1, next_[h0]
    while h != h0:
        sides += 1
        h = next_[h]
    return sides


@compiled
def meets_itself(n, h):
    """Whether the two cells at the ends of half-edge h are the same cell (the same image, if periodic)."""
    next_, previous, cell, shift = n.next, n.previous, n.cell, n.shift
    at_start, at_end = previous[h] ^ 1, previous[h ^ 1] ^ 1
    if cell[at_start] != cell[at_end]:
        return False
    sx, sy, k = 0, 0, at_start
    while k != at_end:
        sx += shift[k, 0]
        sy += shift[k, 1]
        k = next_[k]
        if k == at_start:
            return True
    return sx == shift[h, 0] and sy == shift[h, 1]


@compiled
def t1_allowed(n, h):
    """Whether a T1 of half-edge h leaves cells with at least two sides, none of which borders itself along a film.

    A film with the same cell on both sides would have an unbalanced tension and shrink immediately, so such a change,
    or one that would cut a free cluster in two, never happens in a foam.
    """
    cell = n.cell
    if count_sides(n, h) <= 2 or count_sides(n, h ^ 1) <= 2:
        return False
    if cell[h] == cell[h ^ 1] and count_sides(n, h) <= 3:
        return False
    return not meets_itself(n, h)


@compiled
def turn_film(n, h, length):
    """Rotate film h by +90° about its middle, and give it the chord `length` [m]."""
    positions, origin = n.positions, n.origin
    a, b = origin[h], origin[h ^ 1]
    dx, dy = half_edge_vector(n, h)
    c = math.hypot(dx, dy)
    nx, ny = -dy / c, dx / c
    mx, my = positions[a, 0] + 0.5 * dx, positions[a, 1] + 0.5 * dy
    # position of b relative to a before: its stored position plus the film's shift
    ox, oy = positions[a, 0] + dx - positions[b, 0], positions[a, 1] + dy - positions[b, 1]
    positions[a, 0], positions[a, 1] = mx - 0.5 * length * nx, my - 0.5 * length * ny
    positions[b, 0], positions[b, 1] = mx + 0.5 * length * nx - ox, my + 0.5 * length * ny - oy


@compiled
def leave_wall(n, h, length):
    """Move the ends of the part h of a wall whose cell leaves the wall: one to the middle, on the wall, the other to
    the distance `length` [m] from the wall."""
    positions, wall, walls, origin = n.positions, n.wall, n.walls, n.origin
    stays, goes = (origin[h], origin[h ^ 1]) if n.cell[h ^ 1] < 0 else (origin[h ^ 1], origin[h])
    out = h if origin[h] == stays else h ^ 1
    dx, dy = half_edge_vector(n, out)
    ox, oy = positions[stays, 0] + dx - positions[goes, 0], positions[stays, 1] + dy - positions[goes, 1]
    w = wall[stays]
    if wall[goes] == w:  # else around a corner, from which the film slides away on this wall
        positions[stays, 0] += 0.5 * dx
        positions[stays, 1] += 0.5 * dy
    positions[goes, 0] = positions[stays, 0] - length * walls[w, 3] - ox
    positions[goes, 1] = positions[stays, 1] + length * walls[w, 2] - oy
    wall[goes] = -1


@compiled
def _room(n, h):
    """Distance [m] by which the origin of the part h of a wall can slide along it, to the next vertex or the corner."""
    positions, wall, walls, origin = n.positions, n.wall, n.walls, n.origin
    v, u = origin[h], origin[h ^ 1]
    w = wall[v]
    dx, dy = half_edge_vector(n, h)
    along = dx * walls[w, 2] + dy * walls[w, 3]
    room = abs(along) if wall[u] == w else np.inf
    if len(walls) > 2:
        k = (w + 1) % len(walls)
        for c in (w, k):
            side = (walls[c, 0] - positions[v, 0]) * walls[w, 2] + (walls[c, 1] - positions[v, 1]) * walls[w, 3]
            room = min(room, abs(side))
    return room


@compiled
def reach_wall(n, h, length):
    """Move the ends of the film h, one of which is on a wall, so that it becomes a part of the wall of about `length`
    [m]."""
    positions, wall, walls, origin = n.positions, n.wall, n.walls, n.origin
    out = h if wall[origin[h]] >= 0 else h ^ 1
    foot, other = origin[out], origin[out ^ 1]
    w = wall[foot]
    dx, dy = half_edge_vector(n, out)
    ox, oy = positions[foot, 0] + dx - positions[other, 0], positions[foot, 1] + dy - positions[other, 1]
    half = 0.5 * length
    for side in (n.previous[out] ^ 1, n.next[out ^ 1]):
        half = min(half, 0.45 * _room(n, side))
    # the left side of the film that leaves the wall is opposite to the direction of the wall
    x, y = half * walls[w, 2], half * walls[w, 3]
    positions[other, 0], positions[other, 1] = positions[foot, 0] - x - ox, positions[foot, 1] - y - oy
    positions[foot, 0] += x
    positions[foot, 1] += y
    wall[other] = w


@compiled
def flip(n, h, length):
    """T1 of half-edge h, [DryFoam] figure 1: rotate the film by +90° about its middle, with the chord `length` [m].

    The cells left and right of the film lose a side, the cells at its ends gain one and become neighbours. At a wall,
    the same change turns a part of the wall into a film that ends on it, so that a cell leaves the wall, or a film that
    ends on the wall into a part of it, so that the cell at its other end reaches the wall.
    """
    wall, origin, next_, previous, cell, shift = n.wall, n.origin, n.next, n.previous, n.cell, n.shift
    a, b = origin[h], origin[h ^ 1]
    if wall[a] >= 0 and wall[b] >= 0:
        leave_wall(n, h, length)
    elif wall[a] >= 0 or wall[b] >= 0:
        reach_wall(n, h, length)
    else:
        turn_film(n, h, length)
    n.half_angles[h >> 1] = 0.0
    a1, a2 = previous[h] ^ 1, next_[h ^ 1]
    b1, b2 = next_[h], previous[h ^ 1] ^ 1
    next_[a1 ^ 1], previous[b1] = b1, a1 ^ 1
    next_[b2 ^ 1], previous[a2] = a2, b2 ^ 1
    next_[a2 ^ 1], previous[h], next_[h], previous[a1] = h, a2 ^ 1, a1, h
    next_[b1 ^ 1], previous[h ^ 1], next_[h ^ 1], previous[b2] = h ^ 1, b1 ^ 1, b2, h ^ 1
    origin[a1], origin[b2] = b, a
    cell[h], cell[h ^ 1] = cell[a1], cell[b2]
    for k in range(2):
        s = shift[h, k]
        shift[a1, k] -= s
        shift[a1 ^ 1, k] += s
        shift[b2, k] += s
        shift[b2 ^ 1, k] -= s


@compiled
def triangle_collapsible(n, h0):
    """Whether the three-sided cell of half-edge h0 can become a vertex: no film outside joins two of its corners."""
    origin, next_ = n.origin, n.next
    h = h0
    for _ in range(3):
        outside = next_[h ^ 1]
        far = origin[outside ^ 1]
        if far == origin[h0] or far == origin[next_[h0]] or far == origin[next_[next_[h0]]]:
            return False
        h = next_[h]
    return True


@compiled
def collapse_triangle(n, h0):
    """T2, [DryFoam] eq. (3): replace the three-sided cell of h0 by one vertex at the mean of its three; for a cell on a
    wall, at the mean of its two vertices there, or at the first of them if these are on two walls."""
    positions, wall = n.positions, n.wall
    origin, next_, previous, cell, shift = n.origin, n.next, n.previous, n.cell, n.shift
    h1 = next_[h0]
    if wall[origin[h0]] >= 0 or wall[origin[h1]] >= 0 or wall[origin[next_[h1]]] >= 0:
        while cell[h0 ^ 1] >= 0:  # so that h0 is the part of the wall
            h0 = next_[h0]
        h1 = next_[h0]
    h2 = next_[h1]
    u = origin[h0]
    # the outer films, leaving u, v, w
    eu, ev, ew = next_[h0 ^ 1], next_[h1 ^ 1], next_[h2 ^ 1]
    d0x, d0y = half_edge_vector(n, h0)
    d2x, d2y = half_edge_vector(n, h2 ^ 1)
    if wall[u] < 0:
        positions[u, 0] += (d0x + d2x) / 3
        positions[u, 1] += (d0y + d2y) / 3
    elif wall[u] == wall[origin[h1]]:
        positions[u, 0] += 0.5 * d0x
        positions[u, 1] += 0.5 * d0y
    for k in range(2):
        sv, sw = shift[h0, k], shift[h2 ^ 1, k]
        shift[ev, k] += sv
        shift[ev ^ 1, k] -= sv
        shift[ew, k] += sw
        shift[ew ^ 1, k] -= sw
    origin[ev], origin[ew] = u, u
    # The neighbour across h0 had …, ev^1, h0^1, eu, …; remove the triangle's film, and likewise for the other two.
    next_[ev ^ 1], previous[eu] = eu, ev ^ 1
    next_[ew ^ 1], previous[ev] = ev, ew ^ 1
    next_[eu ^ 1], previous[ew] = ew, eu ^ 1
    for h in (h0, h1, h2):
        origin[h], origin[h ^ 1] = DEAD, DEAD
        cell[h], cell[h ^ 1] = DEAD, DEAD


@compiled
def lens_collapsible(n, h0):
    """Whether the two-sided cell of h0 can be removed: its neighbours, which lose two sides each, must keep at least
    two. A wall must keep at least one part: in a channel, a cell that is its own neighbour may occupy a whole wall."""
    wall, origin, next_, cell = n.wall, n.origin, n.next, n.cell
    h1 = next_[h0]
    for h in (h0 ^ 1, h1 ^ 1):
        if count_sides(n, h) <= (2 if cell[h] < 0 and wall[origin[h]] >= 0 else 3):
            return False
    return next_[h0 ^ 1] != next_[h1 ^ 1] ^ 1


@compiled
def collapse_lens(n, h0):
    """Remove the two-sided cell of h0, and join the films at its two ends, which are arcs of one circle in
    equilibrium."""
    origin, next_, previous, cell, shift = n.origin, n.next, n.previous, n.cell, n.shift
    h1 = next_[h0]
    # The film eu leaves at the corner u of the lens, the film ev at the corner v; ev becomes the joined film.
    eu, ev = next_[h0 ^ 1], next_[h1 ^ 1]
    into = eu ^ 1
    angle = turn(n, into) + turn(n, ev)
    angle = math.copysign(min(abs(angle), 0.9 * math.pi), angle)  # an initial value for the next equilibrium
    n.half_angles[ev >> 1] = angle if (ev & 1) == 0 else -angle
    origin[ev] = origin[into]
    for k in range(2):
        shift[ev, k] += shift[into, k] + shift[h0, k]
        shift[ev ^ 1, k] = -shift[ev, k]
    before, after = previous[into], next_[eu]
    next_[before], previous[ev] = ev, before
    next_[ev ^ 1], previous[after] = after, ev ^ 1
    for h in (h0, h1, eu):
        origin[h], origin[h ^ 1] = DEAD, DEAD
        cell[h], cell[h ^ 1] = DEAD, DEAD


@compiled
def _shortest_flippable(n, h0):
    """Half-edge with the shortest chord around the cell of h0 among those that allow a T1; -1 if there is none."""
    next_ = n.next
    best, shortest = -1, np.inf
    h = h0
    while True:
        dx, dy = half_edge_vector(n, h)
        c = math.hypot(dx, dy)
        if c < shortest and t1_allowed(n, h):
            best, shortest = h, c
        h = next_[h]
        if h == h0:
            return best, shortest


@compiled
def collapse(n, h0):
    """Remove the cell of half-edge h0: T1s of its shortest films down to three sides, then T2 [DryFoam], section 3.

    A triangle two of whose corners are joined by an outer film (a two-sided neighbour) becomes a lens first. Returns
    the number of T1s, or -1 if the cell cannot be removed; the network remains valid.
    """
    next_ = n.next
    flips, limit = (
        0,
        2 * count_sides(n, h0),
    )  # a cell around the whole box gains a side at the end of the film it loses
    while flips < limit:
        sides = count_sides(n, h0)
        if sides == 3 and triangle_collapsible(n, h0):
            collapse_triangle(n, h0)
            return flips
        if sides == 2:
            if not lens_collapsible(n, h0):
                return -1
            collapse_lens(n, h0)
            return flips
        h, c = _shortest_flippable(n, h0)
        if h < 0:
            return -1
        h0 = next_[h]
        flip(n, h, c)
        flips += 1
    return -1


def flip_film(network: Network, film: int) -> bool:
    """Do a T1 of `film`; the new film has the length of the old chord. Returns False if it is impossible."""
    n = network
    h = 2 * film
    if not t1_allowed(n.mesh, h):
        return False
    flip(n.mesh, h, float(np.hypot(*n.chords()[film])))
    return True


def remove_cell(network: Network, index: int) -> int:
    """Remove the cell `index` by marking it as dead (see `compact`). Returns the number of T1s, -1 if impossible."""
    n = network
    h = int(np.flatnonzero(n.cell == index)[0])
    flips = collapse(n.mesh, h)
    if flips >= 0:
        n.labels[index] = DEAD
    return int(flips)
