"""External forces on points: the tables [[force]] of a scene, for every method with points.

All forces change the velocities of points before a step, v ← v + Δt a, so that explicit and implicit steps, and methods
with and without a grid, treat them alike. Accelerations, forces that grow from a centre and total forces act on each
point in the shape. Surface loads are computed on the nodes: with the volume fraction χ of the material,

    ∫ w_i ∇χ dV = −Σ_p V_p J_p ∇w_ip = −A_i

is the area of the surface near node i times its inward normal; it vanishes inside the material, except for the
irregularity of the points. The forces of the nodes,

    pressure   −P A_i                  traction   t (A_i · n),

are interpolated to the points as accelerations f_i/m_i, which keeps their sum, so the momentum added by a load is
exactly that of the force on the nodes. A surface that faces away from n receives the opposite traction, so the shape of
a traction should contain only one side of a body.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.sdf.operations import ShapeProgram
from spume.mpm.nodes import NodeFields
from spume.mpm.species import Species
from spume.mpm.state import State
from spume.mpm.step import sort_points
from spume.numerics.jit import compiled
from spume.numerics.sums import total

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
        return (area @ self.normal)[:, None] * self.vector


class PointArrays(Protocol):
    """Arrays of points that loads require."""

    x: Any
    v: Any
    mass: Any


def build_loads(scene: Any) -> tuple[Load, ...]:
    """The forces of a scene."""
    return tuple(_build(scene, table) for table in scene.force)


def _build(scene: Any, table: Any) -> Load:
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
        species=getattr(table, "acts_on", "all"),
    )


def push_points(points: PointArrays, load: Load, time: float, dt: float) -> None:
    """Apply the impulse of a load in dt [s] to the velocities; for loads that do not act on surfaces."""
    factor = load.factor(time)
    if factor == 0.0 or len(points.x) == 0:
        return
    chosen = load.inside(points.x)
    if load.kind == "growth":
        _add(points.x, points.v, chosen, load.center, dt * factor * load.vector, 1.0)
        return
    vector = dt * factor * load.vector
    if load.kind == "force":
        mass = total(np.where(chosen, points.mass, 0.0))
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


def apply_loads(state: State, loads: Sequence[Load], dt: float) -> None:
    """Apply the impulses of the loads in dt [s] to the velocities of all points."""
    if not loads:
        return
    with state.timed("loads"):
        found = [load for load in loads if load.kind in ON_SURFACES and load.factor(state.time) != 0.0]
        if found:
            sort_points(state)
        for species in state.species:
            for load in loads:
                if load.kind not in ON_SURFACES and load.species in ("all", species.name):
                    push_points(species.particles, load, state.time, dt)
            own = [load for load in found if load.species in ("all", species.name)]
            if own and len(species.particles):
                _push_surface(state, species, own, dt)


def _push_surface(state: State, species: Species, loads: Sequence[Load], dt: float) -> None:
    p, d = species.particles, state.dimension
    sums = NodeFields(mass=0, area=d)
    sums.fit(state.nodes)
    volume = p.volume * species.model.volume_ratio(p.arrays())
    inward = np.broadcast_to(np.array([-1.0, -1.0, -1.0, 0.0, 0.0, 0.0]), (len(p), 6))
    species.transfers.to_grid(
        ("mass", "stress divergence"), p.x, sums.array, mass=p.mass, volume=volume, stress=np.ascontiguousarray(inward)
    )
    block, local = np.nonzero(sums["mass"] > 0.0)
    place = state.nodes.positions()[block, local]
    area = np.ascontiguousarray(sums["area"][block, :, local])  # Σ V J ∇w: along the outward normal
    force = np.zeros_like(area)
    for load in loads:
        force += np.where(load.inside(place)[:, None], load.factor(state.time) * load.surface_force(area), 0.0)
    sums["area"][:] = 0.0
    sums["area"][block, :, local] = dt * force / sums["mass"][block, local][:, None]
    change = np.zeros((len(p), d))
    species.transfers.to_points(("velocity",), p.x, sums.array, first_channel=1, v=change)
    np.add(p.v, change, out=p.v)
