"""Loops over points, generated for every law from its per-point functions (`materials.law`).

A loop visits all points and changes those whose material has the law. History arrays and packed parameters are read
into tuples by small functions generated for the fields of the law.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba import prange
from numpy.typing import NDArray

from spume.fields import Field
from spume.materials.kinematics import load, load_scalar, load_sym, store, store_scalar, store_sym
from spume.materials.law import Law, Parameters
from spume.numerics.jit import compiled, inlined

ACCESS = {(): (load_scalar, store_scalar), (6,): (load_sym, store_sym), (3, 3): (load, store)}
"""Functions that read and write a field, by its shape."""


def history_access(fields: tuple[Field, ...]) -> tuple[Any, Any]:
    """Compiled functions load(arrays, p) -> history and store(arrays, p, history); `arrays` has one array per field."""
    load_all, store_all = _load_nothing, _store_nothing
    for position, field in enumerate(fields):
        load_one, store_one = ACCESS[field.shape]
        load_all = _also_load(load_all, position, load_one)
        store_all = _also_store(store_all, position, store_one)
    return load_all, store_all


@compiled(inline="always")
def _load_nothing(arrays, p):
    return ()


@compiled(inline="always")
def _store_nothing(arrays, p, history):
    return None


def _also_load(before: Any, position: int, load_one: Any) -> Any:
    @compiled(inline="always")
    def load_fields(arrays, p):
        return before(arrays, p) + (load_one(arrays[position], p),)  # noqa: RUF005 - Numba has no starred tuples

    return load_fields


def _also_store(before: Any, position: int, store_one: Any) -> Any:
    @compiled(inline="always")
    def store_fields(arrays, p, history):
        before(arrays, p, history)
        store_one(arrays[position], p, history[position])

    return store_fields


@compiled(inline="always")
def _no_constants(row):
    return ()


def constants_reader(count: int) -> Any:
    """Compiled function row -> tuple of its first `count` numbers."""
    read_all = _no_constants
    for position in range(count):
        read_all = _also_read(read_all, position)
    return read_all


def _also_read(before: Any, position: int) -> Any:
    @compiled(inline="always")
    def read_constants(row):
        return before(row) + (row[position],)  # noqa: RUF005 - Numba has no starred tuples

    return read_constants


@dataclass(frozen=True)
class Loops:
    """The loops of one law.

    `material` (n,) indexes `belongs` and `constants`, which have a row for each material of the scene; `history` is the
    tuple of the arrays of the law's fields, in order.

    update(material, belongs, constants, dt, deformation, stress, history)
    stress(material, belongs, constants, stress, history)
    energy(material, belongs, constants, energy, history)
    volume_ratio(material, belongs, ratio, history)
    """

    update: Any
    stress: Any
    energy: Any
    volume_ratio: Any


@cache
def loops_of(law: Law) -> Loops:
    """Loops of `law`, compiled on their first call."""
    load_history, store_history = history_access(law.fields)
    read_constants = constants_reader(len(law.constants))
    update_point, stress_of, energy_of, volume_ratio_of = inlined(law.update), law.stress, law.energy, law.volume_ratio

    @compiled(parallel=True)
    def update(material, belongs, constants, dt, deformation, stress, history):
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                parameters = read_constants(constants[m])
                tau, after = update_point(load(deformation, p), dt, parameters, load_history(history, p))
                store_history(history, p, after)
                store_sym(stress, p, tau)

    @compiled(parallel=True)
    def stress(material, belongs, constants, stress, history):
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                store_sym(stress, p, stress_of(read_constants(constants[m]), load_history(history, p)))

    @compiled(parallel=True)
    def energy(material, belongs, constants, energy, history):
        for p in prange(material.size):
            m = material[p]
            if belongs[m]:
                energy[p] = energy_of(read_constants(constants[m]), load_history(history, p))

    @compiled(parallel=True)
    def volume_ratio(material, belongs, ratio, history):
        for p in prange(material.size):
            if belongs[material[p]]:
                ratio[p] = volume_ratio_of(load_history(history, p))

    return Loops(update, stress, energy, volume_ratio)


@dataclass(frozen=True)
class LawInUse:
    """A law with the packed parameters of the scene's materials."""

    law: Law
    loops: Loops
    belongs: NDArray[np.bool_]
    """Whether each material of the scene has this law."""
    constants: NDArray[np.float64]
    """A row of packed parameters for each material; zeros for materials with other laws."""
    columns: tuple[str, ...]
    """Names of the law's fields in the arrays of points."""


