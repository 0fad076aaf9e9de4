"""Contacts: the nodes inside obstacles, found once per step, and what the obstacles do to velocities there.

Sticking wins: of a node in a sticking obstacle only the first such obstacle is kept. Otherwise all obstacles that
contain the node are kept, in the order of the scene; they act in turn until none changes anything, as described in
`geometry/obstacle.py`.

Most nodes are far from all obstacles. Distances to shapes change no faster than the place does, so a node at a distance
d is outside while the obstacles have moved by less than d since it was looked up. The way of the obstacles is counted
by `ObstacleSet.travelled`; for each node we keep the count up to which it is certainly outside. This saves time only:
no result depends on it.
"""

from typing import Any

import numba
import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.geometry.obstacles.collision import (
    SEPARATE,
    STICK,
    SWEEPS,
    bounded_distance_and_normal,
    obstacle_velocity,
    resolve,
)
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.mpm.blocks import BLOCK, NODES_PER_BLOCK
from spume.mpm.nodes import DegreesOfFreedom, Nodes
from spume.numerics.jit import compiled

MARGIN = 1e-6
"""Of a cell: at distances this small obstacles are looked up, since both distances and ways are rounded."""
NUMBERS = 7
"""Numbers per contact: normal (3), velocity of the obstacle (3) [m/s], friction [1]."""
_NO_CHANGE = np.zeros((0, 1, 1))


class Contacts:
    """All contacts of nodes with obstacles, sorted by node; several contacts of one node stand together."""

    def __init__(self) -> None:
        self.node = np.empty(0, np.int64)
        """Flat index (64 a block) of the node of each contact."""
        self.kind = np.empty(0, np.int64)
        """STICK, SLIP or SEPARATE of `geometry.obstacles.collision`."""
        self.numbers = np.empty((0, NUMBERS))
        """Normal (3), velocity of the obstacle at the node (3) [m/s], friction [1]."""
        self._room = 256
        self.forget()

    def __len__(self) -> int:
        return len(self.node)

    def forget(self) -> None:
        """Forget which nodes are clear of obstacles, when these were changed by others."""
        self._clear_until = np.empty((0, NODES_PER_BLOCK))
        self._keys = np.empty(0, np.int64)
        self._generation = 0

    def find(self, nodes: Nodes, mass: NDArray[np.float64], obstacles: ObstacleSet, time: float) -> None:
        """Find the contacts of the nodes with positive `mass`, shape (blocks, 64), with the obstacles at `time` [s]."""
        self._fit(nodes)
        if len(obstacles) == 0:
            self._take(0, np.empty((1, 0), np.int64), np.empty((1, 0), np.int64), np.empty((1, 0, NUMBERS)))
            return
        at = obstacles.at(time)
        threads = numba.get_num_threads()
        tasks = len(nodes) * np.arange(threads + 1) // threads
        count = np.zeros(threads, np.int64)
        while True:
            node, kind = np.empty((threads, self._room), np.int64), np.empty((threads, self._room), np.int64)
            numbers = np.empty((threads, self._room, NUMBERS))
            _find[nodes.dimension](
                tasks, nodes.blocks, nodes.cell, mass, at, obstacles.travelled, MARGIN * nodes.cell,
                self._clear_until, node, kind, numbers, count,
            )  # fmt: skip
            if count.max() <= self._room:
                break
            self._room = 2 * int(count.max())
        self._take(count, node, kind, numbers)

    def _take(self, count: Any, node: Any, kind: Any, numbers: Any) -> None:
        """Join what the tasks found."""
        filled = np.arange(node.shape[1]) < np.reshape(count, (-1, 1))
        self.node, self.kind, self.numbers = node[filled], kind[filled], numbers[filled]

    def _fit(self, nodes: Nodes) -> None:
        """Blocks of nodes that were there before keep what is known of them."""
        if nodes.generation == self._generation:
            return
        clear = np.full((len(nodes), NODES_PER_BLOCK), -np.inf)
        if len(self._keys):
            place = np.minimum(np.searchsorted(self._keys, nodes.keys), len(self._keys) - 1)
            same = self._keys[place] == nodes.keys
            clear[same] = self._clear_until[place[same]]
        self._clear_until, self._keys, self._generation = clear, nodes.keys, nodes.generation

    def apply(self, velocity: NDArray[np.float64], change: NDArray[np.float64] = _NO_CHANGE) -> NDArray[np.bool_]:
        """Collide the node field `velocity` (blocks, d, 64); what is added to it is added to `change`, too.

        Returns which contacts are engaged: all but the separating ones that the material leaves.
        """
        engaged = np.empty(len(self), np.bool_)
        if len(self):
            _apply(self.node, self.kind, self.numbers, engaged, velocity, change)
        return engaged

    def project(self, dv: NDArray[np.float64], dofs: DegreesOfFreedom, engaged: NDArray[np.bool_]) -> None:
        """Remove from the velocity changes `dv` (unknowns, d) what the contacts forbid.

        Sticking contacts remove all of it; slipping ones, and separating ones that `apply` found engaged, the component
        along the normal, or along all normals where there are several. This is an orthogonal projection, as linear
        solvers need it. Friction has no part in it.
        """
        if len(self):
            _project(self.node, self.kind, self.numbers, engaged, dofs.number.reshape(-1), dv)


