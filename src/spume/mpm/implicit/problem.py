"""The equations of an implicit step: backward Euler for the velocities v of the nodes,

    M (v − v̂) + Δt Σ_p V τ (I + Δt L)^(−T) ∇w = contact impulses,    v̂ = vⁿ + Δt g,

with the stress τ at the end of the step and the velocity gradient L(v). The weights are those at the start of the step;
(I + Δt L)^(−T) transforms their gradients to the end of the step.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.grid.nodes import NodeFields, number_active
from spume.materials.loops import LawInUse
from spume.matter.obstacle_loads import load_by_nodes
from spume.mpm.implicit.contact_set import ContactSet
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld
from spume.scene.time_stepping import Implicit

ACCELERATION = "acceleration"
"""Name of the field with the acceleration of points in the last step."""


def carried_fields(settings: Implicit, dimension: int) -> tuple[Field, ...]:
    """Fields of points required by the scene's table [implicit]."""
    if settings.start != "acceleration":
        return ()
    meaning = "acceleration in the last step"
    return (Field(ACCELERATION, (dimension,), 0.0, "m/s²", "average", in_frames=False, description=meaning),)


class StepProblem:
    """Unknowns, masses, known velocities and contacts of one step of the only species of a world."""

    def __init__(self, world: GridWorld, dt: float) -> None:
        self.world, self.dt = world, dt
        species = world.only
        self.species: GridSpecies = species
        self.dofs = number_active(species.fields["mass"], world.nodes.border)
        self.mass = self.dofs.take(species.fields["mass"])
        self.before = self.dofs.take(species.fields["momentum"]) / self.mass[:, None]
        """Velocities vⁿ of the active nodes before the step [m/s]."""
        self.free = self.before + dt * world.gravity(world.time)[: world.dimension]
        """Velocities v̂ of the active nodes without stress and contacts [m/s]."""
        fields = species.fields.array
        world.contacts.find(world.nodes, fields, world.obstacles, world.time, dt, world.moved_nodes)
        self.contacts = ContactSet(world, species, self.dofs, dt)
        self._fields = NodeFields(vector=world.dimension)
        self._fields.fit(world.nodes)
        self.surroundings = world.ranks.surroundings(
            species.transfers, world.nodes, self.dofs, species.weighted_at, species.particles.id
        )

    def start(self) -> NDArray[np.float64]:
        """Initial guess of the velocities [m/s]: those without stress, or, if points store the acceleration of their
        last step, vⁿ plus Δt times that acceleration."""
        species = self.species
        p = species.particles
        if ACCELERATION not in p:
            return self.free.copy()
        field = self._fields.array
        species.transfers.to_grid(("momentum",), species.weighted_at, field, v=p.acceleration, mass=p.mass)
        return self.before + self.dt * self.dofs.take(field) / self.mass[:, None]

    def keep_acceleration(self, v: NDArray[np.float64]) -> None:
        """Store the acceleration of the step that ends with the velocities v, if the points have a field for it."""
        species = self.species
        p = species.particles
        if ACCELERATION in p:
            field = self._fields.array
            self.dofs.put((v - self.before) / self.dt, field)
            species.transfers.to_points(("velocity",), species.weighted_at, field, v=p.acceleration)

    def close_contacts(self, v: NDArray[np.float64]) -> None:
        """Apply the contacts to `v` in place, and close those that change it."""
        self.contacts.close(v, self._fields.array)

    def gradient(self, v: NDArray[np.float64], L: NDArray[np.float64]) -> None:
        """Write the velocity gradients of `v` at the points [1/s], shape (n, 3, 3)."""
        field = self._fields.array
        self.dofs.put(v, field)
        self.species.transfers.to_points(("gradient",), self.species.weighted_at, field, tensor=L)

    def impulse(self, tensor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Σ_p V T ∇w at the active nodes for tensors T (n, 3, 3)."""
        field, species = self._fields.array, self.species
        volume = species.particles.volume
        species.transfers.to_grid(
            ("tensor divergence",), species.weighted_at, field, room=self._fields.room, volume=volume, tensor=tensor
        )
        return -self.dofs.take(field)

    def load_obstacles(self, reaction: NDArray[np.float64]) -> None:
        """Add the `reaction` of the closed contacts, impulses at the active nodes (unknowns, d), to obstacle loads."""
        contacts = self.world.contacts
        if self.world.obstacle_loads.active:
            at_contacts = reaction[self.dofs.number.reshape(-1)[contacts.node]]
            engaged = self.contacts.engaged
            load_by_nodes(self.world.obstacle_loads, contacts, self.world.nodes, at_contacts, engaged)

    def finish(self, v: NDArray[np.float64]) -> None:
        """Write the new velocities to the node fields of the species."""
        fields = self.species.fields
        fields.rename(momentum="velocity", force="change")
        self.dofs.put(v, fields["velocity"])
        self.dofs.put(v - self.before, fields["change"])

    def history(self, use: LawInUse) -> tuple[NDArray[Any], ...]:
        """Arrays of the fields of a law in use."""
        arrays = self.species.particles.arrays()
        return tuple(arrays[name] for name in use.columns)
