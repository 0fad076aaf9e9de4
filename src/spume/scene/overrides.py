"""Changes to a scene before it is validated: `--set path.to.key=value` and the presets of a scene file."""

import copy
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from spume.errors import SceneError
from spume.scene.problems import Path, dotted, known_keys, shown
from spume.suggestions import did_you_mean
from spume.tables import DEEPEST, depth

BARE_WORD = re.compile(r"[A-Za-z_][\w -]*|#[0-9a-fA-F]{6}")
"""A value that needs no quotes on the command line, where the shell removes them: --set grid.spline=quadratic, and
colours: --set backdrop.color=#4a5864."""


Changes = Iterable[str] | Mapping[str, Any]
"""Texts such as "grid.cell=0.01", or values by path such as {"grid.cell": 0.01}."""

Presets = str | Iterable[str] | None
"""The name of a preset, or several names in the order in which they apply."""


def apply_overrides(data: dict[str, Any], changes: Changes, model: object) -> dict[str, Any]:
    """`data` with the changes applied; `model` defines which keys exist."""
    changed = copy.deepcopy(data)
    if isinstance(changes, Mapping):
        for key, value in changes.items():
            _put(changed, parse_path(key, key), copy.deepcopy(value), model, key)
        return changed
    if isinstance(changes, str):
        raise SceneError(f"changes are a list of texts or a dict, and '{changes}' is a single text: put it in a list")
    for text in changes:
        path, value = parse_override(text)
        _put(changed, path, value, model, text)
    return changed


def parse_override(text: str) -> tuple[Path, Any]:
    """The path and the value of "path.to.key=value"."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise SceneError(f"--set {text}: it should be path.to.key=value, as in grid.cell=0.01")
    return parse_path(key, text), _parse_value(value.strip(), text)


def parse_path(key: str, text: str = "") -> Path:
    """The parts of a dotted key; error messages quote `text`, or the key if it is empty."""
    text = text or key
    try:
        table: Any = tomllib.loads(f"{key} = 0")
    except (tomllib.TOMLDecodeError, RecursionError):
        raise SceneError(f"--set {text}: '{key}' is not a path of keys, as body.0.velocity is") from None
    path: list[str | int] = []
    while isinstance(table, dict) and len(table) == 1:
        ((part, table),) = table.items()
        path.append(part)
    if table != 0:
        raise SceneError(f"--set {text}: '{key}' is more than a path of keys")
    return tuple(path)


def _parse_value(value: str, text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {value}")
    except RecursionError:
        raise SceneError(f"--set {text:.60}: the value is nested too deeply") from None
    except (tomllib.TOMLDecodeError, ValueError):
        if BARE_WORD.fullmatch(value):
            return value
        raise SceneError(f"--set {text}: '{value}' is not a TOML value such as 0.5, \"name\" or [1, 0, 0]") from None
    if set(parsed) != {"value"}:
        raise SceneError(f"--set {text}: '{value}' holds more than one value")
    if depth(parsed) > DEEPEST:
        raise SceneError(f"--set {text:.60}: the value is nested more than {DEEPEST} levels deep")
    return parsed["value"]


def _put(data: dict[str, Any], path: Path, value: Any, model: object, text: str) -> None:
    table: Any = data
    walked: list[str | int] = []
    for part in path[:-1]:
        key = _existing_part(table, part, walked, model, text)
        if isinstance(table, dict):
            table.setdefault(key, {})
        table = table[key]
        walked.append(key)
    key = _existing_part(table, path[-1], walked, model, text)
    table[key] = value


def _existing_part(table: Any, part: str | int, walked: list[str | int], model: object, text: str) -> str | int:
    """`part` as a key or index of `table`, or an error that says which part of the path is wrong."""
    where = dotted(tuple(walked)) if walked else "the scene"
    if isinstance(table, list):
        index = entry_of(table, part)
        if index is None:
            raise SceneError(f"--set {text}: {where} has entries 0 to {len(table) - 1}, and '{part}' is none of them")
        return index
    if not isinstance(table, dict):
        raise SceneError(f"--set {text}: {where} is {shown(table)}, which has no key '{part}'")
    known = known_keys(model, tuple(walked))
    if part not in table and known and part not in known:
        wanted = did_you_mean(part, known, f"its keys are {', '.join(known)}")
        raise SceneError(f"--set {text}: {where} has no key '{part}': {wanted}")
    return part


def preset_names(preset: Presets) -> tuple[str, ...]:
    """The names of presets in the order in which they apply."""
    if preset is None:
        return ()
    return (preset,) if isinstance(preset, str) else tuple(preset)


def apply_preset(data: dict[str, Any], preset: Presets, source: str) -> dict[str, Any]:
    """`data` without its [preset.*] tables, with the chosen ones merged in, one after the other.

    A preset holds nested tables, or dotted keys in quotes that reach into lists: "body.0.velocity" = [1, 0, 0].
    """
    presets = data.get("preset", {})
    plain = copy.deepcopy({key: value for key, value in data.items() if key != "preset"})
    if not isinstance(presets, dict) or not all(isinstance(table, dict) for table in presets.values()):
        raise SceneError(f"{source}: preset is {shown(presets)}: it should be tables of changes, as [preset.draft]")
    for name in preset_names(preset):
        if name not in presets:
            known = f"its presets are {', '.join(presets)}" if presets else "it has none"
            raise SceneError(f"{source}: there is no preset '{name}': {did_you_mean(name, presets, known)}")
        merge(plain, presets[name], f"{source}: preset.{name}")
    return plain


def merge(data: dict[str, Any], changes: Mapping[str, Any], where: str) -> None:
    """Put `changes` into `data`: tables merge, everything else replaces; a dotted key reaches into lists."""
    for key, value in changes.items():
        path = parse_path(key, f"{where}.{key}") if "." in key else (key,)
        table: Any = data
        for part in path[:-1]:
            table = _inside(table, part, f"{where}.{key}", {})
        present = _inside(table, path[-1], f"{where}.{key}", None)
        if isinstance(value, Mapping) and isinstance(present, dict):
            merge(present, value, f"{where}.{key}")
        else:
            table[entry_of(table, path[-1]) if isinstance(table, list) else path[-1]] = copy.deepcopy(value)


def entry_of(table: list[Any], part: str | int) -> int | None:
    """The entry of a list that a part of a path stands for: its number, or the name of a table; None if there is
    none."""
    if str(part).isdigit():
        return int(part) if int(part) < len(table) else None
    names = [item.get("name") if isinstance(item, dict) else None for item in table]
    return names.index(part) if part in names else None


def _inside(table: Any, part: str | int, where: str, absent: Any) -> Any:
    """The value of `table` at `part`; if there is none, `absent` is inserted."""
    if isinstance(table, dict):
        return table.setdefault(part, absent)
    if isinstance(table, list) and (index := entry_of(table, part)) is not None:
        return table[index]
    raise SceneError(f"{where}: '{part}' leads nowhere in this scene")
