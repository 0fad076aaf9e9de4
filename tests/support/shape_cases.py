"""Shapes for the tests, each with an independent test of what is inside and, for primitives, random surface points.

Everything here is written from the definition of the shape in plain NumPy and shares nothing with the package.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from spume.geometry.shapes import Shape, ShapeModel

Inside = Callable[[np.ndarray], np.ndarray]
Surface = Callable[[np.random.Generator, int], np.ndarray]


def read(table: dict[str, Any]) -> ShapeModel:
    return TypeAdapter(Shape).validate_python(table)


@dataclass(frozen=True)
class Case:
    name: str
    dimension: int
    table: dict[str, Any]
    inside: Inside
    surface: Surface | None = None
    """Random points of the surface; given where the distance is exact."""
    area: float = 0.0
    """An upper bound of area [m²] (length [m] in 2D) divided by the least relative density of the random points."""

    @property
    def shape(self) -> ShapeModel:
        return read(self.table)


def norm(x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(x, axis=-1)


def directions(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    v = rng.normal(size=(n, d))
    return v / norm(v)[:, None]


def basis(axis) -> np.ndarray:
    """Rows: two unit vectors across `axis`, then `axis` itself."""
    a = np.array(axis, dtype=float)
    a /= norm(a)
    b = np.cross(a, [0.3, -0.5, 0.8])
    b /= norm(b)
    return np.array([b, np.cross(a, b), a])


def along(x: np.ndarray, center, axis) -> tuple[np.ndarray, np.ndarray]:
    """Distance from an axis, and place along it."""
    local = (x - np.array(center)) @ basis(axis).T
    return norm(local[:, :2]), local[:, 2]


def disc(rng, n, radius, inner=0.0):
    r = np.sqrt(rng.uniform(inner**2, radius**2, n))
    t = rng.uniform(0, 2 * math.pi, n)
    return np.stack([r * np.cos(t), r * np.sin(t)], axis=1)


def frustum_surface(center, axis, height, low, high):
    """Side and both ends of a truncated cone whose base is at `center`."""

    def surface(rng, n):
        part = rng.integers(3, size=n)
        s = rng.uniform(0, 1, n)
        t = rng.uniform(0, 2 * math.pi, n)
        radius = low + s * (high - low)
        local = np.stack([radius * np.cos(t), radius * np.sin(t), s * height], axis=1)
        for k, r, z in ((1, low, 0.0), (2, high, height)):
            count = int((part == k).sum())
            local[part == k] = np.column_stack([disc(rng, count, r), np.full(count, z)])
        return local @ basis(axis) + np.array(center)

    return surface


def around_segment(start, end, radius):
    """All that is `radius` from a segment: from a random place beside it, to the nearest place of it, and out."""
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)

    def surface(rng, n):
        e = end - start
        c = start + rng.uniform(-0.5, 1.5, n)[:, None] * e
        y = c + directions(rng, n, len(e)) * rng.uniform(0.5, 1.0, n)[:, None]
        t = np.clip((y - start) @ e / (e @ e), 0, 1)
        c = start + t[:, None] * e
        return c + radius * (y - c) / norm(y - c)[:, None]

    return surface


def box_surface(center, size, rounding=0.0):
    """From a random place around the inner box, to the nearest place of that box, and out by the rounding."""
    center, half = np.array(center, dtype=float), np.array(size, dtype=float) / 2 - rounding

    def surface(rng, n):
        y = rng.uniform(-half - 0.3, half + 0.3, (8 * n, len(half)))
        y = y[(np.abs(y) > half).any(axis=1)][:n]
        c = np.clip(y, -half, half)
        return center + c + rounding * (y - c) / norm(y - c)[:, None]

    return surface


def in_polygon(points):
    """Winding number by the sum of angles."""
    corners = np.array(points, dtype=float)

    def inside(x):
        a = corners[None] - x[:, None]
        b = np.roll(corners, -1, axis=0)[None] - x[:, None]
        turn = np.arctan2(a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0], (a * b).sum(axis=-1))
        return np.abs(turn.sum(axis=1)) > math.pi

    return inside


def polygon_surface(points):
    corners = np.array(points, dtype=float)

    def surface(rng, n):
        k = rng.integers(len(corners), size=n)
        s = rng.uniform(0, 1, n)[:, None]
        return (1 - s) * corners[k] + s * corners[(k + 1) % len(corners)]

    return surface


def in_ellipsoid(center, axes):
    return lambda x: (((x - np.array(center)) / np.array(axes)) ** 2).sum(axis=1) < 1


def in_box(center, size, rounding=0.0):
    def inside(x):
        q = np.abs(x - np.array(center)) - np.array(size) / 2 + rounding
        return (q < rounding).all(axis=1) & (norm(np.maximum(q, 0)) <= rounding)

    if rounding == 0.0:
        return lambda x: (np.abs(x - np.array(center)) < np.array(size) / 2).all(axis=1)
    return inside


def rotated(x, axis, degrees, about):
    """`x` turned by quaternions, independent of the package's matrices."""
    from scipy.spatial.transform import Rotation

    a = np.array(axis, dtype=float)
    return Rotation.from_rotvec(math.radians(degrees) * a / norm(a)).apply(x - np.array(about)) + np.array(about)


