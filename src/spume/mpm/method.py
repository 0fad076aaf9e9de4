"""The material point method as the frame loop sees it."""

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spume.fields import Field
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.grid.nodes import NodeFields, Nodes
from spume.grid.transfers import Transfers
from spume.materials.loops import ConstitutiveModel
from spume.matter.environment import build_obstacles, gravity_function
from spume.matter.frame_fields import carried_fields, with_rates
from spume.matter.loads import build_loads
from spume.matter.method import Assembly, Part, ParticleMethod
from spume.matter.particles import Particles, paint_fields, point_fields
from spume.matter.passages import Passages
from spume.matter.sources import Source
from spume.matter.species import Species
from spume.matter.stages import Stage, Step
from spume.matter.time_step import TimeStep
from spume.measuring.measure import measured_planes
from spume.mpm import consistency
from spume.mpm.damping import damp_velocities
from spume.mpm.diagnostics import diagnose, kinetic_energy
from spume.mpm.energy import REPLACING, EnergyBudget, OwnStages, counted, counted_once
from spume.mpm.implicit.problem import ACCELERATION
from spume.mpm.implicit.semi_implicit import Interaction, SemiImplicit, build_semi_implicit
from spume.mpm.implicit.step import Integrator, implicit_stages
from spume.mpm.loads import apply_loads
from spume.mpm.species import GridSpecies, SpeciesPlan, TransferScheme, reference_field
from spume.mpm.step import MOVE, explicit_stages
from spume.mpm.total_species import MOVE_WITH_NODES, TotalSpecies
from spume.mpm.world import GridWorld
from spume.ranks.plain_points import PlainPoints
from spume.scene.mpm import MpmScene

NODES = "nodes"
"""Begins the names of the arrays of nodes in checkpoints."""
ORDERS = {"quadratic": 2, "cubic": 3}
S = TypeVar("S", bound=MpmScene)


