"""Checks of the parts of a scene that bodies and emitters share: vectors, walls, contacts, shapes to fill."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from spume.errors import SceneError
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.sequences import has_sequence
from spume.geometry.shapes.volume import volume
from spume.scene.emitter import Emitter
from spume.scene.problems import Problem, shown

if TYPE_CHECKING:
    from spume.scene.bodies import Body
    from spume.scene.material_scene import MaterialScene


def check_vector(value: tuple[float, ...] | None, path: str, dimension: int) -> Iterator[Problem]:
    """A vector with the wrong number of components."""
    if value is not None and len(value) != dimension:
        yield Problem(path, f"is {shown(value)}: a vector of a {dimension}D scene has {dimension} components")


def check_walls(scene: "MaterialScene") -> Iterator[Problem]:
    """Walls that do not form a box."""
    walls, key = scene.walls, scene.walls_key
    if walls is None:
        return
    found = [
        *check_vector(walls.lower, f"{key}.lower", scene.dimension),
        *check_vector(walls.upper, f"{key}.upper", scene.dimension),
    ]
    yield from found
    if not found and any(low >= high for low, high in zip(walls.lower, walls.upper)):
        above = f"every component should be greater than in lower, {shown(walls.lower)}"
        yield Problem(f"{key}.upper", f"is {shown(walls.upper)}: {above}")
    yield from check_friction(walls.contact, walls.friction, key)


def check_friction(contact: str, friction: float, path: str) -> Iterator[Problem]:
    """Friction where the contact has none."""
    if friction > 0 and contact != "separate":
        yield Problem(f"{path}.friction", f"is {friction:g} with contact '{contact}': only 'separate' has friction")


def check_starts(start: float, path: str, scene: "MaterialScene") -> Iterator[Problem]:
    """A start after the end of the scene."""
    if start >= scene.duration:
        yield Problem(f"{path}.start", f"is {start:g} s: the scene ends before, at {scene.duration:g} s")


def check_spin(spin: float | tuple[float, ...] | None, path: str, dimension: int) -> Iterator[Problem]:
    """A spin of the wrong dimension."""
    if spin is None:
        return
    if dimension == 2 and isinstance(spin, tuple):
        yield Problem(path, f"is {shown(spin)}: in a 2D scene it is a number, the turning rate in the plane")
    elif dimension == 3 and not isinstance(spin, tuple):
        yield Problem(path, f"is {shown(spin)}: in a 3D scene it is a vector along the axis")
    elif isinstance(spin, tuple):
        yield from check_vector(spin, path, dimension)


def check_filled(item: "Body | Emitter", path: str, scene: "MaterialScene") -> Iterator[Problem]:
    """Whether points would be in the shape, and inside the walls."""
    assert item.shape is not None  # an emitter with a nozzle has none to fill
    if item.fill.pattern != "lattice" and item.fill.jitter > 0:
        yield Problem(
            f"{path}.fill.jitter", f"is {item.fill.jitter:g} with pattern '{item.fill.pattern}': drop one of them"
        )
    if has_sequence(item.shape):
        yield Problem(f"{path}.shape", "has a 'mesh_sequence': only obstacles deform as files say")
        return
    try:
        size = volume(item.shape, scene.dimension)
        points = size / (scene.cell / item.fill.points_per_axis) ** scene.dimension
        lower, upper = bounds(item.shape, scene.dimension)
    except SceneError as error:
        yield Problem(f"{path}.shape", f"cannot be filled: {error}")
        return
    except (OverflowError, ZeroDivisionError):
        yield Problem(f"{path}.shape", f"cannot be filled: its size and cells of {scene.cell:g} m are too far apart")
        return
    if not math.isfinite(points):
        yield Problem(f"{path}.shape", f"cannot be filled: it is too large for cells of {scene.cell:g} m")
    elif points < 1:
        unit = "m³" if scene.dimension == 3 else "m²"
        yield Problem(
            f"{path}.shape",
            f"holds {size:.3g} {unit}, less than one point with cells of {scene.cell:g} m: it would be empty",
        )
    walls, key = scene.walls, scene.walls_key
    moves = isinstance(item, Emitter) and item.motion is not None
    if not moves and walls is not None and not list(check_walls(scene)):
        outside = (upper <= walls.lower) | (lower >= walls.upper)
        if outside.any():
            yield Problem(f"{path}.shape", f"lies outside the walls: move it between {key}.lower and {key}.upper")
