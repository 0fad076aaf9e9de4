"""Making pictures: runs that are missing or unfinished, then the drawing."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from reports.case import Surroundings
from reports.runs import scene_run

from pictures.recipe import Recipe
from spume import Run, load_scene, open_run, render
from spume.api import Pictures
from spume.errors import SpumeError
from spume.extras import require
from spume.frames.appearances import PLACES
from spume.look.pictures.drawing import Picture, PictureOptions, make_drawer
from spume.look.pictures.lettering import lying_color_bar, without_color_bar
from spume.look.pictures.png import read_png
from spume.look.pictures.sheet import BAR, COLUMNS, labelled_tiles
from spume.runs.storage import plain
from spume.scene.common import Scene
from spume.whole_files import whole_file

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "out" / "pictures"
"""Runs and what is drawn of them."""
FOLDER = ROOT / "docs" / "pictures"
QUALITY = 86
"""Of JPEG files."""

Say = Callable[[str], None]


def run_for(scene: str, preset: str, changes: dict[str, object], say: Say, own: str = "") -> Run:
    """The finished run of a scene; it is made, or continued, if it is not there.

    - own: name of a recipe whose run has changes, and therefore a folder of its own.
    """
    given = ROOT / scene if scene.endswith(".toml") else scene
    name = Path(scene).stem
    loaded = load_scene(given, changes, preset=preset or None)
    place = RUNS / "-".join(filter(None, (name, preset, own if changes else "")))
    if filmed_run(loaded, place) is None:
        scene_run(Surroundings(FOLDER, RUNS, {}, say), loaded, place, name)
    found = filmed_run(loaded, place)
    assert found is not None  # it has just been made
    return found


def filmed_run(scene: Scene, place: Path) -> Run | None:
    """The finished run in a folder, with the camera and the backdrop of `scene`, if it differs in nothing else."""
    tables = plain(scene.resolved())
    looks = {name: tables[name] for name in PLACES if tables.get(name) is not None}
    try:
        run = open_run(place, looks=looks)
        is_same = run.complete and plain(run.scene.resolved()) == tables
    except SpumeError:
        return None
    return run if is_same else None


def runs_of(recipe: Recipe, say: Say) -> list[Run]:
    """The runs that a picture shows."""
    runs = [run_for(recipe.scene, recipe.preset, recipe.changes, say, recipe.name)]
    for other in recipe.beside:
        scene, _, preset = other.partition(":")
        runs.append(run_for(scene, preset or recipe.preset, {}, say))
    return [open_run(run.path, looks=run.looks | recipe.looks) for run in runs]


def _drawn(recipe: Recipe, runs: list[Run]) -> Path:
    """The folder of the pictures: the reel and the sheet of a run have the same ones."""
    is_own = recipe.time is not None or bool(recipe.moments or recipe.looks)
    is_plain = len(runs) == 1 and recipe.color is None and not is_own
    return RUNS / "drawn" / (runs[0].path.name if is_plain else recipe.name)


def frame_at(run: Run, time: float) -> int:
    """Number of the frame nearest to a time [s]."""
    return int(np.argmin([abs(record["time"] - time) for record in run.diagnostics]))


def make(recipe: Recipe, say: Say, folder: Path = FOLDER) -> Path:
    """Make the picture of a recipe and return its file, a JPEG in `folder`."""
    runs = runs_of(recipe, say)
    say(f"{recipe.name}: drawing")
    longest = max(runs, key=len)
    if recipe.moments:
        picture = _sheet_of(recipe, runs, [frame_at(longest, time) for time in recipe.moments])
    elif recipe.time is not None:
        picture = read_png(_render(recipe, runs, frame_at(longest, recipe.time)).stills[0])
    else:
        sheet = _render(recipe, runs, slice(None, None, recipe.every)).sheet
        assert sheet is not None  # it is only missing for a run of one frame
        picture = read_png(sheet)
    file = folder / f"{recipe.name}.jpg"
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as part:
        require("PIL.Image", "writing pictures").fromarray(picture).save(
            part, format="JPEG", quality=QUALITY, optimize=True, progressive=True
        )
    return file


def _render(recipe: Recipe, runs: list[Run], frames: slice | int) -> Pictures:
    """Draw a frame of the runs, or several and a contact sheet."""
    width, height = recipe.size
    return render(
        *runs, frames=frames,
        labels=recipe.labels or None, out=_drawn(recipe, runs), stills_only=isinstance(frames, int),
        width=width, height=height, color=recipe.color, engine="beauty" if recipe.beauty else "fast",
        samples=recipe.samples, shutter=recipe.shutter, renderer="cycles" if recipe.beauty else "auto",
    )  # fmt: skip


def _sheet_of(recipe: Recipe, runs: list[Run], frames: list[int]) -> Picture:
    """A sheet of chosen frames, in their own size, with their times and one colour bar."""
    width, height = recipe.size
    legend = make_drawer(runs[0], PictureOptions(width=width, height=height, color=recipe.color)).legend()
    parts = []
    for number in frames:
        picture = read_png(_render(recipe, runs, number).stills[0])
        shown = picture if legend is None else without_color_bar(picture)
        parts.append((shown, max(runs, key=len).diagnostics[number]["time"]))
    sheet = labelled_tiles(parts, 2 if len(parts) == 4 else COLUMNS)
    return sheet if legend is None else np.concatenate([sheet, lying_color_bar(legend, (sheet.shape[1], BAR))])
