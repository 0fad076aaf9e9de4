"""Recipes of pictures, as `recipes.toml` has them."""

import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from spume.errors import SceneError
from spume.suggestions import did_you_mean

FILE = Path(__file__).with_name("recipes.toml")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a picture is made from runs of scenes."""

    name: str
    """of the file, without suffix"""
    scene: str
    """a built-in scene, or a file"""
    preset: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    """values of the scene that are set"""
    looks: dict[str, Any] = field(default_factory=dict)
    """camera, backdrop and looks of the picture that differ from those of the scene, by their paths"""
    time: float | None = None
    """of the frame that is drawn [s]; without it, a contact sheet of the run"""
    moments: tuple[float, ...] = ()
    """of a sheet: the times of its pictures [s]; without them, those between which most changes"""
    beside: tuple[str, ...] = ()
    """other scenes, or presets as SCENE:PRESET, shown beside the first"""
    labels: tuple[str, ...] = ()
    """of the scenes side by side"""
    beauty: bool = False
    """whether Cycles draws it"""
    samples: int = 48
    """light paths per pixel of Cycles"""
    shutter: float = 0.5
    """part of the time between frames in which the shutter of Cycles is open"""
    every: int = 1
    """of a sheet: its pictures are chosen among every so many frames of the run"""
    color: str | None = None
    """quantity to colour by"""
    size: tuple[int, int] = (960, 540)
    """width and height of the picture, or of those on a sheet before they are reduced [pixels]"""


def read_recipes(file: Path = FILE) -> dict[str, Recipe]:
    """The recipes of a file by name."""
    known = {each.name for each in fields(Recipe)}
    found = {}
    for name, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
        if unknown := sorted(set(table) - known):
            raise SceneError(f"{file.name}: '{name}' has the key '{unknown[0]}': {did_you_mean(unknown[0], known)}")
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
        found[name] = Recipe(name=name, **given)
    return found
