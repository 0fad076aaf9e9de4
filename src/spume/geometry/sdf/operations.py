"""The program that a shape is compiled into: a flat list of operations and their numbers.

A program is a list of rows `(operation, combine, offset, extra, width)`, run from first to last with one accumulator: a
signed distance and its gradient. A primitive's row computes the primitive at the point and combines it with that.
Only a part that is itself a combination, and cannot be merged into the one around it, needs the stack: PUSH sets the
accumulator aside, POP combines it with what was computed since. GUARD jumps over rows that cannot change the result.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Operations. Those of primitives begin their numbers with a place p (3), then, if `extra` is TURNED, the rows of the
# rotation A into the primitive's own frame (9): local = A (x - p).
SPHERE = 0
"""radius"""
BOX = 1
"""half extents (3) less the rounding, rounding"""
CYLINDER = 2
"""about the local z axis: radius and half height, both less the rounding, rounding"""
CAPSULE = 3
"""along the local x axis: half length of the segment, radius"""
CONE = 4
"""from z = 0 up the local z axis: base radius, top radius, height"""
TORUS = 5
"""about the local z axis: major radius, minor radius"""
HALF_SPACE = 6
"""outward normal (3), already in the frame of the program"""
ELLIPSOID = 7
"""semi-axes (3)"""
POLYGON = 8
"""number of corners, corners (2 each), counter-clockwise"""
MESH = 9
"""lower corner of the samples (3), their spacing, counts (3), offset in `voxels`, factor of the values"""
PRIMITIVES = 10

PUSH = 10
POP = 11
GUARD = 12
"""box (6); extra: the row to jump to when the rows between cannot matter to `combine` because the box is too far"""
CLIP = 13
"""box (6): raises the accumulator to the distance of a box that holds the shape"""
PROBE = 14
"""Combines the accumulator with the copy of a repeated primitive that is likely to be the nearest, so that the guards
which follow have a short distance to compare with. Numbers: centre of the first copy (3), rows of a matrix that takes
a displacement to an index (9), counts (3), then for each copy where its row stands, counted from this one"""

# How a value is combined with the accumulator.
LOAD = 0
UNION = 1
INTERSECTION = 2
DIFFERENCE = 3
SMOOTH_UNION = 4
"""the width of the blend stands in `numbers` where the fifth entry of the row says"""

STRAIGHT = 0
TURNED = 1

STACK = 16
"""Levels of nesting a program may use."""


class ShapeProgram(NamedTuple):
    """A compiled shape, or several one after the other.

    rows      (n, 5) int64: operation, combine, offset into `numbers`, extra, offset of the smooth union's width
    numbers   (m,) float64
    starts    (shapes + 1,) int64: the rows of shape k are starts[k] to starts[k + 1]
    voxels    (v,) float64: sampled distances of meshes [m]
    dimension 2 or 3; in 2D the third coordinate is ignored
    """

    rows: NDArray[np.int64]
    numbers: NDArray[np.float64]
    starts: NDArray[np.int64]
    voxels: NDArray[np.float64]
    dimension: int


def join(programs: list[ShapeProgram], dimension: int) -> ShapeProgram:
    """One program that holds the shapes of all `programs`."""
    rows, starts = [], [0]
    number_count = voxel_count = row_count = 0
    numbers, voxels = [], []
    for program in programs:
        moved, values = program.rows.copy(), program.numbers.copy()
        moved[:, 2] += number_count
        moved[:, 4] += number_count
        moved[moved[:, 0] == GUARD, 3] += row_count
        for row in program.rows[program.rows[:, 0] == MESH]:
            values[row[2] + voxel_offset_position(row[3])] += voxel_count
        rows.append(moved)
        numbers.append(values)
        voxels.append(program.voxels)
        starts.extend(program.starts[1:] + row_count)
        row_count += len(moved)
        number_count += len(values)
        voxel_count += len(program.voxels)
    return ShapeProgram(
        np.concatenate([np.zeros((0, 5), dtype=np.int64), *rows]),
        np.concatenate([np.zeros(0), *numbers]),
        np.array(starts, dtype=np.int64),
        np.concatenate([np.zeros(0), *voxels]),
        dimension,
    )


def voxel_offset_position(extra: int) -> int:
    """Where, in the numbers of a MESH row, the offset into `voxels` stands."""
    return (12 if extra == TURNED else 3) + 7
