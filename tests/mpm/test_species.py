"""Several species on shared nodes."""

import numpy as np
import pytest

from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.grid.nodes import Nodes
from spume.materials.loops import ConstitutiveModel
from spume.materials.neo_hookean import NEO_HOOKEAN
from spume.matter.driver import take_step
from spume.matter.particles import Particles, point_fields
from spume.matter.stages import Step
from spume.matter.time_step import TimeStep
from spume.mpm.species import GridSpecies, TransferScheme
from spume.mpm.step import explicit_stages, rasterize, sort_points
from spume.mpm.world import GridWorld

CELL = 0.05
SOLID = NEO_HOOKEAN.parameters(density=1000.0, bulk_modulus=2e4, shear_modulus=5e3)


STEP = Step(explicit_stages())


def species(nodes, x, velocity, scheme, seed):
    rng = np.random.default_rng(seed)
    particles = Particles([point_fields(nodes.dimension, scheme.affine), NEO_HOOKEAN.fields])
    volume = np.full(len(x), (0.5 * CELL) ** nodes.dimension)
    particles.add(len(x), x=x, v=velocity + 0.1 * rng.normal(size=x.shape), volume=volume, mass=1000.0 * volume)
    return GridSpecies(particles, ConstitutiveModel([(NEO_HOOKEAN, SOLID)]), scheme, nodes)


def block(dimension, centre):
    ticks = np.meshgrid(*[(np.arange(8) + 0.5) * CELL / 2] * dimension, indexing="ij")
    return np.stack(ticks, axis=-1).reshape(-1, dimension) + np.asarray(centre)[:dimension]


@pytest.fixture(params=[(2, 2), (3, 3)], ids=["2D", "3D"])
def mixed(request):
    """Two blocks that overlap, in the plane of different schemes, and one alone with the second's points."""
    d, order = request.param
    scheme = TransferScheme("flip", 0.95) if d == 2 else TransferScheme("apic")
    nodes = Nodes(d, CELL, order)
    first = species(nodes, block(d, [0.0, 0.0, 0.0]), 1.0, TransferScheme("apic"), 1)
    second = species(nodes, block(d, [0.13, 0.03, 0.0]), -0.5, scheme, 2)
    return state_of(nodes, [first, second])


def state_of(nodes, listed):
    return GridWorld(
        nodes=nodes,
        species=listed,
        obstacles=ObstacleSet([], nodes.dimension),
        gravity=lambda time: np.zeros(3),
        time_step=TimeStep(CELL, 5.0),
    )


def test_nodes_cover_the_stencils_of_both_and_masses_and_momenta_are_exact(mixed):
    sort_points(mixed)
    rasterize(mixed)
    for one in mixed.species:
        p, sums = one.particles, one.fields
        assert len(sums.array) == len(mixed.nodes)
        assert sums["mass"].sum() == pytest.approx(p.mass.sum(), rel=1e-13)
        scale = p.mass @ np.abs(p.v)
        assert np.all(np.abs(sums["momentum"].sum(axis=(0, 2)) - p.mass @ p.v) <= 1e-13 * scale)
        assert np.all(np.abs(sums["force"].sum(axis=(0, 2))) <= 1e-13 * np.abs(sums["force"]).sum(axis=(0, 2)))
        reached = {tuple(b) for b in mixed.nodes.blocks}
        assert {tuple(b) for b in one.transfers.cells.blocks} <= reached
    assert len(mixed.nodes) > max(len(np.unique(s.transfers.node_block_of_corner)) for s in mixed.species) - 1
    both = (mixed.species[0].fields["mass"] > 0) & (mixed.species[1].fields["mass"] > 0)
    assert both.any()  # they do share nodes


def test_a_species_moves_as_if_it_were_alone_when_nothing_couples_them(mixed):
    """Each has its own velocity field, so sharing the nodes changes nothing but the order of the node blocks."""
    nodes = Nodes(mixed.nodes.dimension, CELL, mixed.nodes.order)
    original = mixed.species[1]
    particles = Particles([original.particles.fields])
    particles.replace(original.particles.arrays())
    alone = state_of(nodes, [GridSpecies(particles, original.model, original.scheme, nodes)])
    for _ in range(20):
        take_step(mixed, STEP, 1e-3)
        take_step(alone, STEP, 1e-3)
    order = np.argsort(original.particles.id)
    other = np.argsort(alone.particles.id)
    for name, values in original.particles.arrays().items():
        # sums over nodes in another order of blocks would differ by rounding; they are per block, so bits stay
        np.testing.assert_array_equal(values[order], alone.particles.arrays()[name][other], err_msg=name)


def test_a_state_of_several_species_has_no_only_one(mixed):
    with pytest.raises(ValueError, match="unpack"):
        _ = mixed.particles


def test_a_name_that_the_nodes_hold_no_longer_is_an_error(mixed):
    sort_points(mixed)
    rasterize(mixed)
    take_step(mixed, STEP, 1e-3)
    fields = mixed.species[0].fields
    assert fields["velocity"].any()
    with pytest.raises(KeyError, match="no 'momentum' at present"):
        _ = fields["momentum"]
