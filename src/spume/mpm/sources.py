"""Where material comes from: bodies that appear, copies released on a schedule, flows through an opening."""

import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.filling.fill import Filling, fill
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.evaluation import distances
from spume.geometry.shapes import TriangleMesh
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.volume import volume
from spume.memory import refuse_memory
from spume.mpm.placement import check_placement

BYTES_PER_POINT = 700
BASE_MEMORY = 300_000_000
"""Python, NumPy and the compiled kernels."""
PORTION = 1 << 20
"""Points of the section of an emitter that are tested together."""
MOST_RELEASES = 2.0**52
"""Up to here the count of releases is exact."""


@dataclass(frozen=True)
class Release:
    """Points that enter the simulation at a time."""

    time: float
    source: int
    """Bodies first, then emitters, in the order of the scene."""


class BodySource:
    """A filled shape, released once or as copies."""

    def __init__(self, table: Any, scene: Any, index: int) -> None:
        self.table = table
        self.material = scene.material_index(table.material, table.look)
        self.density = scene.materials[self.material].parameters.density
        # each source has random numbers of its own, so that a change of one body leaves the others as they were
        self.filling: Filling = fill(
            table.shape, scene.dimension, scene.grid.cell, table.fill.pattern, table.fill.points_per_axis,
            table.fill.jitter, np.random.default_rng([scene.seed, index]), scene.folder,
        )  # fmt: skip
        self.affine = scene.transfer.scheme == "apic"
        self.estimate_volume = getattr(table, "volume", "exact") == "grid"
        self.times = _schedule(table, scene.duration)
        self.count = len(self.filling.positions)

    def initial_points(self) -> NDArray[np.float64]:
        """Positions at the first release [m], shape (n, dimension)."""
        return self.filling.positions

    def points(self) -> dict[str, NDArray[np.float64]]:
        """Position, velocity, volume and mass of the points."""
        x = self.filling.positions
        v = np.zeros_like(x)
        # the affine velocity of [Jiang15] has to know the gradient of v, or the first step would lose part of it
        C = np.zeros((len(x), x.shape[1], x.shape[1]))
        if self.table.velocity is not None:
            v += self.table.velocity
        if self.table.spin is not None:
            v += _spin_velocity(self.table.spin, x - x.mean(axis=0))
            C += _spin_velocity(self.table.spin, np.eye(x.shape[1])).T
        wave = getattr(self.table, "wave", None)  # of a body; copies have none
        if wave is not None:
            phase = x @ np.array(wave.wave_vector)
            v += np.outer(np.sin(phase), wave.velocity)
            C += np.einsum("p,i,j->pij", np.cos(phase), wave.velocity, wave.wave_vector)
        volume = np.full(len(x), self.filling.volume)
        points = {"x": x, "v": v, "volume": volume, "mass": volume * self.density}
        return points | {"C": C} if self.affine else points

    def note(self, name: str) -> str:
        """What `spume estimate` says of it."""
        copies = f" × {len(self.times)}" if len(self.times) != 1 else ""
        return (
            f"{name}: {self.count} points{copies}, {self.density * self.filling.shape_volume:.6g} kg; "
            f"the lattice alone would miss its volume by {100 * self.filling.lattice_error:+.2f} %"
        )


class FlowSource:
    """Layers of points released from the middle section of a shape, each when the one before has made room."""

    def __init__(self, table: Any, scene: Any, index: int) -> None:
        self.table = table
        self.material = scene.material_index(table.material, table.look)
        self.density = scene.materials[self.material].parameters.density
        self.estimate_volume = False
        section = Section(table, scene, 1 << 24)
        self.x = section.points(section.spacing)
        if len(self.x) == 0:
            raise SceneError(
                f"emitter.{index - len(scene.body)}.shape has no lattice point of spacing {section.spacing:g} m in its "
                "section across the velocity: make the shape larger or the cell smaller"
            )
        self.velocity = section.speed * section.direction
        self.times = [table.start + k * section.interval for k in range(int(section.layers))]
        self.count = len(self.x)
        self.point_volume = section.area * section.spacing / self.count
        self.rate = section.area * section.speed

    def initial_points(self) -> NDArray[np.float64]:
        """Positions at the first release [m], shape (n, dimension)."""
        return self.x

    def points(self) -> dict[str, NDArray[np.float64]]:
        """Position, velocity, volume and mass of the points of a layer."""
        volume = np.full(self.count, self.point_volume)
        v = np.broadcast_to(self.velocity, self.x.shape)
        return {"x": self.x, "v": v, "volume": volume, "mass": volume * self.density}

    def note(self, name: str) -> str:
        """What `spume estimate` says of it."""
        return f"{name}: {self.count} points a layer, {len(self.times)} layers, {self.rate:.4g} of volume per second"


