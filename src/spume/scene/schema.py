"""The JSON Schema of scene files."""

from typing import Any

from spume.errors import SceneError
from spume.methods import METHODS
from spume.scene.problems import SceneProblems
from spume.scene.registry import scene_model

DIALECT = "https://json-schema.org/draft/2020-12/schema"

PRESETS = {
    "type": "object",
    "description": "named sets of changes, selected with --preset, several in their order; a key in quotes may be a "
    "path into lists",
    "additionalProperties": {"type": "object"},
}

EXTENDS = {
    "type": "string",
    "description": "built-in name or file of another scene, from which this one lists only the differences",
}

REPLACES = {
    "type": "array",
    "items": {"type": "string"},
    "description": "lists of tables, such as obstacle, that replace those of the extended scene; otherwise a table "
    "replaces the one with its name, or is added",
}


def scene_schema(method: str | None = None) -> dict[str, Any]:
    """The schema of the scenes of `method`, or of all methods."""
    if method is not None:
        try:
            return {"$schema": DIALECT, **_of_method(method)}
        except SceneProblems as error:
            raise SceneError(str(error)) from None
    schemas = {name: _of_method(name) for name in METHODS}
    definitions: dict[str, Any] = {}
    for schema in schemas.values():
        definitions |= schema.pop("$defs", {})
    # A scene that extends another may fit several methods: it need not name its own.
    return {"$schema": DIALECT, "title": "spume scene", "anyOf": list(schemas.values()), "$defs": definitions}


def _of_method(method: str) -> dict[str, Any]:
    schema = scene_model(method).model_json_schema()
    schema["properties"]["preset"] = PRESETS
    schema["properties"]["extends"] = EXTENDS
    schema["properties"]["replaces"] = REPLACES
    if required := schema.pop("required", None):  # required keys may be in the extended scene
        schema["if"], schema["then"] = {"not": {"required": ["extends"]}}, {"required": required}
    return schema
