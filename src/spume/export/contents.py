"""What is exported, whatever the format: points with their fields, skins, obstacles, from the frames on disk."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import SceneError
from spume.frames.extent import point_bounds
from spume.frames.quantities import quantity, spatial
from spume.frames.reader import Frame, Run, open_run
from spume.look.appearance import Appearance, appearances
from spume.look.obstacles import Solid, TriangleMesh, ground_height, solid_mesh, solids
from spume.look.pictures.camera import up_axis
from spume.look.surface.files import make_skin, read_skin
from spume.look.surface.skin import Skin
from spume.run.folder import RunFolder

What = Literal["points", "surface"]
FORMAT = 1
"""Raised whenever exports made before should be made again."""


class Cloud(NamedTuple):
    """The points of a frame."""

    x: NDArray[np.float64]
    """[m], shape (n, 3)"""
    fields: dict[str, NDArray[Any]]
    """by name; vectors have three components"""


@dataclass(frozen=True)
class Contents:
    """The part of a run that is exported."""

    run: Run
    numbers: list[int]
    what: What
    fields: tuple[str, ...] | None = None
    """names of the fields to write; all that the format takes by default when None"""

    @property
    def name(self) -> str:
        """A name for objects in other programs: letters, digits and underscores."""
        return identifier(self.run.name)

    @property
    def up(self) -> NDArray[np.float64]:
        """The axis that is up."""
        return up_axis(self.run.scene)

    @property
    def materials(self) -> list[tuple[str, Appearance]]:
        """Name and looks of each material."""
        names = [material.name for material in getattr(self.run.scene, "materials", ())] or ["material"]
        return list(zip(names, appearances(names)))

    def time(self, number: int) -> float:
        """Time of a frame [s]."""
        return float(self.run.diagnostics[number]["time"])

    def cloud(self, number: int, tensors: bool = True) -> Cloud:
        """The points of a frame with the chosen fields."""
        frame = self.run[number]
        fields = {name: self._values(frame, name) for name in self._names(frame, tensors)}
        return Cloud(spatial(frame["x"]), fields)

    def _names(self, frame: Frame, tensors: bool) -> list[str]:
        if self.fields is not None:
            for name in self.fields:
                quantity(frame, name)
            return list(self.fields)
        names = [name for name in frame if name != "x" and (tensors or frame[name].ndim == 1 or name == "v")]
        return [*names, "J"] if "F" in frame else names

    def _values(self, frame: Frame, name: str) -> NDArray[Any]:
        if name not in frame:
            return quantity(frame, name)
        values = frame[name]
        return spatial(values) if values.ndim == 2 and values.shape[1] == 2 else values

    def skin(self, number: int) -> Skin:
        """The skin of a frame: from disk where 'spume surface' left it, made now otherwise."""
        made = read_skin(self.run.path, number)
        if made is not None and not set(self.fields or ()) - set(made.fields):
            return made
        frame = self.run[number]
        cell = float(getattr(self.run.scene, "grid").cell)  # noqa: B009
        return make_skin(frame, np.ones(len(frame["x"]), dtype=bool), cell, "fine", self.fields or ())

    def obstacles(self) -> Iterator[tuple[Solid, TriangleMesh]]:
        """The solids in the way, in their own frames; none for runs in the plane."""
        scene: Any = self.run.scene
        if getattr(scene, "dimension", 3) == 3 and hasattr(scene, "obstacle"):
            for solid in solids(scene, *point_bounds(self.run), self.up):
                yield solid, solid_mesh(solid)

    def ground(self) -> float | None:
        """Height of the ground [m], if there is one."""
        scene: Any = self.run.scene
        return ground_height(scene, self.up) if hasattr(scene, "obstacle") else None

    def recipe(self, *more: Any) -> str:
        """A digest of all that an export depends on, the frames' times of writing included."""
        stamps = [RunFolder(self.run.path).frame(number).stat().st_mtime_ns for number in self.numbers]
        about = [FORMAT, self.numbers, stamps, self.what, self.fields, *more]
        return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.run.path, "numbers": self.numbers, "what": self.what, "fields": self.fields}

    def __setstate__(self, state: dict[str, Any]) -> None:
        object.__setattr__(self, "run", open_run(state["path"]))
        for name in ("numbers", "what", "fields"):
            object.__setattr__(self, name, state[name])


def identifier(name: str) -> str:
    """`name` with only letters, digits and underscores, not beginning with a digit."""
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
    return plain if plain and not plain[0].isdigit() else f"_{plain}"


def contents(run: Run, numbers: list[int], what: What, fields: str | None) -> Contents:
    """The part of a run to export. Raises SceneError for runs that hold no points, or no skin."""
    if "x" not in run[numbers[0]]:
        raise SceneError(f"'{run.path}' is a run of the method '{run.method}', which has no points to export")
    if what == "surface":
        from spume.look.surface.files import cell_size

        cell_size(run)
    names = None if fields is None else tuple(name.strip() for name in fields.split(",") if name.strip())
    return Contents(run, numbers, what, names)


def default_file(folder: Path, what: What, suffix: str) -> Path:
    """Where an export goes unless told."""
    return folder / "export" / f"{what}{suffix}"
