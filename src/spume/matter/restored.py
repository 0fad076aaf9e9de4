"""Checks of the points of a checkpoint: its checksum is good, but somebody else may have written it."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import IDENTITY, SYMMETRIC_IDENTITY, Field


def check_points(
    fields: Iterable[Field], arrays: Mapping[str, NDArray[Any]], materials: int, sources: int, reach: float
) -> None:
    """Raise ValueError that names the first field with values that no simulation writes.

    materials, sources: number of materials and of bodies and emitters of the scene, which points refer to.
    reach: distance from the origin along an axis in which points can be [m].
    """
    counts = {"material": materials, "body": sources}
    for field in fields:
        if field.name in arrays and (wrong := _wrong(field, arrays[field.name], counts.get(field.name))):
            raise ValueError(f"the field '{field.name}' of its points has {wrong}")
    if "x" in arrays and (np.abs(arrays["x"]) > reach).any():
        raise ValueError("the field 'x' of its points has places beyond the reach of the grid")


def _wrong(field: Field, values: NDArray[Any], count: int | None) -> str | None:
    """What the values of a field should not have; `count`: number of things that they refer to."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        return "values that are not finite"
    if count is not None and not ((values >= 0) & (values < count)).all():
        return f"values that are not between 0 and {count - 1}"
    if field.resample == "new" and (len(np.unique(values)) < len(values) or (values < 0).any()):
        return "numbers that are negative or occur twice"
    if field.resample == "share" and not (values > 0.0).all():
        return "values that are not positive"
    if field.initial in (IDENTITY, SYMMETRIC_IDENTITY) and not _deforms(values).all():
        return "tensors that are no deformation"
    return None


def _deforms(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each tensor that began as the identity is that of a deformation without inversion: a full one has a
    positive determinant, a symmetric one is positive definite."""
    if values.shape[1:] == (3, 3):
        return np.asarray(np.linalg.det(values) > 0.0)
    xx, yy, zz, xy, xz, yz = values.T
    minor = xx * yy - xy * xy
    determinant = minor * zz - xx * yz * yz - yy * xz * xz + 2.0 * xy * xz * yz
    return np.asarray((xx > 0.0) & (minor > 0.0) & (determinant > 0.0))
