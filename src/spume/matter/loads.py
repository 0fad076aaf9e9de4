"""External forces on points: the tables [[force]] of a scene, for every method with points.

All forces change the velocities of points before a step, v ← v + Δt a, so that explicit and implicit steps, and methods
with and without a grid, treat them alike. Accelerations, forces that grow from a centre and total forces act on each
point in the shape. Surface loads depend on the method: see `mpm.loads` and `points.loads`.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.sdf.operations import ShapeProgram
from spume.numerics.jit import compiled
from spume.numerics.rows import rows_along
from spume.ranks.ranks import Ranks
from spume.scene.force import ForceTable
from spume.scene.material_scene import MaterialScene

Floats = NDArray[np.float64]
ON_SURFACES = ("traction", "pressure")


@dataclass(frozen=True)
class Load:
    """One table [[force]]."""

    kind: str
    """"acceleration", "force", "growth", "traction" or "pressure" """
    vector: Floats
    """Acceleration [m/s²], total force [N], acceleration per distance [1/s²] or traction [Pa], shape (d,)"""
    center: Floats
    """Centre of a force that grows with the distance [m]"""
    normal: Floats
    """Unit normal of the surface that carries the traction"""
    pressure: float
    """[Pa]"""
    times: Floats
    factors: Floats
    """Factor at each time; linear between them, constant before the first and after the last [1]"""
    region: ShapeProgram | None
    """Shape in which it acts; None: everywhere"""
    species: str
    """Name of the species it acts on, or "all" """

    def factor(self, time: float) -> float:
        """Factor at `time` [s]."""
        return float(np.interp(time, self.times, self.factors))

    def inside(self, x: Floats) -> NDArray[np.bool_]:
        """Mask of the positions `x` [m], shape (n, d), at which it acts."""
        if self.region is None:
            return np.ones(len(x), np.bool_)
        return distances(self.region, x) <= 0.0

    def surface_force(self, area: Floats) -> Floats:
        """Force [N] on pieces of surface with the outward area vectors `area` [m²], shape (n, d)."""
        if self.kind == "pressure":
            return -self.pressure * area
        return rows_along(area, self.normal)[:, None] * self.vector


class PointArrays(Protocol):
    """Arrays of points that loads require."""

    @property
    def x(self) -> Floats: ...
    @property
    def v(self) -> Floats: ...
    @property
    def mass(self) -> Floats: ...


def build_loads(scene: MaterialScene) -> tuple[Load, ...]:
    """The forces of a scene."""
    return tuple(_build(scene, table) for table in scene.force)


def _build(scene: MaterialScene, table: ForceTable) -> Load:
    (kind,) = table.kinds
    zero = np.zeros(scene.dimension)
    vector = zero if kind == "pressure" else np.array(getattr(table, kind))
    normal = zero
    if kind == "traction":
        normal = -vector if table.normal is None else np.array(table.normal)
        normal = normal / np.linalg.norm(normal)
    return Load(
        kind=kind,
        vector=vector,
        center=zero if table.center is None else np.array(table.center),
        normal=normal,
        pressure=0.0 if table.pressure is None else table.pressure,
        times=np.array(table.times),
        factors=np.array(table.factors),
        region=None if table.shape is None else compile_shape(table.shape, scene.dimension, scene.folder),
        species=table.species,
    )


def push_points(points: PointArrays, load: Load, time: float, dt: float, ranks: Ranks) -> None:
    """Apply the impulse of a load in dt [s] to the velocities; for loads that do not act on surfaces."""
    factor = load.factor(time)
    if factor == 0.0:
        return
    chosen = load.inside(points.x)
    if load.kind == "growth":
        _add(points.x, points.v, chosen, load.center, dt * factor * load.vector, 1.0)
        return
    vector = dt * factor * load.vector
    if load.kind == "force":
        mass = ranks.total(np.where(chosen, points.mass, 0.0))
        if mass == 0.0:
            return
        vector = vector / mass
    _add(points.x, points.v, chosen, vector, vector, 0.0)


@compiled(parallel=True)
def _add(x, v, chosen, center, vector, grows):
    """v ← v + vector, or v + vector (x − center) if the load grows, for the chosen points."""
    for p in prange(x.shape[0]):
        if chosen[p]:
            for q in range(x.shape[1]):
                v[p, q] += vector[q] * (x[p, q] - center[q]) if grows > 0.0 else vector[q]
