"""The energy budget of a method on a grid: `matter/energy_terms.py` says what the terms mean.

Stages between those of the step follow the energy through it. With v⁰ and v the velocities of a node before and after
the step, v̄ their mean, and I the impulses on the node, ½ m (v² − v⁰²) = Σ I·v̄ exactly, whatever the length of the
step. So the change of the kinetic energy on the grid is divided exactly among gravity, contacts and stress:

    transfers          from the kinetic energy of the points to that of the nodes, ½ Σ p²/m, and back
    drag               Σ I·v̄ with the impulses I between two species, on the nodes
    contacts           Σ I·(v̄ − u) with the impulses I of obstacles that move with u, on nodes and on points
    obstacles          Σ I·u
    gravity            Σ m g·Δx of the points
    flow               τ̄ : ln f − ΔW of points that have flowed, with the mean τ̄ of the stresses before and after
    time integration   the work of gravity and stress on the nodes, with v̄, less that on the points, Σ m g·Δx and
                       Σ V τ̄ : ln f: of first order in Δt. In explicit steps its sum over time is −½ Δt Σ f·v, which
                       does not grow; in implicit ones it is their damping.

What remains unaccounted for is τ̄ : ln f − ΔW of points that have not flowed, of third order in each step. Torn points
bear no tension and their deformation is limited, so for these the work of the stress used in the step is compared with
the change of W and the flow that the law records; the difference is `tearing`.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.matter.energy_terms import TERMS, TOLERANCE, UNACCOUNTED
from spume.matter.frame_fields import stress_power
from spume.matter.material import update_material
from spume.matter.motion import collide_and_move
from spume.matter.species import Species
from spume.matter.stages import Stage
from spume.mpm.consistency import restore_consistency
from spume.mpm.crowded_sand import INTERVAL, restore_crowded_sand
from spume.mpm.diagnostics import elastic_energy, kinetic_energy, squares
from spume.mpm.energy_nodes import Exchange, count_nodes, keep_forced
from spume.mpm.energy_sums import gathered, in_material, moved, work_of_obstacles
from spume.mpm.implicit.semi_implicit import SemiImplicit
from spume.mpm.implicit.step import Integrator
from spume.mpm.species import GridSpecies
from spume.mpm.step import collide, gather
from spume.mpm.world import GridWorld

Floats = NDArray[np.float64]
NOTHING, NONE_TORN = np.empty(0), np.empty(0, np.uint8)
REPLACING = ("removal", "resampling", "volume correction")
"""Terms of stages that insert, merge or remove points, or correct their volumes."""
SOLVE = "implicit solve"
"""Name of the stage that solves for the velocities of the nodes."""
NAME = "energy"
"""Name of the stages in the timings of a run."""


@dataclass
class Stored:
    """Elastic energy of the points of a species; empty if nothing needs it in every step."""

    generation: int
    """Of the points it was computed for."""
    density: Floats
    """Per rest volume [J/m³]."""
    dissipated: Floats
    """Energy that the laws have recorded as dissipated [J/m³]; empty if none of them flows."""


class EnergyBudget:
    """Energy that the points have gained by each cause since the start [J]."""

    def __init__(
        self,
        world: GridWorld,
        solver: Integrator | SemiImplicit | None,
        replaces: bool,
        exchange: Exchange | None = None,
    ) -> None:
        """
        solver: that of implicit steps, which knows the impulses of contacts; None: steps are explicit.
        replaces: whether stages insert, merge or remove points, or correct volumes.
        exchange: what two species exchange.
        """
        self.world, self.solver, self.replaces, self.exchange = world, solver, replaces, exchange
        self.terms = dict.fromkeys(TERMS, 0.0)
        self.largest = 0.0
        """Largest energy of the points in a frame so far [J]."""
        self.step = dict.fromkeys(TERMS, 0.0)
        """The terms of the current step, which may fail and be repeated."""
        self.start: float | None = None
        """Kinetic energy after the last step [J]; None if it must be computed."""
        self.kinetic = 0.0
        """Kinetic energy after the last counted stage [J]."""
        self.elastic = 0.0
        """Elastic energy after the material was updated [J]."""
        self.potential = 0.0
        """Energy in gravity before the points move [J]."""
        self.power: list[Floats] = []
        """Work of the stress before the step at each point of each species [J/m³]."""
        self.corrected: dict[str, Floats] = {}
        """Stress [Pa] of species whose volumes were corrected in the current step."""
        self.forced: list[list[Floats]] = []
        """Changes of the velocities of the nodes before obstacles act, for each layer of each species [m/s]."""
        self.before: list[tuple[Floats, Floats]] = []
        """Positions and velocities of the points before they move, for each species; empty if all obstacles rest."""
        self.points: list[tuple[int, int]] = []
        """See `points_of`, after the material was updated."""
        self.torn = 0.0
        """Kinetic energy of the torn points before their deformation is limited [J]."""
        self._stored: dict[str, Stored] = {}
        self._restored: float | None = None
        """Elastic energy of the checkpoint from which the state was restored [J], nan if unknown; None: counted."""
        self._released: list[tuple[Floats, Floats]] = []
        """Twice the kinetic energy, and the elastic energy, of points released since the last call of `count_released`
        [J]."""

    def diagnostics(self, world: GridWorld) -> dict[str, Any]:
        """The terms, what is unaccounted for [J], and a warning if that is much."""
        self.count_released()
        own = kinetic_energy(world) + elastic_energy(world)
        rest = own - sum(self.terms.values())
        self.largest = max(self.largest, own)
        report: dict[str, Any] = {"energy_budget": {**self.terms, UNACCOUNTED: rest}}
        if abs(rest) > TOLERANCE * self.largest > 0.0:
            report["warnings"] = {
                "energy": f"{rest:.3g} J of energy are unaccounted for by t = {world.time:.4g} s, "
                f"{100.0 * abs(rest) / self.largest:.2g} % of the most the points have had: the steps are too long to "
                "follow the deformation; reduce [time] courant, dt or max_dt"
            }
        return report

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        self.count_released()
        elastic = elastic_energy(self.world)
        saved = {"terms": dict(self.terms), "largest": self.largest, "elastic": elastic, "kinetic": self.start}
        return {"energy_budget": saved}

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned. If the materials have changed, so has the energy of the points."""
        self._stored.clear()
        self._released.clear()
        saved = values.get("energy_budget")
        self._restored = math.nan if saved is None else float(saved["elastic"])
        if saved is None:  # the run began without a budget
            self.terms = dict.fromkeys(TERMS, 0.0)
            return
        self.terms, self.largest = dict.fromkeys(TERMS, 0.0) | saved["terms"], saved["largest"]
        self.start = None if saved["kinetic"] is None else float(saved["kinetic"])

    def released(self, species: Species, new: slice) -> None:
        """Remember the energy of the points that a source has released."""
        assert isinstance(species, GridSpecies)
        arrays = {name: values[new] for name, values in species.particles.arrays().items()}
        self.start = None
        kinetic = arrays["mass"] * squares(arrays, self.world.nodes.second_moment)
        self._released.append((kinetic, species.energy_volume[new] * species.model.energy(arrays)))

    def count_released(self) -> None:
        """Count the points that sources have released since the last call, and what a restored state has of the energy
        beyond that of its checkpoint. Releasing and restoring send no messages: they may fail on one of several
        ranks."""
        if (before := self._restored) is not None:
            self._restored = None
            own = elastic_energy(self.world)
            self.terms["changes"] += kinetic_energy(self.world) + own if math.isnan(before) else own - before
        for parts in self._released:
            kinetic, elastic = self.world.ranks.totals(parts)
            self.terms["sources"] += 0.5 * kinetic + elastic
        self._released.clear()

    def stored(self, species: GridSpecies) -> Stored:
        """Elastic energy of the points of a species, as last computed."""
        return self._stored[species.name] if self.knows(species) else self.store(species)

    def knows(self, species: GridSpecies) -> bool:
        """Whether the elastic energy of the points of a species was computed since they were last replaced."""
        found = self._stored.get(species.name)
        return found is not None and found.generation == species.particles.generation

    def store(self, species: GridSpecies) -> Stored:
        """Compute the elastic energy of the points of a species."""
        p = species.particles
        dissipated = p.dissipation.copy() if "dissipation" in p else NOTHING
        density = species.model.energy(p.arrays()) if self.follows(species) else NOTHING
        self._stored[species.name] = found = Stored(p.generation, density, dissipated)
        return found

    def follows(self, species: GridSpecies) -> bool:
        """Whether the elastic energy of the points of a species is needed in every step."""
        return self.replaces or "dissipation" in species.particles

    def power_now(self, species: GridSpecies) -> Floats:
        """Work of the stress before the material is updated, in the deformation of the step [J/m³]."""
        return stress_power(self.corrected.get(species.name, species.particles.stress), species.deformation)

    def gained(self, term: str, kinetic: float) -> None:
        """Count the difference of the kinetic energy from that after the last counted stage, and remember it."""
        self.step[term] += kinetic - self.kinetic
        self.kinetic = kinetic


