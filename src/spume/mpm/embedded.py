"""Embedded surfaces: fine meshes of the initial shapes of bodies, whose vertices travel with the material. [Fang19] §9

A vertex moves with the linear velocity field that fits the nodes around it best, with their masses times the spline as
weights. Outside the outermost points nodes carry little mass or none, and their velocities mean little; masses as
weights keep these out, and the linear field keeps rotations. A vertex gives nothing back. The mesh keeps its triangles,
so it does not tear with the material: where topology changes, use the reconstructed skin.
"""

from collections.abc import Mapping
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
from spume.numerics.bspline import SPLINES
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import inverse_sym

FLAT = 1e-4
"""Added to the variances of the places of the nodes [cells²], so that few nodes give a small gradient."""
FIELDS = (
    Field("x", (3,), 0.0, "m", "average", description="position"),
    Field("triangles", (3,), 0, "1", "new", dtype="int32", description="vertices of each triangle"),
    Field("material", (), 0, "1", "nearest", dtype="int32", description="index of the material"),
)


class EmbeddedSurface:
    """The mesh of one body."""

    def __init__(
        self, name: str, x: NDArray[np.float64], triangles: NDArray[np.int32], material: int, species: int
    ) -> None:
        self.name = name
        self.species = species
        """Place of the species it travels with."""
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


def embedded_surfaces(scene: Any, species_of_material: Mapping[int, int]) -> list[EmbeddedSurface]:
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
        material = scene.material_index(body.material, body.look)
        found.append(EmbeddedSurface(name, x, triangles, material, species_of_material[material]))
    return found


def _make_carry(order: int) -> Any:
    BX, BY, BZ = BLOCK[3]
    SX, SY, SZ = BX.bit_length() - 1, BY.bit_length() - 1, BZ.bit_length() - 1
    OFFSET = STENCIL_OFFSET[order]
    K = order + 1
    spline = SPLINES[order]

    @compiled(parallel=True)
    def carry(keys, inverse_cell, mass, velocity, dt, x):
        for p in prange(x.shape[0]):
            a, b, c = inverse_cell * x[p, 0], inverse_cell * x[p, 1], inverse_cell * x[p, 2]
            i, j, k = np.int64(np.floor(a - OFFSET)), np.int64(np.floor(b - OFFSET)), np.int64(np.floor(c - OFFSET))
            wx, _ = spline(a - i - OFFSET)
            wy, _ = spline(b - j - OFFSET)
            wz, _ = spline(c - k - OFFSET)
            total, vx, vy, vz = 0.0, 0.0, 0.0, 0.0
            mx, my, mz = 0.0, 0.0, 0.0
            xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            g = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            for m in range(K * K * K):
                u, s, t = m // (K * K), (m // K) % K, m % K
                key = pack((i + u) >> SX, (j + s) >> SY, (k + t) >> SZ)
                block = np.searchsorted(keys, key)
                if block == keys.size or keys[block] != key:
                    continue
                node = (((i + u) & (BX - 1)) * BY + ((j + s) & (BY - 1))) * BZ + ((k + t) & (BZ - 1))
                w = wx[u] * wy[s] * wz[t] * mass[block, node]
                if w > 0.0:
                    dx, dy, dz = i + u - a, j + s - b, k + t - c
                    px, py, pz = velocity[block, 0, node], velocity[block, 1, node], velocity[block, 2, node]
                    total += w
                    vx += w * px
                    vy += w * py
                    vz += w * pz
                    mx += w * dx
                    my += w * dy
                    mz += w * dz
                    xx += w * dx * dx
                    yy += w * dy * dy
                    zz += w * dz * dz
                    xy += w * dx * dy
                    xz += w * dx * dz
                    yz += w * dy * dz
                    g = (
                        g[0] + w * px * dx, g[1] + w * px * dy, g[2] + w * px * dz,
                        g[3] + w * py * dx, g[4] + w * py * dy, g[5] + w * py * dz,
                        g[6] + w * pz * dx, g[7] + w * pz * dy, g[8] + w * pz * dz,
                    )  # fmt: skip
            if total > 0.0:
                r = 1.0 / total
                vx, vy, vz, mx, my, mz = r * vx, r * vy, r * vz, r * mx, r * my, r * mz
                # covariances about the mean place; where nodes are few the gradient is held small
                xx, yy, zz = r * xx - mx * mx + FLAT, r * yy - my * my + FLAT, r * zz - mz * mz + FLAT
                xy, xz, yz = r * xy - mx * my, r * xz - mx * mz, r * yz - my * mz
                ix, iy, iz, ixy, ixz, iyz = inverse_sym((xx, yy, zz, xy, xz, yz))
                # the gradient times −(mean place), the way from there to the vertex
                ex = -(ix * mx + ixy * my + ixz * mz)
                ey = -(ixy * mx + iy * my + iyz * mz)
                ez = -(ixz * mx + iyz * my + iz * mz)
                x[p, 0] += dt * (vx + (r * g[0] - vx * mx) * ex + (r * g[1] - vx * my) * ey + (r * g[2] - vx * mz) * ez)
                x[p, 1] += dt * (vy + (r * g[3] - vy * mx) * ex + (r * g[4] - vy * my) * ey + (r * g[5] - vy * mz) * ez)
                x[p, 2] += dt * (vz + (r * g[6] - vz * mx) * ex + (r * g[7] - vz * my) * ey + (r * g[8] - vz * mz) * ez)

    return carry


_carry = {2: _make_carry(2), 3: _make_carry(3)}