def in_cylinder(center, axis, radius, height, rounding=0.0):
    def inside(x):
        rho, z = along(x, center, axis)
        q, w = rho - radius + rounding, np.abs(z) - height / 2 + rounding
        corner = (q > 0) & (w > 0)
        return np.where(corner, q**2 + w**2 < rounding**2, (q < rounding) & (w < rounding))

    return inside


def in_cone(base, axis, radius, height, top):
    def inside(x):
        rho, z = along(x, base, axis)
        return (z > 0) & (z < height) & (rho < radius + (top - radius) * z / height)

    return inside


def in_capsule(start, end, radius):
    start, end = np.array(start, dtype=float), np.array(end, dtype=float)

    def inside(x):
        e = end - start
        t = np.clip((x - start) @ e / (e @ e), 0, 1)
        return norm(x - start - t[:, None] * e) < radius

    return inside


def smooth(distance_a, distance_b, width):
    """The blend written the other way round: the smaller less (width − gap)² / (4 width)."""

    def inside(x):
        a, b = distance_a(x), distance_b(x)
        gap = np.minimum(np.abs(a - b), width)
        return np.minimum(a, b) - (width - gap) ** 2 / (4 * width) < 0

    return inside


def ball(center, radius) -> tuple[dict[str, Any], Inside]:
    key = "sphere" if len(center) == 3 else "circle"
    table = {key: {"center": list(center), "radius": radius}}
    return table, lambda x: norm(x - np.array(center)) < radius


STAR = [[0.0, 0.6], [-0.15, 0.2], [-0.6, 0.2], [-0.25, -0.05], [-0.4, -0.5], [0.0, -0.2], [0.4, -0.5], [0.2, 0.0]]
C3, C2 = [0.1, -0.2, 0.05], [0.1, -0.2]
AXIS = [1.0, 2.0, -0.5]
A, IN_A = ball((0.0, 0.0, 0.0), 0.4)
B, IN_B = ball((0.35, 0.1, 0.0), 0.35)
A2, IN_A2 = ball((0.0, 0.0), 0.4)
SLAB = {"box": {"center": [0.1, 0.0, 0.0], "size": [0.2, 1.4, 0.3]}}
IN_SLAB = in_box([0.1, 0.0, 0.0], [0.2, 1.4, 0.3])


def _torus_surface(rng, n):
    s, t = rng.uniform(0, 2 * math.pi, (2, n))
    rho = 0.5 + 0.2 * np.cos(t)
    return np.stack([rho * np.cos(s), rho * np.sin(s), 0.2 * np.sin(t)], axis=1) @ basis(AXIS) + np.array(C3)


def _in_torus(x):
    rho, z = along(x, C3, AXIS)
    return (rho - 0.5) ** 2 + z**2 < 0.04


def _plane(rng, n):
    return np.column_stack([rng.uniform(-2, 2, (n, 2)), np.zeros(n)]) @ basis(AXIS) + np.array(C3)