class Section:
    """The section of an emitter's shape across its velocity, through the middle of the shape's bounds.

    most_samples: points of the lattice that measures its area, at the most.
    """

    def __init__(self, table: Any, scene: Any, most_samples: int) -> None:
        d = scene.dimension
        self.shape, self.folder, self.dimension = table.shape, scene.folder, d
        self.spacing = scene.grid.cell / table.fill.points_per_axis
        """Between the points of a layer, and between layers [m]."""
        self.direction = np.array(table.velocity) / np.linalg.norm(table.velocity)
        lower, upper = bounds(table.shape, d, scene.folder)
        self.middle = 0.5 * (lower + upper)
        self.reach = 0.5 * float(np.linalg.norm(upper - lower))
        # measured on a lattice eight times finer than that of the points, unless this has too many points
        fine = max(self.spacing / 8, 2 * self.reach / most_samples ** (1 / (d - 1)))
        self.area = sum(len(x) for x in self._inside(fine)) * fine ** (d - 1)
        """[m²]; in 2D its length [m]"""
        given = float(np.linalg.norm(table.velocity))
        self.speed = table.rate / self.area if table.rate is not None and self.area > 0 else given
        stop = min(table.stop if table.stop is not None else math.inf, scene.duration)
        self.interval = self.spacing / self.speed
        """Time in which a layer makes room for the next [s]."""
        with np.errstate(over="ignore", divide="ignore"):
            self.layers = max(0.0, float(np.ceil(np.float64(stop - table.start) / self.interval)))

    def points(self, spacing: float) -> NDArray[np.float64]:
        """The lattice points of the section inside the shape [m], shape (n, dimension)."""
        return np.ascontiguousarray(np.concatenate([np.empty((0, self.dimension)), *self._inside(spacing)]))

    def _inside(self, spacing: float) -> Iterator[NDArray[np.float64]]:
        """Those points in portions, so that no array holds the whole lattice."""
        program = compile_shape(self.shape, self.dimension, self.folder)
        half = math.ceil(self.reach / spacing)
        # an orthonormal basis whose first vector is the direction
        across = np.linalg.svd(self.direction[None, :])[2][1:]
        rows = max(1, PORTION // (2 * half) ** (self.dimension - 2))
        for first in range(-half, half, rows):
            spans = [(first, min(first + rows, half)), (-half, half)][: self.dimension - 1]
            lattice = np.meshgrid(*((np.arange(*span) + 0.5) * spacing for span in spans), indexing="ij")
            x = self.middle + sum(g.reshape(-1, 1) * axis for g, axis in zip(lattice, across))
            yield x[distances(program, x) < 0]


Source = BodySource | FlowSource


_FILLED: dict[int, list[Source]] = {}
"""The sources of the scenes in use, by the identity of the scene."""


def sources_of(scene: Any) -> list[Source]:
    """The sources of a scene, bodies first. A run asks twice, for its estimate and for its state; its shapes are filled
    the first time only, and forgotten with the scene."""
    key = id(scene)
    if key not in _FILLED:
        _FILLED[key] = build_sources(scene)
        weakref.finalize(scene, _FILLED.pop, key)
    return _FILLED[key]


@dataclass(frozen=True)
class Plan:
    """How many points a source will release, found without enumerating them."""

    name: str
    points: float
    """of one release"""
    releases: float
    table: Any

    @property
    def total(self) -> float:
        return self.points * self.releases


def plan_sources(scene: Any) -> list[Plan]:
    """The plans of all sources, bodies first: volume of the shape over the volume of a point."""
    plans = []
    for name, table in zip(source_names(scene), (*scene.body, *scene.emitter)):
        spacing = scene.grid.cell / table.fill.points_per_axis
        if hasattr(table, "copies") and table.copies is None:
            section = Section(table, scene, 1 << 18)
            plans.append(Plan(name, section.area / spacing ** (scene.dimension - 1), section.layers, table))
        else:
            size = volume(table.shape, scene.dimension, scene.folder)
            plans.append(Plan(name, size / spacing**scene.dimension, _release_count(table, scene.duration), table))
    return plans


def refuse_too_many_points(scene: Any) -> None:
    """Raise SceneError, before any point is made, if the machine has not the memory for them."""
    plans = plan_sources(scene)
    total = math.fsum(plan.total for plan in plans)
    largest = max(plans, key=lambda plan: plan.total)
    what = f"about {total:.3g} points, of which {largest.total:.3g} are of {largest.name}"
    if largest.releases > 1:
        what += f" ({largest.releases:.3g} releases of {largest.points:.3g})"
    advice = f"make the scene smaller, or grid.cell, {scene.grid.cell:g} m, larger"
    if isinstance(largest.table.shape, TriangleMesh) and largest.table.shape.scale == 1.0:
        advice += "; if its mesh is in millimetres, give it scale = 0.001"
    refuse_memory(BYTES_PER_POINT * total + BASE_MEMORY, what, advice)


def build_sources(scene: Any) -> list[Source]:
    """The sources of a scene, bodies first. Raises SceneError if they do not fit the machine or the scene."""
    refuse_too_many_points(scene)
    sources: list[Source] = [BodySource(body, scene, k) for k, body in enumerate(scene.body)]
    for emitter in scene.emitter:
        kind = BodySource if emitter.copies is not None else FlowSource
        sources.append(kind(emitter, scene, len(sources)))
    check_placement(scene, [source.initial_points() for source in sources], list(source_names(scene)))
    return sources


def releases(sources: list[Source]) -> list[Release]:
    """All releases in the order of time; at equal times in the order of the scene."""
    found = [Release(time, k) for k, source in enumerate(sources) for time in source.times]
    return sorted(found, key=lambda release: (release.time, release.source))


def source_names(scene: Any) -> Iterator[str]:
    """What to call each source in messages."""
    for kind, tables in (("body", scene.body), ("emitter", scene.emitter)):
        for k, table in enumerate(tables):
            yield f"{kind} '{table.name}'" if table.name else f"{kind} {k}"


def _schedule(table: Any, duration: float) -> list[float]:
    interval = _interval(table)
    return [table.start + k * interval for k in range(int(_release_count(table, duration)))]


def _interval(table: Any) -> float:
    copies = getattr(table, "copies", None)
    return 0.0 if copies is None else float(copies.interval)


def _release_count(table: Any, duration: float) -> float:
    """How many of the times start + k · interval are before the end."""
    copies = getattr(table, "copies", None)
    if copies is None:
        return 1.0
    stop = getattr(table, "stop", None)
    last = duration if stop is None else min(stop, duration)
    interval = _interval(table)
    with np.errstate(over="ignore"):
        count = np.floor(np.float64(last - table.start) / interval) + 1.0  # may miss by one, for rounding
    if count < MOST_RELEASES:
        while count > 0 and table.start + (count - 1) * interval > last:
            count -= 1.0
        while table.start + count * interval <= last:
            count += 1.0
    return float(max(0.0, min(count, float(copies.count))))


def _spin_velocity(spin: Any, arm: NDArray[np.float64]) -> NDArray[np.float64]:
    """ω × arm; in the plane ω is a number."""
    if arm.shape[1] == 2:
        return np.asarray(spin * np.stack([-arm[:, 1], arm[:, 0]], axis=1))
    return np.cross(np.asarray(spin, dtype=float), arm)
