"""Shapes: what scenes write (`Shape`), what kernels evaluate (`compile_shape`), how large they are."""

from spume.geometry.assembly import compile_shape
from spume.geometry.codes import ShapeProgram
from spume.geometry.combined_shapes import (
    SHAPES,
    Difference,
    Intersection,
    Repeat,
    Rotate,
    Scale,
    Shape,
    SmoothUnion,
    Translate,
    Union,
)
from spume.geometry.extent import bounds
from spume.geometry.measure import volume
from spume.geometry.primitive_shapes import (
    Box,
    Capsule,
    Circle,
    Cone,
    Cylinder,
    Ellipse,
    Ellipsoid,
    HalfPlane,
    HalfSpace,
    Mesh,
    Polygon,
    Rectangle,
    Ring,
    ShapePart,
    Sphere,
    Torus,
)

__all__ = [
    "SHAPES",
    "Box",
    "Capsule",
    "Circle",
    "Cone",
    "Cylinder",
    "Difference",
    "Ellipse",
    "Ellipsoid",
    "HalfPlane",
    "HalfSpace",
    "Intersection",
    "Mesh",
    "Polygon",
    "Rectangle",
    "Repeat",
    "Ring",
    "Rotate",
    "Scale",
    "Shape",
    "ShapePart",
    "ShapeProgram",
    "SmoothUnion",
    "Sphere",
    "Torus",
    "Translate",
    "Union",
    "bounds",
    "compile_shape",
    "volume",
]