def counted(stages: Sequence[Stage], budget: EnergyBudget, own: "OwnStages") -> list[Stage]:
    """The stages of a step that is repeated if it fails, with those of the budget between them."""
    preparing, following = {**BEFORE, **own.before}, {**AFTER, **own.after}

    def insert() -> Iterator[Stage]:
        yield Stage(NAME, begin, budget)
        for stage in stages:
            if not stage.when:
                continue
            if (prepare := preparing.get(stage.function)) is not None:
                yield Stage(NAME, prepare, budget)
            if stage.energy == "tearing":
                yield Stage(NAME, begin_tearing, budget)
            elif stage.energy == "volume correction":
                yield Stage(NAME, keep_stored, budget)
            yield stage
            if (follow := following.get(stage.function)) is not None:
                yield Stage(NAME, follow, budget)
            if stage.name == SOLVE:
                yield Stage(NAME, count_nodes, budget)
            if stage.energy == "tearing":
                yield Stage(NAME, end_tearing, budget)
            elif stage.energy == "volume correction":
                yield Stage(NAME, count_volumes, budget)
            elif stage.energy is not None:
                yield Stage(NAME, count_replaced, budget, stage.energy)
        yield Stage(NAME, end, budget)

    return list(insert())


def counted_once(stages: Sequence[Stage], budget: EnergyBudget) -> list[Stage]:
    """Stages that change the velocities of points, or remove points, before or after a step, each with stages of the
    budget around it."""

    def insert() -> Iterator[Stage]:
        for stage in stages:
            if not stage.when:
                continue
            if stage.energy is not None:
                yield Stage(NAME, begin, budget)
            yield stage
            if stage.energy is not None:
                yield Stage(NAME, end_once, budget, stage.energy)

    return list(insert())


