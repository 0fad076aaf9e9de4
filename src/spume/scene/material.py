"""The materials of a scene: its own [material."name"] tables and the named materials."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ConfigDict, Field, GetJsonSchemaHandler, ValidationError
from pydantic_core import CoreSchema

from spume.errors import SceneError
from spume.materials import LAWS
from spume.materials.appearance import Appearance
from spume.materials.law import Parameters
from spume.materials.registry import law_file_is_loaded, unavailable_law
from spume.materials.table import LOOK, REMARKS, Material, complete_appearance, complete_entry
from spume.scene.problems import Problem, describe, dotted
from spume.suggestions import did_you_mean
from spume.tables import Table


class MaterialTable(Table):
    """A material: its law with all parameters, or the name of another material with changes."""

    model_config = ConfigDict(frozen=True, extra="allow", allow_inf_nan=False)

    law: str | None = Field(default=None, description="name of the constitutive law, whose parameters follow")
    base: str | None = Field(default=None, description="material that is changed by the parameters beside it")
    look: Appearance | None = Field(default=None, description="how it looks; neutral if absent, or as the base looks")

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """One alternative for each law, with its parameters, and one for changes of another material."""
        alternatives = []
        known: dict[str, Any] = {}
        for law in LAWS.values():
            parameters = _inlined(law.parameters.model_json_schema())
            known |= parameters["properties"]
            name = {"const": law.name, "description": law.description or "name of the constitutive law"}
            required = ["law", *parameters.get("required", ())]
            alternatives.append(_table_schema({"law": name, **parameters["properties"]}, required))
        base = {"type": "string", "description": cls.model_fields["base"].description}
        optional = {key: {"description": entry.get("description", "")} for key, entry in known.items()}
        return {
            "description": cls.__doc__,
            "oneOf": [*alternatives, _table_schema({"base": base, **optional}, ["base"])],
        }

    def entry(self) -> dict[str, Any]:
        """The keys the scene wrote."""
        return self.model_dump(exclude_none=True)


def _inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with its definitions in the places that refer to them."""
    definitions = schema.pop("$defs", {})

    def resolved(value: Any) -> Any:
        if isinstance(value, dict):
            if "$ref" in value:
                return resolved(definitions[value["$ref"].rpartition("/")[2]])
            return {key: resolved(item) for key, item in value.items()}
        return [resolved(item) for item in value] if isinstance(value, list) else value

    found: dict[str, Any] = resolved(schema)
    return found


LOOK_SCHEMA = {**Appearance.model_json_schema(), "description": "how the material looks in pictures"}


def _table_schema(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    remark = {"type": "string", "description": "words for people"}
    known = {**properties, LOOK: LOOK_SCHEMA, **dict.fromkeys(REMARKS, remark)}
    return {"type": "object", "properties": known, "required": required, "additionalProperties": False}


def resolve_materials(
    tables: Mapping[str, MaterialTable],
    used: Iterable[tuple[str, str]],
    dimension: int = 3,
    law_files: Iterable[str] = (),
) -> tuple[dict[str, Material], list[Problem]]:
    """The materials by name, and their problems: first those in `used`, pairs of key path and material name, then the
    others that the scene defines. Parameters whose default depends on the dimension of the scene are filled in.

    While one of `law_files` has not been loaded, unknown laws are taken to be defined there: reading a run must not run
    the code of a file.
    """
    laws_are_missing = not all(law_file_is_loaded(file) for file in law_files)
    own = {name: table.entry() for name, table in tables.items()}
    problems = [problem for name, entry in own.items() for problem in _choice_problems(name, entry)]
    materials: dict[str, Material] = {}
    broken = {problem.path for problem in problems}
    places = [*used, *((_place(name), name) for name in own)]
    for path, name in places:
        if name in materials or _place(name) in broken:
            continue
        try:
            entry = complete_entry(name, own)
        except SceneError as error:
            if str(error) not in {problem.sentence for problem in problems}:
                problems.append(Problem(f"{path}:", str(error)))
            broken.add(_place(name))
            continue
        look, place = complete_appearance(name, own), _place(name) if name in own else path
        found = _build(name, entry, look, place, dimension, laws_are_missing)
        if isinstance(found, Material):
            materials[name] = found
        else:
            problems.extend(found)
            broken.add(_place(name))
    return materials, problems


def _place(name: str) -> str:
    return dotted(("material", name))


def _choice_problems(name: str, entry: Mapping[str, Any]) -> list[Problem]:
    if ("law" in entry) == ("base" in entry):
        found = "both" if "law" in entry else "neither"
        return [Problem(_place(name), f"has {found} of 'law' and 'base': give one of them")]
    return []


def _build(
    name: str, entry: Mapping[str, Any], look: Appearance | None, path: str, dimension: int, laws_are_missing: bool
) -> Material | list[Problem]:
    chosen = str(entry.get("law"))
    law = LAWS.get(chosen)
    if law is None and laws_are_missing:
        return Material(name, unavailable_law(chosen), Parameters.model_construct(**entry))
    if law is None:
        return [Problem(f"{path}.law", f"is '{chosen}', which is not a law: {did_you_mean(chosen, LAWS)}")]
    data = {key: value for key, value in entry.items() if key != "law"}
    try:
        parameters = law.parameters.model_validate(data, strict=True)
    except ValidationError as error:
        found = describe(error, law.parameters, data)
        return [Problem(f"{path}.{problem.path}" if problem.path else path, problem.sentence) for problem in found]
    if law.in_dimension is not None:
        parameters = law.in_dimension(parameters, dimension)
    return Material(name, law, parameters, look)
