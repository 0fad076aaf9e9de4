"""Comparison of the density of the points with the density that their deformation implies.

A point has the volume V J. If positions and deformations are consistent, Σ_p w_ip V_p J_p = h^d at every node i in the
interior of the material: the density of the cloud of points is ρ0/J. Forces depend only on the deformation, so nothing
restores consistency once it is lost, except in steps of sand (`crowded_sand.py`): bodies then swell or shrink while J
stays one.

At free surfaces and near obstacles the sum is smaller. Therefore only nodes are used for which all nodes within four
cells along the axes are reached by material. As splines reach two cells, there is then material for at least two cells
in all these directions, unless there is a gap, such as between two limbs of a body. At a flat surface the sum is one
half, so nodes are excluded, too, if it varies by more than a factor of two within two cells along the axes; where all
points have drifted apart it is smaller at all nodes alike. The result is the median over the remaining nodes, which is
insensitive to cracks and folds. It requires a body thicker than four cells; for smaller ones `small_clouds.py` sums
over neighbours instead, with a larger tolerance.

Torn pieces that land on each other are another cause of a low density: they touch as soon as their splines overlap, so
a heap of pieces of a few cells keeps gaps that the grid does not resolve. The density then falls at once when they
land, and rises as the heap settles (`penguin-pachinko`, preset medium: 0.37, later 0.52); errors of steps make it fall
gradually.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.blocks import NODES_PER_BLOCK, cell_at, cell_in_block, neighbour_table
from spume.grid.nodes import NodeFields, Nodes
from spume.grid.transfers import Transfers
from spume.matter.small_clouds import MOST_POINTS, SCATTER, density_of_neighbours
from spume.mpm.species import GridSpecies
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.ranks.plain_points import PlainPoints
from spume.ranks.ranks import Ranks

REACHED = 1e-3
"""Fraction of its volume above which a node counts as reached by material [1]."""
SURROUNDINGS = 4
"""Number of cells along the axes from an interior node that are all reached; at most the cells of a block."""
REACH = 2
"""Number of cells that splines reach."""
UNIFORM = 0.5
"""Smallest ratio of two sums within `REACH` of an interior node [1]."""
FIELDS = ("id", "x", "v", "volume", "stress", "C")
"""Of points, that the sums use."""
FEWEST_NODES = 10
"""Smallest number of interior nodes for which a result is reported."""
TOLERANCE = 0.1
"""Deviation of the median from one above which a warning is issued [1]; in [Yue15] 95.7 % of the nodes are within
0.05."""


class Density(NamedTuple):
    """Density of the points relative to that implied by their J."""

    ratio: float
    """[1]"""
    tolerance: float
    """Deviation from one that the measurement may cause [1]"""


def cloud_density(world: GridWorld, species: GridSpecies) -> Density | None:
    """Median over the interior of the density of the points; None if there is no interior, and on ranks that do not
    write."""
    if world.ranks.count(len(species.particles)) == 0:
        return None
    nodes = Nodes(world.dimension, world.cell, world.nodes.order)
    transfers = Transfers(world.dimension, world.cell, world.nodes.order)
    p, ranks = _at_home(world, species, transfers)
    nodes.cover([transfers.cells])
    ranks.border(nodes, transfers.cells)
    transfers.connect(nodes)
    # Summed by the kernel of the step, as if volumes were masses: compiling one for it alone takes longer than a
    # thousand frames of a small scene gain from it.
    fields = NodeFields(mass=0, momentum=world.dimension, force=world.dimension)
    fields.fit(nodes)
    transfers.to_grid(
        species.scheme.to_grid, p["x"], fields.array, v=p["v"], mass=p["present"], volume=p["volume"],
        stress=p["stress"], affine_velocity=p["C"] if species.scheme.affine else species.affine_velocity,
    )  # fmt: skip
    keys, filled, own = ranks.beside(nodes, fields["mass"].reshape(-1, NODES_PER_BLOCK) / world.cell**world.dimension)
    inside = np.empty(filled.size, np.bool_)
    _find_interior[world.dimension](neighbour_table(keys), filled.reshape(-1), inside)
    inside &= np.repeat(own, NODES_PER_BLOCK)
    if ranks.count(int(inside.sum())) >= FEWEST_NODES:
        return Density(ranks.median(filled.reshape(-1)[inside]), TOLERANCE)
    if ranks.count(len(p["id"])) > MOST_POINTS:
        return None
    whole = ranks.collected({"id": p["id"], "x": p["x"], "volume": p["present"]})
    if whole is None:
        return None
    order = np.argsort(whole["id"])
    among_neighbours = density_of_neighbours(whole["x"][order], whole["volume"][order])
    return None if among_neighbours is None else Density(among_neighbours, SCATTER)


def _at_home(world: GridWorld, species: GridSpecies, transfers: Transfers) -> tuple[dict[str, NDArray[Any]], Ranks]:
    """The points of the blocks that this rank has, sorted into the cells of `transfers`, with their "present" volume;
    and the ranks, which have divided them by their positions."""
    p, ranks = species.particles, world.ranks
    if species.weighted_at is p.x:  # so that the points belong to the rank where they are
        ranks.bring_home(world.species, world.dimension, world.steps)
        transfers.cells.sort(p.x, p.id)
        return p.arrays() | {"present": p.volume * species.model.volume_ratio(p.arrays())}, ranks
    arrays = {name: array for name, array in p.arrays().items() if name in FIELDS}
    arrays["present"] = p.volume * species.model.volume_ratio(p.arrays())
    copies, apart = PlainPoints(arrays, transfers.cells), ranks.apart()
    apart.bring_home([copies], world.dimension, world.steps)
    copies.sort()
    return copies.arrays, apart


def density_warning(world: GridWorld, density: Density | None) -> dict[str, str]:
    """Warning, by topic, if the relative density of the points is far from one."""
    if density is None or abs(density.ratio - 1.0) <= density.tolerance:
        return {}
    ratio = density.ratio
    scheme = world.only.scheme
    if scheme.velocity == "flip":
        remedy = "use [transfer] scheme = 'apic', or a shorter [time] dt"
    elif scheme.deformation == "second-order":
        remedy = "reduce [time] courant or dt, or use [time] deformation = 'first-order', which follows the points"
    else:
        remedy = "reduce [time] courant or dt"
    causes = f"errors of steps add up ({remedy})"
    if ratio < 1.0:
        causes += ", or small pieces lie in a heap with gaps that the cells do not resolve (use a smaller [grid] cell)"
    return {
        "cloud density": f"at t = {world.time:.4g} s the points in the interior are {ratio:.3g} times as dense as "
        f"their deformation implies, so volumes and pressures are wrong by as much: {causes}"
    }


def _make_find_interior(D: int) -> Any:
    @compiled(parallel=True, fastmath=False)
    def find_interior(neighbours, filled, interior):
        for node in prange(filled.size):
            block, i, j, k = cell_in_block(D, node)
            inside = filled[node] > REACHED
            smallest = largest = filled[node]
            for axis in range(D):
                for step in range(-SURROUNDINGS, SURROUNDINGS + 1):
                    if inside:
                        a = i + step if axis == 0 else i
                        b = j + step if axis == 1 else j
                        c = k + step if axis == 2 else k
                        other = cell_at(D, neighbours, block, a, b, c)
                        inside = other >= 0 and filled[other] > REACHED
                        if inside and abs(step) <= REACH:
                            smallest, largest = min(smallest, filled[other]), max(largest, filled[other])
            interior[node] = inside and smallest > UNIFORM * largest

    return find_interior


_find_interior = {d: _make_find_interior(d) for d in (2, 3)}
