"""A few torn and whole points for the tests of single stages."""

from types import SimpleNamespace

import numpy as np

from spume.foam.foam import WEAK, FoamState
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.grid.nodes import Nodes
from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from spume.materials.loops import ConstitutiveModel
from spume.matter.particles import Particles, point_fields
from spume.matter.time_step import TimeStep
from spume.mpm.species import GridSpecies, TransferScheme
from spume.mpm.world import GridWorld
from spume.scene.common import Scene


class Bench:
    """A state of points given by hand, and the foam stages on it."""

    def __init__(self, dimension=3, cell=1.0, order=3, every=1, threshold=1e-5, smallest=1e-5, **parameters):
        elastic = {"density": 100.0, "bulk_modulus": 1e5, "shear_modulus": 1e3}
        flow = {"yield_stress": 30.0, "viscosity": 20.0, "flow_index": 0.5, "tear_threshold": 1.0, "recovery_time": 0.5}
        self.parameters = HerschelBulkleyParameters(**(elastic | flow | parameters))
        particles = Particles([point_fields(dimension, False), HERSCHEL_BULKLEY.fields, (WEAK,)])
        model, nodes = ConstitutiveModel([(HERSCHEL_BULKLEY, self.parameters)]), Nodes(dimension, cell, order)
        self.world = GridWorld(
            nodes=nodes,
            species=[GridSpecies(particles, model, TransferScheme("flip", 0.95), nodes)],
            obstacles=ObstacleSet([], dimension),
            gravity=lambda time: np.zeros(3),
            time_step=TimeStep(cell, 1.0),
        )
        self.foam = FoamState(
            [(HERSCHEL_BULKLEY, self.parameters)],
            tearing=SimpleNamespace(enabled=True),
            recovery=SimpleNamespace(enabled=True, every=every),
            subgrid_removal=SimpleNamespace(enabled=True, every=1, threshold=threshold, smallest=smallest),
            resampling=SimpleNamespace(enabled=False, every=50, coverage=None, depth=2.2, merge_distance=0.03),
            seed=0,
        )

    @property
    def particles(self):
        return self.world.particles

    def add(self, F=None, be=None, **values):
        """Points with full tensors F and b̄e, shape (n, 3, 3)."""
        if F is not None:
            values |= {"F": F, "be": symmetric(be)}
        count = len(next(iter(values.values())))
        self.particles.add(count, **values)
        self.world.deformation = np.tile(np.eye(3), (len(self.particles), 1, 1))


def symmetric(tensors):
    """Full tensors (n, 3, 3) as (xx, yy, zz, xy, xz, yz)."""
    return np.stack([tensors[:, i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))], axis=1)


def full(packed):
    """The way back."""
    xx, yy, zz, xy, xz, yz = packed.T
    return np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), 2, 0)


def unit(tensors):
    """Tensors divided by the cube root of their determinant."""
    return tensors / np.cbrt(np.linalg.det(tensors))[:, None, None]


def rotations(rng, count):
    q, r = np.linalg.qr(rng.normal(size=(count, 3, 3)))
    q *= np.sign(np.einsum("nii->ni", r))[:, None, :]
    q[np.linalg.det(q) < 0, :, 0] *= -1
    return q


def elastic_plastic(rng, count, elastic=0.3, plastic=0.8):
    """F = Fe Fp, b̄e and Fpᵀ Fp of random points; det Fp = 1."""
    Fe = np.eye(3) + elastic * rng.uniform(-1, 1, (count, 3, 3)) / 3
    Fp = unit(
        rotations(rng, count) @ (np.exp(plastic * rng.normal(size=(count, 3)))[:, :, None] * rotations(rng, count))
    )
    F = Fe @ Fp
    be = unit(Fe @ Fe.transpose(0, 2, 1))
    return F, be, Fp.transpose(0, 2, 1) @ Fp


def dollop(dimension, **changes):
    """A disc or ball of foam that tears easily, thrown at an obstacle smaller than itself."""
    ball = "circle" if dimension == 2 else "sphere"
    tables = {
        "title": "dollop",
        "method": "continuum-foam",
        "dimension": dimension,
        "duration": 1.0,
        "seed": 3,
        "grid": {"cell": 0.005 if dimension == 2 else 0.008},
        "material": {"cream": {"base": "shaving cream", "tear_threshold": 1.0, "bulk_modulus": 2e4}},
        "body": [
            {
                "material": "cream",
                "shape": {ball: {"center": [0.0, 0.042, 0.0][:dimension], "radius": 0.03}},
                "velocity": [0.0, -3.0, 0.0][:dimension],
            }
        ],
        "obstacle": [
            {"shape": {ball: {"center": [0.004, 0.0, 0.0][:dimension], "radius": 0.01}}, "contact": "stick"},
        ],
        "recovery": {"every": 5},
        "subgrid_removal": {"every": 2},
        "resampling": {"every": 10},
    }
    return Scene(**(tables | changes))
