"""Shapes made of other shapes, and `Shape`, the type of all shapes."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from spume.geometry import primitive_shapes as primitive
from spume.geometry.primitive_shapes import Length, ShapePart
from spume.geometry.table import Direction, NotEmpty, Number, Vector, one_key_table, wrong

if TYPE_CHECKING:
    Shape = ShapePart


class CombinedShape(ShapePart):
    """Base of the shapes made of others: they may stand in scenes of both dimensions, as far as their parts may."""

    dimensions = (2, 3)


class Union(CombinedShape):
    """all that is in one of the shapes at least"""

    of: Annotated[tuple["Shape", ...], NotEmpty] = Field(description="the shapes")


class Intersection(CombinedShape):
    """all that is in every one of the shapes"""

    of: Annotated[tuple["Shape", ...], NotEmpty] = Field(description="the shapes")


class Difference(CombinedShape):
    """a shape with others cut out of it"""

    of: "Shape" = Field(description="the shape that is cut")
    minus: Annotated[tuple["Shape", ...], NotEmpty] = Field(description="the shapes cut out of it")


class SmoothUnion(CombinedShape):
    """shapes melted together, from first to last"""

    of: Annotated[tuple["Shape", ...], NotEmpty] = Field(description="the shapes")
    radius: Length = Field(description="width of the blend: closer to each other than this, surfaces melt together [m]")


class Translate(CombinedShape):
    """a shape moved"""

    shape: "Shape" = Field(description="the shape")
    by: Vector = Field(description="displacement [m]")


class Rotate(CombinedShape):
    """a shape turned"""

    shape: "Shape" = Field(description="the shape")
    angle: Number = Field(description="angle, counter-clockwise seen against the axis [degrees]")
    axis: Direction | None = Field(None, description="axis of rotation [1]; absent in a 2D scene")
    about: Vector | None = Field(None, description="a point of the axis [m]; the origin if absent")


class Scale(CombinedShape):
    """a shape made larger or smaller"""

    shape: "Shape" = Field(description="the shape")
    factor: Length = Field(description="factor [1]")
    about: Vector | None = Field(None, description="the point that stays where it is [m]; the origin if absent")


class Repeat(CombinedShape):
    """copies of a shape in rows; the first copy is the shape where it stands"""

    shape: "Shape" = Field(description="the shape")
    count: tuple[Annotated[int, Field(ge=1, strict=True)], ...] = Field(description="copies along x, y (and z)")
    spacing: Vector = Field(description="displacement from copy to copy along x, y (and z) [m]")

    @field_validator("count")
    @classmethod
    def _two_or_three(cls, count: tuple[int, ...]) -> tuple[int, ...]:
        if len(count) not in (2, 3):
            raise wrong(f"count has 3 numbers, or 2 in a 2D scene, and this one has {len(count)}")
        return count


SHAPES: dict[str, type[ShapePart]] = {
    "sphere": primitive.Sphere,
    "box": primitive.Box,
    "cylinder": primitive.Cylinder,
    "capsule": primitive.Capsule,
    "cone": primitive.Cone,
    "torus": primitive.Torus,
    "half_space": primitive.HalfSpace,
    "ellipsoid": primitive.Ellipsoid,
    "mesh": primitive.Mesh,
    "circle": primitive.Circle,
    "rectangle": primitive.Rectangle,
    "ellipse": primitive.Ellipse,
    "half_plane": primitive.HalfPlane,
    "ring": primitive.Ring,
    "polygon": primitive.Polygon,
    "union": Union,
    "difference": Difference,
    "intersection": Intersection,
    "smooth_union": SmoothUnion,
    "translate": Translate,
    "rotate": Rotate,
    "scale": Scale,
    "repeat": Repeat,
}
"""The names of scenes."""

NAMES = {model: name for name, model in SHAPES.items()}

if not TYPE_CHECKING:
    Shape: Any = one_key_table("shape", SHAPES)
