"""The command that makes spray, foam and bubbles."""

import math
from typing import Annotated

from cyclopts import App, Parameter

from spume.options import Again, Folder
from spume.terminal import say


def register(app: App) -> None:
    """Add this command to the command line."""
    app.command(whitewater)


def whitewater(
    folder: Folder,
    /,
    *,
    rate: Annotated[
        float, Parameter(help="New points per second and point of water where the water is wildest [1/s].")
    ] = 200.0,
    life: Annotated[float, Parameter(help="Longest time that foam lives [s].")] = 1.5,
    seed: Annotated[int, Parameter(help="Seed of the random numbers.")] = 0,
    again: Again = False,
) -> None:
    """Make spray, foam and bubbles from the velocities of the water in the frames of a run. Pictures and exports then
    show them; to be rid of them, delete the folder DIR/whitewater."""
    from spume.errors import SpumeError
    from spume.frames.reader import open_run
    from spume.runs.folder import RunFolder
    from spume.whitewater.making import Settings, make_whitewater
    from spume.whitewater.making import whitewater as points_of

    for name, value in (("rate", rate), ("life", life)):
        if not 0.0 < value < math.inf:
            raise SpumeError(f"--{name} {value:g}: it should be more than 0 and finite")
    if seed < 0:
        raise SpumeError(f"--seed {seed}: it should be 0 or more")
    run = open_run(folder)
    made = make_whitewater(run, Settings(rate=rate, life=(0.2 * life, life), seed=seed), again)
    count = len(points_of(run, len(run) - 1).x)
    say(
        f"{made} frames made, {len(run) - made} already up to date, in {RunFolder(run.path).whitewater}; "
        f"{count} points in the last frame"
    )
