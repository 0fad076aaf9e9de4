"""Checks of the laws in a user's file, with parameters of a scene or chosen by their units."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from spume.errors import SceneError
from spume.materials.checks import CHECKS, FLOW_CHECKS, failure, plain_numbers
from spume.materials.driven_points import flows
from spume.materials.law import Law, Parameters
from spume.materials.registry import load_law_file
from spume.materials.table import parameter_units
from spume.rheology.choosing import scene_materials
from spume.scene.overrides import Presets, parse_override
from spume.scene.problems import describe

TYPICAL = {
    "kg/m³": 1000.0, "Pa": 1e4, "Pa s": 10.0, "s": 0.1, "1/s": 1.0, "m": 0.01, "degrees": 30.0, "°": 30.0, "": 0.3,
}  # fmt: skip
"""Values of parameters without a default, by their units."""
LARGER = 1.3
"""Ratio of the values of parameters with the same unit."""
LIMITS = ("gt", "ge", "lt", "le")


@dataclass(frozen=True)
class Report:
    """What the checks of one law have found."""

    law: Law
    material: str
    """where the parameters come from"""
    parameters: dict[str, Any]
    passed: tuple[str, ...]
    misses: tuple[str, ...]


def check_laws(
    file: Path, scene: str | None = None, preset: Presets = None, changes: Iterable[str] = ()
) -> list[Report]:
    """Check every law of a Python file: with each material of `scene` that has the law, otherwise with typical values
    for the units of its parameters. `changes` such as "shear_modulus=2e3" replace values of either."""
    laws = load_law_file(file)
    given = dict(_change(text) for text in changes)
    unknown = set(given) - {name for law in laws for name in law.parameters.model_fields}
    if unknown:
        raise SceneError(f"--set {min(unknown)}: no law of '{file}' has a parameter of this name")
    tables = scene_materials(scene, preset) if scene else {}
    return [
        _report(law, name, _parameters(law, entry, given))
        for law in laws
        for name, entry in _materials(law, tables)
    ]  # fmt: skip


def _change(text: str) -> tuple[str, Any]:
    path, value = parse_override(text)
    if len(path) != 1:
        raise SceneError(f"--set {text}: it should name a parameter of the law, as in shear_modulus=2e3")
    return str(path[0]), value


def _materials(law: Law, tables: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The materials of a scene with this law; if there are none, one with typical values."""
    found = {name: table for name, table in tables.items() if table.get("law") == law.name}
    for name, table in found.items():
        yield name, {key: value for key, value in table.items() if key in law.parameters.model_fields}
    if not found:
        yield "typical values", typical_values(law)


def typical_values(law: Law) -> dict[str, Any]:
    """Values for the parameters of a law that have no default, by their units and within their limits. Those of one
    unit differ, so that exchanging two is a mistake that shows."""
    units, values = parameter_units(law.name), dict[str, float]()
    seen = dict[str, int]()
    for name, field in law.parameters.model_fields.items():
        if not field.is_required():
            continue
        unit = units.get(name, "")
        value = TYPICAL.get(unit, 1.0) * LARGER ** seen.setdefault(unit, 0)
        seen[unit] += 1
        low, high = _limits(field)
        if not low < value < high:
            value = 0.5 * (low + high) if np.isfinite(low + high) else low + 1.0 if np.isfinite(low) else high - 1.0
        values[name] = value
    return values


def _limits(field: FieldInfo) -> tuple[float, float]:
    """Lower and upper limit of a parameter."""
    found = {key: float(getattr(each, key)) for each in field.metadata for key in LIMITS if hasattr(each, key)}
    low = max(found.get("gt", -np.inf), found.get("ge", -np.inf))
    return low, min(found.get("lt", np.inf), found.get("le", np.inf))


def _parameters(law: Law, entry: Mapping[str, Any], given: Mapping[str, Any]) -> Parameters:
    data = dict(entry) | {key: value for key, value in given.items() if key in law.parameters.model_fields}
    try:
        return law.parameters.model_validate(data, strict=True)
    except ValidationError as error:
        found = describe(error, law.parameters, data)[0]
        raise SceneError(f"law '{law.name}': {found.path} {found.sentence}; give it by --set or --scene") from None


def _report(law: Law, material: str, parameters: Parameters) -> Report:
    law = law.of(parameters)
    values = parameters.model_dump()
    with np.errstate(all="ignore"):
        # without functions that work, or without numbers, the other checks would only repeat it
        if sentence := failure(law, parameters):
            return Report(law, material, values, (), (sentence,))
        apply = {name: check for name, check in CHECKS.items() if flows(law) or name not in FLOW_CHECKS}
        try:
            if misses := plain_numbers(law, parameters):
                return Report(law, material, values, (), tuple(misses))
            found = {name: check(law, parameters) for name, check in apply.items()}
        except (
            TypeError,
            ValueError,
            IndexError,
            ZeroDivisionError,
            ArithmeticError,
            numba.errors.NumbaError,
        ) as error:
            return Report(law, material, values, (), (f"the functions fail: {type(error).__name__}: {error}",))
    passed = tuple(name for name, sentences in found.items() if not sentences)
    return Report(law, material, values, passed, tuple(each for sentences in found.values() for each in sentences))
