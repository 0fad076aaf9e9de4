"""Compilation of a shape into a program.

Displacements, rotations and scales are combined, so that every primitive has its own placement. Each copy of a repeated
shape becomes a row; guards over groups of copies form a tree, so that only copies near a point are evaluated.
"""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.geometry.sdf import operations
from spume.geometry.sdf.operations import ShapeProgram
from spume.geometry.shapes import combinations
from spume.geometry.shapes.extent import Extent, displacement, extent
from spume.geometry.shapes.local_form import local_form
from spume.geometry.shapes.parts import check_dimension, placed
from spume.geometry.shapes.placement import HERE, Placement
from spume.geometry.shapes.primitives import MeshSequence, ShapeModel, TriangleMesh

COPIES = 20_000
"""Largest number of copies in a `repeat`."""

GUARDED = (operations.UNION, operations.DIFFERENCE)
"""Combinations whose result does not depend on distant parts."""

FAR = 1e150
"""Replaces infinity in guards, where its square must not overflow [m]."""


def compile_shape(
    shape: ShapeModel, dimension: int, folder: Path | None = None, placement: Placement = HERE
) -> ShapeProgram:
    """Compile `shape` after `placement` for a scene of `dimension` 2 or 3; relative paths of meshes start at `folder`.

    Raises SceneError if the shape cannot be used in this dimension or a mesh is invalid.
    """
    check_dimension(shape, dimension)
    assembler = _Assembler(dimension, folder)
    assembler.add(shape, placement, operations.LOAD, 0.0)
    return assembler.program()


def number_of_copies(shape: combinations.Repeat) -> int:
    """Number of copies of a repeated shape. Raises SceneError if there are too many."""
    copies = math.prod(shape.count)
    if copies > COPIES:
        raise SceneError(f"the shape 'repeat' makes {copies} copies, and {COPIES} is the most: lower 'count'")
    return copies


