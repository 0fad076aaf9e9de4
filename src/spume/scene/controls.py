"""What can be adjusted in a scene while it runs: gravity, parameters of materials, motion and friction of obstacles.

A control is one number with a range. Setting it at a time gives a change of the scene, in the form that
`Scene.changed` takes. A change keeps the past: obstacles go on from where they are, so that their motion up to that
time is the same in the scene before and after.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spume.errors import SceneError
from spume.geometry.motion import Fixed, Keyframes, MotionModel, Retime, trajectory
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.primitives import HalfPlane, HalfSpace
from spume.materials.table import Material, named_materials, parameter_units
from spume.scene.bodies import ObstacleTable
from spume.scene.common import Scene
from spume.scene.material_scene import MaterialScene
from spume.scene.problems import dotted

DECADES, DECADES_OF_NUMBERS = 2.0, 1.0
"""How far a logarithmic slider goes below and above the scene's value: a quantity with a unit, one without."""
GRAVITIES = 2.0
"""Largest gravity of a slider, relative to that of the scene."""
LEAST_GRAVITY = 20.0
"""Smallest range of a slider of gravity [m/s²]."""
FASTEST = 4.0
"""Largest speed of a motion, relative to that of the scene."""
MOST_FRICTION = 2.0
"""Largest Coulomb coefficient of a slider; the schema has no upper bound."""
OPEN = 1e-3
"""Distance kept from a bound that is not part of the range, relative to the range."""
FIXED_PARAMETERS = ("density",)
"""Parameters that cannot be changed during a run: points have their mass from the start."""


@dataclass(frozen=True)
class Control:
    """A number that can be set while the scene runs."""

    key: str
    """gravity.0, material."shaving cream".yield_stress, obstacle.1.speed, obstacle.1.friction or obstacle.2.shift.0"""
    group: str
    """what it belongs to, for people"""
    label: str
    unit: str
    value: float
    """in the scene"""
    low: float
    high: float
    scale: Literal["linear", "logarithmic"]


def controls(scene: Scene) -> list[Control]:
    """The controls of a scene; none for methods without gravity, obstacles and materials."""
    if not isinstance(scene, MaterialScene):
        return []
    return [*_gravity(scene), *_materials(scene), *_obstacles(scene)]


def changes(original: Scene, present: Scene, key: str, value: float, time: float) -> dict[str, Any]:
    """The changes of the `present` scene that set a control to `value` from `time` [s] on. `original` is the scene of
    which `controls` made the control."""
    assert isinstance(original, MaterialScene)
    assert isinstance(present, MaterialScene)
    kind, *rest = key.split(".")
    if kind == "gravity":
        gravity = [float(component) for component in present.gravity_at(time)]
        gravity[int(rest[0])] = value
        return {"gravity": gravity}
    if kind == "material" or rest[1:] == ["friction"]:
        return {key: value}
    index = int(rest[0])
    own, now = original.obstacle[index].motion, present.obstacle[index].motion
    if rest[1] == "speed":
        assert own is not None
        assert now is not None
        table = {"retime": _table(_retimed(own, now, value, time))}
    else:
        reach = _reach(original, original.obstacle[index])
        table = {"keyframes": _table(_displaced(own, now, int(rest[2]), value, time, reach, original.dimension))}
    return {f"obstacle.{index}.motion": table}


def _table(motion: MotionModel) -> dict[str, Any]:
    tables: dict[str, Any] = motion.model_dump(mode="json", exclude_none=True)
    return tables


def check(control: Control, value: float) -> None:
    """Raise SceneError if `value` is not in the range of the control."""
    if not (math.isfinite(value) and control.low <= value <= control.high):
        unit = f" {control.unit}" if control.unit else ""
        raise SceneError(
            f"{control.key} is {value:g}{unit}: the slider goes from {control.low:g} to {control.high:g}{unit}"
        )


def _gravity(scene: MaterialScene) -> Iterator[Control]:
    present = scene.gravity_at(0.0)
    size = float(np.max(np.linalg.norm(scene.gravity_keyframes[1], axis=1)))
    most = max(GRAVITIES * size, LEAST_GRAVITY)
    for axis, value in enumerate(present):
        yield Control(f"gravity.{axis}", "gravity", "xyz"[axis], "m/s²", float(value), -most, most, "linear")


def _materials(scene: MaterialScene) -> Iterator[Control]:
    for material in scene.materials:
        if material.base:  # another look of a material that is listed already
            continue
        table = material.law.parameters.model_json_schema()["properties"]
        unused = (*scene.unused_parameters(material.law), *material.parameters.unused, *FIXED_PARAMETERS)
        units = parameter_units(material.law.family)
        for name, entry in table.items():
            value = getattr(material.parameters, name)
            if name in unused or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            decades = DECADES if name in units else DECADES_OF_NUMBERS
            low, high, scale = parameter_range(float(value), entry, _largest_named(material, name), decades)
            key = dotted(("material", material.name, name))
            label = name.replace("_", " ")
            yield Control(key, material.name, label, units.get(name, ""), float(value), low, high, scale)


