"""Skins on disk, beside the frames: DIR/surface/all/frame_00000.safetensors, or one folder for each part of a run."""

import os
from collections.abc import Collection
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError, SceneError
from spume.fields import VOLUME_RATIO, Population
from spume.frames.extent import point_spacing, run_dimension
from spume.frames.names import Names, slug
from spume.frames.populations import PopulationArrays
from spume.frames.quantities import has_quantity, quantity, spatial, volumes
from spume.frames.reader import Frame, Run
from spume.look.surface.crumbs import DROPS, Crumbs
from spume.look.surface.skin import SETTINGS, Quality, Skin, enclosed_volume, is_watertight, point_radius, skin
from spume.runs.folder import RunFolder
from spume.runs.storage import read_arrays, read_metadata, write_arrays
from spume.scene.common import Scene
from spume.scene.skin_table import SkinTable
from spume.scene.surroundings import bodies, materials
from spume.work import each_frame

Parts = Literal["all", "material"]
ALL = "all"
FORMAT = 5
"""Incremented whenever existing skins must be made again."""
HELD = 4.0
"""Distance up to which points share nodes of the grid with others, two cells of two points each, in point spacings."""
CARRIED = ("v", "material", "weak", VOLUME_RATIO.name)
"""Fields transferred from the points to the vertices of a skin."""


class SurfacePart(NamedTuple):
    """Points with a separate skin."""

    name: str
    """of the folder"""
    population: Population
    material: int | None
    """index of the material; None for all points of the population"""


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
        """Relative excess of the skin's volume over that of its points [1]."""
        return self.volume / self.points_volume - 1 if self.points_volume > 0 else 0.0


def surface_frame(
    run: Run, number: int, quality: Quality, parts: Parts, again: bool = False, out: Path | None = None,
    populations: Collection[str] | None = None,
) -> list[SkinReport]:  # fmt: skip
    """Make the skins of a frame, of all or of some populations, in `out` or in the run's folder; for those already on
    disk, only make the report."""
    frame: Frame | None = None
    reports = []
    for part in surface_parts(run, parts):
        if populations is not None and part.population.name not in populations:
            continue
        file = skin_file(run.output("surface", part.name).parent if out is None else out, part.name, number)
        about = _about(run, part, quality)
        if again or not is_fresh(file, run, number, about):
            frame = frame or run[number]
            _write(run, file, frame, part, about["spacing"], quality, about)
        reports.append(SkinReport(number, part.name, **read_metadata(file)["report"]))
    return reports


def surface_frames(
    run: Run,
    numbers: list[int],
    *,
    quality: Quality = "fine",
    parts: Parts = "all",
    out: Path | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    again: bool = False,
) -> list[SkinReport]:
    """Make the skins of the frames `numbers`, and report on each."""
    skinned_populations(run)
    # making a skin already uses every core, so more than one process is used only on request
    task = partial(surface_frame, run, quality=quality, parts=parts, again=again, out=out)
    made = each_frame(task, numbers, "surface", processes or 1, cluster=cluster)
    return [report for reports in made.values() for report in reports]


def surface_parts(run: Run, parts: Parts = "all") -> list[SurfacePart]:
    """What gets a skin: each population of points, or each material of each.

    A run with one population has the part "all", or parts named after its materials; with several populations their
    names come first."""
    listed = skinned_populations(run)
    names = Names(spelling=slug)
    found = []
    for population in listed:
        prefix = population.name if len(listed) > 1 else ""
        if parts == ALL:
            found.append(SurfacePart(prefix or ALL, population, None))
        else:
            own = [names.add(f"{prefix} {material.name}") for material in materials(run.scene)]
            found += [SurfacePart(name, population, index) for index, name in enumerate(own)]
    return found


def skinned_populations(run: Run) -> list[Population]:
    """The populations of 3D points. Raises SceneError if there are none."""
    found = [each for each in run.populations if each.kind == "points" and each.dimension == 3]
    if not found:
        kind = "2D" if run_dimension(run) == 2 else "without points"
        raise SceneError(f"'{run.path}' is {kind}, and surfaces are made of points in space; 'spume render' draws it")
    return found


