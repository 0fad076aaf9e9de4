"""Sources of material: bodies, copies released on a schedule, and flows through an opening."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.filling.fill import Filling, expected_points, fill
from spume.geometry.motion import MotionModel, pose
from spume.geometry.shapes import ShapeModel, TriangleMesh
from spume.matter.flow_schedule import FlowCurve, Layers
from spume.matter.paint import mesh_paint
from spume.matter.placement import Initial, check_placement
from spume.matter.sections import NozzleSection, ShapeSection
from spume.matter.surface_section import SurfaceSection
from spume.memory import refuse_memory
from spume.numerics.rows import rows_along, rows_times
from spume.ranks.ranks import ALONE, Ranks
from spume.scene.bodies import Body
from spume.scene.emitter import Emitter
from spume.scene.material_scene import MaterialScene

BYTES_PER_POINT = 700
BASE_MEMORY = 300_000_000
"""Memory of Python, NumPy and the compiled kernels [bytes]."""
PLACES = 33
"""Number of releases of a source whose positions are checked."""
ALL = slice(None)
MOST_RELEASES = 2.0**52
"""Number up to which releases are counted exactly."""


@dataclass(frozen=True)
class Release:
    """Points that enter the simulation at a time."""

    time: float
    source: int
    """Index of the source: bodies first, then emitters, in the order of the scene."""
    number: int
    """Number of earlier releases of this source."""


class BodySource:
    """A filled shape, released once or as copies."""

    def __init__(self, table: Body | Emitter, scene: MaterialScene, index: int, ranks: Ranks = ALONE) -> None:
        self.table = table
        assert table.shape is not None  # copies have no nozzle
        self.material = scene.material_index(table.material, table.look)
        self.density = scene.materials[self.material].parameters.density
        self.estimate_volume = isinstance(table, Body) and table.volume == "grid"
        # each source has its own random numbers, so that changing one body does not change the others
        self.filling: Filling = fill(
            table.shape, scene.dimension, scene.cell, table.fill.pattern, table.fill.points_per_axis,
            table.fill.jitter, np.random.default_rng([scene.seed, index]), scene.folder, ranks,
        )  # fmt: skip
        self.affine = scene.affine
        self.times = _schedule(table, scene.duration)
        self.motion = table.motion if isinstance(table, Emitter) else None
        self.count = self.filling.count
        """Number of points of a release, on all ranks."""
        self.paint: NDArray[np.float64] | None = None
        """Colours that the points carry."""
        if isinstance(table, Body) and table.colors == "mesh":
            self.paint = mesh_paint(table.shape, self.filling.positions, scene.folder)

    def places(self) -> Iterator[tuple[float, NDArray[np.float64]]]:
        """Time [s] and positions [m] of the release; for moving copies, of some releases."""
        moves = self.motion is not None and self.times
        for number in _spread(len(self.times)) if moves else (0,):
            yield (
                (self.times[number], self.points(number)["x"]) if moves else (self.table.start, self.filling.positions)
            )

    def numbers(self, part: slice = ALL) -> NDArray[np.int64]:
        """Numbers of the points of this rank among all of a release; `part` is that of a flow."""
        return self.filling.places

    def points(self, number: int, part: slice = ALL) -> dict[str, NDArray[np.float64]]:
        """Position, velocity, volume and mass of the points of a release that this rank has."""
        x = self.filling.positions
        v = np.zeros_like(x)
        # the affine velocity of [Jiang15] must contain the gradient of v, or the first step would lose part of it
        C = np.zeros((len(x), x.shape[1], x.shape[1]))
        if isinstance(self.table, Emitter):
            v += self.table.velocity_track.at(self.times[number])[0]
        elif self.table.velocity is not None:
            v += self.table.velocity
        if self.table.spin is not None:
            v += _spin_velocity(self.table.spin, x - self.filling.shape.centroid[: x.shape[1]])
            C += _spin_velocity(self.table.spin, np.eye(x.shape[1])).T
        if isinstance(self.table, Body) and self.table.wave is not None:
            wave = self.table.wave
            phase = rows_along(x, np.array(wave.wave_vector))
            v += np.outer(np.sin(phase), wave.velocity)
            C += np.einsum("p,i,j->pij", np.cos(phase), wave.velocity, wave.wave_vector)
        volume = self.filling.volume
        points = {"x": x, "v": v, "volume": volume, "mass": volume * self.density}
        points |= {"C": C} if self.affine else {}
        points |= {"paint": self.paint} if self.paint is not None else {}
        return _carried(points, self.motion, self.times[number], x.shape[1], self.affine)

    def note(self, name: str) -> str:
        """What `spume estimate` says of it."""
        copies = f" × {len(self.times)}" if len(self.times) != 1 else ""
        return f"{name}: {self.count} points{copies}, {self.density * self.filling.shape.volume:.6g} kg"


class FlowSource:
    """Layers of points released from an opening, each when the previous one has moved on."""

    def __init__(self, table: Emitter, scene: MaterialScene, index: int) -> None:
        self.table = table
        self.material = scene.material_index(table.material, table.look)
        self.density = scene.materials[self.material].parameters.density
        self.estimate_volume = False
        self.dimension = scene.dimension
        self.affine = scene.affine
        self.seed = [scene.seed, index]
        self.flow = Flow(table, scene, 1 << 24)
        section = self.flow.section
        self.directions: NDArray[np.float64] | None = None
        """For a flow out of a surface: the direction at each point of a layer."""
        if isinstance(section, SurfaceSection):
            self.x, self.directions = section.points_and_normals(self.seed)
        else:
            self.x = section.points()
        if len(self.x) == 0:
            where = "in its section across the velocity" if self.directions is None else "on its surface"
            raise SceneError(
                f"emitter.{index - len(scene.body)}.shape has no point of spacing {section.spacing:g} m {where}: make "
                "the shape larger or the cell smaller"
            )
        self.count = len(self.x)
        self._random = (-1, -1), np.empty((0, 0, 0))
        """First and last of some layers, and their random numbers, stored because layers in a barrel use them again."""
        self.barrel = self.flow.barrel
        """Length of the barrel [m], in whole layers."""
        if isinstance(section, SurfaceSection) and section.reaches_out(self.x, self.directions, 2 * self.barrel):
            raise SceneError(
                f"emitter.{index - len(scene.body)}.barrel is {table.barrel:g} m, and at some places that is "
                "beyond the middle of the shape: make it shorter"
            )
        times, thicknesses, ways = self.flow.layers.times_and_thicknesses()
        filled = round(self.barrel / section.spacing)
        # the barrel is full at the start; material released behind leaves it correspondingly later
        self.times: list[float] = [table.start] * filled + times.tolist()
        self.thicknesses = np.concatenate([np.full(filled, section.spacing), thicknesses])
        self.depths = np.concatenate([(np.arange(filled) + 0.5) * section.spacing, self.barrel + ways])
        """Distance the flow must travel until a layer reaches the opening [m]."""

    def places(self) -> Iterator[tuple[float, NDArray[np.float64]]]:
        """Time [s] and positions [m] of the first layer; for a moving emitter, also of some others and the last."""
        for number in _spread(len(self.times) if self.table.motion is not None else min(1, len(self.times))):
            time = self.times[number]
            yield time, _carried({"x": self.x, "v": self.x}, self.table.motion, time, self.dimension, False)["x"]

    def numbers(self, part: slice = ALL) -> NDArray[np.int64]:
        """Numbers of a `part` of the points of a layer."""
        return np.arange(self.count)[part]

    def points(self, number: int, part: slice = ALL) -> dict[str, NDArray[np.float64]]:
        """Position, velocity, volume and mass of a `part` of the points of a layer."""
        members = self.numbers(part)
        volume = np.full(len(members), self.flow.section.area * float(self.thicknesses[number]) / self.count)
        return self.held(np.full(len(members), number), members, self.times[number]) | {
            "volume": volume, "mass": volume * self.density
        }  # fmt: skip

    def way(self, time: float) -> float:
        """Distance [m] the flow has travelled at `time` [s]; layers that lie deeper are still in the barrel."""
        return self.flow.layers.curve.way(time)

    def held(
        self, numbers: NDArray[np.int64], members: NDArray[np.int64], time: float
    ) -> dict[str, NDArray[np.float64]]:
        """Position and velocity at `time` [s] of the points `members` of the layers `numbers` in the barrel."""
        x = self.x[members] + self._jitter(numbers, members)
        if self.directions is None:
            direction, v = self.flow.direction(time), np.broadcast_to(self.flow.velocity(time), x.shape)
        else:
            direction = self.directions[members]
            v = self.flow.speed(time) * direction
        if self.barrel > 0:
            back = self.way(time) - self.depths[numbers]
            x = x + back[:, None] * direction
        points = {"x": x, "v": v}
        return _carried(points, self.table.motion, time, self.dimension, self.affine)

    def _jitter(self, numbers: NDArray[np.int64], members: NDArray[np.int64]) -> NDArray[np.float64]:
        """Random displacements; each layer has its own random numbers, so that a resumed run uses the same ones."""
        size = self.table.fill.jitter * self.flow.section.spacing
        if size == 0:
            return np.zeros((len(numbers), self.dimension))
        if not len(numbers):
            return np.zeros((0, self.dimension))
        first, last = int(numbers.min()), int(numbers.max())
        if self._random[0] != (first, last):
            layers = [np.random.default_rng([*self.seed, number]) for number in range(first, last + 1)]
            self._random = (first, last), np.stack([layer.uniform(-0.5, 0.5, self.x.shape) for layer in layers])
        return np.asarray(size * self._random[1][numbers - first, members])

    def note(self, name: str) -> str:
        """What `spume estimate` says of it."""
        total = self.flow.section.area * (self.flow.layers.curve.total + self.barrel)
        unit = "m³" if self.dimension == 3 else "m²"
        return f"{name}: {self.count} points a layer, {len(self.times)} layers, {total:.4g} {unit} in all"


class Flow:
    """The opening of an emitter, the speed of the flow, and the resulting layers.

    most_samples: largest number of points of the lattice that measures the opening of a shape.
    """

    def __init__(self, table: Emitter, scene: MaterialScene, most_samples: int) -> None:
        spacing = scene.cell / table.fill.points_per_axis
        outflow = table.outflow_track
        self.rate = table.rate_track
        if outflow is None:
            self.track = table.velocity_track
            first = np.array(next(velocity for velocity in table.velocities if any(velocity)))
            self.normal = first / np.linalg.norm(first)
            """Normal of the opening, in the emitter's own frame; of a surface, 1 along its normals."""
        else:
            self.track, self.normal = outflow, np.ones(1)
        self.section: NozzleSection | ShapeSection | SurfaceSection
        if outflow is not None:
            assert table.shape is not None  # a flow out of a surface has no nozzle
            self.section = SurfaceSection(
                table.shape, table.within, scene.folder, scene.dimension, spacing, most_samples
            )
        elif table.nozzle is not None:
            self.section = NozzleSection(table.nozzle, self.normal, spacing)
        else:
            assert table.shape is not None  # an emitter has one of them
            self.section = ShapeSection(table.shape, scene.folder, self.normal, spacing, most_samples)
        self.barrel = spacing * math.ceil(table.barrel / spacing - 1e-9)
        """Length of the barrel, in whole layers [m]."""
        stop = max(table.start, min(table.stop if table.stop is not None else math.inf, scene.duration))
        if self.rate is None:
            curve = FlowCurve(self.track, self.normal, table.start, stop)
        else:
            area = self.section.area or math.inf  # without an opening nothing flows
            curve = FlowCurve(self.rate, np.array([1.0 / area]), table.start, stop)
        self.layers = Layers(curve, spacing)

    def direction(self, time: float) -> NDArray[np.float64]:
        """Displacement of the material per metre along the normal, in the emitter's own frame [1]."""
        v = np.array(self.track.at(time)[0])
        across = float(v @ self.normal)
        return np.asarray(v / across) if across > 0 else self.normal

    def speed(self, time: float) -> float:
        """Speed of the material that leaves a surface at `time` [m/s]."""
        return float(self.track.at(time)[0][0])

    def velocity(self, time: float) -> NDArray[np.float64]:
        """Velocity of the material that leaves at `time`, in the emitter's own frame [m/s]."""
        v = np.array(self.track.at(time)[0])
        if self.rate is None:
            return v
        return np.asarray(v * (self.rate.at(time)[0][0] / self.section.area / float(v @ self.normal)))


