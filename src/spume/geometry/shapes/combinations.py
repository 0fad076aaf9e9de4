"""Shapes made of other shapes, and `Shape`, the type of all shapes."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from spume.geometry.shapes import primitives
from spume.geometry.shapes.primitives import Length, ShapeModel
from spume.tables import Direction, NotEmpty, Number, Vector, one_key_table, wrong

if TYPE_CHECKING:
    Shape = ShapeModel


class CombinedShape(ShapeModel):
    """Base of the shapes made of others; their parts determine the dimensions in which they can be used."""

    dimensions = (2, 3)


class Union(CombinedShape):
    """everything inside at least one of the shapes"""

    of: Annotated[tuple["Shape", ...], NotEmpty] = Field(description="the shapes")


class Intersection(CombinedShape):
    """everything inside all of the shapes"""

    of: Annotated[tuple["Shape", ...], NotEmpty] = Field(description="the shapes")


class Difference(CombinedShape):
    """a shape with others cut out of it"""

    of: "Shape" = Field(description="the shape that is cut")
    minus: Annotated[tuple["Shape", ...], NotEmpty] = Field(description="the shapes cut out of it")


class SmoothUnion(CombinedShape):
    """shapes blended smoothly into each other, in order"""

    of: Annotated[tuple["Shape", ...], NotEmpty] = Field(description="the shapes")
    radius: Length = Field(
        description="width of the blend: surfaces closer to each other than this are joined smoothly [m]"
    )


class Translate(CombinedShape):
    """a displaced shape"""

    shape: "Shape" = Field(description="the shape")
    by: Vector = Field(description="displacement [m]")


class Rotate(CombinedShape):
    """a rotated shape"""

    shape: "Shape" = Field(description="the shape")
    angle: Number = Field(description="angle, counter-clockwise seen against the axis [degrees]")
    axis: Direction | None = Field(None, description="axis of rotation [1]; absent in a 2D scene")
    about: Vector | None = Field(None, description="a point of the axis [m]; the origin if absent")


class Scale(CombinedShape):
    """a scaled shape"""

    shape: "Shape" = Field(description="the shape")
    factor: Length = Field(description="factor [1]")
    about: Vector | None = Field(None, description="the fixed point of the scaling [m]; the origin if absent")


class Repeat(CombinedShape):
    """copies of a shape on a regular grid; the first copy is the shape itself"""

    shape: "Shape" = Field(description="the shape")
    count: tuple[Annotated[int, Field(ge=1, le=10**9, strict=True)], ...] = Field(
        description="copies along x, y (and z)"
    )
    spacing: Vector = Field(description="displacement from copy to copy along x, y (and z) [m]")

    @field_validator("count")
    @classmethod
    def _two_or_three(cls, count: tuple[int, ...]) -> tuple[int, ...]:
        if len(count) not in (2, 3):
            raise wrong(f"count has 3 numbers, or 2 in a 2D scene, and this one has {len(count)}")
        return count


def dilated(shape: ShapeModel, by: float) -> SmoothUnion:
    """`shape` with all distances reduced by `by` [m]: the smooth union of a shape with itself is moved outwards by a
    quarter of the width everywhere."""
    return SmoothUnion.model_construct(of=(shape, shape), radius=4.0 * by)


SHAPES: dict[str, type[ShapeModel]] = {
    "sphere": primitives.Sphere,
    "box": primitives.Box,
    "cylinder": primitives.Cylinder,
    "capsule": primitives.Capsule,
    "cone": primitives.Cone,
    "torus": primitives.Torus,
    "half_space": primitives.HalfSpace,
    "ellipsoid": primitives.Ellipsoid,
    "mesh": primitives.TriangleMesh,
    "mesh_sequence": primitives.MeshSequence,
    "circle": primitives.Circle,
    "rectangle": primitives.Rectangle,
    "ellipse": primitives.Ellipse,
    "half_plane": primitives.HalfPlane,
    "ring": primitives.Ring,
    "polygon": primitives.Polygon,
    "union": Union,
    "difference": Difference,
    "intersection": Intersection,
    "smooth_union": SmoothUnion,
    "translate": Translate,
    "rotate": Rotate,
    "scale": Scale,
    "repeat": Repeat,
}
"""Shapes by their names in scenes."""

NAMES = {model: name for name, model in SHAPES.items()}

if not TYPE_CHECKING:
    Shape: Any = one_key_table("shape", SHAPES)
