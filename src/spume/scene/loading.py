"""Loads a scene from a name, a file or tables in memory, and validates it."""

import copy
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spume.errors import SceneError
from spume.scene.builtin import find_scene
from spume.scene.common import Scene
from spume.scene.extending import extended, read_scene
from spume.scene.lines import located
from spume.scene.overrides import Changes, Presets, apply_overrides, apply_preset, preset_names
from spume.scene.problems import SceneProblems
from spume.scene.registry import scene_model

SceneLike = Scene | Mapping[str, Any] | str | Path
"""Anything accepted as a scene: a Scene, its tables, a built-in name or a TOML file."""


def load_scene(scene: SceneLike, changes: Changes = (), preset: Presets = None) -> Scene:
    """Load a scene from a built-in name, a TOML file, or a dict with the tables of such a file, and validate it.

    - changes: {"grid.cell": 0.01}, or as on the command line ["grid.cell=0.01", "body.0.velocity=[1, 0, 0]"].
    - preset: name of one of the scene's own [preset.*] tables, or a list of names, applied in this order and before the
      changes.

    Like a file, a dict may have the keys "extends" and "preset"; its file names are relative to the working directory.
    A Scene is returned with the changes applied. Raises SceneError with one sentence for each problem.
    """
    names = preset_names(preset)
    if isinstance(scene, Scene):
        if names:
            raise SceneError(f"preset '{names[0]}': a checked scene has no presets any more; load it with the preset")
        return scene.changed(changes) if changes else scene
    if isinstance(scene, Mapping):
        source, folder = "the scene", Path()
        tables = extended(copy.deepcopy(dict(scene)), folder, source)
    else:
        file = find_scene(scene)
        source, folder = str(scene), file.parent
        tables = read_scene(file)
    data = apply_preset(tables, names, source)
    try:
        model = scene_model(data.get("method"))
        data = anchor_files(apply_overrides(data, changes, model), folder)
        load_laws_of(data)
        return Scene(**data)
    except SceneProblems as error:
        if isinstance(scene, Mapping):
            raise SceneProblems(error.problems, source) from None
        given = tuple(changes) if isinstance(changes, Mapping) else tuple(text.partition("=")[0] for text in changes)
        raise SceneProblems([located(each, file, names, given) for each in error.problems], source) from None


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
    sequence = anchored.get("mesh_sequence")
    if isinstance(sequence, dict) and isinstance(sequence.get("files"), str):
        anchored["mesh_sequence"] = sequence | {"files": os.path.abspath(folder / sequence["files"])}
    laws = anchored.get("laws")
    if isinstance(laws, str):
        anchored["laws"] = os.path.abspath(folder / laws)
    elif isinstance(laws, list) and all(isinstance(name, str) for name in laws):
        anchored["laws"] = [os.path.abspath(folder / name) for name in laws]
    return anchored


def load_laws_of(data: Mapping[str, Any], trust: bool = True) -> None:
    """Run the files of laws that a scene names, so that its materials can use them. Without `trust`, as for the scene
    of a run on disk, only files that the user has run before."""
    laws = data.get("laws", ())
    names = [laws] if isinstance(laws, str) else laws if isinstance(laws, list | tuple) else []
    for name in names:
        if isinstance(name, str):
            from spume.materials.registry import load_law_file  # needs Numba, which a scene without laws does not

            load_law_file(name, trust)
