"""The program that a shape is compiled into: a flat list of operations and their numbers.

A program is a list of rows `(operation, combine, offset, extra, width)`, run in order with one accumulator: a signed
distance and its gradient. The row of a primitive evaluates it at the point and combines it with the accumulator. The
stack is needed only for a part that is itself a combination and cannot be merged into the enclosing one: PUSH saves the
accumulator, POP combines it with the result computed since. GUARD skips rows that cannot change the result.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# Operations. The numbers of a primitive begin with a position p (3), then, if `extra` is TURNED, the rows of the
# rotation A into the primitive's own frame (9): local = A (x - p).
SPHERE = 0
"""radius"""
BOX = 1
"""half extents minus the rounding (3), rounding"""
CYLINDER = 2
"""about the local z axis: radius and half height, both minus the rounding, rounding"""
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
"""box (6); extra: the row to jump to if the box is so far that the rows between cannot change the result"""
CLIP = 13
"""box (6): raises the accumulator to the distance of a box that contains the shape"""
PROBE = 14
"""Combines the accumulator with the copy of a repeated primitive that is likely to be the nearest, so that the
following guards compare with a short distance. Numbers: centre of the first copy (3), rows of a matrix that maps a
displacement to an index (9), counts (3), then the row of each copy relative to this one"""

# How a value is combined with the accumulator.
LOAD = 0
UNION = 1
INTERSECTION = 2
DIFFERENCE = 3
SMOOTH_UNION = 4
"""the fifth entry of the row is the position of the blend width in `numbers`"""

STRAIGHT = 0
TURNED = 1

STACK = 16
"""Largest nesting depth of a program."""


class ShapeProgram(NamedTuple):
    """One compiled shape, or several in sequence.

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
    """Join `programs` into one program that contains all their shapes."""
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
    """Position of the offset into `voxels` in the numbers of a MESH row."""
    return (12 if extra == TURNED else 3) + 7
