"""What becomes of a film whose ends meet: its T1 partner, or the direction in which its neighbours pull it open."""

import math

from spume.dryfoam.network.geometry import half_edge_vector, turn
from spume.dryfoam.network.topology import count_sides, flip, t1_allowed
from spume.numerics.jit import compiled

MOST_FLIPS = 6
"""T1s of one film on the way to one equilibrium, after which it goes round in a cycle and keeps its topology."""


@compiled
def _leaving(h, positions, half_angles, origin, shift, lattice):
    """Unit tangent with which half-edge h leaves its origin."""
    dx, dy = half_edge_vector(h, positions, origin, shift, lattice)
    angle = math.atan2(dy, dx) - turn(h, half_angles)
    return math.cos(angle), math.sin(angle)


@compiled
def opening_pulls(h, positions, half_angles, origin, next_, previous, shift, lattice):
    """Pulls of the four neighbouring films that open the film h, and that would open its T1 partner, over T.

    Returned as the vectors (x, y) from the film's start to its end and (x, y) from right to left of it. Were the film
    a point, of the two ways to split it the one with the stronger pull opens, since one of them exceeds T.
    """
    ax, ay = _leaving(previous[h] ^ 1, positions, half_angles, origin, shift, lattice)
    bx, by = _leaving(next_[h ^ 1], positions, half_angles, origin, shift, lattice)
    cx, cy = _leaving(next_[h], positions, half_angles, origin, shift, lattice)
    dx, dy = _leaving(previous[h ^ 1] ^ 1, positions, half_angles, origin, shift, lattice)
    along = 0.5 * (cx + dx - ax - bx), 0.5 * (cy + dy - ay - by)
    across = 0.5 * (ax + cx - bx - dx), 0.5 * (ay + cy - by - dy)
    return along, across


@compiled
def realign(h, x, y, length, positions, half_angles, origin, shift, lattice):
    """Turns film h about its middle into the direction (x, y), with the chord `length`, straight."""
    a, b = origin[h], origin[h ^ 1]
    dx, dy = half_edge_vector(h, positions, origin, shift, lattice)
    scale = 0.5 * length / math.hypot(x, y)
    mx, my = 0.5 * dx, 0.5 * dy
    positions[a, 0] += mx - scale * x
    positions[a, 1] += my - scale * y
    positions[b, 0] += scale * x - mx
    positions[b, 1] += scale * y - my
    half_angles[h >> 1] = 0.0


@compiled
def settle(e, length, flips_of, positions, half_angles, origin, next_, previous, cell, shift, lattice):
    """Gives the short film e the topology and direction in which its neighbours pull it open; returns T1s done (0, 1).

    The T1 is not done where it would leave a cell with two sides: a triangle goes by T2 only. Nor is it done when the
    film has been through MOST_FLIPS of them, counted in `flips_of` (E,): then it only turns.
    """
    h = 2 * e
    along, across = opening_pulls(h, positions, half_angles, origin, next_, previous, shift, lattice)
    stays, turns = math.hypot(along[0], along[1]), math.hypot(across[0], across[1])
    roomy = count_sides(h, next_) > 3 and count_sides(h ^ 1, next_) > 3
    if turns > stays and roomy and flips_of[e] <= MOST_FLIPS and t1_allowed(h, origin, next_, previous, cell, shift):
        flips_of[e] += 1
        if flips_of[e] <= MOST_FLIPS:
            flip(h, length, positions, half_angles, origin, next_, previous, cell, shift, lattice)
            realign(h, across[0], across[1], length, positions, half_angles, origin, shift, lattice)
            return 1
    if stays > 0.0:  # shorter than a new film: it may be near its true, small length
        realign(h, along[0], along[1], 0.3 * length, positions, half_angles, origin, shift, lattice)
    return 0


@compiled
def flip_or_hold(
    films, vertices, vertex_index, moves, flip_below, busy, flips_of,
    positions, half_angles, origin, next_, previous, cell, shift, lattice, chords, steps,
):  # fmt: skip
    """Applies the moves of a region; where the ends of a short film would pass through each other it settles instead
    (see `settle`), where those of a long one would, they hold back. Returns the number of T1s."""
    flips = 0
    busy[:] = False
    for q in range(len(films)):
        e = films[q]
        i, j = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
        if i < 0 or j < 0 or busy[i] or busy[j]:
            continue
        dx, dy = chords[q, 0], chords[q, 1]
        cc = dx * dx + dy * dy
        left = cc + dx * (moves[j, 0] - moves[i, 0]) + dy * (moves[j, 1] - moves[i, 1])
        if left > 0.1 * cc:
            continue
        c = math.sqrt(cc)
        if c < flip_below[q]:
            flips += settle(
                e, max(c, 0.3 * flip_below[q]), flips_of,
                positions, half_angles, origin, next_, previous, cell, shift, lattice,
            )  # fmt: skip
            # the vertices around keep still this time: their steps belonged to the old shape
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
    for q in range(len(films)):
        e = films[q]
        i, j = vertex_index[origin[2 * e]], vertex_index[origin[2 * e + 1]]
        if (i < 0 or not busy[i]) and (j < 0 or not busy[j]):
            half_angles[e] = max(-0.97 * math.pi, min(0.97 * math.pi, half_angles[e] + steps[q]))
    return flips
