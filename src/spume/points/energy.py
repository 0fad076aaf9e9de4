"""The energy budget of a run: energy that the forces created is energy without a source.

In each step the work of gravity, m g·Δx, and that of loads and obstacles, m Δv·v, are added up.
Released points bring theirs. The surplus

    kinetic + elastic + non-affine + contact − work

falls when flow, damping, contacts and renewals dissipate energy, and must not grow. What it has above its lowest value
in the frames so far was created. This is a lower bound: dissipation in the meantime hides creation. The dissipation
that laws record is no help: in a step of the length Δε it exceeds the work of the forces by about ½ C Δε², more than
the stress at yield can supply where that is low. Energy that SPH pressure stores is not known; it is missing while it
is stored. The kinetic energy is ½ m v·(v + Δt a): symplectic Euler conserves the sum with it to the second order in Δt,
with ½ m v² only to the first.

The report has the form of `matter/energy_terms.py`: `unaccounted` is the surplus plus what laws record as dissipated.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.matter.energy_terms import UNACCOUNTED
from spume.numerics.jit import compiled
from spume.numerics.sums import dot
from spume.points.reference import Reference, reference_accelerations
from spume.points.resampling import Resampling
from spume.points.world import PointWorld

TOLERANCE = 0.05
"""Created energy that causes a warning, relative to the largest energy that the points have had [1]."""
CHUNK = 4096
"""Points per partial sum."""
KINDS = ("gravity", "loads", "obstacles", "sources", "resampling")


@dataclass
class EnergyBudget:
    """Work done on the points since the start, by kind [J]."""

    reference: Reference | None
    work: dict[str, float] = field(default_factory=lambda: dict.fromkeys(KINDS, 0.0))
    largest: float = 0.0
    """Largest energy of the points in a frame so far [J]."""
    lowest: float = 0.0
    """Lowest surplus of energy over work in a frame so far [J]."""
    v: list[NDArray[np.float64]] = field(default_factory=list)
    """Velocities before the forces of the current step, before the loads, and before the obstacles [m/s]."""
    dt: float = 0.0
    """Length of the last step [s]."""

    def diagnostics(self, world: PointWorld) -> dict[str, Any]:
        """Work by kind and created energy [J]; a warning if it is too much."""
        p = world.particles
        own = self.internal(world) + self._centred_kinetic(world)
        surplus = own - math.fsum(self.work.values())
        self.lowest = min(self.lowest, surplus)
        self.largest = max(self.largest, own)
        created = surplus - self.lowest
        dissipated = dot(p.volume, p.dissipation) if "dissipation" in p else 0.0
        terms = {**self.work, "flow": -dissipated, UNACCOUNTED: surplus + dissipated}
        report: dict[str, Any] = {"energy_budget": terms, "created_energy": created}
        if created > TOLERANCE * self.largest > 0.0:
            report["warnings"] = {
                "energy": f"the points have gained {created:.3g} J that no gravity, load or obstacle gave them, "
                f"{100.0 * created / self.largest:.2g} % of the most they have had: the forces create energy; "
                + (
                    "reduce [time] courant or dt, or raise [forces] damping"
                    if self.reference is not None
                    else "use [forces] gradient = 'reference'"
                )
            }
        return report

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        return {"energy_budget": {"work": self.work, "largest": self.largest, "lowest": self.lowest, "dt": self.dt}}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        saved = values["energy_budget"]
        self.work, self.largest, self.dt = dict(saved["work"]), saved["largest"], saved["dt"]
        self.lowest = saved.get("lowest", 0.0)

    def internal(self, world: PointWorld) -> float:
        """Elastic energy, that of non-affine motion and that of contacts [J]."""
        p = world.particles
        hidden = 0.0 if self.reference is None else self.reference.energy(world)
        return dot(p.volume, world.model.energy(p.arrays())) + hidden

    def released(self, world: PointWorld, new: slice) -> None:
        """Points were released."""
        p = world.particles
        energy = world.model.energy(p.arrays())
        self.work["sources"] += kinetic_energy(p.mass[new], p.v[new]) + dot(p.volume[new], energy[new])

    def _centred_kinetic(self, world: PointWorld) -> float:
        """½ m v·(v + Δt a) [J]; ½ m v² if the forces are not known."""
        p = world.particles
        if self.reference is None or not world.listed or self.dt == 0.0:
            return kinetic_energy(p.mass, p.v)
        a = reference_accelerations(world, self.reference) + world.gravity(world.time)[: world.dimension]
        return 0.5 * dot(p.mass, np.einsum("ij,ij->i", p.v, p.v + self.dt * a))


def begin(world: PointWorld, dt: float, budget: EnergyBudget) -> None:
    """Remember the velocities before the forces of the step."""
    budget.v = [world.particles.v.copy()]


def look(world: PointWorld, dt: float, budget: EnergyBudget) -> None:
    """Remember the velocities before loads or obstacles change them."""
    budget.v.append(world.particles.v.copy())


def count_work(world: PointWorld, dt: float, budget: EnergyBudget) -> None:
    """Count the work of loads, obstacles and gravity in the step.

    A change Δv of the velocity that makes v₀ to v over the step has the work m Δv·(v₀ + v)/2; the sum over all changes
    is exactly that of the kinetic energy."""
    p = world.particles
    start, *between = budget.v
    passed = 0.5 * (start + p.v)
    velocities = [*between, p.v]
    for kind, before, after in zip(("loads", "obstacles")[-len(between) :], velocities, velocities[1:]):
        budget.work[kind] += work_of(p.mass, after - before, passed)
    g = world.gravity(world.time)[: world.dimension]
    if g.any():
        budget.work["gravity"] += work_of(p.mass, p.x - world.before, np.tile(g, (len(p), 1)))
    budget.dt = dt


def counted_resampling(
    world: PointWorld, dt: float, budget: EnergyBudget, resample: Callable[..., None], settings: Resampling
) -> None:
    """Resample every few steps, and count what it changes."""
    if (world.steps + 1) % settings.every != 0:
        return
    before = points_energy(world)
    resample(world, dt, settings)
    budget.work["resampling"] += points_energy(world) - before


def points_energy(world: PointWorld) -> float:
    """Kinetic and elastic energy [J]."""
    p = world.particles
    return kinetic_energy(p.mass, p.v) + dot(p.volume, world.model.energy(p.arrays()))


def kinetic_energy(mass: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """Σ ½ m v² [J]; the same for any number of threads."""
    return 0.5 * work_of(mass, v, v)


def work_of(mass: NDArray[np.float64], change: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """Σ m Δv·v [J]; the same for any number of threads."""
    parts = np.empty((len(mass) + CHUNK - 1) // CHUNK)
    _work(mass, change, v, parts)
    return math.fsum(parts.tolist())


@compiled(parallel=True)
def _work(mass, change, v, parts):
    for part in prange(parts.size):
        total = 0.0
        for p in range(CHUNK * part, min(mass.size, CHUNK * (part + 1))):
            product = 0.0
            for q in range(v.shape[1]):
                product += change[p, q] * v[p, q]
            total += mass[p] * product
        parts[part] = total
