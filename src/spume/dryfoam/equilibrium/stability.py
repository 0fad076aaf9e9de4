"""Stability of an equilibrium: the lowest eigenvalues of the energy's second derivative at fixed cell areas.

The unknowns are the vertex positions; films have the curvature of Laplace-Young, except those near and beyond half
circles, whose half angle θ is an additional unknown (weighted as the displacement c θ, where c is the chord). At an
equilibrium the energy changes by ½ λ |u|² along a mode u with the eigenvalue λ [N/m]. A foam is stable if no λ is
negative.

The eigenvalues are those of the matrix K of a Newton step, which contains the area constraints. K - σ M, where M is the
identity for positions and zero for pressures, is factorised at a σ below the lowest eigenvalue, which the number of
negative pivots confirms. The Lanczos method finds the largest eigenvalues 1/(λ - σ) of the inverse.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from spume.dryfoam.equilibrium.linear_solver import Solver
from spume.dryfoam.equilibrium.region import Region
from spume.dryfoam.equilibrium.system import NewtonSystem, Residual
from spume.dryfoam.network.half_edges import Floats, Mask, Network

FIRST_SHIFT = 1e-3
"""First trial value of -σ, over T and the mean chord."""
DENSE = 300
"""Number of unknowns up to which all eigenvalues are computed."""


@dataclass(frozen=True)
class Stability:
    """Lowest modes of a foam, excluding rigid motions."""

    descending: int
    """Number of modes with a negative eigenvalue."""
    eigenvalues: Floats
    """Lowest eigenvalues [N/m], ascending, shape (count,)."""
    modes: Floats
    """Displacements of the vertices in these modes, of unit length, shape (count, V, 2)."""

    @property
    def stable(self) -> bool:
        return self.descending == 0


class _Shifted:
    """K - σ M of a foam at one σ, factorised."""

    def __init__(self, network: Network, tension: float, region: Region, residual: Residual, shift: float) -> None:
        n, r = network, region
        softness = 1e-10 * residual.size**3 / tension
        self.system = NewtonSystem(n, r, residual, np.full(len(r.vertices), -shift), softness)
        self.moving, self.cells = 2 * len(r.vertices), len(r.cells)
        self.extra = np.arange(self.moving + self.cells, self.system.size)
        self.mass = residual.chord[self.system.extra >= 0] ** 2
        self.system.stiffen_half_angles(residual, -shift)
        self.solver = Solver("whole")
        self.solver.solve(self.system, np.ones(self.system.size))
        self.below = self.solver.negative() - self.cells
        """Number of eigenvalues below σ, including rigid motions."""

    @property
    def size(self) -> int:
        return self.moving + len(self.extra)

    def inverse(self, vector: Floats) -> Floats:
        """Apply the inverse of K - σ M at fixed areas, in coordinates in which M is the identity."""
        scale = np.sqrt(self.mass)
        right = np.zeros(self.system.size)
        right[: self.moving] = vector[: self.moving]
        right[self.extra] = vector[self.moving :] * scale
        found = self.solver.again(right)
        return np.concatenate([found[: self.moving], found[self.extra] * scale])


def _rigid_motions(network: Network, region: Region, size: int) -> Floats:
    """Orthonormal basis of translations, and of the rotation of a free foam, shape (size, 0 to 3)."""
    if region.is_pinned or network.boundary == "box":
        return np.zeros((size, 0))
    moving = 2 * len(region.vertices)
    if network.boundary == "channel":
        along = np.zeros((size, 1))
        along[0:moving:2, 0], along[1:moving:2, 0] = network.walls[0, 2:]
        return np.asarray(along / np.linalg.norm(along))
    motions = np.zeros((size, 2 if network.boundary == "periodic" else 3))
    motions[0:moving:2, 0] = motions[1:moving:2, 1] = 1.0
    if network.boundary == "free":
        arm = network.positions - network.positions.mean(axis=0)
        motions[0:moving:2, 2], motions[1:moving:2, 2] = -arm[:, 1], arm[:, 0]
    return np.asarray(np.linalg.qr(motions)[0])


def stability(network: Network, tension: float, count: int, pinned: Mask | None = None) -> Stability:
    """Compute the `count` lowest modes of a foam in equilibrium, holding the `pinned` vertices (V,)."""
    n, region = network, Region.of(network, None, pinned)
    residual = Residual(n, tension, region)
    unit = tension / float(residual.chord.mean())
    descending = _Shifted(n, tension, region, residual, -1e-10 * unit).below
    shift = -FIRST_SHIFT * unit
    while (shifted := _Shifted(n, tension, region, residual, shift)).below > 0:
        shift *= 4.0
    rigid = _rigid_motions(n, region, shifted.size)

    def project(vector: Floats) -> Floats:
        vector = vector - rigid @ (rigid.T @ vector)
        region.slide(vector[: shifted.moving].reshape(-1, 2))
        return vector

    def apply(vector: Floats) -> Floats:
        return project(shifted.inverse(project(vector.ravel())))

    on_wall = int(np.sum(np.any(region.normals != 0.0, axis=1)))
    free = shifted.size - on_wall - rigid.shape[1] - shifted.cells + n.is_closed
    count = max(1, min(count, free))
    if shifted.size <= DENSE:
        dense = np.stack([apply(column) for column in np.eye(shifted.size)])
        inverse, vectors = np.linalg.eigh(0.5 * (dense + dense.T))
        inverse, vectors = inverse[-count:], vectors[:, -count:]
    else:
        operator = LinearOperator((shifted.size, shifted.size), matvec=apply, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(shifted.size)
        inverse, vectors = eigsh(operator, k=count, which="LA", v0=project(start), tol=1e-10)
    order = np.argsort(-inverse)
    modes = np.zeros((count, n.vertices, 2))
    modes[:, region.vertices] = vectors[: shifted.moving, order].T.reshape(count, -1, 2)
    lengths = np.sqrt(np.sum(modes**2, axis=(1, 2), keepdims=True))
    return Stability(descending, shift + 1.0 / inverse[order], modes / np.where(lengths > 0.0, lengths, 1.0))
