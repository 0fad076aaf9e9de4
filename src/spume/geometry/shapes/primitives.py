"""Primitive shapes of scenes. Lengths are in metres."""

import math
from typing import Annotated, ClassVar, Self

from pydantic import AfterValidator, Field, model_validator

from spume.tables import Direction, Number, Variant, Vector, wrong

Length = Annotated[Number, Field(gt=0)]
Rounding = Annotated[Number, Field(ge=0)]


def _positive(vector: tuple[float, ...]) -> tuple[float, ...]:
    if min(vector) <= 0:
        raise wrong(f"every component must be greater than 0, and this is {list(vector)}")
    return vector


Lengths = Annotated[Vector, AfterValidator(_positive)]


class ShapeModel(Variant):
    """Base of every shape."""

    dimensions: ClassVar[tuple[int, ...]] = (3,)
    """Dimensions of the scenes in which the shape can be used."""
    counterpart: ClassVar[str] = ""
    """The corresponding shape for scenes of the other dimension."""


def _check_rounding(rounding: float, largest: float) -> None:
    if rounding > largest:
        raise wrong(f"a rounding of {rounding:g} m is more than half the smallest extent of the shape, {largest:g} m")


class Sphere(ShapeModel):
    """a ball"""

    counterpart = "circle"
    center: Vector = Field(description="centre [m]")
    radius: Length = Field(description="radius [m]")


class Box(ShapeModel):
    """a box along the axes, with rounded edges if a rounding is given"""

    counterpart = "rectangle"
    center: Vector = Field(description="centre [m]")
    size: Lengths = Field(description="lengths of the edges along x, y and z, rounding included [m]")
    rounding: Rounding = Field(0.0, description="radius of the rounded edges [m]")

    @model_validator(mode="after")
    def _rounding_fits(self) -> Self:
        _check_rounding(self.rounding, min(self.size) / 2)
        return self


class Cylinder(ShapeModel):
    """a solid cylinder, with rounded rims if a rounding is given"""

    counterpart = "rectangle"
    center: Vector = Field(description="centre, half way between the ends [m]")
    radius: Length = Field(description="radius [m]")
    height: Length = Field(description="length along the axis [m]")
    axis: Direction = Field((0.0, 1.0, 0.0), description="direction of the axis [1]")
    rounding: Rounding = Field(0.0, description="radius of the rounded rims [m]")

    @model_validator(mode="after")
    def _rounding_fits(self) -> Self:
        _check_rounding(self.rounding, min(self.radius, self.height / 2))
        return self


class Capsule(ShapeModel):
    """all points within a given distance of a segment"""

    dimensions = (2, 3)
    start: Vector = Field(description="one end of the segment [m]")
    end: Vector = Field(description="the other end of the segment [m]")
    radius: Length = Field(description="radius [m]")


class Cone(ShapeModel):
    """a cone standing on its base, cut off at the top if it has a top radius"""

    counterpart = "polygon"
    base: Vector = Field(description="centre of the base [m]")
    radius: Length = Field(description="radius of the base [m]")
    height: Length = Field(description="height above the base [m]")
    top_radius: Annotated[Number, Field(ge=0)] = Field(0.0, description="radius at the top; 0 is a pointed cone [m]")
    axis: Direction = Field((0.0, 1.0, 0.0), description="direction from the base to the top [1]")


class Torus(ShapeModel):
    """a ring around an axis"""

    counterpart = "ring"
    center: Vector = Field(description="centre [m]")
    major_radius: Length = Field(description="radius of the circle in the middle of the tube [m]")
    minor_radius: Length = Field(description="radius of the tube [m]")
    axis: Direction = Field((0.0, 1.0, 0.0), description="direction of the axis [1]")

    @model_validator(mode="after")
    def _has_a_hole(self) -> Self:
        if self.minor_radius > self.major_radius:
            raise wrong(
                f"minor_radius, {self.minor_radius:g} m, must not be greater than major_radius, {self.major_radius:g} m"
            )
        return self


class HalfSpace(ShapeModel):
    """everything on one side of a plane"""

    dimensions = (2, 3)
    point: Vector = Field(description="a point of the plane [m]")
    normal: Direction = Field(description="direction out of the solid [1]")


class Ellipsoid(ShapeModel):
    """an ellipsoid along the axes"""

    counterpart = "ellipse"
    center: Vector = Field(description="centre [m]")
    semi_axes: Lengths = Field(description="half the lengths along x, y and z [m]")


class TriangleMesh(ShapeModel):
    """the inside of a triangle mesh, sampled as distances on a grid"""

    counterpart = "polygon"
    file: str = Field(
        min_length=1, description="OBJ, PLY, STL or GLB file; a relative path starts at the scene's folder"
    )
    scale: Length = Field(1.0, description="factor from the file's unit of length to metres [m]")
    resolution: Length | None = Field(
        None, description="spacing of the sampled distances [m]; 1/64 of the largest extent if absent"
    )