class GridMethod(ParticleMethod[GridWorld, S]):
    """What the methods with points on a background grid have in common."""

    def diagnose(self) -> dict[str, Any]:
        """Diagnostics of the world."""
        return diagnose(self.world)

    def welcome(self, species: Species, new: slice, source: Source) -> None:
        """Complete the fields of points that a source has released."""
        world = self.world
        assert isinstance(species, GridSpecies)
        species.welcome(new)
        if ACCELERATION in species.particles:  # until the first step they fall
            species.particles.acceleration[new] = world.gravity(world.time)[: world.dimension]
        if (budget := self._budget) is not None:
            budget.released(species, new)

    def complete(self, source: Source, points: dict[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """The points of a release, with the rest volumes of [Yue15] where the scene asks for them."""
        if not source.estimate_volume:
            return points
        volume = estimated_volumes(self.world, points["x"], points["mass"], source.numbers())
        return points | {"volume": volume}

    def hold(self) -> None:
        """Move what is in the barrels of nozzles."""
        budget = self._budget
        if budget is None or not self.held.layers:
            super().hold()
            return
        budget.count_released()
        before = kinetic_energy(self.world)
        super().hold()
        budget.start = kinetic_energy(self.world)
        budget.terms["sources"] += budget.start - before

    @property
    def _budget(self) -> EnergyBudget | None:
        return next((part for part in self.parts if isinstance(part, EnergyBudget)), None)


def integrated(scene: MpmScene) -> tuple[list[Stage], tuple[Part[GridWorld], ...], tuple[Field, ...]]:
    """The stages of the scene's integrator, its parts, and the fields that its points carry."""
    move = MOVE_WITH_NODES if scene.grid.frame == "total" else MOVE
    if scene.time.integrator == "explicit":
        return explicit_stages(move), (), ()
    if scene.time.integrator == "semi-implicit":
        solver = build_semi_implicit(scene)
        return implicit_stages(Stage("implicit solve", solver.solve_step, Interaction())), (solver,), ()
    integrator = Integrator(scene.implicit_settings, scene.frame_rate)
    return implicit_stages(integrator.stage, move), (integrator,), integrator.carried_fields(scene.dimension)


def assemble(
    scene: MpmScene,
    plans: Sequence[SpeciesPlan],
    stages: Sequence[Stage],
    parts: Sequence[Part[GridWorld]] = (),
    time_step: TimeStep | None = None,
    after: Sequence[Stage] = (),
    budgeted: OwnStages | None = None,
) -> Assembly[GridWorld]:
    """World and step of a scene on a grid, with the species `plans` and the `stages` of a step.

    parts: what has data that survive a step.
    time_step: None for that of the scene's materials.
    after: stages applied once after each step.
    budgeted: how stages of the method's own count in the energy budget.
    """
    transfer = scene.transfer
    deformation = "first-order" if scene.grid.frame == "total" else scene.time.deformation_of_step
    scheme = TransferScheme(transfer.scheme, transfer.blend, deformation, transfer.rate)
    nodes, obstacles = Nodes(scene.dimension, scene.grid.cell, ORDERS[scene.grid.spline]), build_obstacles(scene)
    loads = build_loads(scene)
    damped = scene.damping.rpic_iterations > 0 or scene.damping.viscosity > 0.0
    before = [
        Stage("damping", damp_velocities, scene.damping, when=damped, energy="damping"),
        Stage("loads", apply_loads, loads, when=bool(loads), energy="loads"),
    ]
    world = GridWorld(
        nodes=nodes,
        species=[build_species(scene, plan, scheme, nodes, obstacles) for plan in plans],
        obstacles=obstacles,
        gravity=gravity_function(scene),
        time_step=build_time_step(scene) if time_step is None else time_step,
        passages=Passages(measured_planes(scene)),
    )
    species_of = {material: k for k, plan in enumerate(plans) for material in plan.materials}
    stages, parts = with_rates(consistency.with_consistency(stages, scene), scene.frames.fields), tuple(parts)
    if scene.frames.energy:
        solver = next((part for part in parts if isinstance(part, Integrator | SemiImplicit)), None)
        own = budgeted or OwnStages()
        replaces = any(stage.when and stage.energy in REPLACING for stage in (*stages, *after))
        budget = EnergyBudget(world, solver, replaces, own.exchange)
        stages, parts = counted(stages, budget, own), (*parts, budget)
        before, after = counted_once(before, budget), counted_once(after, budget)
    indices = tuple(species_of[k] for k in range(len(scene.materials)))
    return Assembly(world, Step(stages, before, after), parts, indices)


def build_species(
    scene: MpmScene, plan: SpeciesPlan, scheme: TransferScheme, nodes: Nodes, obstacles: ObstacleSet
) -> GridSpecies:
    """A species without points."""
    model = ConstitutiveModel(scene.material_laws, plan.materials)
    total = scene.grid.frame == "total"
    added = (*carried_fields(scene.frames.fields), *((reference_field(scene.dimension),) if total else ()))
    carried = consistency.carried_fields(scene)
    particles = Particles(
        [point_fields(scene.dimension, scheme.affine), model.fields, plan.fields, added, carried, paint_fields(scene)]
    )
    rough = plan.friction == "coulomb"
    laws = None if rough and not plan.passed else obstacles.laws(plan.passed, rough)
    kind = TotalSpecies if total else GridSpecies
    species = kind(particles, model, scheme, nodes, plan.name, laws)
    species.energy_density = plan.energy_density
    return species


def build_time_step(scene: MpmScene) -> TimeStep:
    """The scene's choice of time step, with the fastest elastic wave of its materials; implicit steps follow the speed
    of the points, and what gravity adds to it in a step."""
    fixed = None if scene.time.dt == "auto" else scene.time.dt
    largest = math.inf if scene.time.max_dt is None else scene.time.max_dt
    if scene.time.integrator != "explicit":
        largest = min(largest, 1.0 / scene.frame_rate)
        pull = float(np.linalg.norm(scene.gravity_keyframes[1], axis=1).max())
        return TimeStep(scene.cell, 0.0, fixed, scene.time.courant, scene.time.growth, largest, pull)
    wave = max(law.wave_speed(parameters) for law, parameters in scene.material_laws)
    return TimeStep(scene.cell, wave, fixed, scene.time.courant, scene.time.growth, largest)


def estimated_volumes(
    world: GridWorld, x: NDArray[np.float64], mass: NDArray[np.float64], numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Rest volume of new points with ascending `numbers`, as [Yue15] algorithm 5 estimates it: V = m/ρ with
    ρ = Σ w m_i / h³, from the points of all ranks.

    Too large at free surfaces, where the nodes see less mass; for points that come without a volume of their own.
    """
    nodes = Nodes(world.dimension, world.cell, world.nodes.order)
    transfers = Transfers(world.dimension, world.cell, world.nodes.order)
    # the points belong to nobody yet: their copies are divided by where they are, and the results sent back
    ranks = world.ranks.apart()
    arrays = {"id": numbers, "x": np.ascontiguousarray(x), "mass": mass, "from": np.full(len(x), ranks.rank)}
    copies = PlainPoints(arrays, transfers.cells)
    ranks.bring_home([copies], world.dimension, world.steps)
    copies.sort()
    p = copies.arrays
    nodes.cover([transfers.cells])
    ranks.border(nodes, transfers.cells)
    transfers.connect(nodes)
    fields = NodeFields(mass=0)
    fields.fit(nodes)
    transfers.to_grid(("mass",), p["x"], fields.array, mass=p["mass"])
    near = np.empty(len(p["x"]))  # ρ h^d
    transfers.to_points(("scalar",), p["x"], fields.array, scalar=near)
    volume = p["mass"] * world.cell**world.dimension / near
    found = ranks.sent(p["from"], {"id": p["id"], "volume": volume})
    return np.asarray(found["volume"][np.argsort(found["id"])])
