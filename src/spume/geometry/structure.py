"""How a shape is made of others: its parts, where they stand, whether they belong into the scene."""

import math
from collections.abc import Iterator

from spume.errors import SceneError
from spume.geometry import combined_shapes as combined
from spume.geometry.combined_shapes import NAMES
from spume.geometry.placement import Placement, rotation_matrix
from spume.geometry.primitive_shapes import ShapePart

ORIGIN = (0.0, 0.0, 0.0)


def parts(shape: ShapePart) -> Iterator[ShapePart]:
    """The shapes that `shape` is made of."""
    for _, value in shape:
        if isinstance(value, ShapePart):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, ShapePart))


def check_dimension(shape: ShapePart, dimension: int) -> None:
    """Raises SceneError when `shape`, or a part of it, does not belong into a scene of `dimension`."""
    name = NAMES[type(shape)]
    if dimension not in shape.dimensions:
        home = " or ".join(f"{d}D" for d in shape.dimensions)
        instead = f"; use '{shape.counterpart}'" if shape.counterpart else ""
        raise SceneError(f"the shape '{name}' belongs into a {home} scene, and this one is {dimension}D{instead}")
    for key, value in shape:
        if isinstance(value, tuple) and all(isinstance(number, int | float) for number in value):
            check_vector(value, dimension, f"'{key}' of the shape '{name}'")
    if isinstance(shape, combined.Rotate) and (shape.axis is None) != (dimension == 2):
        what = "turns in its plane and takes no 'axis'" if dimension == 2 else "needs an 'axis'"
        raise SceneError(f"the shape 'rotate' in a {dimension}D scene {what}")
    for part in parts(shape):
        check_dimension(part, dimension)


def check_vector(vector: tuple[float, ...], dimension: int, what: str) -> None:
    """Raises SceneError when `vector`, called `what`, has not one component for each dimension."""
    if len(vector) != dimension:
        raise SceneError(
            f"{what} has {len(vector)} components, {list(vector)}, and in a {dimension}D scene it needs {dimension}"
        )


def placed(shape: ShapePart, placement: Placement) -> tuple[ShapePart, Placement] | None:
    """What a displacement, rotation or scale applies to, and where that stands; None for other shapes."""
    if isinstance(shape, combined.Translate):
        return shape.shape, placement.moved(shape.by)
    if isinstance(shape, combined.Rotate):
        rotation = rotation_matrix(shape.axis or (0.0, 0.0, 1.0), math.radians(shape.angle))
        return shape.shape, placement.turned(rotation, shape.about or ORIGIN)
    if isinstance(shape, combined.Scale):
        return shape.shape, placement.scaled(shape.factor, shape.about or ORIGIN)
    return None
