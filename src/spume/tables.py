"""The building blocks of scene tables: numbers, vectors, tables, and tables with a single key.

A one-key table represents a choice with its parameters, `{ sphere = { radius = 0.1 } }`. `one_key_table` makes the type
of such a choice from the possible models. In Python a value is the chosen model itself, `Sphere(radius=0.1)`; in a
scene, in JSON and in the schema it is the table.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar, Union

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainSerializer, WrapValidator, create_model
from pydantic.functional_validators import ModelWrapValidatorHandler
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import SerializationInfo
from typing_extensions import TypeAliasType

from spume.suggestions import nearest

LARGEST = 1e30
"""Numbers of larger magnitude would overflow in products and are never meaningful."""
DEEPEST = 100
"""Maximum nesting depth of the tables and lists of a scene."""

Item = TypeVar("Item")


def wrong(sentence: str) -> PydanticCustomError:
    """Error to be raised by a validator, with the message `sentence`."""
    return PydanticCustomError("wrong", "{sentence}", {"sentence": sentence})


def _not_too_large(number: float) -> float:
    if abs(number) > LARGEST:
        raise wrong(f"{number:g} is too large: numbers must be between -{LARGEST:g} and {LARGEST:g}")
    return number


Number = Annotated[float, Field(strict=True, allow_inf_nan=False), AfterValidator(_not_too_large)]
"""A finite number; strings and booleans are rejected."""


def depth(value: object) -> int:
    """Nesting depth of mappings and lists, counted without recursion and only up to the accepted depth."""
    level = 0
    inner = [value]
    while inner and level <= DEEPEST:
        containers = [item for item in inner if isinstance(item, Mapping | list | tuple)]
        inner = [part for item in containers for part in (item.values() if isinstance(item, Mapping) else item)]
        level += bool(containers)
    return level


def _two_or_three(vector: tuple[float, ...]) -> tuple[float, ...]:
    if len(vector) not in (2, 3):
        raise wrong(f"a vector has 3 components, or 2 in a 2D scene, and this one has {len(vector)}")
    return vector


def _not_zero(vector: tuple[float, ...]) -> tuple[float, ...]:
    if not any(vector):
        raise wrong("a direction cannot be the zero vector")
    return vector


def _not_empty(items: tuple[Item, ...]) -> tuple[Item, ...]:
    if not items:
        raise wrong("the list is empty; it needs at least one item")
    return items


Vector = Annotated[tuple[Number, ...], AfterValidator(_two_or_three)]
"""A point or a displacement: 3 components, or 2 in a 2D scene."""

Direction = Annotated[Vector, AfterValidator(_not_zero)]
"""A vector of non-zero length, of which only the direction is used."""

NotEmpty = AfterValidator(_not_empty)
"""Marks a list that needs at least one item."""


class Table(BaseModel):
    """A table of a scene: unknown keys are errors, and a validated scene is immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Variant(Table):
    """Base of the models that a one-key table chooses from."""

    # Validators are built on first use: this halves the import time, and all models are defined by then.
    model_config = ConfigDict(defer_build=True)


def one_key_table(kind: str, models: Mapping[str, type[Variant]]) -> Any:
    """Pydantic type of a table with exactly one key, a name in `models`, whose value is the parameters of that model.

    `kind` is its name in messages ("shape"). Capitalised, it is the name of the type in the JSON Schema and in the
    module of the models, by which models that contain others of their kind refer to it.
    """
    names = {model: name for name, model in models.items()}
    known = list(models)
    tables: dict[str, type[BaseModel]] = {}
    for name, model in models.items():
        tables[name] = create_model(
            f"{name} {kind}",
            __config__=ConfigDict(extra="forbid", defer_build=True),
            **{name: (model, Field(description=model.__doc__))},
        )  # type: ignore[call-overload]  # the field's name is known at run time only

    def check(value: object, handler: ModelWrapValidatorHandler[Any]) -> Variant:
        if isinstance(value, Variant) and type(value) in names:
            return value
        if not isinstance(value, Mapping):
            raise wrong(
                f"a {kind} is a table with one key, such as {{ {known[0]} = {{ ... }} }}, and this is {value!r:.60}"
            )
        if len(value) != 1:
            found = ", ".join(f"'{key}'" for key in value) if value else "none"
            raise wrong(f"a {kind} is a table with exactly one key, the name of the {kind}, and here are {found}")
        (name,) = value
        if name not in tables:
            close = nearest(name, known)
            hint = f"did you mean '{close}'? " if close else ""
            raise wrong(f"there is no {kind} '{name}'; {hint}known: {', '.join(known)}")
        chosen: Variant = getattr(tables[name].model_validate(value), name)
        return chosen

    def spell(chosen: Variant, info: SerializationInfo) -> dict[str, Any]:
        values = chosen.model_dump(
            mode=info.mode,
            exclude_unset=info.exclude_unset,
            exclude_none=info.exclude_none,
            exclude_defaults=info.exclude_defaults,
        )
        return {names[type(chosen)]: values}

    def exactly_one(schema: dict[str, Any]) -> None:
        schema["oneOf"] = schema.pop("anyOf")

    table = TypeAliasType(  # type: ignore[misc]  # both name and members are known at run time only
        kind.capitalize(),
        Annotated[
            Union[tuple(tables.values())],  # noqa: UP007
            WrapValidator(check),
            PlainSerializer(spell),
            Field(json_schema_extra=exactly_one),
        ],
    )
    return table
