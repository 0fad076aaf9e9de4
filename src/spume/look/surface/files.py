"""Skins on disk, beside the frames: DIR/surface/all/frame_00000.safetensors, or one folder for each material."""

import re
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError, SceneError
from spume.frames.quantities import quantity, spatial, volume_ratio
from spume.frames.reader import Frame, Run, open_run
from spume.look.surface.skin import SETTINGS, Quality, Skin, enclosed_volume, is_watertight, point_radius, skin
from spume.run.folder import RunFolder
from spume.run.storage import read_arrays, read_metadata, write_arrays

Parts = Literal["all", "material"]
ALL = "all"
FORMAT = 1
"""Raised whenever skins made before should be made again."""
CARRIED = ("v", "material", "weak", "J")
"""What a skin carries from the points to its vertices."""


class SkinReport(NamedTuple):
    """How well a skin fits its points."""

    frame: int
    part: str
    vertices: int
    watertight: bool
    volume: float
    """inside the skin [m³]"""
    points_volume: float
    """sum of the points' volumes [m³]"""

    @property
    def excess(self) -> float:
        """By which part the skin's volume exceeds that of its points [1]."""
        return self.volume / self.points_volume - 1 if self.points_volume > 0 else 0.0


def surface_frame(folder: Path, number: int, quality: Quality, parts: Parts, again: bool = False) -> list[SkinReport]:
    """Make the skins of a frame, or only report on them where they are on disk already."""
    run = open_run(folder)
    frame: Frame | None = None
    reports = []
    for part in part_names(run, parts):
        file = skin_file(run.path, part, number)
        about = _about(run, number, part, quality)
        if again or not is_fresh(file, run, number, about):
            frame = frame or run[number]
            _write(file, frame, _members(run, frame, part), cell_size(run), quality, about)
        reports.append(SkinReport(number, part, **read_metadata(file)["report"]))
    return reports


def part_names(run: Run, parts: Parts) -> list[str]:
    """The folders of a run's skins: one for all points, or one for each material."""
    return [ALL] if parts == ALL else [slug(material.name) for material in _materials(run)]


def slug(name: str) -> str:
    """`name` as the name of a folder."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def skin_file(folder: Path, part: str, number: int) -> Path:
    """Where a skin is kept."""
    return folder / "surface" / part / f"frame_{number:05d}.safetensors"


def cell_size(run: Run) -> float:
    """Edge of a cell of the run's grid [m]. Surfaces are for points in space: other runs are a SceneError."""
    scene: Any = run.scene
    if getattr(scene, "dimension", 3) != 3 or not hasattr(scene, "grid"):
        kind = "2D" if hasattr(scene, "dimension") else f"of the method '{run.method}'"
        raise SceneError(f"'{run.path}' is {kind}, and surfaces are made of points in space; 'spume render' draws it")
    return float(scene.grid.cell)


def is_fresh(file: Path, run: Run, number: int, about: dict[str, Any]) -> bool:
    """Whether `file` was made from the frame as it is, in the way `about` tells."""
    if not file.exists() or file.stat().st_mtime < RunFolder(run.path).frame(number).stat().st_mtime:
        return False
    try:
        return bool(read_metadata(file).get("about") == about)
    except CacheError:
        return False


def read_skin(folder: Path, number: int, quality: Quality = "fine", part: str = ALL) -> Skin | None:
    """The skin on disk, or None where there is none of this quality made from the present frame."""
    run = open_run(folder)
    file = skin_file(run.path, part, number)
    if not is_fresh(file, run, number, _about(run, number, part, quality)):
        return None
    arrays = read_arrays(file)
    shape = [arrays.pop(name) for name in ("vertices", "triangles", "normals")]
    return Skin(shape[0], shape[1], shape[2], arrays)


def _about(run: Run, number: int, part: str, quality: Quality) -> dict[str, Any]:
    return {"format": FORMAT, "part": part, "quality": quality, "cell": cell_size(run), **asdict(SETTINGS[quality])}


def _materials(run: Run) -> tuple[Any, ...]:
    return tuple(getattr(run.scene, "materials", ()))


def _members(run: Run, frame: Frame, part: str) -> NDArray[np.bool_]:
    """The points of a frame that belong to a part."""
    if part == ALL:
        return np.ones(len(frame["x"]), dtype=bool)
    index = [slug(material.name) for material in _materials(run)].index(part)
    return np.asarray(frame["material"] == index)


def make_skin(
    frame: Any, chosen: NDArray[np.bool_], cell: float, quality: Quality, extra: tuple[str, ...] = ()
) -> Skin:
    """The skin of the chosen points of a frame, with what it carries and the quantities `extra`."""
    fields: dict[str, NDArray[Any]] = {}
    for name in dict.fromkeys((*CARRIED, *extra)):
        if name == "v" and "v" in frame:
            fields[name] = spatial(frame["v"])[chosen]
        elif name in frame or (name == "J" and "F" in frame) or name in extra:
            fields[name] = quantity(frame, name)[chosen]
    volumes = frame["volume"][chosen] if "volume" in frame else np.zeros(0)
    x = spatial(frame["x"])[chosen]
    made = skin(x, point_radius(cell, volumes), quality, fields)
    if "material" in fields:
        made.fields["material"][:] = _nearest(x, fields["material"], made.vertices)
    return made


def _nearest(x: NDArray[Any], values: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    """The value of the nearest point: between materials 0 and 2 there is no material 1."""
    if len(places) == 0 or (values == values[0]).all():
        return np.full(len(places), values[0] if len(values) else 0)
    from scipy.spatial import cKDTree

    return np.asarray(values[cKDTree(x).query(places, workers=-1)[1]])


def _write(
    file: Path, frame: Frame, chosen: NDArray[np.bool_], cell: float, quality: Quality, about: dict[str, Any]
) -> None:
    made = make_skin(frame, chosen, cell, quality)
    occupied = float((frame["volume"] * volume_ratio(frame))[chosen].sum()) if "volume" in frame else 0.0
    report = {
        "vertices": len(made.vertices),
        "watertight": is_watertight(made.triangles),
        "volume": enclosed_volume(made.vertices, made.triangles),
        "points_volume": occupied,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    shape = {"vertices": made.vertices, "triangles": made.triangles, "normals": made.normals}
    metadata = {"frame": frame.number, "time": frame.time, "about": about, "report": report}
    write_arrays(file, shape | made.fields, metadata)
