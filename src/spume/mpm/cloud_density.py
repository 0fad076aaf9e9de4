"""Whether the points lie as dense as their deformation says.

A point has the volume V J. If the points lie where the motion has carried them, Σ_p w_ip V_p J_p = h^d at every node
i in the interior of the material: the density of the cloud is ρ0/J. Forces follow from the deformation alone, so
nothing brings the points back when the two part: then bodies swell or shrink while J stays one.

At free surfaces and near obstacles the sum is smaller. So only nodes count from which all nodes within four cells along
the axes are reached by material. As splines reach two cells, there is then material for two cells or more in all these
directions. Of those nodes the median is taken, which does not see cracks and folds. It needs a body thicker than four
cells.
"""

from typing import Any

import numpy as np
from numba import prange

from spume.mpm.blocks import cell_at, cell_in_block, neighbour_table
from spume.mpm.nodes import NodeFields, Nodes
from spume.mpm.species import Species
from spume.mpm.state import State
from spume.mpm.transfers import Transfers
from spume.numerics.jit import compiled

REACHED = 1e-3
"""Part of its volume from which on a node counts as reached by material [1]."""
SURROUNDINGS = 4
"""Cells from an interior node along the axes that are all reached; no more than the cells of a block."""
FEWEST_NODES = 10
"""Interior nodes below which nothing is said."""
TOLERANCE = 0.1
"""Deviation of the median from one that is worth a warning [1]; [Yue15] has 95.7 % of the nodes within 0.05."""


def cloud_density(state: State, species: Species) -> float | None:
    """Median over the interior of the density of the cloud of points, over that which their J have [1]; None where
    there is no interior."""
    p = species.particles
    if len(p) == 0:
        return None
    nodes = Nodes(state.dimension, state.cell, state.nodes.order)
    transfers = Transfers(state.dimension, state.cell, state.nodes.order)
    transfers.cells.sort(p.x)
    nodes.cover([transfers.cells])
    transfers.connect(nodes)
    # Summed by the kernel of the step, as if volumes were masses: compiling one for it alone takes longer than a
    # thousand frames of a small scene gain from it.
    fields = NodeFields(mass=0, momentum=state.dimension, force=state.dimension)
    fields.fit(nodes)
    transfers.to_grid(
        species.scheme.to_grid, p.x, fields.array, v=p.v, mass=p.volume * species.model.volume_ratio(p.arrays()),
        volume=p.volume, stress=p.stress, affine_velocity=species.affine_velocity,
    )  # fmt: skip
    filled = fields["mass"].reshape(-1) / state.cell**state.dimension
    inside = np.empty(filled.size, np.bool_)
    _find_interior[state.dimension](neighbour_table(nodes.keys), filled > REACHED, inside)
    return float(np.median(filled[inside])) if inside.sum() >= FEWEST_NODES else None


def density_warning(state: State, ratio: float | None) -> dict[str, str]:
    """A sentence where `ratio`, the density of the cloud, is far from one."""
    if ratio is None or abs(ratio - 1.0) <= TOLERANCE:
        return {}
    scheme = state.only.scheme
    if scheme.velocity == "flip":
        remedy = "use [transfer] scheme = 'apic', or a shorter [time] dt"
    elif scheme.deformation == "second-order":
        remedy = "reduce [time] courant or dt, or use [time] deformation = 'first-order', which follows the points"
    else:
        remedy = "reduce [time] courant or dt"
    return {
        "cloud density": f"at t = {state.time:.4g} s the points lie {ratio:.3g} times as dense in the interior as "
        f"their deformation says, so volumes and pressures are wrong by as much: errors of many steps add up; {remedy}"
    }


def _make_find_interior(D: int) -> Any:
    @compiled(parallel=True, fastmath=False)
    def find_interior(neighbours, reached, interior):
        for node in prange(reached.size):
            block, i, j, k = cell_in_block(D, node)
            inside = reached[node]
            for axis in range(D):
                for step in range(-SURROUNDINGS, SURROUNDINGS + 1):
                    if inside:
                        a = i + step if axis == 0 else i
                        b = j + step if axis == 1 else j
                        c = k + step if axis == 2 else k
                        other = cell_at(D, neighbours, block, a, b, c)
                        inside = other >= 0 and reached[other]
            interior[node] = inside

    return find_interior


_find_interior = {d: _make_find_interior(d) for d in (2, 3)}