def begin(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Begin a step, or repeat it."""
    budget.count_released()
    if budget.start is None:
        budget.start = kinetic_energy(world)
    budget.step = dict.fromkeys(TERMS, 0.0)
    budget.kinetic = budget.start
    budget.power, budget.corrected = [], {}


def end(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Count the terms of a step that has succeeded."""
    for term, energy in budget.step.items():
        budget.terms[term] += energy
    budget.start = budget.kinetic


def end_once(world: GridWorld, dt: float, budget: EnergyBudget, term: str) -> None:
    """Count a stage before or after the step."""
    if term in REPLACING:
        count_replaced(world, dt, budget, term)
    else:
        budget.gained(term, kinetic_energy(world))
    end(world, dt, budget)


def count_gathered(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """From the nodes to the points; the work of the stress with the deformation of the step."""
    budget.power = [np.empty(len(species.particles)) for species in world.species]
    moment = world.nodes.second_moment
    kinetic = 0.0
    for species, power in zip(world.species, budget.power):
        budget.stored(species)
        kinetic += gathered(world.ranks, species, moment, power)
        if species.name in budget.corrected:
            power[:] = budget.power_now(species)
    budget.gained("transfers", kinetic)


def begin_tearing(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Remember the kinetic energy of the torn points."""
    budget.torn = torn_energy(world)


def end_tearing(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Count what the torn points have lost of it."""
    budget.gained("tearing", budget.kinetic + torn_energy(world) - budget.torn)


def torn_energy(world: GridWorld) -> float:
    """Kinetic energy of the torn points [J]."""
    p = world.particles
    weak = np.flatnonzero(p.weak)
    arrays = {name: getattr(p, name)[weak] for name in ("mass", "v", "C") if name in p}
    return 0.5 * world.ranks.dot(arrays["mass"], squares(arrays, world.nodes.second_moment))


def count_sand(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Volume correction of sand."""
    if world.steps % INTERVAL == 0:
        count_volumes(world, dt, budget)


def keep_stored(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Compute the elastic energy before volumes are corrected, where it is not known."""
    for species in world.species:
        budget.stored(species)


def count_volumes(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Change of the elastic energy by a correction of volumes, from which the stress in the material goes on."""
    for k, species in enumerate(world.species):
        p, before = species.particles, budget.stored(species).density
        gain = budget.store(species).density - before if before.size else before
        if not world.ranks.any(bool(gain.any())):
            continue
        budget.step["volume correction"] += world.ranks.dot(species.energy_volume, gain)
        budget.corrected[species.name] = p.stress.copy()
        species.model.stress(p.arrays(), budget.corrected[species.name])
        if budget.power:  # the deformation is known
            budget.power[k][:] = budget.power_now(species)


def count_consistency(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Work of the stress in what is added to the deformation of the step."""
    for species, power in zip(world.species, budget.power):
        now = budget.power_now(species)
        added = world.ranks.dot(species.energy_volume, now - power)
        budget.step["consistency"] += added
        budget.step["time integration"] -= added
        power[:] = now


def count_material(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """In the material: flow, and the work of the stress at the points."""
    gravity = world.gravity(world.time)
    budget.elastic = budget.potential = 0.0
    for species, power in zip(world.species, budget.power):
        p, before = species.particles, budget.stored(species)
        after = budget.store(species)
        work, flow, torn, elastic, potential = in_material(
            world.ranks, species, gravity, power, (before.density, after.density),
            (before.dissipated, after.dissipated), p.weak if "weak" in p else NONE_TORN,
        )  # fmt: skip
        budget.step["time integration"] += work
        budget.step["flow"] -= flow
        budget.step["tearing"] -= torn
        budget.elastic += elastic
        budget.potential += potential
    budget.points = points_of(world) if budget.replaces else []


def keep_points(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Remember positions and velocities before the points move."""
    moving = world.obstacles.poses[:, 12:18].any()
    budget.before = [(s.particles.x.copy(), s.particles.v.copy()) for s in world.species] if moving else []


def count_move(world: GridWorld, dt: float, budget: EnergyBudget) -> None:
    """Work of gravity, and collisions of points."""
    gravity, moment = world.gravity(world.time), world.nodes.second_moment
    kinetic = potential = 0.0
    for species in world.species:
        own, high = moved(world.ranks, species, moment, gravity)
        kinetic += own
        potential += high
    budget.step["gravity"] += budget.potential - potential
    budget.step["time integration"] -= budget.potential - potential
    for species, (x, v) in zip(world.species, budget.before):
        p = species.particles
        driven = work_of_obstacles(world.ranks, world.obstacles_for(species, dt), x, p.mass, v, p.v)
        budget.step["obstacles"] += driven
        budget.step["contacts"] -= driven
    budget.gained("contacts", kinetic)


def count_replaced(world: GridWorld, dt: float, budget: EnergyBudget, term: str) -> None:
    """Count what a stage has changed that may insert, merge or remove points."""
    now = points_of(world)
    if now == budget.points:
        return
    budget.points = now
    followed = (species for species in world.species if budget.follows(species))
    elastic = sum(world.ranks.dot(s.energy_volume, budget.stored(s).density) for s in followed)
    budget.step[term] += elastic - budget.elastic
    budget.elastic = elastic
    budget.gained(term, kinetic_energy(world))


def points_of(world: GridWorld) -> list[tuple[int, int]]:
    """Number of the points of each species, and the next id: one of both changes when points are inserted, merged or
    removed."""
    return [(world.ranks.count(len(species.particles)), species.next_id) for species in world.species]


@dataclass(frozen=True)
class OwnStages:
    """Stages of the budget for a method with stages of its own."""

    exchange: Exchange | None = None
    before: Mapping[Callable[..., None], Callable[..., None]] = field(default_factory=dict)
    after: Mapping[Callable[..., None], Callable[..., None]] = field(default_factory=dict)
    """By the stages that follow them, and by those that they follow."""


BEFORE: dict[Callable[..., None], Callable[..., None]] = {collide: keep_forced, collide_and_move: keep_points}
AFTER: dict[Callable[..., None], Callable[..., None]] = {
    collide: count_nodes,
    gather: count_gathered,
    restore_crowded_sand: count_sand,
    restore_consistency: count_consistency,
    update_material: count_material,
    collide_and_move: count_move,
}
"""Stages of the budget before and after those of the step."""
