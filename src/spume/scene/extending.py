"""Scenes that contain only their differences from another scene: `extends = "shaving-cream"`."""

import copy
from pathlib import Path
from typing import Any

from spume.errors import SceneError
from spume.scene.builtin import find_parent, library_files, read_toml
from spume.scene.overrides import merge
from spume.scene.problems import shown


def read_scene(file: Path, behind: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The tables of a scene file, including those of the scene it extends; `behind` are the files that led here.

    Changes are written as in presets: tables merge, everything else replaces, and a dotted key in quotes reaches into
    lists ("body.0.material" = "oobleck"). Lists of tables such as [[obstacle]] are added to: a table replaces the one
    with its name, and others come after those of the extended scene; "replaces" names lists that replace theirs
    altogether. Presets are inherited and merged, too.
    """
    return extended(read_toml(file), file.parent, str(file), (*behind, file))


def extended(data: dict[str, Any], folder: Path, source: str, behind: tuple[Path, ...] = ()) -> dict[str, Any]:
    """`data` with the tables of the scene that its key "extends" names; `source` is what messages call `data`, `folder`
    where the names of files are relative to."""
    parent = data.pop("extends", None)
    if parent is None:
        return data
    if not isinstance(parent, str):
        raise SceneError(f"{source}: extends is {shown(parent)}: it should be the name or the file of a scene")
    found = find_parent(parent, folder)
    if found.resolve() in {seen.resolve() for seen in behind}:
        raise SceneError(f"{source}: extends leads in a circle back to {found.name}")
    tables = read_scene(found, behind)
    replaced = data.pop("replaces", [])
    if not isinstance(replaced, list) or not all(isinstance(name, str) for name in replaced):
        raise SceneError(f'{source}: replaces is {shown(replaced)}: it should be names of lists, as in ["obstacle"]')
    for name in replaced:
        if name not in data:
            raise SceneError(f"{source}: replaces names '{name}', of which this scene has none")
        tables.pop(name, None)
    lists = {name: listed for name, listed in data.items() if is_tables(listed) and is_tables(tables.get(name))}
    merge(tables, {name: value for name, value in data.items() if name not in lists}, source)
    for name, listed in lists.items():
        tables[name] = added(tables[name], listed)
    return tables


def is_tables(value: object) -> bool:
    """Whether a value is a list of tables."""
    return isinstance(value, list) and len(value) > 0 and all(isinstance(item, dict) for item in value)


def added(present: list[dict[str, Any]], more: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tables of both lists, where those of `more` replace the ones with their names."""
    result = copy.deepcopy(present)
    for table in more:
        name = table.get("name")
        same = [k for k, each in enumerate(result) if name and each.get("name") == name]
        if same:
            result[same[0]] = copy.deepcopy(table)
        else:
            result.append(copy.deepcopy(table))
    return result


def library_entries() -> list[dict[str, Any]]:
    """Name, paper (a key of PAPERS), title, method, dimension, duration [s] and presets of every built-in scene, paper
    by paper, without checking the scenes."""
    entries = []
    for file in library_files():
        data = read_scene(file)
        keys = ("title", "method", "dimension", "duration", "frame_rate")
        stated = {key: data[key] for key in keys if key in data}
        presets = list(data.get("preset", {}))
        entries.append({"name": file.stem, "paper": file.parent.name, **stated, "presets": presets})
    return entries
