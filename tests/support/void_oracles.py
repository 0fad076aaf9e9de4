"""States without a scene, and slow, obvious versions of the algorithms, for the tests of resampling."""

import itertools

import numpy as np
from scipy.ndimage import map_coordinates
from scipy.spatial import Delaunay, cKDTree

from spume.foam.resampling import ResamplingSettings
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.grid.nodes import Nodes
from spume.materials.herschel_bulkley import HERSCHEL_BULKLEY, HerschelBulkleyParameters
from spume.materials.loops import ConstitutiveModel
from spume.matter.particles import Particles, point_fields
from spume.matter.time_step import TimeStep
from spume.mpm.species import GridSpecies, TransferScheme
from spume.mpm.world import GridWorld

CELL = 0.02
R = CELL / 2
ALPHA = {d: ResamplingSettings().alpha(d) for d in (2, 3)}
DEPTH = 2.2
FOAM = HerschelBulkleyParameters(
    density=77.7, bulk_modulus=109e3, shear_modulus=290.0, yield_stress=31.9, viscosity=27.2, flow_index=0.22
)


def lattice(shape, offset=0.5):
    """Points of a lattice of spacing r [m], shape (n, d)."""
    ticks = np.meshgrid(*[np.arange(n) for n in shape], indexing="ij")
    return (np.stack(ticks, axis=-1).reshape(-1, len(shape)) + offset) * R


def scattered(rng, d, points=1.0):
    """A block of uniformly random points, `points` per r^d on average: full of voids."""
    side = np.array([14.0] * 3) if d == 3 else np.array([40.0, 40.0])
    return rng.uniform(0.0, side * R, (int(points * np.prod(side)), d))


def unit_determinant(rng, n):
    """Random symmetric positive tensors of determinant one, shape (n, 6)."""
    a = np.eye(3) + 0.2 * rng.standard_normal((n, 3, 3))
    b = a @ a.transpose(0, 2, 1)
    b /= np.cbrt(np.linalg.det(b))[:, None, None]
    return b[:, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def full(symmetric):
    """Symmetric tensors (n, 6) as matrices."""
    xx, yy, zz, xy, xz, yz = np.moveaxis(symmetric, -1, 0)
    return np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), -1, 0)


def make_state(x, seed=0, order=3, affine=True, material=0, materials=1):
    """Points at x with random fields of every kind."""
    rng = np.random.default_rng(seed)
    n, d = x.shape
    particles = Particles([point_fields(d, affine), HERSCHEL_BULKLEY.fields])
    fields = {
        "v": rng.standard_normal((n, d)),
        "mass": rng.uniform(0.5, 1.5, n),
        "volume": rng.uniform(0.5, 1.5, n),
        "body": rng.integers(0, 4, n),
        "F": np.eye(3) + 0.1 * rng.standard_normal((n, 3, 3)),
        "be": unit_determinant(rng, n),
        "dissipation": rng.uniform(0.0, 1.0, n),
        "stress": rng.standard_normal((n, 6)),
    }
    if affine:
        fields["C"] = rng.standard_normal((n, d, d))
    particles.add(n, x=x, material=material, **fields)
    nodes, scheme = Nodes(d, CELL, order), TransferScheme("apic") if affine else TransferScheme("flip", 0.95)
    return GridWorld(
        nodes=nodes,
        species=[GridSpecies(particles, ConstitutiveModel([(HERSCHEL_BULKLEY, FOAM)] * materials), scheme, nodes)],
        obstacles=ObstacleSet([], d),
        gravity=lambda time: np.zeros(3),
        time_step=TimeStep(CELL, 1.0),
    )


def totals(state):
    """Mass, volume and momentum."""
    p = state.particles
    return np.concatenate([[p.mass.sum(), p.volume.sum()], p.mass @ p.v])


class DenseDistance:
    """[Yue15] algorithm 2, line by line, on a dense grid over all points."""

    def __init__(self, x):
        d = x.shape[1]
        self.low = np.floor(x.min(axis=0) / R).astype(int) - 12
        shape = np.ceil(x.max(axis=0) / R).astype(int) + 13 - self.low
        nodes = np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), axis=-1)
        nearest = cKDTree(x / R).query(nodes.reshape(-1, d) + self.low)[0].reshape(shape)
        phi = nearest - 1.0
        samples = []
        for axis in range(d):
            a, b = np.moveaxis(phi, axis, 0)[:-1], np.moveaxis(phi, axis, 0)[1:]
            place = np.moveaxis(nodes, axis, 0)[:-1].astype(float)
            cut = (a < 0) != (b < 0)
            place[..., axis] += np.divide(a, a - b, out=np.zeros_like(a), where=cut)
            samples.append(place[cut])
        distance = cKDTree(np.concatenate(samples)).query(nodes.reshape(-1, d))[0].reshape(shape)
        self.values = np.where(phi < 0, -1.0, 1.0) * np.minimum(distance, 4.0)

    def __call__(self, x):
        """Interpolated distance [r] at places x [m]."""
        return map_coordinates(self.values, (x / R - self.low).T, order=1, mode="nearest")


def uncovered(x, distance, rng, depth=DEPTH):
    """Places deeper than `depth` and farther than αr from every point.

    The distance to the nearest point is largest at circumcentres of the Delaunay simplices, of which the farthest are
    looked at, or at the border of the deep region, which random places probe.
    """
    d = x.shape[1]
    corners = (x / R)[Delaunay(x / R).simplices]
    edges = corners[:, 1:] - corners[:, :1]
    regular = np.abs(np.linalg.det(edges)) > 1e-6
    edges, first = edges[regular], corners[regular, 0]
    centre = (first + np.linalg.solve(edges, 0.5 * (edges**2).sum(axis=2)[..., None])[..., 0]) * R
    inside = np.all((centre > x.min(axis=0)) & (centre < x.max(axis=0)), axis=1)
    anywhere = rng.uniform(x.min(axis=0), x.max(axis=0), (100_000, d))
    places = np.concatenate([centre[inside], anywhere])
    # rounding of the interpolation, and the smallest cells of the search (1e-8)
    deep = distance(places) < -depth - 1e-9
    far = cKDTree(x).query(places)[0] > (ALPHA[d] + 1e-7) * R
    return places[deep & far]


def spline(order, t):
    """Uniform B-spline [Steffen08]."""
    t = np.abs(t)
    if order == 3:
        return np.where(t < 1, t**3 / 2 - t**2 + 2 / 3, np.where(t < 2, (2 - t) ** 3 / 6, 0.0))
    return np.where(t < 0.5, 0.75 - t**2, np.where(t < 1.5, (1.5 - t) ** 2 / 2, 0.0))


def grid_average(order, x, mass, values, place):
    """[Yue15] eqs. (19) and (20) at one place [m], directly: a loop over the nodes that reach it."""
    base = np.floor(place / CELL).astype(int)
    total, result = 0.0, np.zeros(values.shape[1:])
    for shift in itertools.product(range(-2, 4), repeat=len(place)):
        node = (base + shift) * CELL
        w = spline(order, (place - node) / CELL).prod()
        if w == 0:
            continue
        wp = mass * spline(order, (x - node) / CELL).prod(axis=1)
        if wp.sum() > 0:
            total += w
            result += w * np.tensordot(wp, values, axes=1) / wp.sum()
    return result / total