def _make_find(D: int) -> Any:
    BX, BY, BZ = BLOCK[D]

    @compiled(parallel=True)
    def find(tasks, blocks, cell, mass, obstacles, travelled, margin, clear_until, node, kind, numbers, count):
        """Contacts of the nodes of each task, as many as there is room for; `count` tells how many there are."""
        room = node.shape[1]
        for task in prange(tasks.size - 1):
            n = 0
            for block in range(tasks[task], tasks[task + 1]):
                for local in range(BX * BY * BZ):
                    if mass[block, local] <= 0.0 or clear_until[block, local] > travelled + margin:
                        continue
                    x = (blocks[block, 0] * BX + local // (BY * BZ)) * cell
                    y = (blocks[block, 1] * BY + (local // BZ) % BY) * cell
                    z = (blocks[block, 2] * BZ + local % BZ) * cell
                    first = n
                    clearance = np.inf
                    for k in range(obstacles.number):
                        d, nx, ny, nz = bounded_distance_and_normal(obstacles, k, x, y, z)
                        clearance = min(clearance, d)
                        if d <= 0.0:
                            sticks = obstacles.contact[k] == STICK
                            if sticks:
                                n = first
                            if n < room:
                                vx, vy, vz = obstacle_velocity(obstacles, k, x, y, z)
                                node[task, n], kind[task, n] = block * 64 + local, obstacles.contact[k]
                                numbers[task, n, 0], numbers[task, n, 1], numbers[task, n, 2] = nx, ny, nz
                                numbers[task, n, 3], numbers[task, n, 4], numbers[task, n, 5] = vx, vy, vz
                                numbers[task, n, 6] = obstacles.friction[k]
                            n += 1
                            if sticks:
                                break
                    clear_until[block, local] = travelled + max(clearance, 0.0)
            count[task] = n

    return find


_find = {2: _make_find(2), 3: _make_find(3)}


@compiled(inline="always")
def _last_of_node(node, first):
    """One past the last contact of the node whose first contact is `first`."""
    last = first + 1
    while last < node.size and node[last] == node[first]:
        last += 1
    return last


@compiled
def _act(kind, numbers, engaged, c, vx, vy, vz):
    """The velocity after contact c."""
    sx, sy, sz = numbers[c, 3], numbers[c, 4], numbers[c, 5]
    if kind[c] == SEPARATE:
        approach = (vx - sx) * numbers[c, 0] + (vy - sy) * numbers[c, 1] + (vz - sz) * numbers[c, 2]
        engaged[c] = engaged[c] or approach < 0.0
    vx, vy, vz = resolve(kind[c], numbers[c, 6], numbers[c, 0], numbers[c, 1], numbers[c, 2], vx - sx, vy - sy, vz - sz)
    return vx + sx, vy + sy, vz + sz


@compiled(parallel=True)
def _apply(node, kind, numbers, engaged, velocity, change):
    D = velocity.shape[1]
    for first in prange(node.size):
        if first > 0 and node[first] == node[first - 1]:
            continue
        last = _last_of_node(node, first)
        block, local = node[first] // 64, node[first] % 64
        ux, uy, uz = velocity[block, 0, local], velocity[block, 1, local], 0.0
        if D == 3:
            uz = velocity[block, 2, local]
        vx, vy, vz = ux, uy, uz
        for c in range(first, last):
            engaged[c] = kind[c] != SEPARATE
        if last == first + 1:
            vx, vy, vz = _act(kind, numbers, engaged, first, vx, vy, vz)
        else:
            for _ in range(SWEEPS):
                bx, by, bz = vx, vy, vz
                for c in range(first, last):
                    vx, vy, vz = _act(kind, numbers, engaged, c, vx, vy, vz)
                if abs(vx - bx) + abs(vy - by) + abs(vz - bz) <= 1e-14 * (abs(vx) + abs(vy) + abs(vz)):
                    break
        velocity[block, 0, local], velocity[block, 1, local] = vx, vy
        if D == 3:
            velocity[block, 2, local] = vz
        if change.shape[0] > 0:
            change[block, 0, local] += vx - ux
            change[block, 1, local] += vy - uy
            if D == 3:
                change[block, 2, local] += vz - uz


@compiled(parallel=True)
def _project(node, kind, numbers, engaged, number, dv):
    D = dv.shape[1]
    for first in prange(node.size):
        n = number[node[first]]
        if n < 0 or (first > 0 and node[first] == node[first - 1]):
            continue
        if kind[first] == STICK:
            for q in range(D):
                dv[n, q] = 0.0
            continue
        basis = np.zeros((3, 3))  # orthonormal, of the normals of the contacts that act
        size = 0
        for c in range(first, _last_of_node(node, first)):
            if not engaged[c] or size == D:
                continue
            for q in range(D):
                basis[size, q] = numbers[c, q]
            for b in range(size):
                along = 0.0
                for q in range(D):
                    along += basis[b, q] * numbers[c, q]
                for q in range(D):
                    basis[size, q] -= along * basis[b, q]
            length = 0.0
            for q in range(D):
                length += basis[size, q] * basis[size, q]
            length = np.sqrt(length)
            if length > 1e-8:  # a normal that the others already span adds nothing
                for q in range(D):
                    basis[size, q] /= length
                size += 1
        for b in range(size):
            along = 0.0
            for q in range(D):
                along += basis[b, q] * dv[n, q]
            for q in range(D):
                dv[n, q] -= along * basis[b, q]
