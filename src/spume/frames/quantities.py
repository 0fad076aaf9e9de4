"""Scalars to colour by, out of the fields of a frame.

A name is a field ("weak"; the length of a vector, the Frobenius norm of a tensor), a component of one ("v.x", "F.xy"),
or a derived quantity: "speed" and "J", the ratio of a point's volume to its volume at rest.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.fields import Field

Floats = NDArray[np.float64]
SYMMETRIC = ("xx", "yy", "zz", "xy", "xz", "yz")
DERIVED = {"speed": ("v", "m/s", "speed"), "J": ("F", "1", "volume ratio J")}
"""Name: the field it needs, its unit, its label."""


def quantity_names(fields: Iterable[Field]) -> list[str]:
    """The quantities a picture of points with these fields can show, without the components."""
    declared = {field.name for field in fields}
    derived = [name for name, (needs, _, _) in DERIVED.items() if needs in declared]
    plain = [field.name for field in fields if field.name not in ("x", "v", "F")]
    return [*derived, *plain]


def quantity(frame: Mapping[str, NDArray[Any]], name: str) -> Floats:
    """The values of quantity `name` at the points of `frame`, shape (n,)."""
    if name == "speed" and "v" in frame:
        return np.asarray(np.linalg.norm(frame["v"], axis=1))
    if name == "J" and "F" in frame:
        return volume_ratio(frame)
    field, _, component = name.partition(".")
    if field not in frame:
        known = ", ".join([*(n for n, (needs, _, _) in DERIVED.items() if needs in frame), *frame])
        raise SceneError(f"there is no quantity '{name}' in this run: it has {known}, and components such as v.x")
    values = np.asarray(frame[field], dtype=np.float64)
    if component:
        return values.reshape(len(values), -1)[:, _component(name, values.shape[1:])]
    if values.ndim == 1:
        return values
    if values.shape[1:] == (6,):
        return np.sqrt((values[:, :3] ** 2).sum(axis=1) + 2 * (values[:, 3:] ** 2).sum(axis=1))
    return np.asarray(np.linalg.norm(values.reshape(len(values), -1), axis=1))


def _component(name: str, shape: tuple[int, ...]) -> int:
    letters = name.partition(".")[2]
    if len(shape) == 1 and shape[0] in (2, 3):
        known: tuple[str, ...] = tuple("xyz"[: shape[0]])
    elif shape == (6,):
        known = SYMMETRIC
    elif len(shape) == 2:
        known = tuple(a + b for a in "xyz"[: shape[0]] for b in "xyz"[: shape[1]])
    else:
        known = tuple(str(k) for k in range(int(np.prod(shape)))) if shape else ()
    if letters not in known:
        raise SceneError(f"'{name}': there is no such component, only {', '.join(known) or 'the field itself'}")
    return known.index(letters)


def volume_ratio(frame: Mapping[str, NDArray[Any]]) -> Floats:
    """J = det F of each point; 1 where points carry no F."""
    if "F" not in frame:
        return np.ones(len(frame["x"]))
    return np.asarray(np.linalg.det(frame["F"]))


def label(fields: Iterable[Field], name: str) -> str:
    """The words for quantity `name` beside a colour bar, with its unit."""
    if name in DERIVED:
        _, unit, words = DERIVED[name]
    else:
        field = next((f for f in fields if f.name == name.partition(".")[0]), None)
        unit = field.unit if field else "1"
        words = f"{field.description} ({name})" if field and field.description else name
    return words if unit == "1" else f"{words} [{unit}]"


def spatial(vectors: NDArray[Any]) -> Floats:
    """Vectors with three components; those of the plane get z = 0."""
    wide = np.asarray(vectors, dtype=np.float64)
    return wide if wide.shape[1] == 3 else np.pad(wide, ((0, 0), (0, 1)))
