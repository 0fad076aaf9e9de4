"""Scenes that contain only their differences from another scene: `extends = "shaving-cream"`."""

from pathlib import Path
from typing import Any

from spume.errors import SceneError
from spume.scene.builtin import find_parent, library_files, read_toml
from spume.scene.overrides import merge
from spume.scene.problems import shown


def read_scene(file: Path, behind: tuple[Path, ...] = ()) -> dict[str, Any]:
    """The tables of a scene file, including those of the scene it extends; `behind` are the files that led here.

    Changes are written as in presets: tables merge, everything else replaces, and a dotted key in quotes reaches into
    lists ("body.0.material" = "oobleck"). Presets are inherited and merged, too.
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
    merge(tables, data, source)
    return tables


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
