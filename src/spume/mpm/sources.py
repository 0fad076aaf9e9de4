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
from spume.geometry.shapes.extent import bounds


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
        self.material = scene.material_index(table.material)
        self.density = scene.materials[self.material].parameters.density
        # each source has random numbers of its own, so that a change of one body leaves the others as they were
        self.filling: Filling = fill(
            table.shape, scene.dimension, scene.grid.cell, table.fill.pattern, table.fill.points_per_axis,
            table.fill.jitter, np.random.default_rng([scene.seed, index]), scene.folder,
        )  # fmt: skip
        self.affine = scene.transfer.scheme == "apic"
        self.estimate_volume = getattr(table, "volume", "exact") == "grid"
        self.times = _schedule(table, scene.duration)
        self.volume = self.filling.shape_volume * len(self.times)
        self.count = len(self.filling.positions)

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
        self.material = scene.material_index(table.material)
        self.density = scene.materials[self.material].parameters.density
        self.estimate_volume = False
        spacing = scene.grid.cell / table.fill.points_per_axis
        direction = np.array(table.velocity) / np.linalg.norm(table.velocity)
        # the section is measured on a lattice eight times finer than the one that carries the points
        fine = _section(table.shape, scene, direction, spacing / 8)
        area = len(fine) * (spacing / 8) ** (scene.dimension - 1)
        self.x = _section(table.shape, scene, direction, spacing)
        if len(self.x) == 0:
            raise SceneError(
                f"emitter.{index - len(scene.body)}.shape has no lattice point of spacing {spacing:g} m in its section "
                "across the velocity: make the shape larger or the cell smaller"
            )
        speed = table.rate / area if table.rate is not None else float(np.linalg.norm(table.velocity))
        self.velocity = speed * direction
        self.interval = spacing / speed
        stop = min(table.stop if table.stop is not None else math.inf, scene.duration)
        self.times = [
            table.start + k * self.interval for k in range(max(0, math.ceil((stop - table.start) / self.interval)))
        ]
        self.count = len(self.x)
        self.point_volume = area * spacing / self.count
        self.rate = area * speed

    def points(self) -> dict[str, NDArray[np.float64]]:
        """Position, velocity, volume and mass of the points of a layer."""
        volume = np.full(self.count, self.point_volume)
        v = np.broadcast_to(self.velocity, self.x.shape)
        return {"x": self.x, "v": v, "volume": volume, "mass": volume * self.density}

    def note(self, name: str) -> str:
        """What `spume estimate` says of it."""
        return f"{name}: {self.count} points a layer, {len(self.times)} layers, {self.rate:.4g} of volume per second"


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


def build_sources(scene: Any) -> list[Source]:
    """Fill the shapes of a scene, bodies first."""
    sources: list[Source] = [BodySource(body, scene, k) for k, body in enumerate(scene.body)]
    for emitter in scene.emitter:
        kind = BodySource if emitter.copies is not None else FlowSource
        sources.append(kind(emitter, scene, len(sources)))
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
    copies = getattr(table, "copies", None)
    count, interval = (copies.count, copies.interval) if copies is not None else (1, 0.0)
    stop = getattr(table, "stop", None)
    last = duration if stop is None else min(stop, duration)
    times = [table.start + k * interval for k in range(count)]
    return [time for time in times if time <= last]


def _spin_velocity(spin: Any, arm: NDArray[np.float64]) -> NDArray[np.float64]:
    """ω × arm; in the plane ω is a number."""
    if arm.shape[1] == 2:
        return np.asarray(spin * np.stack([-arm[:, 1], arm[:, 0]], axis=1))
    return np.cross(np.asarray(spin, dtype=float), arm)


def _section(shape: Any, scene: Any, direction: NDArray[np.float64], spacing: float) -> NDArray[np.float64]:
    """Lattice points of the plane across `direction` through the middle of the shape's bounds that lie in the shape."""
    d = scene.dimension
    lower, upper = (np.asarray(corner)[:d] for corner in bounds(shape, d, scene.folder))
    if not np.all(np.isfinite(np.concatenate([lower, upper]))):
        raise SceneError(
            "the shape of an emitter has no bounds, so material would come out everywhere: cut it with a box"
        )
    middle = 0.5 * (lower + upper)
    reach = 0.5 * float(np.linalg.norm(upper - lower))
    ticks = (np.arange(-math.ceil(reach / spacing), math.ceil(reach / spacing)) + 0.5) * spacing
    # an orthonormal basis whose first vector is the direction
    across = np.linalg.svd(direction[None, :])[2][1:]
    grids = np.meshgrid(*[ticks] * (d - 1), indexing="ij")
    x = middle + sum(g.reshape(-1, 1) * axis for g, axis in zip(grids, across))
    inside = distances(compile_shape(shape, d, scene.folder), x) < 0
    return np.ascontiguousarray(x[inside])
