"""What the methods with points have in common: sources, frames, checkpoints, and steps taken by the driver."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from spume.fields import VOLUME_RATIO, Field, Population
from spume.matter import health
from spume.matter.driver import advance_to, checkpoint_values, restore_values, take_step
from spume.matter.embedded import embedded_surfaces, parting_warning
from spume.matter.environment import wall_corners
from spume.matter.frame_fields import made_arrays, made_fields
from spume.matter.held_layers import HeldLayers
from spume.matter.particles import Particles
from spume.matter.poses import pose_arrays, pose_declarations
from spume.matter.restored import check_points
from spume.matter.sources import BodySource, Source, releases, sources_of
from spume.matter.species import Species
from spume.matter.stages import Step, rehearse
from spume.matter.workload import Workload
from spume.matter.world import World
from spume.measuring.measure import measured_values, measures_loads
from spume.measuring.sample import Sample, sample
from spume.methods import Estimate, Progress
from spume.ranks.ranks import ALONE, Ranks
from spume.scene.bodies import Body
from spume.scene.emitter import Emitter
from spume.scene.material_scene import MaterialScene

W = TypeVar("W", bound=World[Any])
W_contra = TypeVar("W_contra", bound=World[Any], contravariant=True)
S = TypeVar("S", bound=MaterialScene)
T = TypeVar("T")


class Part(Protocol[W_contra]):
    """Data of a method that survive a step, in addition to the world's."""

    def diagnostics(self, world: W_contra) -> dict[str, Any]:
        """Numbers about the present state; sentences for the user by topic under "warnings"."""

    def checkpoint(self) -> dict[str, Any]:
        """JSON-serialisable values that a bit-for-bit continuation needs."""

    def restore(self, values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""


@dataclass(frozen=True)
class Assembly(Generic[W]):
    """What a method makes of a scene."""

    world: W
    """Without points."""
    step: Step
    parts: tuple[Part[W], ...] = ()
    species_of_material: tuple[int, ...] | None = None
    """Index of the species of each material; None: there is one species."""


class ParticleMethod(ABC, Generic[W, S]):
    """A method with a world W and scenes S, whose points are released from sources. A subclass assembles its world and
    its step."""

    name: ClassVar[str]

    def __init__(self, scene: S, ranks: Ranks = ALONE) -> None:
        """`ranks`: the processes that share the points."""
        self.scene = scene
        self.sources = sources_of(scene, ranks)
        self.releases = releases(self.sources)
        self.released = 0
        """Releases that have happened."""
        self.workload = Workload(self.releases, self.sources, scene.duration)
        self.held = HeldLayers(self.sources)
        self.walls = wall_corners(scene)
        assembly = self.assemble(scene)
        self.world = assembly.world
        self.world.share_with(ranks)
        self.step = assembly.step
        self.parts = assembly.parts
        self.species_of_material = assembly.species_of_material or (0,) * len(scene.materials)
        self.world.obstacle_loads.active = measures_loads(scene)
        self.surfaces = embedded_surfaces(scene, self.species_of_material)
        """Meshes that deform with the material, by the index of their body."""
        self.release_due()

    @abstractmethod
    def assemble(self, scene: S) -> Assembly[W]:
        """World and step of a scene."""

    @classmethod
    @abstractmethod
    def estimate(cls, scene: S) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""

    @abstractmethod
    def diagnose(self) -> dict[str, Any]:
        """Diagnostics of the world, without those of the parts."""

    def complete(self, source: Source, points: dict[str, NDArray[np.float64]]) -> dict[str, NDArray[np.float64]]:
        """The points of a release, as they are added."""
        return points

    def welcome(self, species: Species, new: slice, source: Source) -> None:
        """Complete the fields of points that a source has released."""

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.world.time

    @property
    def particles(self) -> Particles:
        """The points and their fields; `species` has those of a method with several."""
        if len(self.world.species) > 1:
            names = ", ".join(f"species['{name}']" for name in self.species)
            raise AttributeError(f"the method '{self.name}' has several species: use {names} of it")
        return self.world.particles

    @property
    def species(self) -> dict[str, Particles]:
        """The points of each species."""
        return {species.name: species.particles for species in self.world.species}

    def part(self, kind: type[T]) -> T:
        """The part of a class, which the method must have."""
        (found,) = (part for part in self.parts if isinstance(part, kind))
        return found

    def take_step(self, dt: float) -> None:
        """Advance by dt [s], in several shorter steps if one fails; nothing is released."""
        take_step(self.world, self.step, dt)

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """Advance to `until` [s]; see `spume.methods.Method`."""
        return advance_to(self, until, interrupted, report)

    def declarations(self) -> tuple[Population, ...]:
        """The points of each species, with their volume ratio, the embedded surfaces, and the poses of obstacles."""
        spacing = point_spacing(self.scene)
        made = made_fields(self.scene.frames.fields)
        points = (
            Population(s.name, (*_in_frames(s), VOLUME_RATIO, *made), "points", spacing) for s in self.world.species
        )
        surfaces = (surface.declaration(spacing) for surface in self.surfaces.values())
        return (*points, *surfaces, *pose_declarations(self.scene))

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The arrays of a frame: points are those of this rank, and only one rank has the surfaces."""
        frame = {}
        for species in self.world.species:
            arrays = species.particles.arrays()
            frame[species.name] = {field.name: arrays[field.name] for field in _in_frames(species)}
            frame[species.name][VOLUME_RATIO.name] = species.model.volume_ratio(arrays)
            frame[species.name] |= made_arrays(self.scene.frames.fields, species)
        for surface in self.surfaces.values():
            if (points := surface.points_bound_to(self.world)) is not None:
                frame[surface.name] = surface.arrays(points)
        return frame | pose_arrays(self.scene, self.world)

    def diagnostics(self) -> dict[str, Any]:
        """Numbers about the present state, and warnings."""
        report = self.diagnose()
        warnings: dict[str, str] = {}
        for part in self.parts:
            own = part.diagnostics(self.world)
            warnings |= own.pop("warnings", {})
            report |= own
        warnings |= report.pop("warnings", {})
        warnings |= parting_warning(self.surfaces.values(), self.world)
        report |= measured_values(self.scene, self._sample, self.world.passages.mass)
        return report | {"warnings": warnings} if warnings else report

    def _sample(self) -> Sample:
        found = ((species.model, species.particles.arrays()) for species in self.world.species)
        groups = [(arrays, model.volume_ratio(arrays)) for model, arrays in found]
        return sample(groups, point_spacing(self.scene), self.world.ranks)

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything a bit-for-bit continuation needs; points are those of this rank."""
        values = checkpoint_values(self.world)
        for part in self.parts:
            values |= part.checkpoint()
        values["released"] = self.released
        values["held"] = self.held.layers
        values["next_id"] = [species.particles.next_id for species in self.world.species]
        values["surfaces"] = {str(k): surface.first_id for k, surface in self.surfaces.items()}
        return self.state_arrays(), values

    def state_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of a checkpoint: of the points of this rank, and of whatever else ranks divide."""
        return {
            f"{species.name}/{name}": array
            for species in self.world.species
            for name, array in species.particles.arrays().items()
        }

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        if not any("/" in name for name in arrays):  # a point-based run of an earlier version
            arrays = {f"{self.world.only.name}/{name}": array for name, array in arrays.items()}
            values = values | {"next_id": [values["next_id"]]}
        reach = health.extent_of_grid(self.world.dimension, self.world.cell)
        for species, next_id in zip(self.world.species, values["next_id"], strict=True):
            prefix = f"{species.name}/"
            own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
            check_points(species.particles.fields, own, len(self.scene.materials), len(self.sources), reach)
            species.particles.replace(own)
            species.particles.next_id = next_id
        restore_values(self.world, values)
        self.released = values["released"]
        if self.released not in range(len(self.releases) + 1):
            raise ValueError(f"{self.released} of {len(self.releases)} releases have happened")
        self.held.restore(values["held"])
        for part in self.parts:
            part.restore(values)
        for k in self.surfaces:
            first_id = values["surfaces"][str(k)]
            if first_id is not None:
                self._surface_appears(k, first_id)

    def rehearse(self) -> None:
        """Compile the last kernels of a step, and those of a frame; the world is meaningless afterwards."""
        rehearse(self.step, self.world)
        self.diagnostics()

    def done(self) -> float | None:
        """Completed fraction of the work; None if it follows the simulated time."""
        return self.workload.done(self.world.time)

    def hold(self) -> None:
        """Move what is in the barrels of nozzles."""
        self.held.hold([self._species_of(source).particles for source in self.sources], self.world.time)

    def check_health(self) -> None:
        """Raise an error if the world is not physical."""
        health.check(self.world, self.walls)

    def next_release(self) -> float:
        """Time of the next release [s], infinite after the last."""
        return self.releases[self.released].time if self.released < len(self.releases) else math.inf

    def release_due(self) -> None:
        """Add the points whose time of release has come."""
        world = self.world
        while self.next_release() <= world.time:
            release = self.releases[self.released]
            source = self.sources[release.source]
            part = world.ranks.part(source.count)
            numbers = source.numbers(part)
            points = self.complete(source, source.points(release.number, part))
            species = self._species_of(source)
            first_id = species.particles.next_id
            new = species.particles.add(
                len(numbers), id=first_id + numbers, **points, material=source.material, body=release.source
            )
            species.particles.next_id = first_id + source.count
            self.held.add(release.source, release.number, first_id)
            if release.source in self.surfaces:
                self._surface_appears(release.source, first_id)
            self.welcome(species, new, source)
            fastest = float(np.linalg.norm(points["v"], axis=1).max(initial=0.0))
            world.speed = max(world.speed, world.ranks.largest(fastest))
            self.released += 1

    def _surface_appears(self, body: int, first_id: int) -> None:
        source = self.sources[body]
        assert isinstance(source, BodySource)
        self.surfaces[body].appear(source.filling, first_id)

    def _species_of(self, source: Source) -> Species:
        species: Species = self.world.species[self.species_of_material[source.material]]
        return species


def _in_frames(species: Species) -> tuple[Field, ...]:
    """The fields of a species that are written to frames, without the volume ratio, which every frame has."""
    return tuple(field for field in species.particles.fields if field.in_frames and field.name != VOLUME_RATIO.name)


def point_spacing(scene: MaterialScene) -> float:
    """Distance [m] up to which neighbouring points are connected: half a cell, more where a body is filled sparsely.

    Points nearer than half a cell resolve nothing that the grid does not, so denser filling leaves it as it is."""
    sources: tuple[Body | Emitter, ...] = (*scene.body, *scene.emitter)
    per_axis = [table.fill.points_per_axis for table in sources]
    return float(scene.cell / min([2, *per_axis]))
