"""Obstacles as meshes, placed by their poses: imported meshes as they are, and the zero level of the signed distance of
all other shapes in their own frame."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.frames.poses import ObstaclePoses
from spume.geometry.motion import Motion
from spume.geometry.sdf.compiler import compile_shape
from spume.geometry.sdf.deforming_mesh import sampled_distances
from spume.geometry.sdf.evaluation import distances, distances_and_gradients
from spume.geometry.sdf.operations import LOAD, MESH, STRAIGHT, ShapeProgram
from spume.geometry.shapes import Shape
from spume.geometry.shapes.combinations import Intersection, Repeat, Rotate, Scale, Translate, Union
from spume.geometry.shapes.extent import bounds
from spume.geometry.shapes.parts import placed as placed_shape
from spume.geometry.shapes.placement import HERE
from spume.geometry.shapes.primitives import Box, HalfPlane, HalfSpace, MeshSequence
from spume.geometry.shapes.primitives import TriangleMesh as MeshShape
from spume.geometry.surface_mesh import contour
from spume.look.finish import Finish, obstacle_finish
from spume.look.own_meshes import OwnMesh, deformed, own_mesh, own_triangles
from spume.look.triangle_mesh import TriangleMesh, joined, split_at_edges
from spume.materials.appearance import Appearance
from spume.scene import surroundings
from spume.scene.bodies import ObstacleTable
from spume.scene.common import Scene

Floats = NDArray[np.float64]
RESOLUTION = 80
"""Samples along the longest side of a part of an obstacle."""
EDGE_ANGLE = 35.0
"""Edges between faces at a larger angle are shaded as sharp [degrees]."""
COARSE = 2.0
"""Spacing of the distances of meshes that deform, in that of contacts."""
WIDE = 4.0
"""An obstacle that is this many times as wide as the surroundings of the points is drawn in part."""


class ObstaclePiece(NamedTuple):
    """A piece of an obstacle, meshed separately so that small pieces of a wide obstacle are well resolved."""

    program: ShapeProgram
    lower: Floats
    upper: Floats
    own: OwnMesh | None = None
    """the imported mesh that it is"""


class Solid(NamedTuple):
    """An obstacle to be drawn, in its own frame."""

    name: str
    program: ShapeProgram
    number: int
    """of the obstacle in the scene"""
    parts: tuple[ObstaclePiece, ...]
    """pieces that make up the obstacle"""
    lower: Floats
    """corner of a box around what is shown [m], shape (3,)"""
    upper: Floats
    finish: Finish

    def place(self, poses: ObstaclePoses) -> tuple[Floats, Floats]:
        """Rotation and displacement [m]: world = R local + p."""
        return poses.rotation[self.number], poses.position[self.number]

    def places(self, poses: Sequence[ObstaclePoses]) -> list[tuple[Floats, Floats]]:
        """Rotation and displacement [m] in several frames; only one if the obstacle does not move between them."""
        found = [self.place(each) for each in poses]
        moves = any(not (np.array_equal(R, found[0][0]) and np.array_equal(p, found[0][1])) for R, p in found)
        return found if moves else found[:1]

    def deforms(self, poses: ObstaclePoses) -> bool:
        """Whether its vertices are those of the frame, not of its mesh."""
        return self.number in poses.vertices

    def shaped(self, mesh: TriangleMesh, poses: ObstaclePoses) -> TriangleMesh:
        """Its `mesh` as it is in a frame, in its own frame of reference."""
        return deformed(mesh, poses.vertices[self.number][0]) if self.deforms(poses) else mesh

    def distances(self, points: Floats, poses: ObstaclePoses) -> Floats:
        """Signed distances [m] of points from the part of the obstacle that is shown."""
        R, p = self.place(poses)
        local = (points - p) @ R
        if self.deforms(poses):
            vertices, own = poses.vertices[self.number][0], self.parts[0].own
            assert own is not None
            return distances(drawn_distance(vertices, own_triangles(own)), local)
        outside = np.maximum(self.lower - local, local - self.upper).max(axis=1)
        return np.maximum(distances(self.program, local), outside)

    def corners(self, poses: ObstaclePoses) -> Floats:
        """Corners of a box around it [m], shape (8, 3)."""
        unit = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
        R, p = self.place(poses)
        return (self.lower + unit * (self.upper - self.lower)) @ R.T + p


def ground_height(scene: Scene, up: Floats) -> float | None:
    """Height of the ground along `up` [m]: a level half space at rest, the lowest wall, or the floor of the backdrop;
    None without any."""
    heights = [height for height, _ in _grounds(scene, up)]
    if not heights and scene.backdrop.floor is not None:
        heights = [scene.backdrop.floor]
    if (walls := surroundings.walls(scene)) is not None:
        corners = (walls.lower, walls.upper)
        heights.append(min(float(np.dot(_wide(corner), up)) for corner in corners))
    return max(heights, default=None)


def ground_obstacle(scene: Scene, up: Floats) -> ObstacleTable | None:
    """The highest level half space at rest; None without one."""
    return max(_grounds(scene, up), key=lambda ground: ground[0], default=(0.0, None))[1]


def _grounds(scene: Scene, up: Floats) -> list[tuple[float, ObstacleTable]]:
    """The obstacles that are a level ground at rest, with their heights along `up` [m]."""
    found = ((_level(obstacle, up), obstacle) for obstacle in surroundings.obstacles(scene))
    return [(height, obstacle) for height, obstacle in found if height is not None]


def _level(obstacle: ObstacleTable, up: Floats) -> float | None:
    """The height of an obstacle that is a level ground at rest [m]; None for others."""
    shape = obstacle.shape
    if obstacle.motion is not None or not isinstance(shape, HalfSpace | HalfPlane):
        return None
    normal = _wide(shape.normal)
    is_level = np.dot(normal, up) > 0.999 * np.linalg.norm(normal)
    return float(np.dot(_wide(shape.point), up)) if is_level else None


def _wide(vector: Sequence[float]) -> Floats:
    return np.pad(np.asarray(vector, dtype=np.float64), (0, 3 - len(vector)))


def solids(scene: Scene, lower: Floats, upper: Floats, up: Floats) -> list[Solid]:
    """The obstacles of a 3D scene except the ground; very wide ones are cut off around the box of the points."""
    room = 0.25 * float(np.max(upper - lower))
    found = []
    for k, obstacle in enumerate(surroundings.obstacles(scene)):
        if _level(obstacle, up) is not None:
            continue
        around = lower - room, upper + room
        boxes = [_shown(shape, obstacle.motion, obstacle.look, *around) for shape in _pieces(obstacle.shape)]
        parts = tuple(part for part in boxes if (part.lower < part.upper).all())
        if parts:
            low = np.min([part.lower for part in parts], axis=0)
            high = np.max([part.upper for part in parts], axis=0)
            name = obstacle.name or f"obstacle {k}"
            finish = obstacle_finish(obstacle)
            found.append(Solid(name, compile_shape(obstacle.shape, 3), k, parts, low, high, finish))
    return found


def _pieces(shape: Shape) -> Iterator[Shape]:
    """Shapes whose union is `shape`."""
    if isinstance(shape, Union):
        for member in shape.of:
            yield from _pieces(member)
    elif isinstance(shape, Repeat):
        for at in itertools.product(*(range(count) for count in shape.count)):
            by = tuple(n * step for n, step in zip(at, shape.spacing))
            yield from (Translate(shape=piece, by=by) for piece in _pieces(shape.shape))
    elif isinstance(shape, Translate | Rotate | Scale):
        yield from (shape.model_copy(update={"shape": piece}) for piece in _pieces(shape.shape))
    else:
        yield shape


def drawn_distance(vertices: Floats, triangles: NDArray[np.int64]) -> ShapeProgram:
    """The distance of a mesh on a coarse lattice, for light and shade."""
    samples = sampled_distances(vertices, triangles, COARSE, Path("an obstacle"))
    numbers = (*np.zeros(3), *samples.lower, samples.spacing, *samples.values.shape, 0.0, samples.factor)
    return ShapeProgram(
        np.array([[MESH, LOAD, 0, STRAIGHT, len(numbers)]]),
        np.array([*numbers, 0.0]),
        np.array([0, 1]),
        samples.values.ravel(),
        3,
    )


def _shown(shape: Shape, motion: Motion | None, look: Appearance | None, lower: Floats, upper: Floats) -> ObstaclePiece:
    """A shape and the box it is drawn in: all of it, unless it is at rest and far wider than the given box."""
    own_low, own_high = bounds(shape, 3)
    finite = np.isfinite(own_low) & np.isfinite(own_high)
    pad = 0.02 * float(np.max(np.where(finite, own_high - own_low, 0.0))) + 1e-9
    near = finite & (own_high - own_low < WIDE * np.max(upper - lower))
    keep_low, keep_high = (near, near) if motion is None else (np.isfinite(own_low), np.isfinite(own_high))
    low = np.where(keep_low, own_low - pad, np.maximum(own_low - pad, lower))
    high = np.where(keep_high, own_high + pad, np.minimum(own_high + pad, upper))
    own = _imported(shape, look)
    cut = (low > own_low).any() or (high < own_high).any()
    if own is None and cut and (low < high).all():
        room = Box(center=tuple(0.5 * (low + high)), size=tuple(high - low), rounding=0.0)
        shape = Intersection(of=(shape, room))
    return ObstaclePiece(compile_shape(shape, 3), low, high, own)


def _imported(shape: Shape, look: Appearance | None) -> OwnMesh | None:
    """The imported mesh that a shape is after displacements, rotations and scalings; None for other shapes."""
    inner, placement = shape, HERE
    while (inside_it := placed_shape(inner, placement)) is not None:
        inner, placement = inside_it
    return OwnMesh(inner, placement, look) if isinstance(inner, MeshShape | MeshSequence) else None


def solid_mesh(solid: Solid) -> TriangleMesh:
    """The surface of an obstacle in its own frame, closed where it is cut off; pieces of it may overlap. Imported
    meshes are not cut off."""
    meshes = [_part_mesh(part) if part.own is None else own_mesh(part.own) for part in solid.parts]
    return joined(meshes, solid.name, solid.finish)


def _part_mesh(part: ObstaclePiece) -> TriangleMesh:
    """The surface of a piece, whose edges stay sharp."""
    spacing = float(np.max(part.upper - part.lower)) / RESOLUTION
    count = np.ceil((part.upper - part.lower) / spacing).astype(int) + 4
    # off the faces of a box, where distances have no sign
    origin = 0.5 * (part.lower + part.upper) - 0.5 * spacing * (count - 1) + 0.13 * spacing
    axes = [origin[k] + spacing * np.arange(count[k]) for k in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = (distances(part.program, points) < 0.0).reshape(count)
    for axis in range(3):
        for end in (0, -1):
            np.moveaxis(inside, axis, 0)[end] = False
    vertices, quads = contour(part.program, inside, origin, spacing)
    if len(vertices) == 0:
        return TriangleMesh(np.empty((0, 3)), np.empty((0, 3), np.int32), np.empty((0, 3)))
    # the shorter diagonal keeps edges straight
    a, b, c, d = (vertices[quads[:, k]] for k in range(4))
    is_short = ((a - c) ** 2).sum(axis=1) <= ((b - d) ** 2).sum(axis=1)
    one, two = quads[is_short], quads[~is_short]
    triangles = np.concatenate([one[:, [0, 1, 2]], one[:, [0, 2, 3]], two[:, [0, 1, 3]], two[:, [1, 2, 3]]])
    mesh = split_at_edges(vertices, triangles, EDGE_ANGLE)
    gradient = distances_and_gradients(part.program, mesh.vertices)[1]
    is_smooth = np.einsum("ij,ij->i", gradient, mesh.normals) > np.cos(np.radians(EDGE_ANGLE))
    return mesh._replace(normals=np.where(is_smooth[:, None], gradient, mesh.normals))