def parameter_range(
    value: float, entry: dict[str, Any], largest: float, decades: float = DECADES
) -> tuple[float, float, Literal["linear", "logarithmic"]]:
    """The range of a slider for a parameter from its entry in the JSON Schema: its bounds if there are two, otherwise
    some `decades` around a positive `value`, or up to the `largest` value of named materials if it is zero."""
    number = next((each for each in entry.get("anyOf", ()) if each.get("type") == "number"), entry)
    lower, upper = number.get("minimum"), number.get("maximum")
    least, most = number.get("exclusiveMinimum", lower), number.get("exclusiveMaximum", upper)
    if least is not None and most is not None:
        margin = OPEN * (most - least)
        low = least + margin if lower is None else least
        high = most - margin if upper is None else most
        return min(low, value), max(high, value), "linear"
    if value > 0:
        low, high = value / 10**decades, value * 10**decades
        return max(low, low if least is None else least), high if most is None else min(high, most), "logarithmic"
    if value == 0:
        return 0.0 if least is not None else -(largest or 1.0), largest or 1.0, "linear"
    size = 10.0 * abs(value)
    return -size if least is None else max(-size, least), size if most is None else min(size, most), "linear"


def _largest_named(material: Material, parameter: str) -> float:
    """The largest value that a named material of the same law has; 0 if there is none."""
    entries = [entry for entry in named_materials().values() if entry.get("law") == material.law.family]
    return max(
        (float(entry[parameter]) for entry in entries if isinstance(entry.get(parameter), int | float)), default=0.0
    )


def _obstacles(scene: MaterialScene) -> Iterator[Control]:
    for k, obstacle in enumerate(scene.obstacle):
        name = obstacle.name or f"obstacle {k}"
        if obstacle.contact == "separate":
            high = max(MOST_FRICTION, obstacle.friction)
            yield Control(f"obstacle.{k}.friction", name, "friction", "", obstacle.friction, 0.0, high, "linear")
        if obstacle.follows is not None:
            continue
        if not _is_at_rest(obstacle.motion):
            yield Control(f"obstacle.{k}.speed", name, "speed of its motion", "×", 1.0, 0.0, FASTEST, "linear")
        elif not isinstance(obstacle.shape, HalfSpace | HalfPlane):  # the ground stays
            reach = _reach(scene, obstacle)
            for axis in range(scene.dimension):
                yield Control(
                    f"obstacle.{k}.shift.{axis}", name, f"shift {'xyz'[axis]}", "m", 0.0, -reach, reach, "linear"
                )


def _is_at_rest(motion: MotionModel | None) -> bool:
    return motion is None or isinstance(motion, Fixed)


def _reach(scene: MaterialScene, obstacle: ObstacleTable) -> float:
    """How far an obstacle can be shifted along an axis, and how far it moves in a second [m]: the largest extent of a
    body or of the obstacle itself."""
    sizes = []
    for shape in (*(body.shape for body in scene.body), obstacle.shape):
        low, high = bounds(shape, scene.dimension, scene.folder)
        sizes += [float(size) for size in high - low if np.isfinite(size)]
    return float(f"{max(sizes, default=1.0):.2g}")


def _retimed(own: MotionModel, now: MotionModel, speed: float, time: float) -> Retime:
    """`own`, which has been retimed before if `now` differs, with another speed from `time` on."""
    past: list[tuple[float, float]] = []
    if now != own:
        assert isinstance(now, Retime)
        past = [pair for pair in zip(now.times, now.speeds) if pair[0] < time]
    times, speeds = zip(*past, (time, speed))
    return Retime(motion=own, times=times, speeds=speeds)


def _displaced(
    own: MotionModel | None, now: MotionModel | None, axis: int, value: float, time: float, rate: float, dimension: int
) -> Keyframes:
    """The motion of an obstacle at rest to another displacement along an axis: in a straight line from its position at
    `time` [s], at the constant speed `rate` [m/s]. At time 0 the obstacle is displaced at once."""
    here = [float(part) for part in trajectory(now, dimension)(time).p[:dimension]]
    past: list[tuple[float, tuple[float, ...]]] = []
    target = [0.0] * dimension
    if now != own:
        assert isinstance(now, Keyframes)
        assert now.positions is not None
        past = [pair for pair in zip(now.times, now.positions) if pair[0] < time]
        target = list(now.positions[-1])
    target[axis] = value
    arrival = time + math.dist(here, target) / rate
    ahead = [(time, tuple(here)), (arrival, tuple(target))] if arrival > time > 0 else [(time, tuple(target))]
    times, positions = zip(*past, *ahead)
    return Keyframes(times=times, positions=positions, rotations=None, about=None, interpolation="linear")
