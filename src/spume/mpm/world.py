"""The world of the material point method: species on shared nodes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spume.grid.contacts import Contacts
from spume.grid.nodes import Nodes
from spume.matter.world import World
from spume.mpm.species import GridSpecies


@dataclass(kw_only=True)
class GridWorld(World[GridSpecies]):
    """One or several species on shared nodes."""

    nodes: Nodes
    contacts: Contacts = field(default_factory=Contacts)
    """Contacts of the nodes with obstacles in the current step."""

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self.nodes.dimension

    @property
    def cell(self) -> float:
        """Edge length of a cell [m]."""
        return self.nodes.cell

    @property
    def reach(self) -> float:
        """Width of the splines [m]."""
        return (self.nodes.order + 1) * self.nodes.cell

    @property
    def moved_nodes(self) -> NDArray[np.float64]:
        """Positions of nodes that move with the only species [m], shape (blocks, 64, d); empty if they do not move."""
        return self.species[0].moved_nodes(self.nodes)

    def contacts_of(self, species: GridSpecies) -> Contacts:
        """Contacts of the nodes with the obstacles that act on a species in the current step."""
        return self.contacts if species.own_contacts is None else species.own_contacts

    @property
    def affine_velocity(self) -> NDArray[np.float64]:
        """C of [Jiang15] of the only species, or an empty array for FLIP and PIC."""
        return self.only.affine_velocity

    def forget_clearances(self) -> None:
        """Discard the clearances; call this after moving points or obstacles outside of a step."""
        super().forget_clearances()
        self.contacts.forget()