Source = BodySource | FlowSource


def sources_of(scene: MaterialScene, ranks: Ranks = ALONE) -> list[Source]:
    """Sources of a scene, bodies first. They are kept with the scene, because a run needs them for its estimate and
    for its state."""
    kept = scene.derived(_none_yet)
    process = ranks.rank, ranks.size
    if process not in kept:
        kept[process] = build_sources(scene, ranks)
    return kept[process]


def share_sources(scene: MaterialScene, ranks: Ranks) -> None:
    """Build the sources of a scene whose points are shared; its estimate needs no others, since their numbers are
    those of all ranks."""
    scene.derived(_none_yet)[ALONE.rank, ALONE.size] = sources_of(scene, ranks)


def _none_yet(scene: MaterialScene) -> dict[tuple[int, int], list["Source"]]:
    """The sources of a process by its rank and the number of ranks."""
    return {}


@dataclass(frozen=True)
class Plan:
    """Number of points that a source will release, computed without enumerating them."""

    name: str
    points: float
    """of one release"""
    releases: float
    shape: ShapeModel | None
    """None: a nozzle"""

    @property
    def total(self) -> float:
        return self.points * self.releases


def plan_sources(scene: MaterialScene) -> list[Plan]:
    """Plans of all sources, bodies first, from the volume of the shape over that of a cell of its lattice."""
    plans = []
    for name, table in zip(source_names(scene), _tables(scene)):
        spacing = scene.cell / table.fill.points_per_axis
        if isinstance(table, Emitter) and table.copies is None:
            flow = Flow(table, scene, 1 << 18)
            per_layer = flow.section.area / spacing ** (scene.dimension - 1)
            plans.append(Plan(name, per_layer, flow.layers.count + flow.barrel / spacing, table.shape))
        else:
            assert table.shape is not None  # copies have no nozzle
            per_release = expected_points(table.shape, scene.dimension, spacing, table.fill.pattern, scene.folder)
            plans.append(Plan(name, per_release, _release_count(table, scene.duration), table.shape))
    return plans


