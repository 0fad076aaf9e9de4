"""Marching cubes through blocks of nodes: a closed mesh where a field is zero, positive inside.

The triangles of the 256 cases are generated: on each face of a cube, every run of inside corners is cut off by one
line, which is the same for the neighbour on the other side of the face, so there are no cracks. The lines of a case
form loops, which are divided into triangles without using a line between two edges of the same face, because the
neighbour could use it, too.
"""

import functools
import itertools

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.look.surface.field import SIDE, Blocks, node_value
from spume.numerics.jit import compiled

CORNERS = tuple(itertools.product((0, 1), repeat=3))
"""Offsets of the corners of a cube; corner c is bit c of its case."""
EDGES = tuple((corner, axis) for axis in range(3) for corner, offset in enumerate(CORNERS) if offset[axis] == 0)
"""Edges of a cube: the corner they start from and their axis."""
MOST = 5
"""Largest number of triangles of a case."""


def surface_of(blocks: Blocks, field: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Vertices [m], shape (v, 3), and triangles (t, 3), counter-clockwise seen from outside, where `field` is zero."""
    count = len(field)
    edges, cubes = np.zeros(count, np.int64), np.zeros(count, np.int64)
    numbers, triangles_of = _case_table()
    _count(blocks.near, field, numbers, edges, cubes)
    first_vertex = np.concatenate([[0], np.cumsum(edges)])
    first_triangle = np.concatenate([[0], np.cumsum(cubes)])
    vertices = np.empty((first_vertex[-1], 3))
    index = np.full((*field.shape, 3), -1, np.int32)
    _place(blocks.near, blocks.places, field, blocks.size, first_vertex, vertices, index)
    triangles = np.empty((first_triangle[-1], 3), np.int32)
    _connect(blocks.near, field, numbers, triangles_of, first_triangle, index, triangles)
    return vertices, triangles


@compiled
def _case(near, field, b, i, j, k):
    case = 0
    for c in range(8):
        if node_value(near, field, b, i + (c >> 2), j + ((c >> 1) & 1), k + (c & 1)) > 0:
            case |= 1 << c
    return case


@compiled
def _uniform(near, field, b):
    """Whether a block and the nodes next to it are all outside or all inside."""
    inside = field[b, 0, 0, 0] > 0
    for i in range(SIDE + 1):
        for j in range(SIDE + 1):
            for k in range(SIDE + 1):
                if (node_value(near, field, b, i, j, k) > 0) != inside:
                    return False
    return True


@compiled(parallel=True)
def _count(near, field, numbers, edges, cubes):
    for block in prange(len(field)):
        b = np.int64(block)  # unsigned in the loop: what it is passed to would be compiled for both types
        if _uniform(near, field, b):
            continue
        crossed = 0
        made = 0
        for i in range(SIDE):
            for j in range(SIDE):
                for k in range(SIDE):
                    inside = field[b, i, j, k] > 0
                    for axis in range(3):
                        far = node_value(near, field, b, i + (axis == 0), j + (axis == 1), k + (axis == 2))
                        if (far > 0) != inside:
                            crossed += 1
                    made += numbers[_case(near, field, b, i, j, k)]
        edges[b] = crossed
        cubes[b] = made


@compiled(parallel=True)
def _place(near, places, field, size, first, vertices, index):
    for block in prange(len(field)):
        b = np.int64(block)
        if first[b] == first[b + 1]:
            continue
        v = first[b]
        for i in range(SIDE):
            for j in range(SIDE):
                for k in range(SIDE):
                    here = field[b, i, j, k]
                    for axis in range(3):
                        far = node_value(near, field, b, i + (axis == 0), j + (axis == 1), k + (axis == 2))
                        if (far > 0) != (here > 0):
                            t = here / (here - far)
                            vertices[v, 0] = (places[b, 0] * SIDE + i + (t if axis == 0 else 0.0)) * size
                            vertices[v, 1] = (places[b, 1] * SIDE + j + (t if axis == 1 else 0.0)) * size
                            vertices[v, 2] = (places[b, 2] * SIDE + k + (t if axis == 2 else 0.0)) * size
                            index[b, i, j, k, axis] = v
                            v += 1


@compiled(parallel=True)
def _connect(near, field, numbers, triangles_of, first, index, triangles):
    for block in prange(len(field)):
        b = np.int64(block)
        if first[b] == first[b + 1]:
            continue
        t = first[b]
        for i in range(SIDE):
            for j in range(SIDE):
                for k in range(SIDE):
                    case = _case(near, field, b, i, j, k)
                    for n in range(numbers[case]):
                        for m in range(3):
                            edge = triangles_of[case, n, m]
                            corner, axis = edge >> 2, edge & 3
                            u, v, w = i + (corner >> 2), j + ((corner >> 1) & 1), k + (corner & 1)
                            q = 13
                            if u >= SIDE:
                                q, u = q + 9, u - SIDE
                            if v >= SIDE:
                                q, v = q + 3, v - SIDE
                            if w >= SIDE:
                                q, w = q + 1, w - SIDE
                            triangles[t, m] = index[near[b, q], u, v, w, axis]
                        t += 1


@functools.cache
def _case_table() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number of triangles of each case, and their corners as edges, corner · 4 + axis, shape (256, MOST, 3)."""
    numbers, table = np.zeros(256, np.int64), np.zeros((256, MOST, 3), np.int64)
    for case in range(256):
        found = [triangle for loop in _loops(case) for triangle in _divided(loop)[1]]
        numbers[case] = len(found)
        for n, triangle in enumerate(found):
            table[case, n] = [EDGES[edge][0] * 4 + EDGES[edge][1] for edge in triangle]
    return numbers, table


def _faces() -> list[list[int]]:
    """Corners of each face, counter-clockwise seen from outside."""
    found = []
    for axis, side in itertools.product(range(3), (0, 1)):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
        offsets = []
        for a, b in ring if side else ring[::-1]:
            offset = [0, 0, 0]
            offset[axis], offset[one], offset[two] = side, a, b
            offsets.append(tuple(offset))
        found.append([CORNERS.index(offset) for offset in offsets])
    return found


def _edge(a: int, b: int) -> int:
    low, high = min(a, b), max(a, b)
    axis = next(axis for axis in range(3) if CORNERS[low][axis] != CORNERS[high][axis])
    return EDGES.index((low, axis))


def _loops(case: int) -> list[list[int]]:
    """Closed loops of crossed edges around the inside corners of a case."""
    following = {}
    for ring in _faces():
        inside = [bool(case >> corner & 1) for corner in ring]
        for n in range(4):
            if inside[n] and not inside[n - 1]:  # a run of inside corners begins
                last = n
                while inside[(last + 1) % 4]:
                    last += 1
                entering, leaving = _edge(ring[n - 1], ring[n]), _edge(ring[last % 4], ring[(last + 1) % 4])
                following[entering] = leaving
    loops = []
    while following:
        first, after = following.popitem()
        loop = [first]
        while after != first:
            loop.append(after)
            after = following.pop(after)
        loops.append(loop)
    return loops


def _same_face(a: int, b: int) -> bool:
    ends = [{corner, corner | (4 >> axis)} for corner, axis in (EDGES[a], EDGES[b])]
    return any(ends[0] | ends[1] <= set(ring) for ring in _faces())


def _divided(loop: list[int]) -> tuple[int, list[tuple[int, int, int]]]:
    """Smallest number of lines between edges of the same face, and a division of a loop into triangles with it."""
    if len(loop) < 3:
        return 0, []
    best: tuple[int, list[tuple[int, int, int]]] | None = None
    for k in range(1, len(loop) - 1):  # third corner of the triangle on the line from the last to the first
        left, right = _divided(loop[: k + 1]), _divided(loop[k:])
        cost = left[0] + right[0]
        cost += k > 1 and _same_face(loop[0], loop[k])
        cost += k < len(loop) - 2 and _same_face(loop[k], loop[-1])
        if best is None or cost < best[0]:
            best = cost, [(loop[0], loop[k], loop[-1]), *left[1], *right[1]]
    assert best is not None
    return best
