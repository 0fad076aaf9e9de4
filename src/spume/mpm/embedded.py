"""Embedded surfaces: fine meshes of the initial shapes of bodies, whose vertices travel with the material. [Fang19] §9

A vertex moves with the velocity of the nodes around it that carry mass, v = Σ w v_i / Σ w over these: outside the
outermost points some nodes of its stencil carry none. It gives nothing back. The mesh keeps its triangles, so it does
not tear with the material: where topology changes, use the reconstructed skin.
"""

from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.fields import Field, Population
from spume.geometry.surface_mesh import surface_mesh
from spume.mpm.blocks import BLOCK, pack
from spume.mpm.cells import STENCIL_OFFSET
from spume.mpm.nodes import Nodes
from spume.numerics.bspline import cubic, quadratic
from spume.numerics.jit import compiled

FIELDS = (
    Field("x", (3,), 0.0, "m", "average", description="position"),
    Field("triangles", (3,), 0, "1", "new", dtype="int32", description="vertices of each triangle"),
    Field("material", (), 0, "1", "nearest", dtype="int32", description="index of the material"),
)


class EmbeddedSurface:
    """The mesh of one body."""

    def __init__(self, name: str, x: NDArray[np.float64], triangles: NDArray[np.int32], material: int) -> None:
        self.name = name
        self.x = x
        """Positions of the vertices [m]."""
        self.triangles = triangles
        self.material = np.full(len(x), material, np.int32)

    def carry(self, nodes: Nodes, mass: NDArray[np.float64], velocity: NDArray[np.float64], dt: float) -> None:
        """Move the vertices for a step of dt [s] with the `velocity` (blocks, 3, 64) of the nodes with `mass`."""
        _carry[nodes.order](nodes.keys, 1.0 / nodes.cell, mass, velocity, dt, self.x)

    def declaration(self, spacing: float) -> Population:
        """What a frame holds of the surface."""
        return Population(self.name, FIELDS, "mesh", spacing)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a frame."""
        return {"x": self.x, "triangles": self.triangles, "material": self.material}


def embedded_surfaces(scene: Any) -> list[EmbeddedSurface]:
    """The surfaces of the bodies that ask for one."""
    found = []
    for k, body in enumerate(scene.body):
        if body.surface != "embedded":
            continue
        name = f"surface of {body.name or f'body {k}'}".replace("/", " ")
        spacing = scene.grid.cell / body.fill.points_per_axis
        try:
            x, triangles = surface_mesh(body.shape, spacing, scene.folder)
        except SceneError as error:
            raise SceneError(f"body.{k}.surface is 'embedded': {error}") from None
        found.append(EmbeddedSurface(name, x, triangles, scene.material_index(body.material)))
    return found


def _make_carry(order: int) -> Any:
    BX, BY, BZ = BLOCK[3]
    SX, SY, SZ = BX.bit_length() - 1, BY.bit_length() - 1, BZ.bit_length() - 1
    OFFSET = STENCIL_OFFSET[order]
    K = order + 1

    @compiled(parallel=True)
    def carry(keys, inverse_cell, mass, velocity, dt, x):
        for p in prange(x.shape[0]):
            a, b, c = inverse_cell * x[p, 0], inverse_cell * x[p, 1], inverse_cell * x[p, 2]
            i, j, k = np.int64(np.floor(a - OFFSET)), np.int64(np.floor(b - OFFSET)), np.int64(np.floor(c - OFFSET))
            if order == 3:
                wx, _ = cubic(a - i - OFFSET)
                wy, _ = cubic(b - j - OFFSET)
                wz, _ = cubic(c - k - OFFSET)
            else:
                wx, _ = quadratic(a - i - OFFSET)
                wy, _ = quadratic(b - j - OFFSET)
                wz, _ = quadratic(c - k - OFFSET)
            total, vx, vy, vz = 0.0, 0.0, 0.0, 0.0
            for m in range(K * K * K):
                u, s, t = m // (K * K), (m // K) % K, m % K
                key = pack((i + u) >> SX, (j + s) >> SY, (k + t) >> SZ)
                block = np.searchsorted(keys, key)
                if block == keys.size or keys[block] != key:
                    continue
                node = (((i + u) & (BX - 1)) * BY + ((j + s) & (BY - 1))) * BZ + ((k + t) & (BZ - 1))
                if mass[block, node] > 0.0:
                    w = wx[u] * wy[s] * wz[t]
                    total += w
                    vx += w * velocity[block, 0, node]
                    vy += w * velocity[block, 1, node]
                    vz += w * velocity[block, 2, node]
            if total > 0.0:
                x[p, 0] += dt * vx / total
                x[p, 1] += dt * vy / total
                x[p, 2] += dt * vz / total

    return carry


_carry = {2: _make_carry(2), 3: _make_carry(3)}