def refuse_too_many_points(scene: MaterialScene, share: float = 1.0) -> None:
    """Raise SceneError, before any point is created, if the machine does not have enough memory for them. `share` of
    them are on this machine."""
    plans = plan_sources(scene)
    total = math.fsum(plan.total for plan in plans)
    largest = max(plans, key=lambda plan: plan.total)
    what = f"about {total:.3g} points, of which {largest.total:.3g} are of {largest.name}"
    if largest.releases > 1:
        what += f" ({largest.releases:.3g} releases of {largest.points:.3g})"
    advice = f"make the scene smaller, or {scene.spacing_key}, {scene.cell:g} m, larger"
    if isinstance(largest.shape, TriangleMesh) and largest.shape.scale == 1.0:
        advice += "; if its mesh is in millimetres, give it scale = 0.001"
    refuse_memory(share * BYTES_PER_POINT * total + BASE_MEMORY, what, advice)


def build_sources(scene: MaterialScene, ranks: Ranks = ALONE) -> list[Source]:
    """Build the sources of a scene, bodies first; each of several ranks makes some of the points of a body. Raises
    SceneError if they do not fit the machine or the scene."""
    share = ranks.share_of_machine()
    with ranks.agreed():  # this reads all shapes, whose files one of them may lack
        refuse_too_many_points(scene, share)
    sources: list[Source] = [BodySource(body, scene, k, ranks) for k, body in enumerate(scene.body)]
    for emitter in scene.emitter:
        k = len(sources)
        flows = emitter.copies is None
        sources.append(FlowSource(emitter, scene, k) if flows else BodySource(emitter, scene, k, ranks))
    listed = [Initial(source.numbers(), source.count, list(source.places())) for source in sources]
    check_placement(scene, listed, list(source_names(scene)), ranks)
    return sources


