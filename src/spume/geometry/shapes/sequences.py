"""Where mesh sequences stand in shapes."""

from spume.errors import SceneError
from spume.geometry.shapes.combinations import SmoothUnion
from spume.geometry.shapes.parts import parts, placed
from spume.geometry.shapes.placement import HERE, Placement
from spume.geometry.shapes.primitives import MeshSequence, ShapeModel


def placed_sequence(shape: ShapeModel) -> tuple[MeshSequence, Placement] | None:
    """The mesh sequence that a shape is, after displacements, rotations and scalings; None for other shapes. Raises
    SceneError if a sequence is part of a combination."""
    inner, placement = shape, HERE
    while (inside_it := placed(inner, placement)) is not None:
        inner, placement = inside_it
    if isinstance(inner, SmoothUnion) and len(inner.of) == 2 and inner.of[0] is inner.of[1]:
        return placed_sequence(inner.of[0])  # acts at a distance, see `dilated`
    if isinstance(inner, MeshSequence):
        return inner, placement
    if has_sequence(inner):
        raise SceneError(
            "a 'mesh_sequence' is part of a combination: it should be an obstacle of its own, which may be translated, "
            "rotated and scaled"
        )
    return None


def has_sequence(shape: ShapeModel) -> bool:
    """Whether a mesh sequence is part of a shape."""
    return isinstance(shape, MeshSequence) or any(has_sequence(part) for part in parts(shape))
