"""A species on a grid that deforms with the material: the total-Lagrangian frame. [deVaucorbeil20]

Weights are those at the reference positions X of the points, for ever. The nodes carry displacement u and velocity v,
and the points follow them exactly,

    x = X + Σ w u,    F = I + Σ u ∇₀wᵀ,    f_i = −Σ V τ F^(−T) ∇₀w,

so stress and positions are functions of u alone: nothing drifts, no point crosses a cell, and forces are the derivative
of one discrete energy. As nodes keep their velocities, nothing is lost in transfers, linear momentum Σ m v and angular
momentum Σ m (X + u) × v are conserved to rounding. What changes the velocities of the points between two steps, such
as loads, is transferred to the nodes as momentum.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import RunFailed, SceneError
from spume.geometry.obstacles.obstacle_set import ContactLaws
from spume.grid.blocks import NODES_PER_BLOCK
from spume.grid.border import NO_BORDER, Border
from spume.grid.nodes import NodeFields, Nodes
from spume.grid.reference_transfers import ReferenceTransfers
from spume.grid.transfers import Transfers
from spume.materials.loops import ConstitutiveModel
from spume.matter.motion import report_lost
from spume.matter.particles import Particles
from spume.matter.stages import Stage
from spume.matter.worst import is_first, worst_point
from spume.mpm.separate_pieces import separate_pieces
from spume.mpm.species import GridSpecies, MotionOfNodes, TransferScheme
from spume.mpm.step import ADVICE
from spume.mpm.world import GridWorld

Floats = NDArray[np.float64]


class TotalSpecies(GridSpecies):
    """Points and nodes of one body, which move together."""

    kind_of_transfers = ReferenceTransfers
    transfers: ReferenceTransfers

    def __init__(
        self, particles: Particles, model: ConstitutiveModel, scheme: TransferScheme, nodes: Nodes, name: str,
        laws: ContactLaws | None = None,
    ) -> None:  # fmt: skip
        """`scheme`: APIC with first-order deformation, whose kernels are used."""
        super().__init__(particles, model, scheme, nodes, name, laws)
        d = nodes.dimension
        self._force = NodeFields(force=d)
        self._nodes = nodes
        self._generation = (0, 0)
        """Of the nodes and points that the fields below belong to."""
        self._keys = np.empty(0, np.int64)
        self._border: Border = NO_BORDER
        self._mass = np.empty((0, NODES_PER_BLOCK))
        self._known = np.empty((0, NODES_PER_BLOCK), np.bool_)
        """Nodes that have displacement and velocity."""
        self.displacement = np.empty((0, d, NODES_PER_BLOCK))
        """u [m], by block of nodes."""
        self.velocity = np.empty((0, d, NODES_PER_BLOCK))
        """v [m/s], likewise."""
        self._given = (np.empty((0, d)), np.empty((0, d, d)))
        """v and C that the nodes have given to the points."""
        self._stretch = 1.0

    @property
    def weighted_at(self) -> Floats:
        """Reference positions of the points [m]."""
        reference: Floats = self.particles.reference
        return reference

    @property
    def stretch(self) -> float:
        """Lower bound of the smallest stretch of the points, at most one [1]."""
        return self._stretch

    def moved_nodes(self, nodes: Nodes) -> Floats:
        """Positions of the nodes [m], shape (blocks, 64, d)."""
        return np.ascontiguousarray(nodes.positions() + self.displacement.transpose(0, 2, 1))

    def welcome(self, new: slice) -> None:
        """Points are in their reference state when they appear."""
        super().welcome(new)
        count = separate_pieces(self.particles.reference[new], self._nodes.cell, self.ranks)
        if count > 1:
            raise SceneError(
                f"body.0 consists of {count} separate pieces, more than a cell apart: with grid.frame = 'total' they "
                "would pass through each other; use one piece, or frame = 'updated'"
            )

    def connect(self, nodes: Nodes) -> None:
        """Find the nodes of the sorted points, and the deformation of the points from the nodes."""
        super().connect(nodes)
        ranks = self.ranks
        generation = (nodes.generation, self.particles.generation)
        if ranks.any(generation != self._generation):
            self._refit(nodes)
            self._given = self._interpolated(self.velocity)[:2]
            self._generation = generation
        _, _, F = self._interpolated(self.displacement)
        determinant, stretch = self.transfers.deform(F)
        least = -ranks.maxima(-np.array([determinant.min(initial=1.0), stretch.min(initial=1.0)]))
        self._stretch = min(1.0, float(least[1]))
        if not least[0] > 0.0:
            self._report_inversion(determinant)

    def _refit(self, nodes: Nodes) -> None:
        """Arrange displacement and velocity by the blocks of `nodes`, and find the masses."""
        rows = self.ranks.of_blocks(nodes.keys, self.node_arrays())
        self._arrange(nodes.keys.copy(), rows)
        self._border = nodes.border
        self._force.fit(nodes)
        p = self.particles
        self._scatter(np.zeros_like(p.v), np.zeros_like(p.C))
        self._mass = self.fields.array[:, 0].copy()
        self._known = self._mass > 0.0

    def _arrange(self, keys: NDArray[np.int64], rows: dict[str, NDArray[Any]]) -> None:
        """Set the nodes of the blocks `keys`, ascending, from rows of `node_arrays`; the others are at rest."""
        shape = (len(keys), self._nodes.dimension, NODES_PER_BLOCK)
        self._keys, self.displacement, self.velocity = keys, np.zeros(shape), np.zeros(shape)
        self._known = np.zeros((len(keys), NODES_PER_BLOCK), np.bool_)
        chosen = np.isin(rows["block"], keys)
        block, local = np.searchsorted(keys, rows["block"][chosen]), rows["local"][chosen]
        self.displacement[block, :, local] = rows["displacement"][chosen]
        self.velocity[block, :, local] = rows["velocity"][chosen]
        self._known[block, local] = True

    def _scatter(self, v: Floats, C: Floats) -> None:
        """Write the masses to the fields, and the momentum of points with the velocities v and C."""
        p = self.particles
        Transfers.to_grid(
            self.transfers, self.scheme.to_grid, p.reference, self.fields.array, v=v, mass=p.mass, volume=p.volume,
            stress=np.zeros_like(p.stress), affine_velocity=C,
        )  # fmt: skip

    def _interpolated(self, field: Floats) -> tuple[Floats, Floats, Floats]:
        """Σ w u, its affine part, and I + Σ u ∇₀wᵀ of a field u of the nodes."""
        p = self.particles
        v, C, F = np.empty_like(p.v), np.empty_like(p.C), np.empty((len(p), 3, 3))
        Transfers.to_points(
            self.transfers, self.scheme.to_points, p.reference, field, dt=1.0, v=v, tensor=F, affine_velocity=C
        )
        return v, C, F

    def _report_inversion(self, determinant: Floats) -> None:
        """Raise the error for the point with the smallest determinant, on all ranks."""
        p, key, point = self.particles, None, 0
        if len(determinant):
            badness = -np.where(np.isnan(determinant), -np.inf, determinant)
            point = worst_point(badness, p.id)
            key = float(-badness[point]), float(p.id[point])
        mine = is_first(self.ranks, key, 2)
        with self.ranks.agreed():
            if mine:
                place = ", ".join(f"{c:.4g}" for c in p.x[point])
                raise RunFailed(
                    f"the grid is turned inside out at point {p.id[point]} near ({place}): with [grid] frame = 'total' "
                    "it deforms with the material; use smaller steps or cells, or frame = 'updated' for strains that "
                    "large"
                )

    def rasterize(self) -> None:
        """Mass, momentum and internal forces of the nodes."""
        p, fields = self.particles, self.fields
        fields.rename(velocity="momentum", change="force")
        v, C = p.v - self._given[0], p.C - self._given[1]
        if self.ranks.any(bool(v.any() or C.any())):
            self._scatter(v, C)
        else:
            fields["mass"][:], fields["momentum"][:] = self._mass, 0.0
        fields["momentum"][:] += self._mass[:, None] * self.velocity
        force = self._force.array
        self.transfers.to_grid(("stress divergence",), p.reference, force, volume=p.volume, stress=p.stress)
        fields["force"][:] = force

    def gather(self, dt: float) -> None:
        """Interpolate the new velocities of the points and their deformation in the step."""
        p = self.particles
        self.transfers.to_points(
            self.scheme.to_points, p.reference, self.fields.array, first_channel=self.fields.first("velocity"), dt=dt,
            v=p.v, tensor=self.deformation, affine_velocity=p.C,
        )  # fmt: skip
        self._given = p.v.copy(), p.C.copy()

    def move(self, dt: float) -> None:
        """Move points and nodes with the velocities of the nodes."""
        self.velocity[:] = self.fields["velocity"]
        self.displacement += dt * self.velocity
        p = self.particles
        p.x[:] += dt * p.v

    def motion_of_nodes(self) -> MotionOfNodes | None:
        """½ Σ m v² and Σ m x × v of the nodes; None if the points have other velocities, as before the first step."""
        p, d = self.particles, self._nodes.dimension
        same = self._generation == (self._nodes.generation, p.generation)
        same = same and np.array_equal(p.v, self._given[0]) and np.array_equal(p.C, self._given[1])
        if self.ranks.any(not same):
            return None
        counted = self._border.counts(np.arange(self._mass.size))
        mass, squares = self._mass.reshape(-1)[counted], (self.velocity**2).sum(axis=1).reshape(-1)[counted]
        flat = ((0, 0), (0, 3 - d))
        x = np.pad(self.moved_nodes(self._nodes).reshape(-1, d), flat)[counted]
        v = np.pad(self.velocity.transpose(0, 2, 1).reshape(-1, d), flat)[counted]
        return MotionOfNodes(0.5 * self.ranks.dot(mass, squares), self.ranks.weighted_total(mass, np.cross(x, v)))

    def node_arrays(self) -> dict[str, NDArray[Any]]:
        """Displacement and velocity of the nodes, each on one rank, for checkpoints and for other ranks."""
        node = np.flatnonzero(self._known)
        block, local = np.divmod(node[self._border.counts(node)], NODES_PER_BLOCK)
        return {
            "block": self._keys[block],
            "local": local,
            "displacement": self.displacement[block, :, local],
            "velocity": self.velocity[block, :, local],
        }

    def restore_nodes(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what `node_arrays` returned, or a part of it on each rank."""
        self._arrange(np.unique(arrays["block"]), arrays)
        self._mass, self._border, self._generation = np.zeros(self._known.shape), NO_BORDER, (0, 0)


def move_with_nodes(world: GridWorld, dt: float, advice: str) -> None:
    """x ← x + Δt Σ w v. Obstacles have stopped the nodes; points cannot leave them."""
    species = world.only
    assert isinstance(species, TotalSpecies)
    p = species.particles
    squares = np.einsum("ij,ij->i", p.v, p.v)
    fastest = world.ranks.largest(float(squares.max(initial=0.0)) if np.isfinite(squares).all() else np.inf)
    if fastest == np.inf:
        report_lost(world, dt, advice)
    sides = world.passages.sides(p.x)
    species.move(dt)
    world.passages.count(sides, p.x, p.mass)
    world.speed = float(np.sqrt(fastest))


MOVE_WITH_NODES = Stage("move", move_with_nodes, ADVICE)
