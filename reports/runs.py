"""Runs of built-in scenes for cases: made when missing, continued when unfinished, used again when finished."""

from pathlib import Path

from reports.case import Surroundings
from spume import Run, load_scene, open_run
from spume.errors import CacheError
from spume.runs.loop import resume_run, start_run
from spume.runs.progress import Silent
from spume.runs.storage import plain
from spume.scene.common import Scene
from spume.scene.extending import library_entries


class Told(Silent):
    """Progress that reports the frames of a run."""

    def __init__(self, around: Surroundings, name: str, last: int) -> None:
        self._say, self._name, self._last = around.say, name, last

    def frame(self, number: int) -> None:
        """Report a written frame."""
        self._say(f"{self._name}: frame {number} of {self._last}")


def run_of(
    around: Surroundings,
    name: str,
    changes: dict[str, object] | None = None,
    preset: str | None = None,
    folder: str | None = None,
) -> Run:
    """The finished run of the built-in scene `name`.

    - preset: of the scene; default: that of the cases if the scene has it, else none.
    - folder: of the run; default: the name and preset of the scene.

    A run on disk is used if its scene is the same, and continued if it is not finished. Ctrl-C stops the case; what has
    been computed is used the next time.
    """
    if name in around.finished:
        run = open_run(around.finished[name])
        if not run.complete:
            raise CacheError(f"the run in '{run.path}' is not finished; continue it with 'spume resume {run.path}'")
        return run
    preset = preset or preset_of(around, name)
    scene = load_scene(name, changes or {}, preset=preset)
    place = around.runs / (folder or "-".join(filter(None, (name, preset))))
    return scene_run(around, scene, place, name)


def preset_of(around: Surroundings, name: str) -> str | None:
    """The preset of the cases if the scene has it, else none: the scene as it stands."""
    known = next(entry["presets"] for entry in library_entries() if entry["name"] == name)
    return around.preset if around.preset in known else None


def scene_run(around: Surroundings, scene: Scene, place: Path, name: str) -> Run:
    """The finished run of `scene` in the folder `place`, under the title `name`."""
    told = Told(around, name, scene.frame_count)
    outcome = None
    if (found := _opened(place)) is not None and plain(found.scene.resolved()) == plain(scene.resolved()):
        if found.complete:
            return found
        outcome = resume_run(place, display=told)
    else:
        outcome = start_run(scene, place, name=place.name, overwrite=True, display=told)
    if outcome.status != "complete":
        raise KeyboardInterrupt
    return open_run(place)


def _opened(place: Path) -> Run | None:
    """The run in the folder `place`; None if there is none that can be read."""
    try:
        return open_run(place)
    except CacheError:
        return None
