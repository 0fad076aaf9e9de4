"""Pictures during a run: the first one early, a growing film, and all of them when it ends.

`spume run --render` starts this module in a separate process and keeps its standard input open for the duration of the
run, so that the process notices the end even if the run is killed.
"""

import os
import select
import sys
import time
from collections.abc import Callable
from pathlib import Path

from spume.errors import CacheError, SpumeError
from spume.frames.reader import Run, open_run
from spume.look.pictures.drawing import PictureOptions, make_drawer
from spume.look.pictures.stills import draw_still, film, pictures_of, recipe, still_file
from spume.runs.folder import RunFolder
from spume.terminal import tell

POLL = 0.3
"""Interval of checks for new frames [s]."""
FIRST_FILM = 12
"""Pictures of the first film. It is made again whenever their number has doubled, and at the end."""


def follow(
    folder: Path,
    options: PictureOptions,
    is_going_on: Callable[[], bool],
    since: float = 0.0,
) -> tuple[list[Path], Path | None]:
    """Draw the frames in `folder` as they arrive, and the missing ones once the run has ended. What was written
    before the time `since` [s since the epoch] belongs to an older run.

    Without a camera of the scene's own, the view depends on all frames: what was drawn before is then drawn again.
    """
    place = folder / f"pictures{options.suffix}"
    drawn, filmed = 0, 0
    while is_going_on():
        run = _opened(folder, since)
        if run is None or len(run) <= drawn:
            time.sleep(POLL)
            continue
        run.output(place.name)
        _draw(run, drawn, options, place)
        drawn += 1
        if drawn >= max(FIRST_FILM, 2 * filmed):
            filmed = drawn
            stills = [still_file(place, k) for k in range(drawn)]
            film(stills, place.with_name(f"{place.name}.mp4"), run.scene.frame_rate)
    run = _opened(folder, since)
    if run is None or not len(run):
        return [], None
    stills, _, movie = pictures_of([run], None, list(range(len(run))), options)
    return stills, movie


def _opened(folder: Path, since: float) -> Run | None:
    """The run; None if its first frame does not exist yet or the folder still contains an older run."""
    try:
        run = open_run(folder)
        return run if RunFolder(folder).manifest.stat().st_mtime >= since else None
    except (CacheError, OSError):
        return None


def _draw(run: Run, number: int, options: PictureOptions, place: Path) -> None:
    settled = run.scene.camera is not None and options.camera == "scene"
    made_by = recipe([run], [""], options, settled)
    draw_still([make_drawer(run, options)], [len(run)], [""], place, made_by, number)


def _input_is_open() -> bool:
    ready, _, _ = select.select([sys.stdin], [], [], 0.0)
    return not ready or bool(os.read(sys.stdin.fileno(), 1))


def main(folder: str, since: float) -> int:
    """Follow the run in `folder`, begun at `since`, until standard input is closed."""
    try:
        stills, movie = follow(Path(folder), PictureOptions(), _input_is_open, since)
    except SpumeError as error:
        tell(f"error: {error}")
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    if stills:
        made = ", ".join([f"{len(stills)} pictures in {stills[0].parent}", *([str(movie)] if movie else [])])
        tell(made, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
