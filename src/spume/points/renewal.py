"""Renewal of references where material flows.

Flow since the reference is the change of Cp = Fᵀ b⁻¹ F, with the deformation F since the reference and the elastic b of
the law: a purely elastic deformation does not change it. For laws without one elastic deformation b = I, so that all
strain counts. When Cp has changed by more than `FLOW` at any point of a body, the present places become its reference.
Points keep their elastic deformation, hence their energy, and lose that of non-affine motion: a renewal never adds
energy.

The metric C ← F⁻ᵀ C F⁻¹ of the distances is limited to stretches of `LARGEST_STRETCH`; what flows further changes its
neighbours.

A body that flows moves to group 0, in which all points within the radius are neighbours at the next renewal: what flows
sticks together. Bodies that touch when they are released share a group.
"""

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.grid.cells import Cells
from spume.grid.neighbour_search import all_within
from spume.materials.kinematics import load, load_sym, store_sym
from spume.matter.stages import StepFailed
from spume.numerics.jit import compiled
from spume.numerics.lanes import LANES
from spume.numerics.spectral3 import eigen_sym
from spume.numerics.tensor3 import compose_sym, inverse, multiply, transpose
from spume.points.elastic_metric import elastic_metric
from spume.points.reference import FLOWED, NEW, Reference
from spume.points.reference_forces import fit_gradient, pack_places
from spume.points.world import PointWorld
from spume.ranks.ranks import Ranks

FLOW = 0.05
"""Change of Cp at which a reference is renewed [1]."""
CHECK_STEPS = 4
"""Steps between two checks for flow."""
TOUCHING = 1.5
"""Bodies whose points are nearer than this when they are released share a group [spacings]."""
LARGEST_STRETCH = 1.8
"""Neighbourhoods follow the deformation of their point up to this stretch along an axis, and its inverse [1]."""


def find_reference(world: PointWorld, dt: float, reference: Reference) -> None:
    """Give new points a reference, and find contacts where points have moved."""
    reference.refresh(world)
    p = world.particles
    if not world.listed:
        renew(world, reference, admit(world))
        reference.limit_step(world)
    elif not reference.contacts.lists.valid(p.x, p.x_listed, world.ranks):
        p.x_listed[:] = p.x
        reference.find_contacts(world)
    if dt > reference.limit:
        raise StepFailed(
            "a step", f"it is longer than {reference.limit:.3g} s, where forces become unstable", "reduce [time] dt"
        )


def renew_reference(world: PointWorld, dt: float, reference: Reference) -> None:
    """Renew the reference of bodies that have flowed, and limit the next step, every few steps."""
    if (world.steps + 1) % CHECK_STEPS != 0:
        return
    renewed = flowing(world)
    if renewed is not None:
        renew(world, reference, renewed)
    reference.limit_step(world)


def admit(world: PointWorld) -> NDArray[np.bool_]:
    """Put points without a reference into groups; return which points are in a changed group."""
    p, ranks = world.particles, world.ranks
    new = p.group == NEW
    if not ranks.any(bool(new.any())):
        return new
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    label = p.group.astype(np.int64)
    label[new] = 1 + int(ranks.largest(max(label.max(initial=FLOWED), FLOWED))) + p.body[new]
    cells = Cells(world.dimension, TOUCHING * world.spacing, 0.0)
    cells.sort(p.x)
    ghosts = ranks.ghosts(cells)
    x, labels = ghosts.extended(p.x), ghosts.extended(label)
    cells.sort(x)
    start, found = all_within(cells, x, p.x[new], TOUCHING * world.spacing)
    size = int(ranks.largest(label.max(initial=0))) + 1
    one, other = np.divmod(_different(ranks, np.repeat(label[new], np.diff(start)) * size + labels[found]), size)
    _, component = connected_components(coo_array((np.ones(len(one)), (one, other)), (size, size)), directed=False)
    first = np.full(component.max() + 1, size)
    np.minimum.at(first, component, np.arange(size))  # the group of a component is its smallest
    joined = first[component[label]].astype(np.int32)
    changed = np.isin(joined, _different(ranks, joined[new].astype(np.int64)))
    p.group[:] = joined
    return changed


def _different(ranks: Ranks, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different numbers on all ranks, ascending."""
    return ranks.totals_by(*np.unique(numbers, return_counts=True))[0]


def flowing(world: PointWorld) -> NDArray[np.bool_] | None:
    """Move bodies that have flowed since their reference to group 0; return which points are in a group that has, None
    if no group of any rank has."""
    p = world.particles
    metric = np.empty((len(p), 6))
    elastic_metric(world.model, p.arrays(), metric, np.empty(len(p)))
    flow = np.empty(len(p))
    _find_flow(p.rest_F, metric, p.rest_metric, flow)
    changed = _different(world.ranks, p.group[flow > FLOW].astype(np.int64))
    if not changed.size:
        return None
    p.group[np.isin(p.group, changed)] = FLOWED
    return np.asarray(p.group == FLOWED)


@compiled(parallel=True)
def _find_flow(F, metric, before, flow):
    """Write the largest component of Fᵀ b⁻¹ F − b₀⁻¹ of each point."""
    for p in prange(flow.size):
        m, b = load_sym(metric, p), load_sym(before, p)
        f = load(F, p)
        g = multiply((m[0], m[3], m[4], m[3], m[1], m[5], m[4], m[5], m[2]), f)
        c = multiply(transpose(f), g)
        flow[p] = max(
            max(abs(c[0] - b[0]), abs(c[4] - b[1]), abs(c[8] - b[2])),
            max(abs(c[1] - b[3]), abs(c[2] - b[4]), abs(c[5] - b[5])),
        )


@compiled(parallel=True)
def _renew_shapes(renewed, F, shape):
    """C ← F⁻ᵀ C F⁻¹ for the renewed points, with eigenvalues limited to `LARGEST_STRETCH`⁻² and its inverse."""
    for p in prange(renewed.size):
        if renewed[p]:
            c, undone = load_sym(shape, p), inverse(load(F, p))
            moved = multiply(
                transpose(undone), multiply((c[0], c[3], c[4], c[3], c[1], c[5], c[4], c[5], c[2]), undone)
            )
            values, Q = eigen_sym((moved[0], moved[4], moved[8], moved[1], moved[2], moved[5]))
            least, most = LARGEST_STRETCH**-2, LARGEST_STRETCH**2
            limited = (
                min(max(values[0], least), most), min(max(values[1], least), most), min(max(values[2], least), most),
            )  # fmt: skip
            store_sym(shape, p, compose_sym(limited, Q))


def renew(world: PointWorld, reference: Reference, renewed: NDArray[np.bool_]) -> None:
    """Make the present places the reference of the `renewed` points, and build lists, weights and contacts anew."""
    p = world.particles
    _renew_shapes(renewed, p.rest_F, p.rest_shape)
    p.rest_x[renewed] = p.x[renewed]
    p.rest_F[renewed] = np.eye(3)
    metric = np.empty((len(p), 6))
    elastic_metric(world.model, p.arrays(), metric, np.empty(len(p)))
    p.rest_metric[renewed] = metric[renewed]
    p.x_listed[:] = p.x
    reference.build(world)
    p = world.particles
    places, lists = world.rows_of(LANES), world.lists
    pack_places(p.rest_x, p.rest_x + p.v, places)
    lists.ghosts.fill(places)
    fit_gradient(lists.start, lists.neighbour, reference.weight, places, reference.divisor, p.rest_rate)
    world.rebuilds += 1