PRIMITIVES = [
    Case("sphere", 3, A, IN_A, lambda rng, n: 0.4 * directions(rng, n, 3), 2.1),
    Case(
        "box",
        3,
        {"box": {"center": C3, "size": [1.0, 0.6, 0.4]}},
        in_box(C3, [1.0, 0.6, 0.4]),
        box_surface(C3, [1.0, 0.6, 0.4]),
        8.0,
    ),
    Case(
        "rounded box",
        3,
        {"box": {"center": C3, "size": [1.0, 0.6, 0.5], "rounding": 0.15}},
        in_box(C3, [1.0, 0.6, 0.5], 0.15),
        box_surface(C3, [1.0, 0.6, 0.5], 0.15),
        8.0,
    ),
    Case(
        "cylinder",
        3,
        {"cylinder": {"center": C3, "radius": 0.4, "height": 0.7, "axis": AXIS}},
        in_cylinder(C3, AXIS, 0.4, 0.7),
        frustum_surface(np.array(C3) - 0.35 * basis(AXIS)[2], AXIS, 0.7, 0.4, 0.4),
        6.0,
    ),
    Case(
        "rounded cylinder",
        3,
        {"cylinder": {"center": C3, "radius": 0.4, "height": 0.7, "axis": AXIS, "rounding": 0.1}},
        in_cylinder(C3, AXIS, 0.4, 0.7, 0.1),
    ),
    Case(
        "capsule",
        3,
        {"capsule": {"start": [-0.3, 0.1, 0.0], "end": [0.4, 0.2, 0.3], "radius": 0.2}},
        in_capsule([-0.3, 0.1, 0.0], [0.4, 0.2, 0.3], 0.2),
        around_segment([-0.3, 0.1, 0.0], [0.4, 0.2, 0.3], 0.2),
        6.0,
    ),
    Case(
        "cone",
        3,
        {"cone": {"base": C3, "radius": 0.5, "height": 0.9, "axis": AXIS}},
        in_cone(C3, AXIS, 0.5, 0.9, 0.0),
        frustum_surface(C3, AXIS, 0.9, 0.5, 0.0),
        10.0,
    ),
    Case(
        "truncated cone",
        3,
        {"cone": {"base": C3, "radius": 0.3, "top_radius": 0.5, "height": 0.6, "axis": AXIS}},
        in_cone(C3, AXIS, 0.3, 0.6, 0.5),
        frustum_surface(C3, AXIS, 0.6, 0.3, 0.5),
        8.0,
    ),
    Case(
        "torus",
        3,
        {"torus": {"center": C3, "major_radius": 0.5, "minor_radius": 0.2, "axis": AXIS}},
        _in_torus,
        _torus_surface,
        6.0,
    ),
    Case(
        "half space",
        3,
        {"half_space": {"point": C3, "normal": AXIS}},
        lambda x: (x - np.array(C3)) @ np.array(AXIS) < 0,
        _plane,
        16.0,
    ),
    Case(
        "ellipsoid",
        3,
        {"ellipsoid": {"center": C3, "semi_axes": [0.7, 0.2, 0.4]}},
        in_ellipsoid(C3, [0.7, 0.2, 0.4]),
        lambda rng, n: np.array(C3) + directions(rng, n, 3) * np.array([0.7, 0.2, 0.4]),
        4.0,
    ),
    Case("circle", 2, A2, IN_A2, lambda rng, n: 0.4 * directions(rng, n, 2), 2.6),
    Case(
        "rectangle",
        2,
        {"rectangle": {"center": C2, "size": [1.0, 0.5], "rounding": 0.1}},
        in_box(C2, [1.0, 0.5], 0.1),
        box_surface(C2, [1.0, 0.5], 0.1),
        6.0,
    ),
    Case(
        "capsule in 2D",
        2,
        {"capsule": {"start": [-0.3, 0.1], "end": [0.4, 0.3], "radius": 0.2}},
        in_capsule([-0.3, 0.1], [0.4, 0.3], 0.2),
        around_segment([-0.3, 0.1], [0.4, 0.3], 0.2),
        6.0,
    ),
    Case(
        "ellipse",
        2,
        {"ellipse": {"center": C2, "semi_axes": [0.2, 0.7]}},
        in_ellipsoid(C2, [0.2, 0.7]),
        lambda rng, n: np.array(C2) + directions(rng, n, 2) * np.array([0.2, 0.7]),
        5.0,
    ),
    Case("half plane", 2, {"half_plane": {"point": C2, "normal": [1, 2]}}, lambda x: (x - np.array(C2)) @ [1, 2] < 0),
    Case(
        "ring",
        2,
        {"ring": {"center": C2, "inner_radius": 0.3, "outer_radius": 0.5}},
        lambda x: (norm(x - np.array(C2)) < 0.5) & (norm(x - np.array(C2)) > 0.3),
        lambda rng, n: np.array(C2) + directions(rng, n, 2) * rng.choice([0.3, 0.5], n)[:, None],
        6.5,
    ),
    Case("polygon", 2, {"polygon": {"points": STAR}}, in_polygon(STAR), polygon_surface(STAR), 8.0),
]

