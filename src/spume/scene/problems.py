"""Sentences for the problems of a scene: where, what was found, what would be right."""

import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from spume.errors import SceneError
from spume.suggestions import did_you_mean, nearest

MISSING = "is missing"
SHOWN = 6
"""Maximum number of problems in a message; the rest are counted."""

LONGEST_KEY = 200
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
"""Keys TOML takes without quotes."""

WANTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "finite_number": "a finite number",
    "string_type": "a text in quotes",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
"""What each of pydantic's error types expects, in the terms of a scene."""

BOUNDS = (("least", "min_length"), ("most", "max_length"))

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One problem, as a sentence that begins with the path of the key."""

    path: str
    sentence: str
    place: str = ""
    """File and line of the key, if known."""

    def __str__(self) -> str:
        return f"{self.path} {self.sentence}".strip()


class SceneProblems(SceneError):
    """A scene with problems, one sentence each."""

    def __init__(self, problems: Sequence[Problem], source: str = "") -> None:
        self.problems = tuple(problems)
        prefix = f"{source}: " if source else ""
        lines = [
            f"{problem.place}: {problem}" if problem.place else f"{prefix}{problem}" for problem in problems[:SHOWN]
        ]
        if len(self.problems) > SHOWN:
            lines.append(f"{prefix}and {len(self.problems) - SHOWN} more problems")
        super().__init__("\n".join(lines))


def dotted(path: Path) -> str:
    """The path as `--set` takes it: body.0.velocity, material."soft rubber".density; very long keys are cut."""
    parts = (part if len(part) <= LONGEST_KEY else f"{part[:LONGEST_KEY]}…" for part in map(str, path))
    return ".".join(part if BARE_KEY.fullmatch(part) else f'"{_escaped(part)}"' for part in parts)


def _escaped(text: str) -> str:
    """The text in a TOML string, on one line."""
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)


def shown(value: object) -> str:
    """A value as written in a scene, truncated when long."""
    if isinstance(value, bool):
        text = str(value).lower()
    elif isinstance(value, Mapping):
        text = "a table with " + (", ".join(dotted((key,)) for key in value) or "no keys")
    elif isinstance(value, list | tuple):
        text = f"[{', '.join(shown(item) for item in value)}]"
    else:
        text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def describe(error: ValidationError, model: type[BaseModel], data: Mapping[str, Any]) -> list[Problem]:
    """The problems pydantic found in `data`, one sentence each."""
    problems: dict[tuple[str, str], Problem] = {}
    misspelt: set[str] = set()
    for item in error.errors(include_url=False):
        path = _real_path(item["loc"], data, item["type"])
        problem = Problem(dotted(path), _sentence(item, path, model))
        problems.setdefault((problem.path, problem.sentence), problem)
        misspelt |= {dotted((*path[:-1], hint)) for hint in _meant(item, path, model)}
    # A required key that is there, but misspelt, is one problem and not two.
    return [p for p in problems.values() if not (p.path in misspelt and p.sentence.startswith(MISSING))]


def _meant(item: Any, path: Path, model: type[BaseModel]) -> list[str]:
    """The known key that an unknown one is close to, if there is one."""
    if item["type"] != "extra_forbidden":
        return []
    hint = nearest(path[-1], known_keys(model, path[:-1]))
    return [hint] if hint else []


def _sentence(item: Any, path: Path, model: type[BaseModel]) -> str:
    kind, found = item["type"], item["input"]
    if kind == "missing":
        meaning = _description(model, path)
        return f"{MISSING}{f': {meaning}' if meaning else ''}"
    if kind == "extra_forbidden":
        known = ", ".join(known_keys(model, path[:-1]))
        return "is unknown: " + did_you_mean(path[-1], known_keys(model, path[:-1]), f"the keys known here are {known}")
    if kind in ("value_error", "wrong"):
        return f"is wrong: {item['ctx']['error'] if kind == 'value_error' else item['msg']}"
    wanted = item["msg"].replace("Input should", "it should")
    if kind in WANTED:
        wanted = f"it should be {WANTED[kind]}"
    elif kind in ("too_short", "too_long"):
        limits = [f"at {word} {item['ctx'][key]}" for word, key in BOUNDS if key in item["ctx"]]
        wanted = f"it should have {' and '.join(limits)} entries"
    elif kind == "literal_error" and isinstance(found, str):
        choices = item["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        hint = nearest(found, choices) if len(choices) > 1 else None
        wanted += f"; did you mean '{hint}'?" if hint else ""
    meaning = _description(model, path)
    return f"is {shown(found)}: {wanted[:1].lower()}{wanted[1:]}{f' ({meaning})' if meaning else ''}"


def _real_path(loc: tuple[Any, ...], data: Any, kind: str) -> Path:
    """`loc` without the names of union members, which pydantic mixes in and no scene contains."""
    path: list[str | int] = []
    for position, part in enumerate(loc):
        if _contains(data, part):
            data = data[part]
        elif kind == "missing" and position == len(loc) - 1:
            data = None
        else:
            continue
        path.append(part)
    return tuple(path)


def _contains(data: object, part: str | int) -> bool:
    if isinstance(data, list | tuple):
        return isinstance(part, int) and part < len(data)
    return isinstance(data, Mapping) and part in data


def _expand(annotation: object) -> Iterator[object]:
    """The members of a union, recursively; other annotations as they are."""
    if hasattr(annotation, "__value__"):
        yield from _expand(annotation.__value__)
    elif get_origin(annotation) is Annotated:
        yield from _expand(get_args(annotation)[0])
    elif get_origin(annotation) in (Union, types.UnionType):
        for member in get_args(annotation):
            yield from _expand(member)
    else:
        yield annotation


def _below(annotation: object, key: str | int) -> Iterator[object]:
    for member in _expand(annotation):
        origin, arguments = get_origin(member), get_args(member)
        if isinstance(member, type) and issubclass(member, BaseModel):
            for name, field in member.model_fields.items():
                if key in (name, field.alias):
                    yield field.annotation
        elif origin in (list, tuple, Sequence) and isinstance(key, int) and arguments:
            yield arguments[0]
        elif origin in (dict, Mapping) and len(arguments) == 2:
            yield arguments[1]


def _at(model: object, path: Path) -> list[object]:
    """The annotations a value at `path` may have."""
    current = [model]
    for key in path:
        current = [found for annotation in current for found in _below(annotation, key)]
    return current


def known_keys(model: object, path: Path) -> list[str]:
    """The keys a table at `path` may have; empty where any key or none is allowed."""
    members = [member for annotation in _at(model, path) for member in _expand(annotation)]
    found = [m for m in members if isinstance(m, type) and issubclass(m, BaseModel)]
    if any(m.model_config.get("extra") == "allow" for m in found):
        return []
    return list(dict.fromkeys(field.alias or name for m in found for name, field in m.model_fields.items()))


def _description(model: object, path: Path) -> str:
    if not path:
        return ""
    for annotation in _at(model, path[:-1]):
        for member in _expand(annotation):
            if isinstance(member, type) and issubclass(member, BaseModel):
                for name, field in member.model_fields.items():
                    if path[-1] in (name, field.alias) and field.description:
                        return field.description
    return ""
