"""The explicit step of the material point method as a list of stages: [Yue15] section 4, without the additions of
`foam`.

Every stage with a number is one procedure of the paper, or several that loop over the same points or nodes; the numbers
are those of the paper. All species share the nodes and the contacts.
"""

import numpy as np
from numpy.typing import NDArray

from spume.grid.velocities import update_grid_velocities
from spume.matter.material import rehearse_material, update_material
from spume.matter.motion import collide_and_move
from spume.matter.obstacle_loads import load_by_nodes
from spume.matter.stages import Stage
from spume.mpm.crowded_sand import restore_crowded_sand
from spume.mpm.species import GridSpecies, Layer
from spume.mpm.world import GridWorld

ADVICE = "the step is too long for the stiffness; reduce [time] courant or dt, or use a smaller cell"
"""What to change when a velocity is not finite."""


def explicit_stages(move: Stage | None = None) -> list[Stage]:
    """Symplectic Euler. `move` takes the place of the stage that moves the points."""
    return [
        SORT,
        RASTERIZE,  # 1 mass and momentum, 3 forces
        Stage("grid", accelerate),  # 5 velocities
        Stage("grid", collide),  # 6 collisions
        GATHER,  # 7 deformation of the step, 9 velocities
        CROWDED_SAND,  # not in the paper
        MATERIAL,  # 7 total deformation, 10 plastic flow, and the stress for the next step
        move or MOVE,  # 13 collisions, 14 positions
    ]


def sort_points(world: GridWorld, dt: float = 0.0) -> None:
    """Find the cells of all points and the nodes of their stencils."""
    for species in world.species:
        species.sort()
    world.ranks.settle(world.species, world.dimension, world.steps)
    cells = [species.transfers.cells for species in world.species]
    world.nodes.cover(cells)
    world.ranks.join(world.nodes, cells)
    for species in world.species:
        species.connect(world.nodes)
    world.time_step.stretch = min((species.stretch for species in world.species), default=1.0)


def rasterize(world: GridWorld, dt: float = 0.0) -> None:
    """Sum mass, momentum and internal forces of the points on the nodes."""
    for species in world.species:
        species.rasterize()


def accelerate(world: GridWorld, dt: float) -> None:
    """v* = v + Δt f/m + Δt g; replaces momenta by velocities and forces by velocity changes."""
    gravity = world.gravity(world.time)
    for species in world.species:
        for _, fields in species.layers:
            update_grid_velocities[world.dimension](fields.array, dt, gravity)
            fields.rename(momentum="velocity", force="change")


def collide(world: GridWorld, dt: float) -> None:
    """Collide the velocities on the nodes with the obstacles in their poses at the end of the step."""
    find_contacts(world, dt)
    for species in world.species:
        for layer in species.layers:
            collide_nodes(world, species, layer, dt)


def find_contacts(world: GridWorld, dt: float) -> None:
    """Find the nodes inside obstacles in their poses at the end of the step."""
    nodes, obstacles, time = world.nodes, world.obstacles, world.time
    sharing = (species for species in world.species if species.own_contacts is None)
    layers = [layer.fields for species in sharing for layer in species.layers]
    if layers:
        fields = layers[0].array if len(layers) == 1 else np.sum([each["mass"] for each in layers], axis=0)[:, None]
        world.contacts.find(nodes, fields, obstacles, time, dt, world.moved_nodes)
    for species in world.species:
        if (own := species.own_contacts) is not None:
            own.find(nodes, species.fields.array, obstacles, time, dt, laws=species.contact_laws)


def gaps_of(world: GridWorld, species: GridSpecies, layer: Layer | None = None) -> NDArray[np.float64]:
    """Gap between the obstacle of each contact and the points of a species, or of one of its layers [m], see
    `Contacts.gaps`."""
    p, transfers = species.particles, species.transfers if layer is None else layer.transfers
    return world.contacts_of(species).gaps(world.nodes, transfers, p.x, p.volume)


def collide_nodes(world: GridWorld, species: GridSpecies, layer: Layer, dt: float) -> None:
    """Collide the velocities of a layer on the nodes, and add the impulses to the obstacle loads."""
    contacts, fields = world.contacts_of(species), layer.fields
    node = contacts.node
    if not node.size and not world.obstacle_loads.active:
        return
    gaps, velocity = gaps_of(world, species, layer), fields["velocity"]
    if not world.obstacle_loads.active:
        contacts.apply(velocity, fields["change"], gaps, dt)
        return
    before = velocity[node // 64, :, node % 64]
    contacts.apply(velocity, fields["change"], gaps, dt)
    taken = fields["mass"][node // 64, node % 64][:, None] * (velocity[node // 64, :, node % 64] - before)
    load_by_nodes(world.obstacle_loads, contacts, world.nodes, taken)


def gather(world: GridWorld, dt: float) -> None:
    """Interpolate the new velocities of the points and their deformation in the step from the collided v*."""
    for species in world.species:
        species.gather(dt)


SORT = Stage("sort", sort_points)
RASTERIZE = Stage("particles to grid", rasterize)
GATHER = Stage("grid to particles", gather)
CROWDED_SAND = Stage("volume of sand", restore_crowded_sand)
MATERIAL = Stage("material", update_material, rehearse=rehearse_material)
MOVE = Stage("move", collide_and_move, ADVICE)
"""Stages of every step on a grid."""
