"""The part of the energy budget on the nodes: gravity, stress, contacts, and what species exchange."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK
from spume.mpm.energy_sums import contact_work, node_energies
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld

if TYPE_CHECKING:
    from spume.mpm.energy import EnergyBudget

Floats = NDArray[np.float64]


class Exchanged(NamedTuple):
    """Impulses on the first of two species in the step, which the second has with the opposite sign [N s]; shape
    (blocks, d, 64)."""

    with_contacts: Floats
    """Those in the velocity changes from which the impulses of contacts are found."""
    other: Floats | None = None
    """Those among the forces before."""


Exchange = Callable[[GridWorld, float], Exchanged]
"""What two species have exchanged in a step, from the world and the length of the step."""


def keep_forced(world: GridWorld, dt: float, budget: "EnergyBudget") -> None:
    """Remember the velocity changes of the nodes before contacts."""
    budget.forced = [[layer.fields["change"].copy() for layer in species.layers] for species in world.species]


def count_nodes(world: GridWorld, dt: float, budget: "EnergyBudget") -> None:
    """From the points to the nodes, and there: gravity, stress and contacts."""
    before = 0.0
    exchanged = None if budget.exchange is None else budget.exchange(world, dt)
    for k, species in enumerate(world.species):
        contacts = world.contacts_of(species)
        between = bond_work(world, species)
        budget.step["contacts"] += between
        if exchanged is not None:
            drag = exchange_work(world, exchanged, k, species)
            budget.step["drag"] += drag
            between += drag
        budget.step["time integration"] -= between
        for layer, (_, fields) in enumerate(species.layers):
            start, gain = node_energies(world.nodes, fields.array)
            impulse = impulses(budget, species, k, layer, contacts.node)
            if exchanged is not None and budget.solver is None:
                block, local = contacts.node // 64, contacts.node % 64
                impulse = impulse - (-1.0) ** k * exchanged.with_contacts[block, :, local]
            contact, driven = contact_work(
                world.ranks, world.nodes, contacts, fields["velocity"], fields["change"], impulse
            )
            before += start
            budget.step["transfers"] += start
            budget.step["contacts"] += contact - driven
            budget.step["obstacles"] += driven
            budget.step["time integration"] += gain - contact
            before += gain
    budget.step["transfers"] -= budget.kinetic
    budget.kinetic = before


def exchange_work(world: GridWorld, exchanged: Exchanged, k: int, species: GridSpecies) -> float:
    """Work on species k of what it has exchanged with the other one, Σ I·v̄ [J]."""
    fields = species.fields
    mean = fields["velocity"] - 0.5 * fields["change"]
    impulse = exchanged.with_contacts if exchanged.other is None else exchanged.with_contacts + exchanged.other
    counted = world.nodes.border.counts(NODES_PER_BLOCK * np.arange(len(world.nodes)))
    return (-1.0) ** k * world.ranks.dot(impulse[counted].ravel(), mean[counted].ravel())


def bond_work(world: GridWorld, species: GridSpecies) -> float:
    """Work of the impulses between the layers of a species, Σ I·v̄ [J]."""
    works = [np.empty((0, world.dimension))]
    for number, node, impulse in species.bonds:
        fields = species.layers[number].fields
        block, local = node // 64, node % 64
        mean = fields["velocity"][block, :, local] - 0.5 * fields["change"][block, :, local]
        works.append((impulse * mean)[world.nodes.border.counts(node)])
    return world.ranks.total(np.concatenate(works)) if len(species.layers) > 1 else 0.0


def impulses(budget: "EnergyBudget", species: GridSpecies, k: int, layer: int, node: NDArray[np.int64]) -> Floats:
    """Impulses of the contacts on the nodes in a layer of species k [N s]; `node` is that of each contact."""
    block, local = node // 64, node % 64
    fields = species.layers[layer].fields
    mass = fields["mass"]
    if budget.solver is None:
        change = fields["change"][block, :, local] - budget.forced[k][layer][block, :, local]
        return np.asarray(mass[block, local][:, None] * change)
    known = budget.solver.impulses
    if not known or not node.size:
        return np.zeros((node.size, fields.components["change"]))
    number = np.cumsum(mass.ravel() > 0.0) - 1
    return np.asarray(known[k][number[node]])
