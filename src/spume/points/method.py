"""The point-based method as the frame loop sees it."""

import math
from typing import Any, ClassVar

import numpy as np

from spume.fields import Field
from spume.foam.total_deformation import TORN_FIELDS
from spume.materials.loops import ConstitutiveModel
from spume.matter.cost import estimate_cost
from spume.matter.environment import build_obstacles, gravity_function
from spume.matter.frame_fields import carried_fields, with_rates
from spume.matter.loads import build_loads
from spume.matter.method import Assembly, ParticleMethod
from spume.matter.particles import Particles, paint_fields, point_fields
from spume.matter.passages import Passages
from spume.matter.sources import Source
from spume.matter.species import Species
from spume.matter.stages import Step
from spume.matter.time_step import TimeStep
from spume.measuring.measure import measured_planes
from spume.methods import Estimate
from spume.points.contacts import Contacts
from spume.points.deformation import OUTCOMES
from spume.points.diagnostics import diagnose
from spume.points.energy import EnergyBudget
from spume.points.formulations import formulation_fields
from spume.points.neighbours import NeighbourLists
from spume.points.reference import NEW, Reference, reference_fields
from spume.points.resampling import Resampling
from spume.points.step import point_based_stages
from spume.points.tearing import build_tearing
from spume.points.world import PointWorld, Scheme, neighbourhood_fields
from spume.scene.point_based import PointBasedScene

STEP_COST = 1.8
"""Time of a step over that of the material point method with as many points."""
VISCOUS_LIMIT = 0.05
"""Largest Δt μ/(ρ s²) with the viscosity μ and the spacing s of the points: about a third of where steps diverge."""
CONTACT_DISTANCE = 0.5 * (1.0 - 1e-6)
"""Distance from obstacles at which points meet them, in spacings: material reaches half a spacing beyond its outermost
points. A little less, so that rounding does not decide whether an obstacle acts on points beside it."""
LEAST_NEIGHBOURS = {2: 4, 3: 6}
"""Fewest neighbours of a fit; 6 in [Gerszewski09], which is about space."""


class Neighbourhoods:
    """The neighbour lists of a world as a part that survives steps."""

    def __init__(self, world: PointWorld, reference: Reference | None) -> None:
        self.world, self.reference = world, reference

    def diagnostics(self, world: PointWorld) -> dict[str, Any]:
        """Energy of what the fit does not see."""
        reference = self.reference
        return {} if reference is None else {"non_affine_energy": reference.energy(world)}

    def checkpoint(self) -> dict[str, Any]:
        """What a bit-for-bit continuation needs."""
        world = self.world
        return {
            "listed": world.listed,
            "outcomes": dict(zip(OUTCOMES, world.outcomes.tolist())),
            "uncorrected": world.uncorrected,
            "rebuilds": world.rebuilds,
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned. The lists are built when they are needed, see `PointWorld.stale`."""
        world = self.world
        if self.reference is not None and (world.particles.group < NEW).any():
            raise ValueError("its points belong to groups that do not exist")
        world.listed = values["listed"]
        world.outcomes = np.array([values["outcomes"][name] for name in OUTCOMES], np.int64)
        world.uncorrected = values["uncorrected"]
        world.rebuilds = values["rebuilds"]


class PointBased(ParticleMethod[PointWorld, PointBasedScene]):
    """Points with lists of their neighbours."""

    name: ClassVar[str] = "point-based"

    def assemble(self, scene: PointBasedScene) -> Assembly[PointWorld]:
        """World and step of a scene."""
        model = ConstitutiveModel(scene.material_laws)
        d, table = scene.dimension, scene.points
        torn, resampling = build_tearing(scene), build_resampling(scene)
        particles = Particles([point_fields(d, False), model.fields, paint_fields(scene), *_own_fields(scene)])
        scheme = build_scheme(scene)
        radius, count = scene.radius * table.spacing, scene.neighbours
        world = PointWorld(
            species=[Species(particles, model)],
            lists=NeighbourLists(d, radius, count, 0.0 if scheme.has_reference else table.skin * table.spacing),
            spacing=table.spacing,
            scheme=scheme,
            forces=scheme.pair_forces(d, radius, table.spacing, count),
            obstacles=build_obstacles(scene, distance=CONTACT_DISTANCE * table.spacing),
            gravity=gravity_function(scene),
            time_step=build_time_step(scene),
            passages=Passages(measured_planes(scene)),
        )
        reference = Reference(Contacts(d, table.spacing)) if scheme.has_reference else None
        budget = EnergyBudget(reference)
        stages = point_based_stages(budget, build_loads(scene), torn, resampling)
        step = Step(with_rates(stages, scene.frames.fields))
        parts = (Neighbourhoods(world, reference), budget, torn, resampling)
        return Assembly(world, step, tuple(part for part in parts if part is not None))

    def diagnose(self) -> dict[str, Any]:
        """Diagnostics of the world."""
        return diagnose(self.world)

    def welcome(self, species: Species, new: slice, source: Source) -> None:
        """Complete the fields of points that a source has released."""
        if self.world.scheme.formulation == "rest-configuration":
            species.particles.rest_x[new] = species.particles.x[new]
        self.part(EnergyBudget).released(self.world, new)
        self.world.listed = False

    @classmethod
    def estimate(cls, scene: PointBasedScene) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""
        extra = tuple(field for group in _own_fields(scene) for field in group)
        return estimate_cost(scene, build_time_step(scene), extra, STEP_COST)


def _own_fields(scene: PointBasedScene) -> tuple[tuple[Field, ...], ...]:
    """Fields that the method adds to points."""
    torn = TORN_FIELDS if build_tearing(scene) else ()
    reference = reference_fields(scene.dimension) if build_scheme(scene).has_reference else ()
    return (
        neighbourhood_fields(scene.dimension), formulation_fields(scene.formulation, scene.dimension), reference, torn,
        carried_fields(scene.frames.fields),
    )  # fmt: skip


def build_scheme(scene: PointBasedScene) -> Scheme:
    """The scene's choices."""
    points, forces = scene.points, scene.forces
    least = LEAST_NEIGHBOURS[scene.dimension] if points.least_neighbours is None else points.least_neighbours
    return Scheme(
        scene.formulation, forces.stress, scene.gradient, least, points.condition, points.least_volume,
        forces.pressure, forces.viscosity, forces.damping, forces.hourglass, forces.artificial_viscosity,
    )  # fmt: skip


def build_resampling(scene: PointBasedScene) -> Resampling | None:
    """The scene's choices; none where points are not resampled. Points at rest have no positions to average."""
    table = scene.resampling
    if not table.enabled or scene.formulation == "rest-configuration":
        return None
    return Resampling(table.every, table.coverage, table.merge_distance, scene.seed)


def build_time_step(scene: PointBasedScene) -> TimeStep:
    """The scene's choice of time step: waves of the laws and of the SPH pressure, and viscosity, limit it."""
    spacing, forces = scene.points.spacing, scene.forces
    wave = max(
        math.sqrt(law.wave_speed(parameters) ** 2 + forces.pressure / parameters.density)
        for law, parameters in scene.material_laws
    )
    fixed = None if scene.time.dt == "auto" else scene.time.dt
    largest = math.inf if scene.time.max_dt is None else scene.time.max_dt
    if forces.viscosity > 0.0:
        density = min(material.parameters.density for material in scene.materials)
        largest = min(largest, VISCOUS_LIMIT * density * spacing**2 / forces.viscosity)
    return TimeStep(spacing, wave, fixed, scene.time.courant, scene.time.growth, largest)
