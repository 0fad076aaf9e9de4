"""Treatment of films whose ends meet: T1, or rotation into the direction in which neighbouring films pull them open."""

import math

from spume.dryfoam.network.geometry import along_wall, half_edge_vector, turn
from spume.dryfoam.network.topology import count_sides, flip, t1_allowed
from spume.numerics.jit import compiled

MOST_FLIPS = 6
"""Largest number of T1s of one film in a search for equilibrium; with more it is in a cycle and keeps its topology."""


@compiled
def _leaving(n, h):
    """Unit tangent of half-edge h at its origin."""
    dx, dy = half_edge_vector(n, h)
    angle = math.atan2(dy, dx) - turn(n, h)
    return math.cos(angle), math.sin(angle)


@compiled
def opening_pulls(n, h):
    """Net pulls of the four neighbouring films, over T, that open the film h and that would open its T1 partner.

    Returned as the vectors (x, y) from the film's start to its end and (x, y) from its right to its left. If the film
    shrinks to a point, it opens in the direction of the stronger pull, since one of them exceeds T.
    """
    next_, previous = n.next, n.previous
    ax, ay = _leaving(n, previous[h] ^ 1)
    bx, by = _leaving(n, next_[h ^ 1])
    cx, cy = _leaving(n, next_[h])
    dx, dy = _leaving(n, previous[h ^ 1] ^ 1)
    along = 0.5 * (cx + dx - ax - bx), 0.5 * (cy + dy - ay - by)
    across = 0.5 * (ax + cx - bx - dx), 0.5 * (ay + cy - by - dy)
    return along, across


@compiled
def realign(n, h, x, y, length):
    """Rotate film h about its middle into the direction (x, y), as a straight film with the chord `length`."""
    positions, origin = n.positions, n.origin
    a, b = origin[h], origin[h ^ 1]
    dx, dy = half_edge_vector(n, h)
    scale = 0.5 * length / math.hypot(x, y)
    mx, my = 0.5 * dx, 0.5 * dy
    positions[a, 0] += mx - scale * x
    positions[a, 1] += my - scale * y
    positions[b, 0] += scale * x - mx
    positions[b, 1] += scale * y - my
    n.half_angles[h >> 1] = 0.0


@compiled
def pulls_at_wall(n, h):
    """Energy released per length, over T, by a short film that ends on a wall, and by a short part of the wall in its
    place; h is either of the two. A part of a wall has no tension, so opening it costs no energy.
    """
    wall, walls, origin, next_, previous = n.wall, n.walls, n.origin, n.next, n.previous
    if wall[origin[h]] >= 0 and wall[origin[h ^ 1]] >= 0:
        inner = h if n.cell[h ^ 1] < 0 else h ^ 1  # along the wall
        before, after, w = previous[inner] ^ 1, next_[inner], wall[origin[inner]]
    else:
        out = h if wall[origin[h]] >= 0 else h ^ 1  # away from the wall
        before, after, w = next_[out], previous[out ^ 1] ^ 1, wall[origin[out]]
    ax, ay = _leaving(n, before)
    bx, by = _leaving(n, after)
    tx, ty = walls[w, 2], walls[w, 3]
    standing = (ay + by) * tx - (ax + bx) * ty - 1.0
    lying = 0.5 * ((bx - ax) * tx + (by - ay) * ty)
    return standing, lying


@compiled
def realign_at_wall(n, h, length):
    """Set the `length` [m] of a film that ends on a wall, or of a part of a wall; parts around corners are kept."""
    positions, wall, walls, origin = n.positions, n.wall, n.walls, n.origin
    if wall[origin[h]] >= 0 and wall[origin[h ^ 1]] >= 0:
        a, b = origin[h], origin[h ^ 1]
        if wall[a] == wall[b]:
            dx, dy = half_edge_vector(n, h)
            stretch = 0.5 * (length / math.hypot(dx, dy) - 1.0)
            positions[a, 0] -= stretch * dx
            positions[a, 1] -= stretch * dy
            positions[b, 0] += stretch * dx
            positions[b, 1] += stretch * dy
        return
    out = h if wall[origin[h]] >= 0 else h ^ 1
    foot, other = origin[out], origin[out ^ 1]
    dx, dy = half_edge_vector(n, out)
    w = wall[foot]
    positions[other, 0] += -length * walls[w, 3] - dx
    positions[other, 1] += length * walls[w, 2] - dy
    n.half_angles[h >> 1] = 0.0


@compiled
def _settle_at_wall(n, e, length, flips_of):
    """As `settle`, for a film with an end on a wall, or a part of a wall."""
    wall, origin, cell = n.wall, n.origin, n.cell
    h = 2 * e
    lies = wall[origin[h]] >= 0 and wall[origin[h ^ 1]] >= 0
    if lies and cell[h] >= 0 and cell[h ^ 1] >= 0:
        return 0  # a film from wall to wall cannot rotate: its cell vanishes by T2
    standing, lying = pulls_at_wall(n, h)
    stays, turns = (lying, standing) if lies else (standing, lying)
    roomy = True
    for k in (h, h ^ 1):
        roomy = roomy and (cell[k] < 0 or count_sides(n, k) > 3)
    if turns > stays and roomy and flips_of[e] <= MOST_FLIPS and t1_allowed(n, h):
        flips_of[e] += 1
        if flips_of[e] <= MOST_FLIPS:
            flip(n, h, length)
            return 1
    if stays > 0.0:
        realign_at_wall(n, h, 0.3 * length)
    return 0


