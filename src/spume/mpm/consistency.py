"""Agreement of the deformation gradients of elastic bodies with the positions of their points.

A point is deformed by the velocity gradient at one place, while its neighbours follow the velocities where they are.
As a body passes over the fixed grid, the differences add up: a beam that has swung hangs a tenth too low
(docs/measured/mpm.md, rest states). The positions themselves do not drift, so F is led back to them. With D = X_q − X_p
between points that were neighbours at the start, and the deformation gradient G that the steps have given them,

    e_pq = x_q − x_p − (θ G_p + (1 − θ) G_q) D

is the part of their distance that G does not explain. With θ = ½ it vanishes for every motion that is quadratic in
space, at surfaces too, so that bending is not changed. The least squares of e over the neighbours of a point give

    ΔG = (1 − exp(−Δt/τ)) Σ s e Dᵀ (Σ s D Dᵀ)⁻¹,    τ = CROSSINGS h/c,

and the deformation f of the step becomes f (I + ΔG G⁻¹). The factor s falls to zero where e is TEAR of the distance:
points that have parted, numerically or at an edge, no longer lead each other. For short waves ΔG stiffens the body with
a delay, which adds energy to vibrations; θ = OWN, slightly above a half, takes about as much. Obstacles displace points
at surfaces without the motion of the grid, which is no deformation: x stands for the position without that, and points
displaced further than LOOSE neither lead nor are led. All constants were chosen on the beam of `validation rest-state`.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.fields import IDENTITY, Field
from spume.materials.kinematics import load, store
from spume.matter.material import update_material
from spume.matter.stages import Stage
from spume.mpm.neighbourhood import Neighbourhood
from spume.mpm.species import reference_field
from spume.mpm.world import GridWorld
from spume.numerics.jit import compiled
from spume.numerics.tensor3 import det, inverse, multiply
from spume.scene.mpm import MpmScene

OWN = 0.52
"""θ [1]."""
CROSSINGS = 10.0
"""τ in units of the time h/c in which waves cross a cell: long beside a step, short beside the time of a vibration that
the grid resolves."""
INTERVAL = 10
"""Number of explicit steps from one correction to the next."""
TEAR = 0.25
"""Part of the distance of two points that G may fail to explain before they are taken as parted [1]."""
LOOSE = 0.1
"""Displacement by obstacles, in spacings, beyond which a point does not lead others and is not led."""
Floats = NDArray[np.float64]
GRADIENT = Field(
    "motion_gradient", (3, 3), IDENTITY, "1", "average", in_frames=False,
    description="deformation gradient by the deformations of the steps",
)  # fmt: skip


def displacement_by_obstacles(dimension: int) -> Field:
    """Field with the displacement of points that the motion of the grid does not explain."""
    return Field(
        "displaced", (dimension,), 0.0, "m", "average", in_frames=False,
        description="displacement by collisions of the point itself with obstacles",
    )  # fmt: skip


def carried_fields(scene: MpmScene) -> tuple[Field, ...]:
    """Fields of the points of scenes with elastic bodies on a fixed grid."""
    if not scene.leads_elastic_bodies:
        return ()
    return (reference_field(scene.dimension), displacement_by_obstacles(scene.dimension), GRADIENT)


class Consistency:
    """Neighbours of the points of elastic bodies, found again when there are others."""

    def __init__(self, scene: MpmScene) -> None:
        self.bodies = len(scene.body)
        self.interval = INTERVAL if scene.time.integrator == "explicit" else 1
        self.rates = np.array(
            [m.law.wave_speed(m.parameters) / (CROSSINGS * scene.cell) if m.law.is_elastic else 0.0
             for m in scene.materials]
        )  # fmt: skip
        """1/τ of each material [1/s], zero where F is not corrected."""
        self._expected: list[Floats] = []
        """Positions without collisions at the end of the step, for each species [m]."""
        self._neighbourhoods: dict[str, Neighbourhood] = {}
        """Of the species."""

    def restore(self, world: GridWorld, dt: float) -> None:
        """Include the correction in the deformation of the step, every `interval` steps, and follow G."""
        due = world.steps % self.interval == 0
        for species in world.species:
            p = species.particles
            if due:
                near = self._neighbourhoods.setdefault(species.name, Neighbourhood(self.rates > 0.0, self.bodies))
                near.find(world, p)
                x, X, G, displaced = map(near.ghosts.extended, (p.x, p.reference, p.motion_gradient, p.displaced))
                _lead(
                    near.points, near.neighbours, 1.0 - np.exp(-self.interval * dt * self.rates), p.material, x, X, G,
                    displaced, p.volume, species.deformation,
                )  # fmt: skip
            _follow(species.deformation, p.motion_gradient)
        self._expected = [species.particles.x + dt * species.particles.v for species in world.species]

    def displace(self, world: GridWorld) -> None:
        """Remember how obstacles have displaced points."""
        for species, expected in zip(world.species, self._expected):
            p = species.particles
            p.displaced[:] += p.x - expected


def rehearse_consistency(world: GridWorld, dt: float, consistency: Consistency) -> None:
    """Follow points that do not deform."""
    for species in world.species:
        species.fit_deformation()
        species.deformation[:] = np.eye(3)
    consistency.restore(world, dt)


def restore_consistency(world: GridWorld, dt: float, consistency: Consistency) -> None:
    """The stage, between the deformation of a step and the laws."""
    consistency.restore(world, dt)


def follow_collisions(world: GridWorld, dt: float, consistency: Consistency) -> None:
    """The stage after the points have moved."""
    consistency.displace(world)


def with_consistency(stages: Iterable[Stage], scene: MpmScene) -> list[Stage]:
    """The stages of a step with that of this file, if the scene uses it."""
    listed = list(stages)
    if carried_fields(scene):
        place = next(k for k, stage in enumerate(listed) if stage.function is update_material)
        own = Stage("consistency", restore_consistency, Consistency(scene), rehearse=rehearse_consistency)
        listed.insert(place, own)
        listed.append(Stage("consistency", follow_collisions, own.needs[0]))
    return listed


def completed(arrays: dict[str, NDArray[Any]], world: GridWorld) -> dict[str, NDArray[Any]]:
    """The arrays of a checkpoint; points of an earlier version, which remember nothing, begin from where they are."""
    for species in world.species:
        x, name = arrays.get(f"{species.name}/x"), f"{species.name}/{GRADIENT.name}"
        if GRADIENT.name in species.particles and x is not None and name not in arrays:
            arrays = arrays | {
                f"{species.name}/reference": x.copy(),
                f"{species.name}/displaced": np.zeros_like(x),
                name: GRADIENT.allocate(len(x)),
            }
    return arrays


@compiled
def _free(displaced, p, limit):
    """Whether obstacles have displaced point p by less than `limit`."""
    square = 0.0
    for i in range(displaced.shape[1]):
        square += displaced[p, i] * displaced[p, i]
    return square <= limit * limit


@compiled(parallel=True)
def _lead(points, neighbours, share, material, x, X, G, displaced, volume, deformation):
    D = x.shape[1]
    for n in prange(points.size):
        p = points[n]
        limit = LOOSE * volume[p] ** (1.0 / D)
        if not _free(displaced, p, limit):
            continue
        A, B = np.zeros((3, 3)), np.zeros((3, 3))
        rest, now, own, e = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
        for k in range(neighbours.shape[1]):
            q = neighbours[n, k]
            if q < 0:
                break
            if not _free(displaced, q, limit):
                continue
            for i in range(D):
                rest[i], now[i] = X[q, i] - X[p, i], x[q, i] - displaced[q, i] - x[p, i] + displaced[p, i]
            length, missing = 0.0, 0.0
            for i in range(D):
                own[i] = 0.0
                for j in range(D):
                    own[i] += (OWN * G[p, i, j] + (1.0 - OWN) * G[q, i, j]) * rest[j]
                e[i] = now[i] - own[i]
                length += own[i] * own[i]
                missing += e[i] * e[i]
            if not missing < TEAR * TEAR * length:
                continue
            s = 1.0 - missing / (TEAR * TEAR * length)
            for i in range(D):
                for j in range(D):
                    A[i, j] += s * rest[i] * rest[j]
                    B[i, j] += s * e[i] * rest[j]
        trace = A[0, 0] + A[1, 1] + A[2, 2]
        if trace == 0.0:
            continue
        for i in range(3):  # rows and columns of layers one point thick stay zero
            A[i, i] += 1e-9 * trace if i < D else trace
        a = inverse((A[0, 0], A[0, 1], A[0, 2], A[1, 0], A[1, 1], A[1, 2], A[2, 0], A[2, 1], A[2, 2]))
        b = (B[0, 0], B[0, 1], B[0, 2], B[1, 0], B[1, 1], B[1, 2], B[2, 0], B[2, 1], B[2, 2])
        change = multiply(multiply(b, a), inverse(load(G, p)))
        r = share[material[p]]
        change = (
            1.0 + r * change[0], r * change[1], r * change[2],
            r * change[3], 1.0 + r * change[4], r * change[5],
            r * change[6], r * change[7], 1.0 + r * change[8],
        )  # fmt: skip
        J = det(change)
        if 0.5 < J < 2.0 and math.isfinite(J):
            store(deformation, p, multiply(load(deformation, p), change))


@compiled(parallel=True)
def _follow(deformation, G):
    for p in prange(G.shape[0]):
        store(G, p, multiply(load(deformation, p), load(G, p)))