class _Assembler:
    """Rows and numbers of a program under construction. `how`: how a part is combined with the result of the rows
    before it."""

    def __init__(self, dimension: int, folder: Path | None) -> None:
        self.dimension = dimension
        self.folder = folder
        self.rows: list[list[int]] = []
        self.numbers: list[float] = []
        self.voxels: list[NDArray[np.float64]] = []
        self.depth = 0

    def program(self) -> ShapeProgram:
        return ShapeProgram(
            np.array(self.rows, dtype=np.int64),
            np.array([*self.numbers, 0.0]),
            np.array([0, len(self.rows)], dtype=np.int64),
            np.concatenate([np.zeros(1), *self.voxels]),
            self.dimension,
        )

    def add(self, shape: ShapeModel, placement: Placement, how: int, width: float) -> None:
        """Add `shape`, merged into the enclosing combination if that is of the same kind, otherwise on the stack."""
        if inner := placed(shape, placement):
            self.add(*inner, how, width)
        elif isinstance(shape, combinations.Union | combinations.Repeat) and how in (operations.LOAD, *GUARDED):
            self._add_union(shape, placement, how)
        elif isinstance(shape, combinations.Intersection) and how in (operations.LOAD, operations.INTERSECTION):
            self._add_each(shape.of, placement, how, operations.INTERSECTION, 0.0)
        elif isinstance(shape, combinations.Difference) and how in (operations.LOAD, operations.INTERSECTION):
            self.add(shape.of, placement, how, 0.0)
            self._add_each(shape.minus, placement, operations.DIFFERENCE, operations.DIFFERENCE, 0.0)
        elif isinstance(shape, combinations.SmoothUnion) and how == operations.LOAD:
            self._add_each(shape.of, placement, how, operations.SMOOTH_UNION, placement.scale * shape.radius)
        elif isinstance(shape, combinations.CombinedShape) or (
            isinstance(shape, TriangleMesh | MeshSequence) and how in GUARDED
        ):
            self._add_nested(shape, placement, how, width)
        else:
            self._add_primitive(shape, placement, how, width)

    def _add_each(
        self, shapes: tuple[ShapeModel, ...], placement: Placement, first: int, rest: int, width: float
    ) -> None:
        for k, shape in enumerate(shapes):
            self.add(shape, placement, first if k == 0 else rest, width)

    def _add_union(self, shape: combinations.Union | combinations.Repeat, placement: Placement, how: int) -> None:
        guard = self._open_guard(extent(shape, placement, self.dimension, self.folder), how)
        if isinstance(shape, combinations.Repeat):
            self._add_repeat(shape, placement, how)
        else:
            self._add_each(shape.of, placement, how, operations.UNION if how == operations.LOAD else how, 0.0)
        self._close_guard(guard)

    def _add_repeat(self, shape: combinations.Repeat, placement: Placement, how: int) -> None:
        copies = number_of_copies(shape)
        span = [(0, count) for count in shape.count]
        if copies <= 4 or not _is_simple(shape.shape):
            self._add_copies(shape, placement, how, span, {})
            return
        probe = len(self.rows)
        table = self._add_probe(shape, placement, how)
        places: dict[tuple[int, ...], int] = {}
        self._add_copies(shape, placement, operations.UNION if how == operations.LOAD else how, span, places)
        for copy, index in enumerate(np.ndindex(*shape.count)):
            self.numbers[table + copy] = places[index] - probe

    def _add_probe(self, shape: combinations.Repeat, placement: Placement, how: int) -> int:
        """Add a probe and return the position of its table of rows in the numbers, which the caller fills in later."""
        first = extent(shape.shape, placement, self.dimension, self.folder)
        center = 0.5 * (first.lower + first.upper)
        center[self.dimension :] = 0.0
        to_index, counts = np.zeros((3, 3)), np.ones(3)
        for axis, (count, step) in enumerate(zip(shape.count, shape.spacing)):
            counts[axis] = count
            if count > 1 and step != 0.0:
                to_index[axis] = placement.rotation[:, axis] / (placement.scale * step)
        head = (*center, *to_index.ravel(), *counts)
        table = len(self.numbers) + len(head)
        self._add_row(operations.PROBE, how, (*head, *[0.0] * math.prod(shape.count)))
        return table

    def _add_copies(
        self,
        shape: combinations.Repeat,
        placement: Placement,
        how: int,
        span: list[tuple[int, int]],
        places: dict[tuple[int, ...], int],
    ) -> None:
        """Add the copies with indices in `span`, halved along the axis with the most copies, with a guard for each
        half. The row at which each copy begins is written to `places`."""
        counts = [last - first for first, last in span]
        if math.prod(counts) == 1:
            index = tuple(first for first, _ in span)
            places[index] = len(self.rows)
            self.add(shape.shape, placement.moved(np.array(index) * np.array(shape.spacing)), how, 0.0)
            return
        axis = int(np.argmax(counts))
        first, last = span[axis]
        middle = (first + last + 1) // 2
        for part, part_how in (
            ((first, middle), how),
            ((middle, last), operations.UNION if how == operations.LOAD else how),
        ):
            inner = [*span[:axis], part, *span[axis + 1 :]]
            several = math.prod(last - first for first, last in inner) > 2
            guard = self._open_guard(self._extent_of_copies(shape, placement, inner), part_how) if several else None
            self._add_copies(shape, placement, part_how, inner, places)
            self._close_guard(guard)

    def _extent_of_copies(
        self, shape: combinations.Repeat, placement: Placement, span: list[tuple[int, int]]
    ) -> Extent:
        start = displacement(shape, tuple(first for first, _ in span), placement)
        counts = tuple(last - first for first, last in span)
        here = shape.model_copy(update={"count": counts})
        return extent(here, placement, self.dimension, self.folder).swept(start[None])

    def _add_nested(self, shape: ShapeModel, placement: Placement, how: int, width: float) -> None:
        box = extent(shape, placement, self.dimension, self.folder)
        guard = self._open_guard(box, how)
        self.depth += 1
        if self.depth > operations.STACK:
            raise SceneError(f"a shape is nested more than {operations.STACK} combinations deep; flatten its unions")
        self._add_row(operations.PUSH, operations.LOAD, ())
        self.add(shape, placement, operations.LOAD, 0.0)
        if guard is not None:
            # The guards are exact only if no shape's distance is below that of its bounding box.
            self._add_row(operations.CLIP, operations.LOAD, _corners(box))
        self._add_row(operations.POP, how, (), width=width)
        self.depth -= 1
        self._close_guard(guard)

    def _add_primitive(self, shape: ShapeModel, placement: Placement, how: int, width: float) -> None:
        form = local_form(shape, placement, self.folder)
        straight = np.array_equal(form.rotation, np.eye(3))
        numbers = [*form.origin, *(() if straight else form.rotation.T.ravel()), *form.numbers]
        turned = operations.STRAIGHT if straight else operations.TURNED
        if form.voxels is not None:
            numbers[operations.voxel_offset_position(turned)] = self._voxel_offset(form.voxels)
        self._add_row(form.operation, how, tuple(numbers), turned, width)

    def _voxel_offset(self, voxels: NDArray[np.float64]) -> int:
        """Offset of `voxels` in the program; copies of one mesh share them."""
        offset = 1
        for known in self.voxels:
            if known.ctypes.data == voxels.ctypes.data:
                return offset
            offset += len(known)
        self.voxels.append(voxels)
        return offset

    def _add_row(
        self, operation: int, how: int, numbers: tuple[float, ...], extra: int = 0, width: float = 0.0
    ) -> None:
        offset = len(self.numbers)
        self.numbers.extend((*numbers, width))
        self.rows.append([operation, how, offset, extra, offset + len(numbers)])

    def _open_guard(self, box: Extent, how: int) -> int | None:
        """Begin a group of rows that matter only near `box`; None if no guard applies."""
        unbounded = np.isinf(box.lower[: self.dimension]).all() and np.isinf(box.upper[: self.dimension]).all()
        if how not in GUARDED or unbounded:
            return None
        self._add_row(operations.GUARD, how, _corners(box))
        return len(self.rows) - 1

    def _close_guard(self, guard: int | None) -> None:
        if guard is not None:
            self.rows[guard][3] = len(self.rows)


def _corners(box: Extent) -> tuple[float, ...]:
    return tuple(np.clip(np.concatenate([box.lower, box.upper]), -FAR, FAR))


def _is_simple(shape: ShapeModel) -> bool:
    """Whether a shape becomes a single row in every combination: a primitive that is not a mesh."""
    if inner := placed(shape, HERE):
        return _is_simple(inner[0])
    return not isinstance(shape, combinations.CombinedShape | TriangleMesh | MeshSequence)