def releases(sources: list[Source]) -> list[Release]:
    """All releases in order of time; at equal times in the order of the scene."""
    found = [Release(time, k, n) for k, source in enumerate(sources) for n, time in enumerate(source.times)]
    return sorted(found, key=lambda release: (release.time, release.source))


def _tables(scene: MaterialScene) -> tuple[Body | Emitter, ...]:
    return (*scene.body, *scene.emitter)


def source_names(scene: MaterialScene) -> Iterator[str]:
    """Name of each source in messages."""
    for k, body in enumerate(scene.body):
        yield f"body '{body.name}'" if body.name else f"body {k}"
    for k, emitter in enumerate(scene.emitter):
        yield f"emitter '{emitter.name}'" if emitter.name else f"emitter {k}"


def _schedule(table: Body | Emitter, duration: float) -> list[float]:
    interval = table.copies.interval if isinstance(table, Emitter) and table.copies is not None else 0.0
    return [table.start + k * interval for k in range(int(_release_count(table, duration)))]


def _release_count(table: Body | Emitter, duration: float) -> float:
    """Number of times start + k · interval before the end."""
    if not isinstance(table, Emitter) or table.copies is None:
        return 1.0
    last = duration if table.stop is None else min(table.stop, duration)
    interval = table.copies.interval
    with np.errstate(over="ignore"):
        count = np.floor(np.float64(last - table.start) / interval) + 1.0  # may be off by one because of rounding
    if count < MOST_RELEASES:
        while count > 0 and table.start + (count - 1) * interval > last:
            count -= 1.0
        while table.start + count * interval <= last:
            count += 1.0
    return float(max(0.0, min(count, float(table.copies.count))))