def skin_file(folder: Path, part: str, number: int) -> Path:
    """The file of a skin."""
    return folder / part / f"frame_{number:05d}.safetensors"


def is_fresh(file: Path, run: Run, number: int, about: dict[str, Any]) -> bool:
    """Whether `file` was made from the current frame with the settings `about`."""
    made_from = RunFolder(run.path).frame(number)
    if not (file.exists() and made_from.exists()) or file.stat().st_mtime < made_from.stat().st_mtime:
        return False
    try:
        return bool(read_metadata(file).get("about") == about)
    except CacheError:
        return False


def read_skin(run: Run, number: int, part: SurfacePart, quality: Quality = "fine") -> Skin | None:
    """The skin on disk, or None if there is none of this quality for the current frame."""
    file = skin_file(run.output("surface", part.name).parent, part.name, number)
    if not is_fresh(file, run, number, _about(run, part, quality)):
        return None
    arrays = read_arrays(file)
    shape = [arrays.pop(name) for name in ("vertices", "triangles", "normals")]
    return Skin(shape[0], shape[1], shape[2], arrays)


def skin_of(
    run: Run, frame: Frame, population: Population, qualities: tuple[Quality, ...], extra: tuple[str, ...] = (),
    keep: bool = False,
) -> Skin:  # fmt: skip
    """The skin of a population: from disk in one of `qualities` if it is there with the quantities `extra`, otherwise
    made now in the last of them, and written to disk if `keep` is true and it carries nothing extra."""
    part = next(each for each in surface_parts(run) if each.population.name == population.name)
    for quality in qualities:
        made = read_skin(run, frame.number, part, quality)
        if made is not None and not set(extra) - set(made.fields):
            return made
    if keep and not extra and os.access(run.path, os.W_OK):
        file = skin_file(run.output("surface", part.name).parent, part.name, frame.number)
        about = _about(run, part, qualities[-1])
        return _write(run, file, frame, part, about["spacing"], qualities[-1], about)
    points = frame[population.name]
    chosen = without_embedded(run.scene, points)
    groups = solid_bodies(run.scene, points)
    crumbs = crumbs_of(run.scene, points)
    return make_skin(points, chosen, point_spacing(run, population), qualities[-1], extra, None, groups, crumbs)


def _about(run: Run, part: SurfacePart, quality: Quality) -> dict[str, Any]:
    spacing = point_spacing(run, part.population)
    about = {"format": FORMAT, "part": part.name, "quality": quality, "spacing": spacing, **asdict(SETTINGS[quality])}
    given = run.scene.skin
    about |= {"crumbs": [given.crumbs, given.crumb_points]} if given != SkinTable() else {}
    return about | ({"skin": run.skin} if run.skin == "reconstructed" else {})


def without_embedded(scene: Scene, points: PopulationArrays) -> NDArray[np.bool_] | None:
    """The points that no embedded surface shows; None for all of them."""
    embedded = [k for k, body in enumerate(bodies(scene)) if body.surface == "embedded"]
    if not embedded or "body" not in points:
        return None
    return ~np.isin(points["body"], embedded)


def solid_bodies(scene: Scene, points: PopulationArrays) -> NDArray[np.int64] | None:
    """A number for each point: 1 and more for solid bodies, which keep their surfaces where they touch; 0 for fluids,
    grains and foams, which merge. None if there is nothing to keep apart."""
    listed = bodies(scene)
    if "body" not in points or len(listed) < 2:
        return None
    laws = {material.name: material.law for material in materials(scene)}
    solid = np.zeros(max(int(np.max(points["body"], initial=0)) + 1, len(listed)), np.int64)
    for k, body in enumerate(listed):
        law = laws.get(body.material)
        if law is not None and law.traits.fluid is law.traits.granular is law.traits.tearing is None:
            solid[k] = k + 1
    return solid[np.asarray(points["body"])]


def crumbs_of(scene: Scene, points: PopulationArrays) -> Crumbs:
    """What becomes of crumbs. Drops of torn foam that the grid still holds in place would seem to hover, and are left
    out; those of other materials are shown wherever they are."""
    listed = materials(scene)
    present = np.unique(points["material"]) if "material" in points else np.zeros(0, int)
    tears = [listed[int(kind)].law.traits.tearing is not None for kind in present if kind < len(listed)]
    return Crumbs(scene.skin.crumbs, scene.skin.crumb_points, HELD if tears and all(tears) else 0.0)


