"""The commands that look at runs: surface, render, view, plot. They need the folder of a run and nothing else."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

Folder = Annotated[Path, Parameter(help="The folder of a run.")]
Frames = Annotated[str | None, Parameter(help="Only these frames: a number, or first:last:step as in Python.")]
Processes = Annotated[int | None, Parameter(help="Processes to use; chosen to suit the machine unless given.")]
Again = Annotated[bool, Parameter(negative="", help="Make everything again, not only what is missing.")]


def register(app: App) -> None:
    """Add the commands of this file to the command line."""
    app.command(surface)
    app.command(plot)


def surface(
    folder: Folder,
    /,
    *,
    frames: Frames = None,
    quality: Annotated[
        Literal["fine", "preview"], Parameter(help="'preview' is coarse, about three times faster.")
    ] = "fine",
    parts: Annotated[Literal["all", "material"], Parameter(help="One mesh for all points, or one for each material.")] = "all",
    processes: Processes = None,
    again: Again = False,
) -> int:
    """Make a closed mesh around the points of every frame, and compare its volume with theirs."""
    from spume.look.extras import require
    from spume.look.selection import select_frames
    from spume.look.surface_files import cell_size, surface_frame
    from spume.look.work import each_frame
    from spume.run.reader import open_run

    run = open_run(folder)
    cell_size(run)
    require("pysplashsurf", "making surfaces")
    numbers = select_frames(frames, len(run))
    # splashsurf itself uses every core, so that more processes only pay on request.
    task = partial(surface_frame, run.path, quality=quality, parts=parts, again=again)
    made = each_frame(task, numbers, "surface", processes or 1)
    open_meshes = 0
    print("frame  part  vertices  skin [m³]  points [m³]  difference")
    for report in (report for reports in made.values() for report in reports):
        open_meshes += not report.watertight
        state = "" if report.watertight else "  not watertight"
        volumes = f"{report.volume:9.4g}  {report.points_volume:11.4g}  {report.excess:+10.2%}"
        print(f"{report.frame:5d}  {report.part:4}  {report.vertices:8d}  {volumes}{state}")
    print(f"{len(made)} frames in {run.path / 'surface'}")
    return 1 if open_meshes else 0


def plot(
    folder: Folder,
    /,
    *,
    out: Annotated[Path | None, Parameter(help="File to write, .png, .svg or .pdf; DIR/plot.png unless given.")] = None,
    frames: Frames = None,
) -> None:
    """Plot the energy, momentum, volume, points and time per stage of a run."""
    from spume.look.plot import plot_run
    from spume.look.selection import select_frames
    from spume.run.reader import open_run

    run = open_run(folder)
    file = out or run.path / "plot.png"
    panels = plot_run(run, file, select_frames(frames, len(run)))
    print(f"{', '.join(panels)} in {file}")
