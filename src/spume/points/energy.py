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

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.matter.energy_terms import UNACCOUNTED
from spume.numerics.jit import compiled
from spume.numerics.sums import total
from spume.points.reference import Reference, reference_accelerations
from spume.points.resampling import Resampling
from spume.points.world import PointWorld

TOLERANCE = 0.05
"""Created energy that causes a warning, relative to the largest energy that the points have had [1]."""
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
        own = math.fsum(world.ranks.totals(self._present(world)))
        surplus = own - math.fsum(self.work.values())
        self.lowest = min(self.lowest, surplus)
        self.largest = max(self.largest, own)
        created = surplus - self.lowest
        dissipated = world.ranks.dot(p.volume, p.dissipation) if "dissipation" in p else 0.0
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
        return math.fsum(world.ranks.totals(self._stored(world)))

    def released(self, world: PointWorld, new: slice) -> None:
        """Points were released, the `new` ones on this rank."""
        p = world.particles
        elastic = p.volume[new] * world.model.energy(p.arrays())[new]
        self.work["sources"] += math.fsum(world.ranks.totals([kinetic_energies(p.mass[new], p.v[new]), elastic]))

    def _stored(self, world: PointWorld) -> list[NDArray[np.float64]]:
        """Elastic energies, and those of non-affine motion and of contacts [J]."""
        hidden = [] if self.reference is None else self.reference.energies(world)
        p = world.particles  # which are in another order when the reference was refreshed
        return [p.volume * world.model.energy(p.arrays()), *hidden]

    def _present(self, world: PointWorld) -> list[NDArray[np.float64]]:
        """All energies [J]. The kinetic ones are ½ m v·(v + Δt a), or ½ m v² if the forces are not known."""
        stored, p = self._stored(world), world.particles
        if self.reference is None or not world.listed or self.dt == 0.0:
            return [*stored, kinetic_energies(p.mass, p.v)]
        a = reference_accelerations(world, self.reference) + world.gravity(world.time)[: world.dimension]
        return [*stored, 0.5 * works(p.mass, p.v, p.v + self.dt * a)]


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
    kinds = list(("loads", "obstacles")[-len(between) :])
    parts = [works(p.mass, after - before, passed) for before, after in itertools.pairwise(velocities)]
    g = world.gravity(world.time)[: world.dimension]
    if g.any():
        kinds.append("gravity")
        parts.append(works(p.mass, p.x - world.before, np.tile(g, (len(p), 1))))
    for kind, work in zip(kinds, world.ranks.totals(parts)):
        budget.work[kind] += work
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
    elastic = p.volume * world.model.energy(p.arrays())
    return math.fsum(world.ranks.totals([kinetic_energies(p.mass, p.v), elastic]))


def kinetic_energy(mass: NDArray[np.float64], v: NDArray[np.float64]) -> float:
    """Σ ½ m v² [J]; the same for any number of threads."""
    return total(kinetic_energies(mass, v))


def kinetic_energies(mass: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """½ m v² of each point [J]."""
    return 0.5 * works(mass, v, v)


def works(mass: NDArray[np.float64], change: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """m Δv·v of each point [J]."""
    each = np.empty(len(mass))
    _works(mass, change, v, each)
    return each


@compiled(parallel=True)
def _works(mass, change, v, each):
    for p in prange(each.size):
        product = 0.0
        for q in range(v.shape[1]):
            product += change[p, q] * v[p, q]
        each[p] = mass[p] * product
