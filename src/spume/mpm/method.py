"""The material point method as the frame loop sees it."""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from spume.fields import VOLUME_RATIO, Field, Population
from spume.geometry.obstacles.obstacle_set import ObstacleSet
from spume.geometry.shapes.primitives import HalfSpace
from spume.materials.law import Law, Parameters
from spume.materials.loops import ConstitutiveModel
from spume.measuring.measure import measured_planes, measured_values, measures_loads
from spume.measuring.sample import Sample, sample
from spume.methods import Estimate, Progress
from spume.mpm import health
from spume.mpm.advancing import advance_to, checkpoint_values, next_release, restore_values
from spume.mpm.cost import estimate_cost
from spume.mpm.damping import damp_velocities
from spume.mpm.diagnostics import diagnose
from spume.mpm.embedded import embedded_surfaces, parting_warning
from spume.mpm.held_layers import HeldLayers
from spume.mpm.implicit.problem import ACCELERATION
from spume.mpm.implicit.semi_implicit import SemiImplicitStages, build_semi_implicit
from spume.mpm.implicit.step import ImplicitStages
from spume.mpm.loads import apply_loads, build_loads
from spume.mpm.nodes import NodeFields, Nodes
from spume.mpm.particles import Particles, point_fields
from spume.mpm.passages import Passages
from spume.mpm.sources import Release, Source, releases, sources_of
from spume.mpm.species import Species, SpeciesPlan, TransferScheme, one_species
from spume.mpm.state import State
from spume.mpm.step import explicit_step
from spume.mpm.time_step import TimeStep
from spume.mpm.transfers import Transfers
from spume.mpm.workload import Workload
from spume.scene.measure import obstacle_labels

ORDERS = {"quadratic": 2, "cubic": 3}


