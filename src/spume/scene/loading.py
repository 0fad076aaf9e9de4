"""From a name or a file to a checked scene."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from spume.scene.builtin import find_scene
from spume.scene.common import Scene
from spume.scene.extending import read_scene
from spume.scene.overrides import apply_overrides, apply_preset
from spume.scene.problems import SceneProblems
from spume.scene.registry import scene_model


def load_scene(name_or_path: str | Path, overrides: Iterable[str] = (), preset: str | None = None) -> Scene:
    """The checked scene of a built-in name or a TOML file.

    overrides: changes such as "grid.cell=0.01" or "body.0.velocity=[1, 0, 0]", the values written as in TOML.
    preset: name of one of the scene's own [preset.*] tables, put in before the overrides.

    Raises SceneError with one sentence for each problem.
    """
    file = find_scene(name_or_path)
    source = str(name_or_path)
    data = apply_preset(read_scene(file), preset, source)
    try:
        model = scene_model(data.get("method"))
        data = anchor_files(apply_overrides(data, overrides, model), file.parent)
        load_laws_of(data)
        return Scene(**data)
    except SceneProblems as error:
        raise SceneProblems(error.problems, source) from None


def anchor_files(data: Any, folder: Path) -> Any:
    """`data` with the file names of mesh shapes and laws taken relative to the scene's folder."""
    if isinstance(data, list):
        return [anchor_files(item, folder) for item in data]
    if not isinstance(data, dict):
        return data
    anchored = {key: anchor_files(value, folder) for key, value in data.items()}
    mesh = anchored.get("mesh")
    if isinstance(mesh, dict) and isinstance(mesh.get("file"), str):
        anchored["mesh"] = mesh | {"file": os.path.abspath(folder / mesh["file"])}
    laws = anchored.get("laws")
    if isinstance(laws, str):
        anchored["laws"] = os.path.abspath(folder / laws)
    elif isinstance(laws, list) and all(isinstance(name, str) for name in laws):
        anchored["laws"] = [os.path.abspath(folder / name) for name in laws]
    return anchored


def load_laws_of(data: Mapping[str, Any]) -> None:
    """Run the files of laws that a scene names, so that its materials can use them."""
    laws = data.get("laws", ())
    for name in (laws,) if isinstance(laws, str) else laws:
        if isinstance(name, str):
            from spume.materials.registry import load_law_file  # needs Numba, which a scene without laws does not

            load_law_file(name)
