"""Points and their fields: one array per declared field."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.fields import PAINT, Field, merge_declarations
from spume.grid.generations import new_generation
from spume.numerics.room import Room
from spume.scene.material_scene import MaterialScene


def point_fields(dimension: int, affine: bool) -> tuple[Field, ...]:
    """Fields of every material point, independent of its law."""
    fields = [
        Field("x", (dimension,), 0.0, "m", "average", description="position"),
        Field("v", (dimension,), 0.0, "m/s", "average", description="velocity"),
        Field("mass", (), 0.0, "kg", "share", description="mass"),
        Field("volume", (), 0.0, "m³", "share", description="volume at rest"),
        Field("id", (), 0, "1", "new", dtype="int64", description="unique number of the point"),
        Field("material", (), 0, "1", "nearest", dtype="int32", description="index of the material"),
        Field("body", (), 0, "1", "nearest", dtype="int32", description="index of the body or emitter it came from"),
        Field(
            "stress", (6,), 0.0, "Pa", "average", in_frames=False, description="Kirchhoff stress at the end of the step"
        ),
    ]
    if affine:
        fields.append(
            Field("C", (dimension, dimension), 0.0, "1/s", "average", in_frames=False, description="affine velocity")
        )
    return tuple(fields)


def paint_fields(scene: MaterialScene) -> tuple[Field, ...]:
    """The colours that points carry, if a body of the scene has any."""
    return (PAINT,) if scene.has_painted_points else ()


class Particles:
    """Arrays of equal length, one per field, as attributes: `particles.x`, `particles.v`, `particles.F`, …

    New points get the next free numbers as their `id`, if they have this field; a number is never used twice.
    """

    def __init__(self, groups: Iterable[Iterable[Field]]) -> None:
        self.fields = merge_declarations(groups)
        self._arrays: dict[str, NDArray[Any]] = {field.name: field.allocate(0) for field in self.fields}
        self._room = Room()
        self.next_id = 0
        """`id` of the next new point."""
        self.generation = new_generation()
        """Number that changes whenever points are added, removed or reordered, but not when they move."""

    def __len__(self) -> int:
        return len(self._arrays["x"])

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            found: NDArray[Any] = self.__dict__["_arrays"][name]
            return found
        except KeyError:
            raise AttributeError(f"points carry no '{name}'; they carry {', '.join(self._arrays)}") from None

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._arrays})

    def __repr__(self) -> str:
        fields = ", ".join(f"{field.name} [{field.unit}]" for field in self.fields)
        return f"Particles({len(self):,} points: {fields})"

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All arrays by field name."""
        return dict(self._arrays)

    def replace(self, arrays: dict[str, NDArray[Any]]) -> None:
        """Replace all points by those of `arrays`, one array per field."""
        missing = self._arrays.keys() ^ arrays.keys()
        if missing or len({len(a) for a in arrays.values()}) > 1:
            raise ValueError(f"arrays do not fit the declared fields: {sorted(missing) or 'unequal lengths'}")
        for field in self.fields:
            self._arrays[field.name] = np.array(arrays[field.name], dtype=field.dtype, order="C")
        if "id" in self and len(self):
            self.next_id = max(self.next_id, int(self.id.max()) + 1)
        self.generation = new_generation()

    def add(self, count: int, **values: Any) -> slice:
        """Append `count` points; fields not given take their initial values. Return the slice of the new points."""
        if unknown := values.keys() - self._arrays.keys():
            raise ValueError(f"no such fields: {sorted(unknown)}")
        before = len(self)
        if "id" in self and "id" not in values:
            values["id"] = np.arange(self.next_id, self.next_id + count)
            self.next_id += count
        for field in self.fields:
            fresh = field.allocate(count)
            if field.name in values:
                fresh[...] = values[field.name]
            self._arrays[field.name] = np.concatenate([self._arrays[field.name], fresh])
        self.generation = new_generation()
        return slice(before, before + count)

    def exchange(self, kept: NDArray[Any], arrived: Callable[[str], NDArray[Any]]) -> None:
        """Keep the points selected by `kept`, and append others, which have their ids: `arrived` is asked for their
        values field by field, so that two states of a single field are in memory, not of all."""
        for name in self._arrays:
            new = arrived(name)
            self._arrays[name] = np.concatenate([self._arrays[name][kept], new])
        self.generation = new_generation()

    def swap(self, gone: NDArray[np.int64], arrived: Callable[[str], NDArray[Any]]) -> None:
        """Remove the points `gone`, ascending, and add others, see `exchange`. They take the places of those that have
        gone, so that this takes time for the points that come and go, not for all."""
        for name in self._arrays:
            self._arrays[name] = self._room.swap(name, self._arrays[name], gone, arrived(name))
        self.generation = new_generation()

    def take(self, index: NDArray[Any]) -> None:
        """Keep the points selected by `index`, in its order: a permutation reorders, a mask removes points."""
        for name, array in self._arrays.items():
            self._arrays[name] = array[index]
        self.generation = new_generation()