class Stages(Protocol):
    """How bodies are split into species, what a step consists of, and what it adds to diagnostics and checkpoints."""

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """The species of a scene. Every material belongs to one of them."""

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Numbers about the current state in addition to those of MPM."""

    def checkpoint(self) -> dict[str, Any]:
        """JSON-serialisable values that a bit-for-bit continuation needs in addition to those of MPM."""

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""


class ExplicitStages:
    """The plain explicit step."""

    def species(self, scene: Any) -> tuple[SpeciesPlan, ...]:
        """One species for all materials."""
        return one_species(scene)

    def step(self, state: State, dt: float) -> None:
        """Advance `state` by dt [s]."""
        explicit_step(state, dt)

    def diagnostics(self, state: State) -> dict[str, Any]:
        """Nothing in addition to those of MPM."""
        return {}

    def checkpoint(self) -> dict[str, Any]:
        """Nothing in addition to those of MPM."""
        return {}

    def restore(self, values: dict[str, Any]) -> None:
        """Nothing to restore."""


class MaterialPointMethod:
    """Builds a state from a scene and advances it by the stages it is given."""

    name: ClassVar[str] = "mpm"

    def __init__(self, scene: Any, stages: Stages | None = None) -> None:
        self.scene = scene
        self.stages: Stages = default_stages(scene) if stages is None else stages
        self.sources = sources_of(scene)
        self.releases = releases(self.sources)
        self.released = 0
        """Releases that have happened."""
        self.workload = Workload(self.releases, self.sources, scene.duration)
        self.held = HeldLayers(self.sources)
        self.walls = wall_corners(scene)
        self.loads = build_loads(scene)
        """Forces from outside."""
        materials = [(material.law, material.parameters) for material in scene.materials]
        transfer = scene.transfer
        scheme = TransferScheme(transfer.scheme, transfer.blend, scene.time.deformation_of_step, transfer.rate)
        nodes = Nodes(scene.dimension, scene.grid.cell, ORDERS[scene.grid.spline])
        plans = self.stages.species(scene)
        self.species_of_material = {material: k for k, plan in enumerate(plans) for material in plan.materials}
        """Place of its species for each material."""
        self.state = State(
            nodes=nodes,
            species=[build_species(scene, plan, materials, scheme, nodes) for plan in plans],
            obstacles=build_obstacles(scene),
            gravity=gravity_function(scene),
            time_step=build_time_step(scene, materials),
            passages=Passages(measured_planes(scene)),
        )
        self.state.obstacle_loads.active = measures_loads(scene)
        self.surfaces = embedded_surfaces(scene, self.species_of_material)
        """Meshes that deform with the material, by the index of their body."""
        self.release_due()

    def step(self, dt: float) -> None:
        """Advance by dt [s]."""
        damp_velocities(self.state, self.scene.damping, dt)
        apply_loads(self.state, self.loads, dt)
        self.stages.step(self.state, dt)

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def particles(self) -> Particles:
        """The points and their fields; `species` has those of a method with several."""
        if len(self.state.species) > 1:
            names = ", ".join(f"species['{name}']" for name in self.species)
            raise AttributeError(f"the method '{self.name}' has several species: use {names} of it")
        return self.state.particles

    @property
    def species(self) -> dict[str, Particles]:
        """The points of each species."""
        return {species.name: species.particles for species in self.state.species}

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """Advance to `until` [s]; see `spume.methods.Method`."""
        return advance_to(self, until, interrupted, report)

    def declarations(self) -> tuple[Population, ...]:
        """The points of each species, with their volume ratio, and the embedded surfaces."""
        spacing = point_spacing(self.scene)
        points = (Population(s.name, (*_in_frames(s), VOLUME_RATIO), "points", spacing) for s in self.state.species)
        return (*points, *(surface.declaration(spacing) for surface in self.surfaces.values()))

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The arrays of a frame."""
        frame = {}
        for species in self.state.species:
            arrays = species.particles.arrays()
            frame[species.name] = {field.name: arrays[field.name] for field in _in_frames(species)}
            frame[species.name][VOLUME_RATIO.name] = species.model.volume_ratio(arrays)
        points = [species.particles for species in self.state.species]
        return frame | {surface.name: surface.arrays(points[surface.species]) for surface in self.surfaces.values()}

    def diagnostics(self) -> dict[str, Any]:
        """Numbers about the present state."""
        measured = measured_values(self.scene, self._sample, self.state.passages.mass)
        report, own = diagnose(self.state), self.stages.diagnostics(self.state)
        warnings = own.pop("warnings", {}) | report.pop("warnings")
        warnings |= parting_warning(self.surfaces.values(), self.state)
        report |= own | measured
        return report | {"warnings": warnings} if warnings else report

    def _sample(self) -> Sample:
        groups = []
        for species in self.state.species:
            arrays = species.particles.arrays()
            groups.append((arrays, species.model.volume_ratio(arrays)))
        return sample(groups, point_spacing(self.scene))

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything a bit-for-bit continuation needs."""
        state = self.state
        values = checkpoint_values(self) | self.stages.checkpoint()
        values["next_id"] = [species.particles.next_id for species in state.species]
        values["surfaces"] = {str(k): surface.first_id for k, surface in self.surfaces.items()}
        arrays = {
            f"{species.name}/{name}": array
            for species in state.species
            for name, array in species.particles.arrays().items()
        }
        return arrays, values

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        state = self.state
        for species, next_id in zip(state.species, values["next_id"]):
            prefix = f"{species.name}/"
            own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
            species.particles.replace(own)
            species.particles.next_id = next_id
        restore_values(self, values)
        self.stages.restore(values)
        for k, surface in self.surfaces.items():
            first_id = values["surfaces"][str(k)]
            if first_id is not None:
                surface.bind(self.sources[k].points(0)["x"], first_id)

    def hold(self) -> None:
        """Move what is in the barrels of nozzles."""
        species = self.state.species
        particles = [species[self.species_of_material[source.material]].particles for source in self.sources]
        self.held.hold(particles, self.state.time)

    def check_health(self) -> None:
        """Raise an error if the state is not physical."""
        health.check(self.state, self.walls)

    def release_due(self) -> None:
        """Add the points whose time of release has come."""
        while next_release(self) <= self.state.time:
            release = self.releases[self.released]
            self._add(self.sources[release.source], release)
            self.released += 1

    def _add(self, source: Source, release: Release) -> None:
        state = self.state
        points = source.points(release.number)
        species = state.species[self.species_of_material[source.material]]
        first_id = species.particles.next_id
        new = species.particles.add(source.count, **points, material=source.material, body=release.source)
        self.held.add(release.source, release.number, first_id)
        if release.source in self.surfaces:
            self.surfaces[release.source].bind(points["x"], first_id)
        if ACCELERATION in species.particles:  # until the first step they fall
            species.particles.acceleration[new] = state.gravity(state.time)[: state.dimension]
        if source.estimate_volume:
            estimate_volumes(state, species, new)
        state.speed = max(state.speed, float(np.linalg.norm(points["v"], axis=1).max()))

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""
        materials = [(material.law, material.parameters) for material in scene.materials]
        return estimate_cost(scene, build_time_step(scene, materials))


def _in_frames(species: Species) -> tuple[Field, ...]:
    """The fields of a species that are written to frames, without the volume ratio, which every frame has."""
    return tuple(field for field in species.particles.fields if field.in_frames and field.name != VOLUME_RATIO.name)


def point_spacing(scene: Any) -> float:
    """Distance [m] up to which neighbouring points are connected: half a cell, more where a body is filled sparsely.

    Points nearer than half a cell resolve nothing that the grid does not, so denser filling leaves it as it is."""
    per_axis = [table.fill.points_per_axis for table in (*scene.body, *scene.emitter)]
    return float(scene.grid.cell / min([2, *per_axis]))


def wall_corners(scene: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Lower and upper corner of the walls, if the scene has any."""
    walls = scene.grid.walls
    return None if walls is None else (np.array(walls.lower), np.array(walls.upper))


