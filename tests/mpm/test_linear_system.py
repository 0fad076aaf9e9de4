"""Linear systems on nodes by gather and scatter, against the same system assembled and solved densely."""

import numpy as np
import pytest
from oracle import DenseGrid

from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.geometry.shapes.primitives import HalfSpace
from spume.grid.contacts import Contacts
from spume.grid.linear_system import StressSystem
from spume.grid.nodes import NodeFields, Nodes, number_active
from spume.grid.transfers import Transfers
from spume.numerics.krylov import conjugate_gradient, minres

CELL, ORDER, SCALE = 0.1, 2, 0.3
MU, LAM = 4.0, 7.0


def poisson(L, T):
    """Each component by itself: T = L, so that A is mass plus the Laplacian."""
    T[:] = L


def elasticity(L, T):
    """2 μ sym L + λ tr L I."""
    T[:] = MU * (L + L.transpose(0, 2, 1)) + LAM * np.trace(L, axis1=1, axis2=2)[:, None, None] * np.eye(3)


class Problem:
    """A square of points on a grid, the lowest nodes in contact with the ground."""

    def __init__(self, tangent, contact):
        rng = np.random.default_rng(4)
        ticks = (np.arange(8) + 0.5) * CELL / 2
        self.x = np.stack(np.meshgrid(ticks, ticks, indexing="ij"), -1).reshape(-1, 2)
        self.x += rng.uniform(-0.1, 0.1, self.x.shape) * CELL
        self.volume, mass = rng.uniform(0.5, 1.5, (2, len(self.x))) * CELL**2 / 4
        self.nodes, transfers = Nodes(2, CELL, ORDER), Transfers(2, CELL, ORDER)
        transfers.cells.sort(self.x)
        self.nodes.cover([transfers.cells])
        transfers.connect(self.nodes)
        fields = NodeFields(mass=0)
        fields.fit(self.nodes)
        transfers.to_grid(("mass",), self.x, fields.array, mass=mass)
        self.dofs = number_active(fields["mass"])
        self.mass = self.dofs.take(fields["mass"])
        ground = HalfSpace(point=(0.0, 0.01), normal=(0.3, 1.0))
        obstacles = ObstacleSet([(ground, contact, 0.0, None, "ground")], 2)
        self.contacts = Contacts()
        self.contacts.find(self.nodes, fields.array, obstacles, 0.0)
        engaged = self.contacts.apply(np.zeros((len(self.nodes), 2, 64)))
        self.system = StressSystem(
            transfers, self.nodes, self.dofs, self.mass, self.x, self.volume, tangent, SCALE, self.contacts, engaged
        )
        self.tangent = tangent
        self.right = rng.normal(size=(len(self.dofs), 2))

    def matrix(self):
        """A, assembled from the dense weights of the oracle, its rows and columns those of a flattened (n, 2)."""
        dense = DenseGrid(self.x, CELL, ORDER)
        place = {tuple(node): n for n, node in enumerate(dense.nodes)}
        wanted = np.round(self.nodes.positions().reshape(-1, 2)[self.dofs.node] / CELL).astype(int)
        dw = dense.dw[:, [place[tuple(node)] for node in wanted]]  # (points, unknowns, 2)
        count = 2 * len(self.dofs)
        A = np.diag(np.repeat(self.mass, 2))
        for column in range(count):
            u = np.zeros((len(self.dofs), 2))
            u[column // 2, column % 2] = 1.0
            L, T = np.zeros((len(self.x), 3, 3)), np.zeros((len(self.x), 3, 3))
            L[:, :2, :2] = np.einsum("ia,pib->pab", u, dw)
            self.tangent(L, T)
            A[:, column] += SCALE * np.einsum("p,pab,pib->ia", self.volume, T[:, :2, :2], dw).ravel()
        return A

    def projector(self):
        P = np.eye(2 * len(self.dofs))
        for row in P:
            vector = row.reshape(-1, 2).copy()
            self.system.project(vector)
            row[:] = vector.ravel()
        return P


@pytest.mark.parametrize("tangent", [poisson, elasticity])
def test_products_are_those_of_the_assembled_matrix(tangent):
    problem = Problem(tangent, "stick")
    A = problem.matrix()
    v = np.random.default_rng(1).normal(size=problem.right.shape)
    expected = A @ v.ravel()
    assert np.abs(problem.system.multiply(v).ravel() - expected).max() <= 1e-12 * np.abs(expected).max()
    assert np.abs(A - A.T).max() <= 1e-12 * np.abs(A).max()


@pytest.mark.parametrize("solve", [conjugate_gradient, minres])
@pytest.mark.parametrize("contact", ["stick", "slip"])
@pytest.mark.parametrize("tangent", [poisson, elasticity])
def test_solutions_are_those_of_the_constrained_dense_system(tangent, contact, solve):
    """With P the projection, the x = P x for which P A P x = P b; the error is at most the residual times 1/λmin."""
    problem = Problem(tangent, contact)
    found = solve(problem.system, problem.right, tolerance=1e-10, limit=4000)
    assert found.converged
    P, A, b = problem.projector(), problem.matrix(), problem.right.ravel()
    assert 0 < np.linalg.matrix_rank(np.eye(len(P)) - P) < len(P)  # the contacts do constrain something
    free = np.linalg.svd(P)[0][:, : np.linalg.matrix_rank(P)]
    reduced = free.T @ A @ free
    expected = free @ np.linalg.solve(reduced, free.T @ b)
    least = np.linalg.eigvalsh(reduced)[0]
    bound = 2 * max(found.residual, 1e-10) * np.linalg.norm(b) / least + 1e-12 * np.linalg.norm(expected)
    assert np.linalg.norm(found.x.ravel() - expected) <= bound
    assert np.abs(found.x.ravel() - P @ found.x.ravel()).max() <= 1e-12 * np.abs(found.x).max()
