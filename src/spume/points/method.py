"""The point-based method as the frame loop sees it."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from spume.fields import VOLUME_RATIO, Population
from spume.materials.law import Law, Parameters
from spume.materials.loops import ConstitutiveModel
from spume.measuring.measure import measured_planes, measured_values, measures_loads
from spume.measuring.sample import Sample, sample
from spume.methods import Estimate, Progress
from spume.mpm import health
from spume.mpm.advancing import advance_to, checkpoint_values, next_release, restore_values
from spume.mpm.cost import estimate_cost
from spume.mpm.held_layers import HeldLayers
from spume.mpm.loads import build_loads
from spume.mpm.method import build_obstacles, gravity_function, wall_corners
from spume.mpm.particles import Particles, point_fields
from spume.mpm.passages import Passages
from spume.mpm.sources import releases, sources_of
from spume.mpm.time_step import TimeStep
from spume.mpm.workload import Workload
from spume.points import tearing
from spume.points.deformation import OUTCOMES
from spume.points.diagnostics import diagnose
from spume.points.formulations import formulation_fields
from spume.points.neighbours import NeighbourLists
from spume.points.resampling import Resampling
from spume.points.state import Scheme, State, neighbourhood_fields
from spume.points.step import point_based_step, restore_lists

STEP_COST = 1.8
"""Time of a step over that of the material point method with as many points."""
VISCOUS_LIMIT = 0.05
"""Largest Δt μ/(ρ s²) with the viscosity μ and the spacing s of the points: about a third of where steps diverge."""
LEAST_NEIGHBOURS = {2: 4, 3: 6}
"""Fewest neighbours of a fit; 6 in [Gerszewski09], which is about space."""


class PointBased:
    """Builds a state from a scene and advances it."""

    name: ClassVar[str] = "point-based"

    def __init__(self, scene: Any) -> None:
        self.scene = scene
        self.sources = sources_of(scene)
        self.releases = releases(self.sources)
        self.released = 0
        """Releases that have happened."""
        self.workload = Workload(self.releases, self.sources, scene.duration)
        self.held = HeldLayers(self.sources)
        self.walls = wall_corners(scene)
        materials = [(material.law, material.parameters) for material in scene.materials]
        model = ConstitutiveModel(materials)
        d, table = scene.dimension, scene.points
        torn = tearing.build_tearing(scene)
        particles = Particles(
            [
                point_fields(d, False),
                model.fields,
                neighbourhood_fields(d),
                formulation_fields(scene.formulation, d),
                tearing.FIELDS if torn else (),
            ]
        )
        radius = table.radius * table.spacing
        scheme = build_scheme(scene)
        self.state = State(
            particles=particles,
            model=model,
            lists=NeighbourLists(d, radius, table.neighbours, table.skin * table.spacing),
            spacing=table.spacing,
            scheme=scheme,
            forces=scheme.pair_forces(d, radius, table.spacing, table.neighbours),
            obstacles=build_obstacles(scene),
            gravity=gravity_function(scene),
            loads=build_loads(scene),
            time_step=build_time_step(scene, materials),
            dimension=d,
            tearing=torn,
            resampling=build_resampling(scene),
            passages=Passages(measured_planes(scene)),
        )
        self.state.obstacle_loads.active = measures_loads(scene)
        self.release_due()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.state.time

    @property
    def particles(self) -> Particles:
        """The points and their fields."""
        return self.state.particles

    def step(self, dt: float) -> None:
        """Advance by dt [s]."""
        point_based_step(self.state, dt)

    def advance(self, until: float, interrupted: Callable[[], bool], report: Callable[[Progress], None]) -> bool:
        """Advance to `until` [s]; see `spume.methods.Method`."""
        return advance_to(self, until, interrupted, report)

    def declarations(self) -> tuple[Population, ...]:
        """The points, with their volume ratio."""
        stored = tuple(field for field in self.particles.fields if field.in_frames)
        return (Population("points", (*stored, VOLUME_RATIO), "points", self.state.spacing),)

    def frame(self) -> dict[str, dict[str, NDArray[Any]]]:
        """The arrays of a frame."""
        arrays = self.particles.arrays()
        stored = {field.name: arrays[field.name] for field in self.particles.fields if field.in_frames}
        return {"points": stored | {VOLUME_RATIO.name: self.state.model.volume_ratio(arrays)}}

    def diagnostics(self) -> dict[str, Any]:
        """Numbers about the present state."""
        return diagnose(self.state) | measured_values(self.scene, self._sample, self.state.passages.mass)

    def _sample(self) -> Sample:
        arrays = self.particles.arrays()
        return sample([(arrays, self.state.model.volume_ratio(arrays))], self.state.spacing)

    def checkpoint(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything a bit-for-bit continuation needs."""
        state = self.state
        values = checkpoint_values(self) | {
            "next_id": state.particles.next_id,
            "listed": state.listed,
            "outcomes": dict(zip(OUTCOMES, state.outcomes.tolist())),
            "uncorrected": state.uncorrected,
            "rebuilds": state.rebuilds,
        }
        if state.tearing is not None:
            values["recovered_until"] = state.tearing.recovered_until
        if state.resampling is not None:
            values |= state.resampling.totals()
        return state.particles.arrays(), values

    def restore(self, arrays: dict[str, NDArray[Any]], values: dict[str, Any]) -> None:
        """Restore what `checkpoint` returned."""
        state = self.state
        state.particles.replace(arrays)
        restore_values(self, values)
        state.particles.next_id = values["next_id"]
        state.listed = values["listed"]
        state.outcomes = np.array([values["outcomes"][name] for name in OUTCOMES], np.int64)
        state.uncorrected = values["uncorrected"]
        state.rebuilds = values["rebuilds"]
        if state.tearing is not None:
            state.tearing.recovered_until = values["recovered_until"]
        if state.resampling is not None:
            state.resampling.restore(values)
        restore_lists(state)

    def hold(self) -> None:
        """Move what is in the barrels of nozzles."""
        self.held.hold([self.state.particles] * len(self.sources), self.state.time)

    def check_health(self) -> None:
        """Raise an error if the state is not physical."""
        state = self.state
        health.check_points(state.particles, state.model, "point", state.time, state.cell, self.walls)

    def release_due(self) -> None:
        """Add the points whose time of release has come."""
        state = self.state
        while next_release(self) <= state.time:
            release = self.releases[self.released]
            source = self.sources[release.source]
            points = source.points(release.number)
            values: dict[str, Any] = {**points, "material": source.material, "body": release.source}
            if state.scheme.formulation == "rest-configuration":
                values["rest_x"] = points["x"]
            self.held.add(release.source, release.number, state.particles.next_id)
            state.particles.add(source.count, **values)
            state.speed = max(state.speed, float(np.linalg.norm(points["v"], axis=1).max()))
            state.listed = False
            self.released += 1

    @classmethod
    def estimate(cls, scene: Any) -> Estimate:
        """Points, memory, steps, time and disk space of a scene."""
        materials = [(material.law, material.parameters) for material in scene.materials]
        torn = tearing.FIELDS if tearing.build_tearing(scene) else ()
        extra = (
            *neighbourhood_fields(scene.dimension),
            *formulation_fields(scene.formulation, scene.dimension),
            *torn,
        )
        return estimate_cost(scene, build_time_step(scene, materials), extra, STEP_COST)