class ConstitutiveModel:
    """The laws of all materials of a scene, applied to arrays of points.

    Points have the fields of every law in use, each name once; the fields of other laws than their own keep their
    initial values. If two laws declare different fields of the same name, both are named `LAW_NAME`, for example
    `hencky_F`.
    """

    def __init__(self, materials: Sequence[tuple[Law, Parameters]], members: Sequence[int] | None = None) -> None:
        """Model for the `materials` of a scene; points have only the materials listed in `members` (default: all)."""
        self.materials = tuple(materials)
        chosen = self.materials if members is None else [self.materials[k] for k in members]
        laws = {law.name: law for law, _ in chosen}
        declared: dict[str, set[Field]] = {}
        for law in laws.values():
            for field in law.fields:
                declared.setdefault(field.name, set()).add(field)
        clashes = {name for name, fields in declared.items() if len(fields) > 1}
        self.laws = tuple(self._in_use(law, clashes) for law in laws.values())
        carried = {name: field.renamed(name) for use in self.laws for name, field in zip(use.columns, use.law.fields)}
        self.fields: tuple[Field, ...] = tuple(carried.values())

    def _in_use(self, law: Law, clashes: set[str]) -> LawInUse:
        belongs = np.array([other.name == law.name for other, _ in self.materials], np.bool_)
        constants = np.zeros((len(self.materials), len(law.constants)))
        for row, own, (_, parameters) in zip(constants, belongs, self.materials):
            if own:
                row[:] = law.pack(parameters)
        prefix = law.name.replace("-", "_")
        columns = tuple(f"{prefix}_{f.name}" if f.name in clashes else f.name for f in law.fields)
        return LawInUse(law, loops_of(law), belongs, constants, columns)

    def update(
        self,
        arrays: Mapping[str, NDArray[Any]],
        dt: float,
        deformation: NDArray[np.float64],
        stress: NDArray[np.float64],
    ) -> None:
        """Advance the history in `arrays` by a step of dt [s] with the deformation `deformation`, shape (n, 3, 3), and
        write the Kirchhoff stress [Pa], shape (n, 6), to `stress`."""
        for use in self.laws:
            use.loops.update(
                arrays["material"], use.belongs, use.constants, dt, deformation, stress, _history(use, arrays)
            )

    def stress(self, arrays: Mapping[str, NDArray[Any]], stress: NDArray[np.float64]) -> None:
        """Write the Kirchhoff stress [Pa] for the history in `arrays` to `stress`, shape (n, 6)."""
        for use in self.laws:
            use.loops.stress(arrays["material"], use.belongs, use.constants, stress, _history(use, arrays))

    def energy(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """Elastic energy per rest volume [J/m³] of each point."""
        energy = np.zeros(len(arrays["material"]))
        for use in self.laws:
            use.loops.energy(arrays["material"], use.belongs, use.constants, energy, _history(use, arrays))
        return energy

    def volume_ratio(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        """J of each point: present volume over rest volume."""
        ratio = np.ones(len(arrays["material"]))
        for use in self.laws:
            use.loops.volume_ratio(arrays["material"], use.belongs, ratio, _history(use, arrays))
        return ratio


def _history(use: LawInUse, arrays: Mapping[str, NDArray[Any]]) -> tuple[NDArray[Any], ...]:
    return tuple(arrays[name] for name in use.columns)
