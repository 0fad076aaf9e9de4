"""The commands that look at runs: surface, render, view, plot. They need the folder of a run and nothing else."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import App, Parameter

from spume.errors import SceneError
from spume.terminal import say

INTERRUPTED = 130
"""Exit code after Ctrl-C."""
Folder = Annotated[Path, Parameter(help="The folder of a run.")]
Frames = Annotated[str | None, Parameter(help="Only these frames: a number, or first:last:step as in Python.")]
Processes = Annotated[int | None, Parameter(help="Processes to use; chosen to suit the machine unless given.")]
Cluster = Annotated[
    str | None,
    Parameter(help="Address of a Dask scheduler, such as tcp://host:8786, whose workers do it on shared folders."),
]
Again = Annotated[bool, Parameter(negative="", help="Make everything again, not only what is missing.")]


def register(app: App) -> None:
    """Add the commands of this file to the command line."""
    app.command(surface)
    app.command(render)
    app.command(view)
    app.command(plot)


def surface(
    folder: Folder,
    /,
    *,
    frames: Frames = None,
    quality: Annotated[
        Literal["fine", "preview"], Parameter(help="'preview' is coarse, about three times faster.")
    ] = "fine",
    parts: Annotated[
        Literal["all", "material"], Parameter(help="One mesh for all points, or one for each material.")
    ] = "all",
    out: Annotated[
        Path | None, Parameter(help="Folder for the meshes; DIR/surface, where pictures use them, unless given.")
    ] = None,
    processes: Processes = None,
    cluster: Cluster = None,
    again: Again = False,
) -> int:
    """Make a closed mesh around the points of every frame, and compare its volume with theirs."""
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames
    from spume.look.surface.files import skinned_populations, surface_frame
    from spume.look.work import each_frame

    run = open_run(folder)
    skinned_populations(run)
    numbers = select_frames(frames, len(run))
    # a skin itself uses every core, so that more processes only pay on request
    task = partial(surface_frame, run, quality=quality, parts=parts, again=again, out=out)
    made = each_frame(task, numbers, "surface", processes or 1, cluster=cluster)
    open_meshes = 0
    say("frame  part  vertices  skin [m³]  points [m³]  difference")
    for report in (report for reports in made.values() for report in reports):
        open_meshes += not report.watertight
        state = "" if report.watertight else "  not watertight"
        volumes = f"{report.volume:9.4g}  {report.points_volume:11.4g}  {report.excess:+10.2%}"
        say(f"{report.frame:5d}  {report.part:4}  {report.vertices:8d}  {volumes}{state}")
    say(f"{len(made)} frames in {out or run.path / 'surface'}")
    return 1 if open_meshes else 0


def render(
    folder: Folder,
    /,
    *,
    frames: Frames = None,
    compare: Annotated[
        list[Path] | None,
        Parameter(consume_multiple=True, negative="", help="Further runs to show beside the first."),
    ] = None,
    labels: Annotated[
        str | None, Parameter(help="Names of the runs to compare, separated by commas; their folders' unless given.")
    ] = None,
    color: Annotated[
        str | None, Parameter(help="Colour by a field, such as speed, J, weak, v.x, with a colour bar.")
    ] = None,
    limits: Annotated[
        str | None, Parameter(help="Ends of the colour bar, low:high; those of the run unless given.")
    ] = None,
    show: Annotated[Literal["surface", "points"], Parameter(help="Draw the surface or the points.")] = "surface",
    quality: Annotated[Literal["fine", "preview"], Parameter(help="'preview' is coarse and quick.")] = "fine",
    beauty: Annotated[bool, Parameter(negative="", help="Trace light: slow, for pictures to show.")] = False,
    renderer: Annotated[
        Literal["auto", "cycles", "mitsuba"],
        Parameter(help="What traces light with --beauty: Blender's Cycles where it is installed, else Mitsuba."),
    ] = "auto",
    samples: Annotated[int, Parameter(help="Light paths for each pixel with --beauty, at most.")] = 48,
    camera: Annotated[
        Literal["scene", "auto"], Parameter(help="The scene's camera, or one that holds the whole run.")
    ] = "scene",
    size: Annotated[str, Parameter(help="Width and height of a picture in pixels.")] = "1280x720",
    stills_only: Annotated[bool, Parameter(negative="", help="Neither a film nor a contact sheet.")] = False,
    out: Annotated[Path | None, Parameter(help="Folder for the pictures; DIR/pictures unless given.")] = None,
    processes: Processes = None,
    cluster: Cluster = None,
    again: Again = False,
) -> int:
    """Draw the frames of a run, and make a film and a contact sheet of them. Ctrl-C keeps what is done and makes the
    film of it."""
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames
    from spume.look.pictures.drawing import PictureOptions
    from spume.look.pictures.stills import Interrupted, pictures_of

    width, height = _numbers(size, "x", "--size", "1280x720", int)
    options = PictureOptions(
        width, height, show, quality, color,
        _numbers(limits, ":", "--limits", "0:2.5", float) if limits else None,
        "beauty" if beauty else "fast", camera, samples, renderer,
    )  # fmt: skip
    runs = [open_run(path) for path in (folder, *(compare or ()))]
    numbers = select_frames(frames, max(len(each) for each in runs))
    names = None if labels is None else [name.strip() for name in labels.split(",")]
    try:
        made = pictures_of(runs, names, numbers, options, out, stills_only, processes, again, cluster)
    except Interrupted as stopped:
        made = stopped.made
        ended = f"interrupted after {len(made[0])} of {len(numbers)} pictures; the same command draws the rest"
        say(ended, file=sys.stderr)
    stills, sheet, movie = made
    place = stills[0].parent if stills else out or runs[0].path
    words = [f"{len(stills)} pictures in {place}", *(str(file) for file in (sheet, movie) if file)]
    say(", ".join(words))
    return 0 if len(stills) == len(numbers) else INTERRUPTED


def _numbers(text: str, separator: str, option: str, example: str, kind: Callable[[str], Any]) -> tuple[Any, Any]:
    """Two numbers with a separator between them."""
    try:
        first, second = (kind(part) for part in text.split(separator))
    except ValueError:
        raise SceneError(f"{option} {text}: give two numbers such as {example}") from None
    return first, second


def view(
    folders: Annotated[list[Path], Parameter(help="The folders of one or more runs.")],
    /,
    *,
    export: Annotated[
        Path | None, Parameter(help="Write a page that needs no server to this HTML file, and end.")
    ] = None,
    frames: Frames = None,
    host: Annotated[str, Parameter(help="Address to serve on; this machine alone unless given.")] = "127.0.0.1",
    port: Annotated[int, Parameter(help="Port to serve on.")] = 8080,
    show: Annotated[
        Literal["both", "points", "surface"], Parameter(help="What --export packs; surfaces take more room.")
    ] = "both",
) -> None:
    """Show runs in the browser: play, scrub, colour by a field; follows a run that is still going on."""
    if export is not None:
        from spume.look.viewer.page import write_page
        from spume.terminal import readable_size

        size = write_page(folders, export, frames, ("points", "surface") if show == "both" else (show,))
        say(f"{export}, {readable_size(size)}")
        return
    from spume.look.viewer.server import Viewer

    viewer = Viewer(folders, host, port)
    say(f"{viewer.address} (Ctrl-C ends it)", flush=True)
    viewer.run_forever()


def plot(
    folder: Folder,
    /,
    *,
    out: Annotated[Path | None, Parameter(help="File to write, .png, .svg or .pdf; DIR/plot.png unless given.")] = None,
    frames: Frames = None,
) -> None:
    """Plot the energy, momentum, volume, points and time per stage of a run."""
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames
    from spume.look.plot import plot_run

    run = open_run(folder)
    file = out or run.path / "plot.png"
    panels = plot_run(run, file, select_frames(frames, len(run)))
    say(f"{', '.join(panels)} in {file}")
