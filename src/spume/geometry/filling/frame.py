"""The frame in which a shape is filled: its own axes, with the origin in the middle of its box.

What is computed there depends on the shape alone. A shape that is displaced or turned is filled with the same points,
displaced or turned with it, and the mirror image of a shape with mirrored points.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.geometry.sdf.compiler import compile_shape, number_of_copies
from spume.geometry.sdf.operations import ShapeProgram
from spume.geometry.shapes import combinations, primitives
from spume.geometry.shapes.extent import displacement, extent
from spume.geometry.shapes.local_form import local_form
from spume.geometry.shapes.parts import parts, placed
from spume.geometry.shapes.placement import HERE, Matrix, Placement, spatial, unit
from spume.geometry.shapes.primitives import ShapeModel, TriangleMesh
from spume.geometry.shapes.volume import Moments, are_apart, copies_are_apart, has_volume, moments
from spume.numerics.rows import rows_times

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """A shape in its own frame."""

    program: ShapeProgram
    lower: Floats
    upper: Floats
    """Corners of a box around the shape [m], shape (dimension,); its middle is the origin."""
    loose: bool
    """Whether the box may be larger than necessary."""
    moments: Moments
    home: Placement
    """Takes positions in this frame to the world."""

    def world(self, y: Floats) -> Floats:
        """Positions in the world [m] of positions in this frame, shape (n, dimension)."""
        d = y.shape[1]
        return rows_times(y, self.home.rotation[:d, :d].T) + self.home.origin[:d]


def own_frame(shape: ShapeModel, placement: Placement, dimension: int, folder: Path | None) -> Frame:
    """The frame of `shape` after `placement`."""
    while inner := placed(shape, placement):
        shape, placement = inner
    axes = _axes(shape, dimension)
    turned = Placement((np.eye(3) if axes is None else axes).T, placement.scale, np.zeros(3))
    # the origin of a primitive first, so that no rounding depends on where it stands
    primitive = not isinstance(shape, combinations.CombinedShape)
    origin = turned.point(local_form(shape, HERE, folder).origin) if primitive else np.zeros(3)
    box = extent(shape, Placement(turned.rotation, turned.scale, -origin), dimension, folder)
    middle = np.zeros(3)
    lower, upper = box.lower[:dimension], box.upper[:dimension]
    middle[:dimension] = 0.5 * (lower + upper)
    local = Placement(turned.rotation, turned.scale, -origin - middle)
    home = Placement(placement.rotation @ turned.rotation.T, 1.0, np.zeros(3))
    about = placement.point(turned.rotation.T @ (origin + middle) / placement.scale)
    half = 0.5 * (upper - lower)
    return Frame(
        compile_shape(shape, dimension, folder, local), -half, half, not primitive or isinstance(shape, TriangleMesh),
        moments(shape, dimension, folder).placed(local, dimension), Placement(home.rotation, 1.0, about),
    )  # fmt: skip


def pieces(
    shape: ShapeModel, placement: Placement, dimension: int, folder: Path | None
) -> Iterator[tuple[ShapeModel, Placement, Floats]]:
    """The parts of `shape` that do not overlap, each with its placement and the displacements of its copies [m], shape
    (copies, 3)."""
    if inner := placed(shape, placement):
        yield from pieces(*inner, dimension, folder)
    elif isinstance(shape, combinations.Union) and are_apart(shape, dimension, folder):
        for part in shape.of:
            if has_volume(part, dimension, folder):
                yield from pieces(part, placement, dimension, folder)
    elif isinstance(shape, combinations.Repeat) and copies_are_apart(shape, dimension, folder):
        number_of_copies(shape)
        moves = np.array([displacement(shape, index, placement) for index in np.ndindex(*shape.count)])
        for part, at, copies in pieces(shape.shape, placement, dimension, folder):
            yield part, at, (moves[:, None] + copies).reshape(-1, 3)
    else:
        yield shape, placement, np.zeros((1, 3))


def _axes(shape: ShapeModel, dimension: int) -> Matrix | None:
    """Unit vectors along the axes of a shape, as columns; None if all axes are alike, as those of a sphere.

    A difference and an intersection have the axes of their first part that has any, a union those of its parts if all
    have the same.
    """
    match shape:
        case primitives.Sphere() | primitives.Circle() | primitives.Ring():
            return None
        case primitives.Cylinder() | primitives.Cone() | primitives.Torus():
            return _axes_along(shape.axis, 2)
        case primitives.HalfSpace() | primitives.HalfPlane():
            return _axes_along(shape.normal, 0)
        case primitives.Capsule():
            along = spatial(shape.end) - spatial(shape.start)
            return _axes_along(along, 0) if along.any() else None
    if inner := placed(shape, HERE):
        axes = _axes(inner[0], dimension)
        turned = not np.array_equal(inner[1].rotation, np.eye(3))
        return inner[1].rotation @ axes if axes is not None and turned else axes
    if not isinstance(shape, combinations.CombinedShape):
        return np.eye(3)
    found = [axes for part in parts(shape) if (axes := _axes(part, dimension)) is not None]
    if not found:
        return None
    united = isinstance(shape, combinations.Union | combinations.SmoothUnion)
    return found[0] if not united or all(_same(found[0], axes) for axes in found) else np.eye(3)


def _same(a: Matrix, b: Matrix) -> bool:
    """Whether two triples of axes are the same, whatever their order and signs."""
    turn = np.abs(a.T @ b)
    return bool(np.abs(turn - np.round(turn)).max() < 1e-9)


def _axes_along(direction: object, axis: int) -> Matrix:
    """A rotation that takes the unit vector number `axis` to `direction`. The next one lies in a plane with the
    coordinate axis that is farthest from `direction`, so that the mirror image of a direction gives mirrored axes; in
    the plane z = 0 that is the z axis, which stays where it is."""
    along = unit(np.asarray(direction))
    across = np.eye(3)[2 - int(np.argmin(np.abs(along[::-1])))]
    across = across - (across @ along) * along
    across /= np.linalg.norm(across)
    columns = (along, np.cross(across, along), across) if axis == 0 else (across, np.cross(along, across), along)
    return np.stack(columns, axis=1)