def joined_skins(parts: list[Skin]) -> Skin:
    """Several skins as one."""
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    triangles = [part.triangles + start for part, start in zip(parts, first)]
    return Skin(
        np.concatenate([part.vertices for part in parts]),
        np.concatenate(triangles).astype(np.int32),
        np.concatenate([part.normals for part in parts]),
        {name: np.concatenate([part.fields[name] for part in parts]) for name in parts[0].fields},
    )


def make_skin(
    points: PopulationArrays,
    chosen: NDArray[np.bool_] | None,
    spacing: float,
    quality: Quality,
    extra: tuple[str, ...] = (),
    material: int | None = None,
    groups: NDArray[Any] | None = None,
    crumbs: Crumbs = DROPS,
) -> Skin:
    """The skin of the chosen points (all of them when None), with what it carries and the quantities `extra`.

    material: the part of that skin that this material fills, which meets those of the others without gaps.
    groups: a number for each point; those with different numbers get skins of their own. None: a common one.
    crumbs: what becomes of small parts of the skin of all materials.
    """
    if groups is not None:
        among = np.ones(len(points["x"]), bool) if chosen is None else chosen
        own = [among & (groups == group) for group in np.unique(groups[among])]
        if len(own) > 1:
            return joined_skins(
                [make_skin(points, each, spacing, quality, extra, material, None, crumbs) for each in own]
            )
    members: Any = slice(None) if chosen is None else chosen
    fields: dict[str, NDArray[Any]] = {}
    for name in dict.fromkeys((*CARRIED, *extra)):
        if name == "v" and "v" in points:
            fields[name] = spatial(points["v"])[members]
        elif has_quantity(points, name) or name in extra:
            fields[name] = quantity(points, name)[members]
    rest = points["volume"][members] if "volume" in points else np.zeros(0)
    x, filled = spatial(points["x"])[members], volumes(points, spacing)[members]
    kinds = np.asarray(points["material"])[members] if "material" in points else np.zeros(len(x), int)
    present = np.unique(kinds).tolist() if "material" in fields and material is None else []
    if len(present) > 1:  # between materials 0 and 2 there is no material 1: each vertex has the one it has most of
        del fields["material"]
        fields |= {f"part of {kind}": np.asarray(kinds == kind, dtype=np.float64) for kind in present}
    chosen_kinds = None if material is None else kinds
    made = skin(x, point_radius(spacing, rest), quality, fields, filled, chosen_kinds, material, crumbs)
    if material is not None and "material" in fields:
        made.fields["material"][:] = material
    if len(present) > 1:
        parts = np.stack([made.fields.pop(f"part of {kind}") for kind in present], axis=1)
        made.fields["material"] = np.array(present, np.float32)[parts.argmax(axis=1)]
    return made


def _write(
    run: Run, file: Path, frame: Frame, part: SurfacePart, spacing: float, quality: Quality, about: dict[str, Any]
) -> Skin:
    points: PopulationArrays = frame[part.population.name]
    chosen = without_embedded(run.scene, points)
    groups = solid_bodies(run.scene, points) if part.material is None else None
    crumbs = crumbs_of(run.scene, points)
    made = make_skin(points, chosen, spacing, quality, (), part.material, groups, crumbs)
    if part.material is not None:
        own = np.asarray(points["material"] == part.material)
        chosen = own if chosen is None else chosen & own
    occupied = volumes(points, spacing)
    report = {
        "vertices": len(made.vertices),
        "watertight": is_watertight(made.triangles),
        "volume": enclosed_volume(made.vertices, made.triangles),
        "points_volume": float((occupied if chosen is None else occupied[chosen]).sum()),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    shape = {"vertices": made.vertices, "triangles": made.triangles, "normals": made.normals}
    metadata = {"frame": frame.number, "time": frame.time, "about": about, "report": report}
    write_arrays(file, shape | made.fields, metadata)
    return made
