"""Contacts of nodes with obstacles: those of points, and an orthogonal projection for solvers."""

import numpy as np
import pytest

from spume.geometry.obstacles.collision import collide_and_move
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.geometry.shapes.primitives import Circle, HalfSpace, Sphere
from spume.grid.cells import STENCIL_OFFSET, Cells
from spume.grid.contacts import Contacts
from spume.grid.nodes import Nodes, number_active

CELL = 0.1


def some_nodes(dimension):
    nodes, cells = Nodes(dimension, CELL, 3), Cells(dimension, CELL, STENCIL_OFFSET[3])
    cells.sort(np.random.default_rng(0).uniform(-1.0, 1.0, (400, dimension)))
    nodes.cover([cells])
    return nodes


def obstacles(dimension):
    """Overlapping in pairs of all kinds; the normals of the half spaces are not orthogonal to each other."""
    zero, D, Ball = [0.0, 0.0, 0.0], dimension, Circle if dimension == 2 else Sphere

    def half(point, normal):
        return HalfSpace(point=tuple(point[:D]), normal=tuple(normal[:D]))

    return ObstacleSet(
        [
            (half([0.0, -0.3, 0.0], [0.1, 1.0, 0.2]), "separate", 0.4, None, "ground"),
            (half([-0.4, 0.0, 0.0], [1.0, 0.3, 0.0]), "slip", 0.0, None, "left"),
            (half([0.0, 0.0, -0.4], [0.0, 0.6, 1.0]), "separate", 0.0, None, "tilted"),
            (Ball(center=tuple([0.5, 0.4, 0.0][:D]), radius=0.4), "stick", 0.0, None, "ball"),
            (Ball(center=tuple(zero[:D]), radius=0.25), "slip", 0.0, None, "middle"),
        ],
        dimension,
    )


@pytest.fixture(params=[2, 3])
def found(request):
    nodes, kinds = some_nodes(request.param), obstacles(request.param)
    mass = np.random.default_rng(1).uniform(-0.3, 1.0, (len(nodes), 64))
    contacts = Contacts()
    contacts.find(nodes, mass[:, None], kinds, 0.0)
    return nodes, kinds, mass, contacts


def test_velocities_are_those_of_colliding_each_node(found):
    nodes, kinds, mass, contacts = found
    D = nodes.dimension
    rng = np.random.default_rng(2)
    before, change = rng.normal(size=(len(nodes), D, 64)), rng.normal(size=(len(nodes), D, 64))
    velocity, changed = before.copy(), change.copy()
    contacts.apply(velocity, changed)
    expected = before.copy()
    for block, places in enumerate(nodes.positions()):
        for local, x in enumerate(places):
            if mass[block, local] > 0:
                place, v = np.pad(x, (0, 3 - D)), np.pad(before[block, :, local], (0, 3 - D))
                expected[block, :, local] = collide_and_move(kinds.at(0.0), 0.0, *place, *v)[3 : 3 + D]
    assert len(np.unique(contacts.node)) < len(contacts)  # some nodes are in several obstacles
    np.testing.assert_allclose(velocity, expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(changed - change, velocity - before, rtol=0, atol=1e-14)


def test_nodes_without_mass_have_no_contacts_and_clear_nodes_are_not_forgotten(found):
    nodes, kinds, mass, contacts = found
    assert np.all(mass.reshape(-1)[contacts.node] > 0)
    again = contacts.node.copy()
    contacts.find(nodes, mass[:, None], kinds, 0.0)  # by what is remembered
    assert np.array_equal(contacts.node, again)


def test_the_projection_is_orthogonal_and_leaves_what_contacts_allow(found):
    """P² = P, a·P b = P a·b, nothing along the normals of engaged contacts, nothing at all where material sticks."""
    nodes, _, mass, contacts = found
    D = nodes.dimension
    dofs = number_active(mass)
    rng = np.random.default_rng(3)
    engaged = contacts.apply(rng.normal(size=(len(nodes), D, 64)))
    acting = engaged[contacts.filled]
    assert 0 < (~acting).sum() < len(acting) == len(contacts)
    a, b = rng.normal(size=(2, len(dofs), D))
    Pa, Pb = a.copy(), b.copy()
    contacts.project(Pa, dofs, engaged)
    contacts.project(Pb, dofs, engaged)
    twice = Pa.copy()
    contacts.project(twice, dofs, engaged)
    np.testing.assert_allclose(twice, Pa, rtol=0, atol=1e-14)
    assert np.sum(a * Pb) == pytest.approx(np.sum(Pa * b), rel=1e-12)
    number = dofs.number.reshape(-1)[contacts.node]
    normal, stick = contacts.numbers[:, :D], contacts.kind == 0
    assert np.all(Pa[number[stick]] == 0.0)
    along = np.abs(np.einsum("ci,ci->c", normal, Pa[number]))
    assert along[acting].max() <= 1e-14 * 10
    untouched = np.setdiff1d(np.arange(len(dofs)), number[acting])
    assert np.array_equal(Pa[untouched], a[untouched])


def test_no_obstacles_no_contacts():
    nodes, contacts = some_nodes(2), Contacts()
    contacts.find(nodes, np.ones((len(nodes), 1, 64)), ObstacleSet([], 2), 0.0)
    velocity = np.ones((len(nodes), 2, 64))
    contacts.apply(velocity)
    assert len(contacts) == 0
    assert np.all(velocity == 1.0)


def test_more_contacts_than_there_was_room_for_are_all_found():
    nodes, contacts = some_nodes(3), Contacts()
    everywhere = HalfSpace(point=(0.0, 50.0, 0.0), normal=(0.0, 1.0, 0.0))
    contacts.find(nodes, np.ones((len(nodes), 1, 64)), ObstacleSet([(everywhere, "slip", 0.0, None, "")] * 2, 3), 0.0)
    assert np.array_equal(contacts.node, np.repeat(np.arange(64 * len(nodes)), 2))
