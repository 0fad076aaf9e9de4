"""Species of the material point method: points, their laws, their transfer scheme, and a velocity field on nodes."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.geometry.obstacles.obstacle_set import ContactLaws
from spume.grid.cells import Cells
from spume.grid.contacts import Contacts
from spume.grid.nodes import NodeFields, Nodes
from spume.grid.transfers import Transfers
from spume.materials.loops import ConstitutiveModel
from spume.matter.particles import Particles
from spume.matter.species import Species
from spume.scene.mpm import MpmScene


@dataclass(frozen=True)
class TransferScheme:
    """Transfer of velocities between points and nodes, and the order of the deformation of points."""

    velocity: Literal["flip", "pic", "apic", "aflip"] = "apic"
    blend: float = 0.0
    """Fraction of FLIP in new velocities, the rest is PIC; for "flip" without a damping rate [1]."""
    deformation: Literal["first-order", "second-order"] = "second-order"
    """f = I + Δt L as in [Yue15], or I + Δt L + ½ (Δt L)²."""
    damping_rate: float | None = None
    """Decay rate in "flip" and "aflip" of the velocities that PIC or APIC discard in every step [1/s]; None: use
    `blend`."""

    @property
    def affine(self) -> bool:
        """Whether points have the affine velocity C of [Jiang15]."""
        return self.velocity in ("apic", "aflip")

    def kept(self, dt: float) -> float:
        """Fraction of the point velocities not resolved by the grid that is kept in a step of dt [s]."""
        return self.blend if self.damping_rate is None else math.exp(-self.damping_rate * dt)

    @property
    def to_grid(self) -> tuple[str, ...]:
        """Quantities that an explicit step sums on the nodes, see `to_grid.QUANTITIES`."""
        return ("mass", "affine momentum" if self.affine else "momentum", "stress divergence")

    @property
    def to_points(self) -> tuple[str, ...]:
        """Quantities that an explicit step interpolates to the points, see `to_points.QUANTITIES`."""
        velocity = {"flip": "flip velocity", "pic": "velocity"}.get(self.velocity, "affine velocity")
        return (velocity, f"{self.deformation} deformation")


@dataclass(frozen=True)
class SpeciesPlan:
    """Materials of a species, and the fields of its points in addition to those of MPM and of their laws."""

    name: str
    """Name of the species, and of its population in frames."""
    materials: tuple[int, ...]
    """Indices of its materials among those of the scene."""
    fields: tuple[Field, ...] = ()
    passed: tuple[int, ...] = ()
    """Indices of the obstacles of the scene that let it pass. Walls act on every species."""
    friction: Literal["coulomb", "none"] = "coulomb"
    """Whether the friction of obstacles and walls acts on it."""
    energy_density: float | None = None
    """Rest density of what stores elastic energy [kg/m³], see `GridSpecies.energy_volume`."""


def one_species(scene: MpmScene, fields: tuple[Field, ...] = ()) -> tuple[SpeciesPlan, ...]:
    """All bodies of a scene as one species, whose points have `fields` in addition to those of their laws."""
    return (SpeciesPlan("points", tuple(range(len(scene.materials))), fields),)


def reference_field(dimension: int) -> Field:
    """Field with the reference positions of the points."""
    return Field(
        "reference", (dimension,), 0.0, "m", "average", in_frames=False, description="position in the reference state"
    )


class MotionOfNodes(NamedTuple):
    """Of nodes that carry the motion of a species from step to step."""

    kinetic_energy: float
    """[J]"""
    angular_momentum: NDArray[np.float64]
    """About the origin [kg m²/s], three components."""


class Layer(NamedTuple):
    """Points of a species that move with one velocity field, and that field on the nodes."""

    transfers: Transfers
    fields: NodeFields
    """Mass, momentum, force; later in the step mass, velocity (at the end of the step) and change (of the velocity in
    the step)."""


class Bond(NamedTuple):
    """Impulses between the layers of a species in the current step."""

    layer: int
    node: NDArray[np.int64]
    """Flat indices (64 per block) of the nodes."""
    impulse: NDArray[np.float64]
    """On the material of the layer, shape (n, d) [N s]."""


class GridSpecies(Species):
    """Points that move with a velocity field on the nodes, which are shared by all species. Where its points are
    divided into several layers, each layer has a velocity field of its own."""

    kind_of_transfers: ClassVar[type[Transfers]] = Transfers

    def __init__(
        self,
        particles: Particles,
        model: ConstitutiveModel,
        scheme: TransferScheme,
        nodes: Nodes,
        name: str = "points",
        laws: ContactLaws | None = None,
    ) -> None:
        """`laws`: how the obstacles act on this species, which then has its own contacts; None: as the scene says."""
        super().__init__(particles, model, name, laws)
        d = nodes.dimension
        self.own_contacts = None if laws is None else Contacts()
        self.scheme = scheme
        self.energy_density: float | None = None
        """See `energy_volume` [kg/m³]."""
        self.transfers = self.kind_of_transfers(d, nodes.cell, nodes.order)
        self.fields = NodeFields(mass=0, momentum=d, force=d)
        """Fields on the nodes of the first layer, see `Layer`."""
        self.layers = [Layer(self.transfers, self.fields)]
        """One layer with all points, unless a stage has divided them since they were connected."""
        self.bonds: list[Bond] = []
        """Impulses between the layers in the current step."""

    @property
    def cells(self) -> Cells:
        """The cells of the points."""
        return self.transfers.cells

    @property
    def energy_volume(self) -> NDArray[np.float64]:
        """Volume in which each point stores elastic energy [m³]: its rest volume, or its mass over the density of what
        stores it, such as water that fills a part of the volume only."""
        p, density = self.particles, self.energy_density
        return p.volume if density is None else p.mass / density

    @property
    def weighted_at(self) -> NDArray[np.float64]:
        """Positions of the points at which the weights are evaluated [m]."""
        return self.particles.x

    @property
    def stretch(self) -> float:
        """Smallest stretch of the cells, which is one unless they deform with the material [1]."""
        return 1.0

    def moved_nodes(self, nodes: Nodes) -> NDArray[np.float64]:
        """Positions of nodes that move with the material [m], shape (blocks, 64, d); empty if they do not move."""
        return _NOT_MOVED

    def welcome(self, new: slice) -> None:
        """Complete the fields of new points."""
        p = self.particles
        if "reference" in p:
            p.reference[new] = p.x[new]

    def rasterize(self) -> None:
        """Sum mass, momentum and internal forces of the points on the nodes."""
        p = self.particles
        for transfers, fields in self.layers:
            fields.rename(velocity="momentum", change="force")
            transfers.to_grid(
                self.scheme.to_grid, p.x, fields.array, room=fields.room, v=p.v, mass=p.mass, volume=p.volume,
                stress=p.stress, affine_velocity=self.affine_velocity,
            )  # fmt: skip

    def gather(self, dt: float) -> None:
        """Interpolate the new velocities of the points and their deformation in the step."""
        p, scheme = self.particles, self.scheme
        unseen = self._unseen_velocities() if scheme.velocity == "aflip" else None
        for transfers, fields in self.layers:
            transfers.to_points(
                scheme.to_points, p.x, fields.array, first_channel=fields.first("velocity"),
                blend=scheme.kept(dt), dt=dt, v=p.v, tensor=self.deformation, affine_velocity=self.affine_velocity,
            )  # fmt: skip
        if unseen is not None:
            v, C = unseen
            p.v[:] += scheme.kept(dt) * v
            p.C[:] += scheme.kept(dt) * C

    def _unseen_velocities(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Part of the point velocities not resolved by the grid: v and C before the step, minus those that APIC
        interpolates from the velocities of the nodes before the step."""
        p = self.particles
        v, C = np.empty_like(p.v), np.empty_like(p.C)
        for transfers, fields in self.layers:
            before = fields["velocity"] - fields["change"]
            transfers.to_points(("affine velocity",), p.x, before, v=v, affine_velocity=C)
        return p.v - v, p.C - C

    @property
    def affine_velocity(self) -> NDArray[np.float64]:
        """C of [Jiang15], or an empty array for FLIP and PIC."""
        return self.particles.C if self.scheme.affine else _NO_AFFINE

    def motion_of_nodes(self) -> MotionOfNodes | None:
        """Energy and angular momentum of nodes that carry the motion from step to step; None: the points carry it."""
        return None

    def sort(self) -> None:
        """Sort the points by cell, and reorder their arrays if these have become too disordered."""
        cells, p = self.transfers.cells, self.particles
        if cells.sort(self.weighted_at, p.id):
            self.reorder(cells.sorted_points)
            cells.sort(self.weighted_at, p.id)
        self.fit_deformation()

    def arrange(self) -> None:
        """Reorder the arrays by cell and id."""
        self.transfers.cells.sort(self.weighted_at, self.particles.id)
        self.reorder(self.transfers.cells.sorted_points)

    def connect(self, nodes: Nodes) -> None:
        """Find the nodes of the sorted points, and resize the fields on them."""
        self.transfers.connect(nodes)
        self.fields.fit(nodes)
        self.layers, self.bonds = [Layer(self.transfers, self.fields)], []

    def forget_clearances(self) -> None:
        """Discard the clearances; call this after moving points outside of a step."""
        super().forget_clearances()
        if self.own_contacts is not None:
            self.own_contacts.forget()


_NO_AFFINE = np.zeros((0, 1, 1))
_NOT_MOVED = np.zeros((0, 64, 1))