@compiled
def settle(n, e, length, flips_of):
    """Give the short film e the topology and direction in which its neighbours pull it open; return the number of T1s
    (0 or 1).

    The T1 is not done if it would leave a cell with two sides, because a triangle vanishes only by T2, or if the film
    has done MOST_FLIPS of them, counted in `flips_of` (E,): then it is only rotated.
    """
    wall, origin = n.wall, n.origin
    h = 2 * e
    if wall[origin[h]] >= 0 or wall[origin[h ^ 1]] >= 0:
        return _settle_at_wall(n, e, length, flips_of)
    along, across = opening_pulls(n, h)
    stays, turns = math.hypot(along[0], along[1]), math.hypot(across[0], across[1])
    roomy = count_sides(n, h) > 3 and count_sides(n, h ^ 1) > 3
    if turns > stays and roomy and flips_of[e] <= MOST_FLIPS and t1_allowed(n, h):
        flips_of[e] += 1
        if flips_of[e] <= MOST_FLIPS:
            flip(n, h, length)
            realign(n, h, across[0], across[1], length)
            return 1
    if stays > 0.0:  # it may be close to its true, small length: shorter than a new film
        realign(n, h, along[0], along[1], 0.3 * length)
    return 0


@compiled
def corners_around(n, h):
    """Number of corners of the box that half-edge h or its twin goes around, if it is a part of a wall. If there is
    more than one, its ends are not close along the wall."""
    positions, wall, walls = n.positions, n.wall, n.walls
    if len(walls) < 3 or not along_wall(n, h):
        return 0
    out = h if n.cell[h ^ 1] < 0 else h ^ 1
    a, b = n.origin[out], n.origin[out ^ 1]
    corners = (wall[b] - wall[a]) % len(walls)
    if corners == 0:
        along = 0.0
        for k in range(2):
            along += (positions[b, k] - positions[a, k]) * walls[wall[a], 2 + k]
        return len(walls) if along < 0.0 else 0
    return corners


@compiled
def _move_to(n, v, w, s, other, end):
    """Put vertex v on wall w, s [m] from its start (end = 0) or before its end (end = 1), at most halfway to the vertex
    `other`, if that is on the same wall."""
    positions, wall, walls = n.positions, n.wall, n.walls
    if wall[other] == w:
        c = (w + end) % len(walls)
        there = 0.0
        for k in range(2):
            there += (positions[other, k] - walls[c, k]) * walls[w, 2 + k]
        s = min(s, 0.5 * abs(there))
    c = (w + end) % len(walls)
    for k in range(2):
        positions[v, k] = walls[c, k] + (s if end == 0 else -s) * walls[w, 2 + k]
    wall[v] = w


@compiled
def pass_corners(n, films):
    """Move vertices that have slid beyond the end of their wall onto the next one."""
    positions, wall, walls, origin, cell = n.positions, n.wall, n.walls, n.origin, n.cell
    count = len(walls)
    if count < 3:
        return
    for e in films:
        if not along_wall(n, 2 * e):
            continue
        h = 2 * e if cell[2 * e + 1] < 0 else 2 * e + 1
        a, b = origin[h], origin[h ^ 1]
        w, c = wall[a], (wall[a] + 1) % count
        beyond = 0.0
        for k in range(2):
            beyond += (positions[a, k] - walls[c, k]) * walls[w, 2 + k]
        if beyond > 0.0:
            _move_to(n, a, c, beyond, b, 0)
        w = wall[b]
        before = 0.0
        for k in range(2):
            before += (walls[w, k] - positions[b, k]) * walls[w, 2 + k]
        if before > 0.0:
            _move_to(n, b, (w + count - 1) % count, before, a, 1)


@compiled
def flip_or_hold(n, r, moves, steps, chords, flip_below, busy, flips_of):
    """Apply the moves of a region. If the ends of a short film would pass through each other, it is settled instead
    (see `settle`); the ends of a long film are held back. Returns the number of T1s."""
    positions, half_angles, origin, next_ = n.positions, n.half_angles, n.origin, n.next
    films, vertices, vertex_index, boxed = r.films, r.vertices, r.vertex_index, len(n.walls) > 2
    flips = 0
    busy[:] = False
    for q in range(len(films)):
        e = films[q]
        i, j = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
        if i < 0 or j < 0 or busy[i] or busy[j] or (boxed and corners_around(n, 2 * e) > 1):
            continue
        dx, dy = chords[q, 0], chords[q, 1]
        cc = dx * dx + dy * dy
        left = cc + dx * (moves[j, 0] - moves[i, 0]) + dy * (moves[j, 1] - moves[i, 1])
        if left > 0.1 * cc:
            continue
        c = math.sqrt(cc)
        if c < flip_below[q]:
            flips += settle(n, e, max(c, 0.3 * flip_below[q]), flips_of)
            # do not move the adjacent vertices in this step, which was computed for the old shape
            for h0 in (2 * e, 2 * e + 1):
                h = h0
                for _ in range(3):
                    if vertex_index[origin[h ^ 1]] >= 0:
                        busy[vertex_index[origin[h ^ 1]]] = True
                    h = next_[h ^ 1]
        else:
            shrink = 0.5 * cc / (cc - left)
            for k in range(2):
                moves[i, k] *= shrink
                moves[j, k] *= shrink
    for i in range(len(vertices)):
        if not busy[i]:
            positions[vertices[i], 0] += moves[i, 0]
            positions[vertices[i], 1] += moves[i, 1]
    pass_corners(n, films)
    for q in range(len(films)):
        e = films[q]
        i, j = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
        if (i < 0 or not busy[i]) and (j < 0 or not busy[j]):
            half_angles[e] = max(-0.97 * math.pi, min(0.97 * math.pi, half_angles[e] + steps[q]))
    return flips