def build_scheme(scene: Any) -> Scheme:
    """The scene's choices."""
    points, forces = scene.points, scene.forces
    least = LEAST_NEIGHBOURS[scene.dimension] if points.least_neighbours is None else points.least_neighbours
    return Scheme(
        scene.formulation, forces.stress, forces.gradient, least, points.condition, points.least_volume,
        forces.pressure, forces.viscosity, forces.damping,
    )  # fmt: skip


def build_resampling(scene: Any) -> Resampling | None:
    """The scene's choices; none where points are not resampled. Points at rest have no positions to average."""
    table = scene.resampling
    if not table.enabled or scene.formulation == "rest-configuration":
        return None
    return Resampling(table.every, table.coverage, table.merge_distance, scene.seed)


def build_time_step(scene: Any, materials: list[tuple[Law, Parameters]]) -> TimeStep:
    """The scene's choice of time step: waves of the laws and of the SPH pressure, and viscosity, limit it."""
    spacing, forces = scene.points.spacing, scene.forces
    wave = max(
        math.sqrt(law.wave_speed(parameters) ** 2 + forces.pressure / parameters.density)
        for law, parameters in materials
    )
    fixed = None if scene.time.dt == "auto" else scene.time.dt
    largest = math.inf if scene.time.max_dt is None else scene.time.max_dt
    if forces.viscosity > 0.0:
        density = min(parameters.density for _, parameters in materials)
        largest = min(largest, VISCOUS_LIMIT * density * spacing**2 / forces.viscosity)
    return TimeStep(spacing, wave, fixed, scene.time.courant, scene.time.growth, largest)
