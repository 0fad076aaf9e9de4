"""Structure of a shape: the shapes it is made of, their placements, and the dimensions in which it can be used."""

import math
from collections.abc import Iterator

from spume.errors import SceneError
from spume.geometry.shapes import combinations
from spume.geometry.shapes.combinations import NAMES
from spume.geometry.shapes.placement import HERE, Placement, rotation_matrix
from spume.geometry.shapes.primitives import ShapeModel, TriangleMesh

ORIGIN = (0.0, 0.0, 0.0)


def parts(shape: ShapeModel) -> Iterator[ShapeModel]:
    """Shapes that `shape` is made of."""
    for _, value in shape:
        if isinstance(value, ShapeModel):
            yield value
        elif isinstance(value, tuple):
            yield from (item for item in value if isinstance(item, ShapeModel))


def check_dimension(shape: ShapeModel, dimension: int) -> None:
    """Raise SceneError if `shape`, or a part of it, cannot be used in a scene of `dimension`."""
    name = NAMES[type(shape)]
    if dimension not in shape.dimensions:
        home = " or ".join(f"{d}D" for d in shape.dimensions)
        instead = f"; use '{shape.counterpart}'" if shape.counterpart else ""
        raise SceneError(f"the shape '{name}' belongs in a {home} scene, and this one is {dimension}D{instead}")
    for key, value in shape:
        if isinstance(value, tuple) and all(isinstance(number, int | float) for number in value):
            check_vector(value, dimension, f"'{key}' of the shape '{name}'")
    if isinstance(shape, combinations.Rotate) and (shape.axis is None) != (dimension == 2):
        what = "turns in its plane and takes no 'axis'" if dimension == 2 else "needs an 'axis'"
        raise SceneError(f"the shape 'rotate' in a {dimension}D scene {what}")
    for part in parts(shape):
        check_dimension(part, dimension)


def check_vector(vector: tuple[float, ...], dimension: int, what: str) -> None:
    """Raise SceneError unless `vector`, called `what` in the message, has one component per dimension."""
    if len(vector) != dimension:
        raise SceneError(
            f"{what} has {len(vector)} components, {list(vector)}, and in a {dimension}D scene it needs {dimension}"
        )


def placed(shape: ShapeModel, placement: Placement) -> tuple[ShapeModel, Placement] | None:
    """The shape inside a displacement, rotation or scaling, with its placement; None for other shapes."""
    if isinstance(shape, combinations.Translate):
        return shape.shape, placement.moved(shape.by)
    if isinstance(shape, combinations.Rotate):
        rotation = rotation_matrix(shape.axis or (0.0, 0.0, 1.0), math.radians(shape.angle))
        return shape.shape, placement.turned(rotation, shape.about or ORIGIN)
    if isinstance(shape, combinations.Scale):
        return shape.shape, placement.scaled(shape.factor, shape.about or ORIGIN)
    return None


def own_mesh_of(shape: ShapeModel) -> tuple[TriangleMesh, Placement] | None:
    """The mesh that a shape is, which may be displaced, rotated or scaled, with its placement; None for others."""
    inner, placement = shape, HERE
    while (inside_it := placed(inner, placement)) is not None:
        inner, placement = inside_it
    return (inner, placement) if isinstance(inner, TriangleMesh) else None