def _spread(count: int) -> list[int]:
    """Evenly spaced numbers below `count`, including the first and the last."""
    return sorted({round(k) for k in np.linspace(0, count - 1, min(count, PLACES))}) if count else []


def _carried(
    points: dict[str, NDArray[np.float64]], motion: MotionModel | None, time: float, dimension: int, affine: bool
) -> dict[str, NDArray[np.float64]]:
    """Transform points from the frame of an emitter to the world, adding the velocity of its motion."""
    if motion is None:
        return points
    at = pose(motion, time, dimension)
    R, p = at.R[:dimension, :dimension], at.p[:dimension]
    omega = at.omega[2] if dimension == 2 else at.omega
    arm = rows_times(points["x"], R.T)
    moved = points | {"x": arm + p, "v": rows_times(points["v"], R.T) + at.v[:dimension] + _spin_velocity(omega, arm)}
    if affine:
        own = points.get("C", np.zeros((len(arm), dimension, dimension)))
        moved["C"] = R @ own @ R.T + _spin_velocity(omega, np.eye(dimension)).T
    return moved


def _spin_velocity(
    spin: float | tuple[float, ...] | NDArray[np.float64], arm: NDArray[np.float64]
) -> NDArray[np.float64]:
    """ω × arm; in 2D ω is a number."""
    if arm.shape[1] == 2:
        return np.asarray(spin * np.stack([-arm[:, 1], arm[:, 0]], axis=1))
    return np.cross(np.asarray(spin, dtype=float), arm)
