"""The table of named materials, and the law, parameters and look of a material of a scene."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from spume.errors import SceneError
from spume.materials.appearance import Appearance, renamed
from spume.materials.law import Law, Parameters
from spume.suggestions import did_you_mean

REMARKS = ("description", "source")
"""Keys of an entry that only document it."""
LOOK = "look"
"""Key of an entry's appearance in pictures."""


@dataclass(frozen=True)
class Material:
    """A law, in the form for its parameters, with these."""

    name: str
    law: Law
    parameters: Parameters
    look: Appearance | None = None
    """Appearance; None: neutral."""
    base: str | None = None
    """Name of the scene's material from which it differs only in its look, if any."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "law", self.law.of(self.parameters))


@cache
def named_materials() -> dict[str, dict[str, Any]]:
    """Entries of the table by name: law, parameters, look, description and source."""
    return tomllib.loads(Path(__file__).with_name("table.toml").read_text(encoding="utf-8"))


@cache
def parameter_units(law: str) -> dict[str, str]:
    """Units of a law's parameters, from the brackets at the end of their descriptions; none for words and numbers."""
    from spume.materials import LAWS

    fields = LAWS[law].parameters.model_fields.items()
    found = {name: re.search(r"\[([^\]]+)\]", field.description or "") for name, field in fields}
    return {name: match[1] for name, match in found.items() if match and match[1] != "1"}


def derived_quantities(name: str) -> dict[str, dict[str, Any]]:
    """Value and unit, by name, of quantities derived from the parameters of a named material."""
    from spume.materials import LAWS

    entry = complete_entry(name, {})
    law = LAWS[entry.pop("law")]
    parameters = law.parameters.model_validate(entry)
    found = {"wave speed": (law.wave_speed(parameters), "m/s")} | (law.derived(parameters) if law.derived else {})
    return {key: {"value": value, "unit": unit} for key, (value, unit) in found.items()}


def complete_entry(name: str, own: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """`law` and all parameters of the material `name`, from `own` (the materials of a scene) or from the table.

    An entry of `own` names either its law, or a `base` (another entry of `own` or of the table) that it modifies.
    """
    return _follow(name, own, ())


def complete_appearance(name: str, own: Mapping[str, Mapping[str, Any]]) -> Appearance | None:
    """Appearance of the material `name`: values of its entry, completed by those of its bases.

    An entry of `own` that names its law is completed by the table's material of the same name: finished runs store
    their materials in this form."""
    left = dict(own)
    entries: list[Mapping[str, Any]] = []
    at = name
    while True:
        entry = left.pop(at, None)
        if entry is None:
            entries.append(named_materials().get(at, {}))
            break
        entries.append(entry)
        at = str(entry.get("base", at))
    keys: dict[str, Any] = {}
    for entry in reversed(entries):
        keys |= renamed(entry.get(LOOK, {}))
    return Appearance.model_validate(keys) if keys else None


def _follow(name: str, own: Mapping[str, Mapping[str, Any]], visited: tuple[str, ...]) -> dict[str, Any]:
    table = named_materials()
    # A material may modify the table's entry of the same name; any other reference to itself is a cycle.
    if name in own and name not in visited:
        entry = own[name]
        if "base" not in entry:
            return _without_remarks(entry)
        changes = {key: value for key, value in entry.items() if key not in ("base", "law")}
        return _follow(str(entry["base"]), own, (*visited, name)) | _without_remarks(changes)
    if name in table:
        return _without_remarks(table[name])
    if name in visited:
        raise SceneError(f"the bases form a cycle: {_circle(visited[visited.index(name) :])}")
    raise SceneError(f"there is no material '{name}': {did_you_mean(name, [*own, *table])}")


def _circle(names: tuple[str, ...]) -> str:
    """Description of the cycle, independent of the member at which it was found."""
    first = names.index(min(names))
    return " -> ".join((*names[first:], *names[:first], names[first]))


def _without_remarks(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in (LOOK, *REMARKS)}