def build_species(
    scene: Any, plan: SpeciesPlan, materials: list[tuple[Law, Parameters]], scheme: TransferScheme, nodes: Nodes
) -> Species:
    """A species without points."""
    model = ConstitutiveModel(materials, plan.materials)
    particles = Particles([point_fields(scene.dimension, scheme.affine), model.fields, plan.fields])
    obstacles = None
    if plan.obstacles is not None or plan.friction == "none":
        chosen = tuple(range(len(scene.obstacle))) if plan.obstacles is None else plan.obstacles
        obstacles = build_obstacles(scene, chosen, plan.friction)
    return Species(particles, model, scheme, nodes, plan.name, obstacles)


def build_obstacles(
    scene: Any, chosen: tuple[int, ...] | None = None, friction: Literal["coulomb", "none"] = "coulomb"
) -> ObstacleSet:
    """The scene's obstacles, all or the `chosen` ones, and, as half spaces, its walls; with their friction or none."""
    tables = scene.obstacle if chosen is None else [scene.obstacle[k] for k in chosen]
    labels = obstacle_labels(scene)
    own = labels if chosen is None else [labels[k] for k in chosen]
    rough = 1.0 if friction == "coulomb" else 0.0
    listed = [(o.shape, o.contact, rough * o.friction, o.motion, label) for o, label in zip(tables, own)]
    walls = scene.grid.walls
    if walls is not None:
        for axis in range(scene.dimension):
            for corner, sign, side in ((walls.lower, 1.0, "lower"), (walls.upper, -1.0, "upper")):
                normal = [0.0] * scene.dimension
                normal[axis] = sign
                shape = HalfSpace(point=corner, normal=tuple(normal))
                listed.append((shape, walls.contact, rough * walls.friction, None, f"{side} wall {'xyz'[axis]}"))
    return ObstacleSet(listed, scene.dimension, scene.folder)


def gravity_function(scene: Any) -> Callable[[float], NDArray[np.float64]]:
    """Gravity at a time with three components; constant gravity costs nothing per step."""
    times, values = scene.gravity_keyframes
    constant = np.pad(values[0], (0, 3 - scene.dimension))
    if len(times) == 1:
        return lambda time: constant
    return lambda time: np.pad(scene.gravity_at(time), (0, 3 - scene.dimension))


def default_stages(scene: Any) -> Stages:
    """The stages of the scene's integrator."""
    if scene.time.integrator == "explicit":
        return ExplicitStages()
    if scene.time.integrator == "semi-implicit":
        return SemiImplicitStages(build_semi_implicit(scene))
    return ImplicitStages(scene.implicit_settings, scene.frame_rate)


def build_time_step(scene: Any, materials: list[tuple[Law, Parameters]]) -> TimeStep:
    """The scene's choice of time step, with the fastest elastic wave of its materials; implicit steps follow the speed
    of the points, and what gravity adds to it in a step."""
    fixed = None if scene.time.dt == "auto" else scene.time.dt
    largest = math.inf if scene.time.max_dt is None else scene.time.max_dt
    if scene.time.integrator != "explicit":
        largest = min(largest, 1.0 / scene.frame_rate)
        pull = float(np.linalg.norm(scene.gravity_keyframes[1], axis=1).max())
        return TimeStep(scene.grid.cell, 0.0, fixed, scene.time.courant, scene.time.growth, largest, pull)
    wave = max(law.wave_speed(parameters) for law, parameters in materials)
    return TimeStep(scene.grid.cell, wave, fixed, scene.time.courant, scene.time.growth, largest)


def estimate_volumes(state: State, species: Species, new: slice) -> None:
    """Rest volume of new points as [Yue15] algorithm 5 estimates it: V = m/ρ with ρ = Σ w m_i / h³.

    Too large at free surfaces, where the nodes see less mass; for points that come without a volume of their own.
    """
    p, nodes = species.particles, Nodes(state.dimension, state.cell, state.nodes.order)
    x, mass = p.x[new], p.mass[new]
    transfers = Transfers(state.dimension, state.cell, state.nodes.order)
    transfers.cells.sort(x)
    nodes.cover([transfers.cells])
    transfers.connect(nodes)
    fields = NodeFields(mass=0)
    fields.fit(nodes)
    transfers.to_grid(("mass",), x, fields.array, mass=mass)
    near = np.empty(len(x))  # ρ h^d
    transfers.to_points(("scalar",), x, fields.array, scalar=near)
    p.volume[new] = mass * state.cell**state.dimension / near