class MeshSequence(ShapeModel):
    """the inside of a triangle mesh that deforms, for obstacles"""

    counterpart = "polygon"
    files: str = Field(
        min_length=1,
        description="OBJ, PLY, STL or GLB files with the same triangles, as a pattern like 'flag_*.obj', or an Alembic "
        "or USD file; a relative path starts at the scene's folder",
    )
    frame_rate: Length | None = Field(
        None, description="files per second [1/s]; 24 if absent; Alembic and USD files have times of their own"
    )
    start: Number = Field(0.0, description="time of the first file [s]; the mesh is at rest before it and at the end")
    scale: Length = Field(1.0, description="factor from the files' unit of length to metres [m]")
    resolution: Length | None = Field(
        None, description="spacing of the sampled distances [m]; 1/64 of the largest extent of the way if absent"
    )


class Circle(ShapeModel):
    """a disc"""

    dimensions = (2,)
    counterpart = "sphere or cylinder"
    center: Vector = Field(description="centre [m]")
    radius: Length = Field(description="radius [m]")


class Rectangle(ShapeModel):
    """a rectangle along the axes, with rounded corners if a rounding is given"""

    dimensions = (2,)
    counterpart = "box"
    center: Vector = Field(description="centre [m]")
    size: Lengths = Field(description="lengths of the edges along x and y, rounding included [m]")
    rounding: Rounding = Field(0.0, description="radius of the rounded corners [m]")

    @model_validator(mode="after")
    def _rounding_fits(self) -> Self:
        _check_rounding(self.rounding, min(self.size) / 2)
        return self


class Ellipse(ShapeModel):
    """an ellipse along the axes"""

    dimensions = (2,)
    counterpart = "ellipsoid"
    center: Vector = Field(description="centre [m]")
    semi_axes: Lengths = Field(description="half the lengths along x and y [m]")


class HalfPlane(ShapeModel):
    """everything on one side of a line"""

    dimensions = (2,)
    counterpart = "half_space"
    point: Vector = Field(description="a point of the line [m]")
    normal: Direction = Field(description="direction out of the solid [1]")


class Ring(ShapeModel):
    """the area between two concentric circles"""

    dimensions = (2,)
    counterpart = "torus"
    center: Vector = Field(description="centre [m]")
    inner_radius: Length = Field(description="radius of the hole [m]")
    outer_radius: Length = Field(description="radius of the rim [m]")

    @model_validator(mode="after")
    def _has_width(self) -> Self:
        if self.inner_radius >= self.outer_radius:
            raise wrong(
                f"inner_radius, {self.inner_radius:g} m, must be less than outer_radius, {self.outer_radius:g} m"
            )
        return self


Point2 = tuple[Number, Number]


class Polygon(ShapeModel):
    """the inside of a closed line that does not cross itself"""

    dimensions = (2,)
    counterpart = "mesh"
    points: tuple[Point2, ...] = Field(description="corners in order, either way round; the last joins the first [m]")

    @model_validator(mode="after")
    def _is_simple(self) -> Self:
        corners = self.points
        n = len(corners)
        if n < 3:
            raise wrong(f"a polygon needs at least 3 corners, and this one has {n}")
        if len(set(corners)) < n:
            raise wrong("a polygon cannot have the same corner twice")
        for i in range(n):
            for j in range(i + 1, n):
                if _cross(corners[i], corners[(i + 1) % n], corners[j], corners[(j + 1) % n]):
                    raise wrong(
                        f"the polygon crosses or touches itself: the edge after corner {i + 1} meets the one after "
                        f"corner {j + 1}"
                    )
        return self


def _side(a: Point2, b: Point2, c: Point2) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _between(a: Point2, b: Point2, c: Point2) -> bool:
    """Whether c, known to be on the line through a and b, lies in the segment."""
    return min(a[0], b[0]) <= c[0] <= max(a[0], b[0]) and min(a[1], b[1]) <= c[1] <= max(a[1], b[1])


def _cross(a: Point2, b: Point2, c: Point2, d: Point2) -> bool:
    """Whether the edges ab and cd of a polygon share more than a common corner."""
    if b == c or a == d:
        before, corner, after = (a, b, d) if b == c else (c, d, b)
        turns_back = math.fsum((before[k] - corner[k]) * (after[k] - corner[k]) for k in (0, 1)) > 0
        return _side(before, corner, after) == 0 and turns_back
    s1, s2, s3, s4 = _side(a, b, c), _side(a, b, d), _side(c, d, a), _side(c, d, b)
    if s1 * s2 < 0 and s3 * s4 < 0:
        return True
    touching = ((s1, a, b, c), (s2, a, b, d), (s3, c, d, a), (s4, c, d, b))
    return any(side == 0 and _between(p, q, r) for side, p, q, r in touching)