_WIDTH = 0.3
COMBINED = [
    Case("union", 3, {"union": {"of": [A, B, SLAB]}}, lambda x: IN_A(x) | IN_B(x) | IN_SLAB(x)),
    Case("intersection", 3, {"intersection": {"of": [A, B]}}, lambda x: IN_A(x) & IN_B(x)),
    Case("difference", 3, {"difference": {"of": A, "minus": [B, SLAB]}}, lambda x: IN_A(x) & ~IN_B(x) & ~IN_SLAB(x)),
    Case(
        "smooth union",
        3,
        {"smooth_union": {"of": [A, B], "radius": _WIDTH}},
        smooth(lambda x: norm(x) - 0.4, lambda x: norm(x - np.array([0.35, 0.1, 0.0])) - 0.35, _WIDTH),
    ),
    Case(
        "union with a difference",
        3,
        {"union": {"of": [B, {"difference": {"of": A, "minus": [SLAB]}}]}},
        lambda x: IN_B(x) | (IN_A(x) & ~IN_SLAB(x)),
    ),
    Case(
        "difference of a union and an intersection",
        3,
        {"difference": {"of": {"union": {"of": [A, SLAB]}}, "minus": [{"intersection": {"of": [A, B]}}, B]}},
        lambda x: (IN_A(x) | IN_SLAB(x)) & ~(IN_A(x) & IN_B(x)) & ~IN_B(x),
    ),
    Case(
        "intersection of a union and a difference",
        3,
        {"intersection": {"of": [{"union": {"of": [A, B]}}, {"difference": {"of": SLAB, "minus": [A]}}]}},
        lambda x: (IN_A(x) | IN_B(x)) & IN_SLAB(x) & ~IN_A(x),
    ),
    Case("translate", 3, {"translate": {"shape": SLAB, "by": C3}}, lambda x: IN_SLAB(x - np.array(C3))),
    Case(
        "rotate",
        3,
        {"rotate": {"shape": {"union": {"of": [SLAB, B]}}, "axis": AXIS, "angle": 40, "about": C3}},
        lambda x: IN_SLAB(rotated(x, AXIS, -40, C3)) | IN_B(rotated(x, AXIS, -40, C3)),
    ),
    Case(
        "scale of a rotated box",
        3,
        {
            "scale": {
                "shape": {"rotate": {"shape": SLAB, "axis": AXIS, "angle": 90, "about": C3}},
                "factor": 0.6,
                "about": [0.2, 0.0, 0.1],
            }
        },
        lambda x: IN_SLAB(rotated(np.array([0.2, 0.0, 0.1]) + (x - np.array([0.2, 0.0, 0.1])) / 0.6, AXIS, -90, C3)),
    ),
    Case(
        "repeat",
        3,
        {"repeat": {"shape": ball((-0.5, -0.4, 0.0), 0.12)[0], "count": [5, 4, 2], "spacing": [0.25, 0.2, 0.4]}},
        lambda x: np.any(
            [
                ball((-0.5 + 0.25 * i, -0.4 + 0.2 * j, 0.4 * k), 0.12)[1](x)
                for i in range(5)
                for j in range(4)
                for k in range(2)
            ],
            axis=0,
        ),
    ),
    Case(
        "plate with holes",
        3,
        {
            "difference": {
                "of": {"box": {"center": [0, 0, 0], "size": [1, 1, 0.2]}},
                "minus": [
                    {
                        "repeat": {
                            "shape": {
                                "cylinder": {"center": [-0.4, -0.4, 0], "radius": 0.06, "height": 1, "axis": [0, 0, 1]}
                            },
                            "count": [5, 5, 1],
                            "spacing": [0.2, 0.2, 0],
                        }
                    }
                ],
            }
        },
        lambda x: (
            in_box([0, 0, 0], [1, 1, 0.2])(x)
            & ~np.any(
                [norm(x[:, :2] - [-0.4 + 0.2 * i, -0.4 + 0.2 * j]) < 0.06 for i in range(5) for j in range(5)], axis=0
            )
        ),
    ),
    Case(
        "repeat of differences",
        3,
        {
            "repeat": {
                "shape": {"difference": {"of": A, "minus": [B]}},
                "count": [3, 1, 2],
                "spacing": [0.5, 0.0, -0.6],
            }
        },
        lambda x: np.any(
            [
                IN_A(x - np.array([0.5 * i, 0, -0.6 * k])) & ~IN_B(x - np.array([0.5 * i, 0, -0.6 * k]))
                for i in range(3)
                for k in range(2)
            ],
            axis=0,
        ),
    ),
    Case(
        "2D rotate of a difference",
        2,
        {"rotate": {"shape": {"difference": {"of": {"polygon": {"points": STAR}}, "minus": [A2]}}, "angle": 30}},
        lambda x: in_polygon(STAR)(_turned_back(x)) & ~IN_A2(_turned_back(x)),
    ),
    Case(
        "2D smooth union",
        2,
        {"smooth_union": {"of": [A2, ball((0.5, 0.2), 0.2)[0]], "radius": 0.2}},
        smooth(lambda x: norm(x) - 0.4, lambda x: norm(x - np.array([0.5, 0.2])) - 0.2, 0.2),
    ),
]


def _turned_back(x):
    c, s = math.cos(math.radians(30)), math.sin(math.radians(30))
    return x @ np.array([[c, -s], [s, c]])


CASES = PRIMITIVES + COMBINED
BY_NAME = {case.name: case for case in CASES}
