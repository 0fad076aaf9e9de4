"""Beams for the tests of implicit steps."""

import numpy as np

from spume import Scene
from spume.foam.plain import MaterialPointMethod

CELL = 0.1
RUBBER = {"law": "hencky", "density": 1000.0, "youngs_modulus": 1e5, "poisson_ratio": 0.3}


def beam_scene(dt=1e-2, material=None, implicit=None, **more):
    """A short beam in the plane, clamped at its left end."""
    tables = {
        "title": "beam", "method": "mpm", "dimension": 2, "duration": 1.0,
        "grid": {"cell": CELL, "spline": "quadratic"}, "time": {"integrator": "implicit", "dt": dt},
        "implicit": implicit or {}, "material": {"m": material or RUBBER},
        "body": [{"material": "m", "shape": {"rectangle": {"center": [0.5, 0.2], "size": [1.0, 0.4]}}}],
        "obstacle": [{"shape": {"half_plane": {"point": [0.15, 0.0], "normal": [1.0, 0.0]}}, "contact": "stick"}],
    }  # fmt: skip
    return Scene(**(tables | more))


def beam(**options):
    return MaterialPointMethod(beam_scene(**options))


def stir(method, size, seed=1):
    """Smooth velocities of different directions, so that every point deforms."""
    p = method.particles
    a = np.random.default_rng(seed).normal(size=(2, 2)) * size
    p.v[:] = np.sin(4.0 * p.x) @ a
