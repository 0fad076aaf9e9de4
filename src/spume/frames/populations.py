"""The populations of a frame: arrays by population and field, read on access."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from spume.fields import Population
from spume.frames.derived import Derived
from spume.scene.common import Scene

Read = Callable[[str], NDArray[Any]]
"""Gives the array of a field."""


class PopulationArrays(Mapping[str, NDArray[Any]]):
    """One population of a frame: `points["x"]` or `points.x` is the array of a field.

    It also has what can be derived from its fields, such as `points["pressure"]`; a loop goes over the fields only."""

    def __init__(self, declared: Population, names: Iterable[str], read: Read, derived: Derived | None = None) -> None:
        self.declared = declared
        """Kind, point spacing and declared fields."""
        self._names = tuple(names)
        self._read = read
        self._derived = derived

    def _derives(self, name: str) -> bool:
        return self._derived is not None and self._derived.has(self.declared.name, self._names, name)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if self._derived is not None and self._derives(name):
            found: NDArray[Any] = self._derived.array(self.declared.name, self._read, self._names, name)
            return found
        if name not in self._names:
            raise KeyError(f"'{self.declared.name}' has no field '{name}': it has {', '.join(self._names)}")
        return self._read(name)

    def __getattr__(self, name: str) -> NDArray[Any]:
        if name.startswith("_") or name not in self:
            raise AttributeError(f"a population has no field '{name}'")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names})

    def __contains__(self, name: object) -> bool:
        return name in self._names or (isinstance(name, str) and self._derives(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"{self.declared.name} ({self.declared.kind}: {', '.join(self._names)})"


class FramePopulations(Mapping[str, Any]):
    """The populations of one frame.

    `frame["points"]` is a population and `frame["points"].x` one of its arrays. `frame["x"]` and `frame.x` are short
    for the field of the first population that has it. A loop goes over these short names.
    """

    def __init__(self, populations: Iterable[PopulationArrays]) -> None:
        self.populations: dict[str, PopulationArrays] = {each.declared.name: each for each in populations}

    def __getitem__(self, name: str) -> Any:
        if name in self.populations:
            return self.populations[name]
        first = next((each for each in self.populations.values() if name in each), None)
        if first is None:
            raise KeyError(f"{self!r} has no field or population '{name}'")
        return first[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self:
            raise AttributeError(f"a frame has no field or population '{name}'")
        return self[name]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.populations, *self})

    def __contains__(self, name: object) -> bool:
        found = self.__dict__.get("populations", {})
        return name in found or any(name in each for each in found.values())

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for each in self.populations.values() for name in each))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return f"Frame({'; '.join(map(repr, self.populations.values()))})"

    def _repr_html_(self) -> str:
        from spume.frames.notebook import frame_html

        return frame_html(self)

    def of_kind(self, *kinds: str) -> list[PopulationArrays]:
        """The populations of the given kinds, in their order."""
        return [each for each in self.populations.values() if each.declared.kind in kinds]


def in_memory(
    declarations: Iterable[Population], arrays: Mapping[str, Mapping[str, NDArray[Any]]], scene: Scene
) -> FramePopulations:
    """The frame of a method in memory, in the form of a frame read from disk."""
    derived = Derived(lambda: scene)
    return FramePopulations(
        PopulationArrays(each, arrays[each.name], arrays[each.name].__getitem__, derived) for each in declarations
    )
