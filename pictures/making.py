"""Making pictures: runs that are missing or unfinished, then the drawing."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from reports.case import Surroundings
from reports.runs import scene_run

from pictures.recipe import Recipe
from spume import Run, load_scene, open_run, render
from spume.extras import require
from spume.look.pictures.png import read_png
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
    folder = "-".join(filter(None, (name, preset, own if changes else "")))
    return scene_run(Surroundings(FOLDER, RUNS, {}, say), loaded, RUNS / folder, name)


def runs_of(recipe: Recipe, say: Say) -> list[Run]:
    """The runs that a picture shows."""
    runs = [run_for(recipe.scene, recipe.preset, recipe.changes, say, recipe.name)]
    for other in recipe.beside:
        scene, _, preset = other.partition(":")
        runs.append(run_for(scene, preset or recipe.preset, {}, say))
    return [open_run(run.path, looks=recipe.looks) for run in runs]


def frame_at(run: Run, time: float) -> int:
    """Number of the frame nearest to a time [s]."""
    return int(np.argmin([abs(record["time"] - time) for record in run.diagnostics]))


def make(recipe: Recipe, say: Say, folder: Path = FOLDER) -> Path:
    """Make the picture of a recipe and return its file, a JPEG in `folder`."""
    runs = runs_of(recipe, say)
    say(f"{recipe.name}: drawing")
    width, height = recipe.size
    made = render(
        *runs, frames=None if recipe.time is None else frame_at(max(runs, key=len), recipe.time),
        labels=recipe.labels or None, out=RUNS / "drawn" / recipe.name, stills_only=recipe.time is not None,
        width=width, height=height, color=recipe.color, engine="beauty" if recipe.beauty else "fast",
        samples=recipe.samples, renderer="cycles" if recipe.beauty else "auto",
    )  # fmt: skip
    drawn = made.stills[0] if recipe.time is not None else made.sheet
    assert drawn is not None  # a sheet is only missing for a run of one frame
    file = folder / f"{recipe.name}.jpg"
    file.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(file) as part:
        require("PIL.Image", "writing pictures").fromarray(read_png(drawn)).save(
            part, format="JPEG", quality=QUALITY, optimize=True, progressive=True
        )
    return file
