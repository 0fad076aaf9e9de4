"""The command that writes runs for other programs: export."""

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from spume.exports.formats import FORMATS, FormatName, Layout, What, having
from spume.options import Again, Cluster, Folder, Frames, Looks, Processes, Skin
from spume.terminal import say

SURFACES = " and ".join(name for name, form in FORMATS.items() if form.what == "surface")


def register(app: App) -> None:
    """Add this command to the command line."""
    app.command(export)


def export(
    folder: Folder,
    /,
    *,
    to: Annotated[
        FormatName, Parameter(help="The format. " + "; ".join(form.description for form in FORMATS.values()) + ".")
    ],
    what: Annotated[
        What | None,
        Parameter(help=f"Export the points or the surface (default: the surface for {SURFACES}, else the points)."),
    ] = None,
    skin: Skin = "embedded",
    looks: Looks = None,
    fields: Annotated[
        str | None,
        Parameter(
            help="Fields to write, separated by commas (default: all that the format supports); for "
            f"{having('fields')}."
        ),
    ] = None,
    layout: Annotated[
        Layout | None,
        Parameter(help="Layout of USD: one file, a file with a payload, or value clips with one file per frame."),
    ] = None,
    frames: Frames = None,
    out: Annotated[
        Path | None,
        Parameter(help="Output file, or folder for formats with several files (default: in DIR/export)."),
    ] = None,
    processes: Processes = None,
    cluster: Cluster = None,
    again: Again = False,
) -> None:
    """Export a run for other programs."""
    from spume.exports.exporting import export_run
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames

    run = open_run(folder, skin, looks or ())
    numbers = select_frames(frames, len(run))
    made = export_run(
        run, numbers, to, what=what, fields=fields, layout=layout, out=out, processes=processes, cluster=cluster,
        again=again,
    )  # fmt: skip
    listed = ", ".join(str(file) for file in made.files)
    if FORMATS[to].kind == "frames":
        current = len(made.files) - made.written
        say(f"{made.written} files written, {current} already up to date, in {made.files[0].parent}")
    elif FORMATS[to].kind == "tables":
        say(f"{len(made.files)} table{'s' if len(made.files) > 1 else ''}: {listed}")
    elif FORMATS[to].kind == "folder":
        say(f"{made.written} frames written, {len(numbers) - made.written} already up to date, in {listed}")
    elif made.written:
        say(f"{len(numbers)} frames in {listed}")
    else:
        say(f"{listed} already holds these {len(numbers)} frames")
