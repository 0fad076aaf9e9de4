"""Contacts: nodes inside obstacles, found once per step, and the effect of the obstacles on velocities there.

Sticking takes precedence: for a node in a sticking obstacle, only the first such obstacle is kept. Otherwise all
obstacles that contain the node are kept, in the order of the scene; they are applied in turn until the velocity no
longer changes, as described in `geometry/obstacles/collision.py`.

Most nodes are far from all obstacles. Signed distances are 1-Lipschitz, so a node at distance d stays outside until the
obstacles have moved by d since its distance was computed. `ObstacleSet.travelled` is the path length of the obstacles;
for each node we store the value of `travelled` up to which it is certainly outside (its *clearance*). This only saves
time: no result depends on it.
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
from spume.geometry.obstacles.contact import PASS
from spume.geometry.obstacles.obstacle_set import ContactLaws, ObstacleSet
from spume.grid.blocks import BLOCK, NODES_PER_BLOCK
from spume.grid.gaps import measure_gaps
from spume.grid.nodes import DegreesOfFreedom, Nodes
from spume.grid.transfers import Transfers
from spume.numerics.jit import compiled

MARGIN = 1e-6
"""Fraction of a cell: distances below it are computed again, because distances and path lengths are rounded."""
NUMBERS = 9
"""Numbers per contact: normal (3), velocity of the obstacle (3) [m/s], friction [1], distance of the node [m], index of
the obstacle."""
HOLD = 1.0
"""Gap up to which sticking and slipping contacts hold material that moves away [cells]."""
TOUCH = 0.1
"""Gap up to which material counts as touching a sticking or slipping contact [cells]: held material moves a little with
adjacent nodes, and must not be free to move back."""
_NO_CHANGE = np.zeros((0, 1, 1))
_NOT_MOVED = np.zeros((0, NODES_PER_BLOCK, 1))


class Contacts:
    """All contacts of nodes with obstacles, sorted by node; several contacts of one node are adjacent.

    Each task finds the contacts of a range of blocks and has its own part of every array.
    """

    def __init__(self) -> None:
        self._count = np.zeros(1, np.int64)
        self._cell = 0.0
        self._moved = _NOT_MOVED
        self._make_room(1, 256)
        self.forget()

    def __len__(self) -> int:
        return int(self._count.sum())

    @property
    def node(self) -> NDArray[np.int64]:
        """Flat index (64 per block) of the node of each contact."""
        return self._node[self.filled]

    @property
    def kind(self) -> NDArray[np.int64]:
        """STICK, SLIP or SEPARATE (see `geometry.obstacles.collision`) for each contact."""
        return self._kind[self.filled]

    @property
    def numbers(self) -> NDArray[np.float64]:
        """For each contact the normal (3), the velocity of the obstacle at the node (3) [m/s], friction [1], the
        distance of the node [m] and the index of the obstacle."""
        return self._numbers[self.filled]

    @property
    def filled(self) -> NDArray[np.bool_]:
        """Mask of the entries of arrays returned by `apply` that are contacts, in the order of `node` and `kind`."""
        return np.asarray(np.arange(self._node.shape[1]) < self._count[:, None])

    def forget(self) -> None:
        """Discard the clearances of the nodes; call this when obstacles were changed outside of a step."""
        self._clear_until = np.empty((0, NODES_PER_BLOCK))
        self._keys = np.empty(0, np.int64)
        self._generation = 0

    def find(
        self, nodes: Nodes, fields: NDArray[np.float64], obstacles: ObstacleSet, time: float, dt: float = 0.0,
        moved: NDArray[np.float64] = _NOT_MOVED, laws: ContactLaws | None = None,
    ) -> None:  # fmt: skip
        """Find the contacts of the nodes with mass, the first channel of `fields` (blocks, channels, 64), with the
        obstacles at the end of a step of `dt` [s] from `time` [s]. `moved`: see `GridSpecies.moved_nodes`; `laws`:
        those of the obstacles for the material of these nodes, see `ObstacleSet.during`."""
        self._fit(nodes)
        self._moved = moved
        if len(moved):  # they were elsewhere when their distances were computed
            self._clear_until[:] = -np.inf
        self._cell = nodes.cell
        threads = numba.get_num_threads()
        if len(self._count) != threads:
            self._make_room(threads, 256)
        self._count[:] = 0
        if len(obstacles) == 0:
            return
        at = obstacles.during(time, time + dt, laws)
        tasks = len(nodes) * np.arange(threads + 1) // threads
        while True:
            _find[nodes.dimension](
                tasks, nodes.blocks, nodes.cell, moved, fields, at, obstacles.travelled, MARGIN * nodes.cell,
                self._clear_until, self._node, self._kind, self._numbers, self._count,
            )  # fmt: skip
            if self._count.max() <= self._node.shape[1]:
                return
            self._make_room(threads, 2 * int(self._count.max()))

    def _make_room(self, tasks: int, room: int) -> None:
        """Allocate space for `room` contacts of each task."""
        self._count = np.zeros(tasks, np.int64)
        self._node = np.empty((tasks, room), np.int64)
        self._kind = np.empty((tasks, room), np.int64)
        self._numbers = np.empty((tasks, room, NUMBERS))

    def _fit(self, nodes: Nodes) -> None:
        """Resize the clearances to `nodes`, keeping those of blocks that existed before."""
        if nodes.generation == self._generation:
            return
        clear = np.full((len(nodes), NODES_PER_BLOCK), -np.inf)
        if len(self._keys):
            place = np.minimum(np.searchsorted(self._keys, nodes.keys), len(self._keys) - 1)
            same = self._keys[place] == nodes.keys
            clear[same] = self._clear_until[place[same]]
        self._clear_until, self._keys, self._generation = clear, nodes.keys, nodes.generation

    def gaps(
        self, nodes: Nodes, transfers: Transfers, x: NDArray[np.float64], volume: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Gap [m] between the obstacle of each contact and the points at `x` [m] with rest volumes `volume`, whose
        `transfers` are connected to `nodes`; see `gaps.py`. Used by `apply`."""
        cells = transfers.cells
        gap = np.zeros(self._node.shape)
        if self._count.any():
            measure_gaps[nodes.dimension](
                self._count, self._node, self._numbers, nodes.blocks, nodes.cell, self._moved, nodes.order,
                transfers.cell_block_of_corner, cells.cell_start, cells.sorted_points, x, volume, gap,
            )  # fmt: skip
            gap = nodes.border.least(self, gap)
        return gap

    def places(self, nodes: Nodes) -> NDArray[np.float64]:
        """Positions of the nodes of the contacts [m], shape (contacts, d)."""
        node = self.node
        return self._moved[node // NODES_PER_BLOCK, node % NODES_PER_BLOCK] if len(self._moved) else nodes.places(node)

    def apply(
        self,
        velocity: NDArray[np.float64],
        change: NDArray[np.float64] = _NO_CHANGE,
        gap: NDArray[np.float64] | None = None,
        dt: float = 1.0,
    ) -> NDArray[np.bool_]:
        """Collide the node field `velocity` (blocks, d, 64), and add its change to `change`.

        Material at the distance `gap` from the obstacle, as returned by `gaps`, may approach until it touches at the
        end of the step of dt [s]; without `gap`, all material touches. Sticking and slipping contacts hold material
        that moves away while the gap is below HOLD. Return which contacts are engaged, for `project`: those that
        stopped an approach, and those that hold.
        """
        engaged = np.zeros(self._node.shape, np.bool_)
        if self._count.any():
            gap = np.zeros(self._node.shape) if gap is None else gap
            _apply(
                self._count,
                self._node,
                self._kind,
                self._numbers,
                gap,
                TOUCH * self._cell,
                HOLD * self._cell,
                dt,
                engaged,
                velocity,
                change,
            )
        return engaged

    def listed(self, values: NDArray[Any]) -> NDArray[Any]:
        """`values` returned by `apply` or `gaps`, in the order of `node`, `kind` and `numbers`."""
        return np.asarray(values[self.filled])

    def project(self, dv: NDArray[np.float64], dofs: DegreesOfFreedom, engaged: NDArray[np.bool_]) -> None:
        """Remove the components constrained by contacts from the velocity changes `dv` (unknowns, d).

        Sticking contacts remove all components; slipping contacts, and separating contacts that `apply` found engaged,
        the component along the normal, or along all normals if there are several. This is an orthogonal projection, as
        linear solvers require. Friction is not included.
        """
        if self._count.any():
            _project(self._count, self._node, self._kind, self._numbers, engaged, dofs.number.reshape(-1), dv)


def _make_find(D: int) -> Any:
    BX, BY, BZ = BLOCK[D]

    @compiled(parallel=True)
    def find(tasks, blocks, cell, moved, fields, obstacles, travelled, margin, clear_until, node, kind, numbers, count):
        """Find the contacts of the nodes of each task, up to the capacity, and write their total number to `count`."""
        room = node.shape[1]
        for task in prange(tasks.size - 1):
            n = 0
            for block in range(tasks[task], tasks[task + 1]):
                for local in range(BX * BY * BZ):
                    if fields[block, 0, local] <= 0.0 or clear_until[block, local] > travelled + margin:
                        continue
                    x = (blocks[block, 0] * BX + local // (BY * BZ)) * cell
                    y = (blocks[block, 1] * BY + (local // BZ) % BY) * cell
                    z = (blocks[block, 2] * BZ + local % BZ) * cell
                    if moved.shape[0] > 0:
                        x, y = moved[block, local, 0], moved[block, local, 1]
                        if D == 3:
                            z = moved[block, local, 2]
                    first = n
                    clearance = np.inf
                    for k in range(obstacles.number):
                        if obstacles.contact[k] == PASS:
                            continue
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
                                numbers[task, n, 6], numbers[task, n, 7] = obstacles.friction[k], d
                                numbers[task, n, 8] = k
                            n += 1
                            if sticks:
                                break
                    clear_until[block, local] = travelled + max(clearance, 0.0)
            count[task] = n

    return find


_find = {2: _make_find(2), 3: _make_find(3)}


@compiled(inline="always")
def _last_of_node(node, first, count):
    """One past the last contact of the node whose first contact is `first`."""
    last = first + 1
    while last < count and node[last] == node[first]:
        last += 1
    return last


@compiled
def _act(kind, numbers, gap, touch, hold, dt, engaged, c, vx, vy, vz):
    """Velocity after contact c."""
    nx, ny, nz = numbers[c, 0], numbers[c, 1], numbers[c, 2]
    width = gap[c] if kind[c] == SEPARATE else max(gap[c] - touch, 0.0)
    # relative to a surface that would just close the gap in this step
    closing = -width / dt
    sx, sy, sz = numbers[c, 3] + closing * nx, numbers[c, 4] + closing * ny, numbers[c, 5] + closing * nz
    vn = (vx - sx) * nx + (vy - sy) * ny + (vz - sz) * nz
    if vn < 0.0:
        engaged[c] = True
        vx, vy, vz = resolve(kind[c], numbers[c, 6], nx, ny, nz, vx - sx, vy - sy, vz - sz)
        return vx + sx, vy + sy, vz + sz
    if kind[c] == SEPARATE or gap[c] >= hold:
        return vx, vy, vz
    engaged[c] = True
    normal = min(vn + closing, 0.0)  # it may still approach, but not move away
    if kind[c] == STICK:
        return numbers[c, 3] + normal * nx, numbers[c, 4] + normal * ny, numbers[c, 5] + normal * nz
    away = vn + closing - normal
    return vx - away * nx, vy - away * ny, vz - away * nz


@compiled
def _apply_at(first, last, node, kind, numbers, gap, touch, hold, dt, engaged, velocity, change):
    """Collide the velocity of the node whose contacts are `first` to `last` − 1."""
    D = velocity.shape[1]
    block, local = node[first] // 64, node[first] % 64
    ux, uy, uz = velocity[block, 0, local], velocity[block, 1, local], 0.0
    if D == 3:
        uz = velocity[block, 2, local]
    vx, vy, vz = ux, uy, uz
    for c in range(first, last):
        engaged[c] = False
    if last == first + 1:
        vx, vy, vz = _act(kind, numbers, gap, touch, hold, dt, engaged, first, vx, vy, vz)
    else:
        for _ in range(SWEEPS):
            bx, by, bz = vx, vy, vz
            for c in range(first, last):
                vx, vy, vz = _act(kind, numbers, gap, touch, hold, dt, engaged, c, vx, vy, vz)
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


@compiled
def _apply_all(count, node, kind, numbers, gap, touch, hold, dt, engaged, velocity, change):
    first = np.int64(0)  # not a literal, for which the compiler would make a second version of `_apply_at`
    while first < count:
        last = _last_of_node(node, first, count)
        _apply_at(first, last, node, kind, numbers, gap, touch, hold, dt, engaged, velocity, change)
        first = last


@compiled(parallel=True)
def _apply(count, node, kind, numbers, gap, touch, hold, dt, engaged, velocity, change):
    for task in prange(count.size):
        found = node[task], kind[task], numbers[task], gap[task]
        _apply_all(count[task], *found, touch, hold, dt, engaged[task], velocity, change)


@compiled
def _project_at(first, last, kind, numbers, engaged, basis, dv, n):
    """Remove from dv[n] the components along the normals of the contacts `first` to `last` − 1 that are engaged."""
    D = dv.shape[1]
    if kind[first] == STICK and engaged[first]:
        for q in range(D):
            dv[n, q] = 0.0
        return
    size = 0  # of the orthonormal basis of the normals
    for c in range(first, last):
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
        if length > 1e-8:  # skip a normal in the span of the others
            for q in range(D):
                basis[size, q] /= length
            size += 1
    for b in range(size):
        along = 0.0
        for q in range(D):
            along += basis[b, q] * dv[n, q]
        for q in range(D):
            dv[n, q] -= along * basis[b, q]


@compiled(parallel=True)
def _project(count, node, kind, numbers, engaged, number, dv):
    for task in prange(count.size):
        basis = np.zeros((3, 3))
        first = 0
        while first < count[task]:
            last = _last_of_node(node[task], first, count[task])
            n = number[node[task, first]]
            if n >= 0:
                _project_at(first, last, kind[task], numbers[task], engaged[task], basis, dv, n)
            first = last
