"""The command that takes runs to other programs."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from spume.look.commands import Again, Folder, Frames, Processes
from spume.terminal import say

SUFFIXES = {"usd": ".usdc", "vtkhdf": ".vtkhdf", "alembic": ".abc", "gltf": ".glb", "blend": ".blend"}
"""Endings of the formats that put all frames into one file."""


def register(app: App) -> None:
    """Add the command of this file to the command line."""
    app.command(export)


def export(
    folder: Folder,
    /,
    *,
    to: Annotated[Literal["usd", "vtkhdf", "ply", "obj", "alembic", "gltf", "blend"], Parameter(help="The format.")],
    what: Annotated[
        Literal["points", "surface"] | None,
        Parameter(help="The points or the surface; the surface for gltf and blend, else the points, unless given."),
    ] = None,
    fields: Annotated[
        str | None, Parameter(help="Fields to write, separated by commas; all that the format takes unless given.")
    ] = None,
    layout: Annotated[
        Literal["auto", "single", "payload", "clips"],
        Parameter(help="USD in one file, in a file with a payload, or value clips with a file for each frame."),
    ] = "auto",
    frames: Frames = None,
    out: Annotated[Path | None, Parameter(help="File, or folder for PLY and OBJ; in DIR/export unless given.")] = None,
    processes: Processes = None,
    again: Again = False,
) -> None:
    """Write a run for other programs: USD, VTKHDF for ParaView, PLY, OBJ, Alembic, glTF, Blender."""
    from spume.export.contents import contents, default_file
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames
    from spume.look.work import cores, each_frame

    run = open_run(folder)
    numbers = select_frames(frames, len(run))
    what = what or ("surface" if to in ("gltf", "blend") else "points")
    chosen = contents(run, numbers, what, fields)
    if to in ("ply", "obj"):
        from spume.export.sequence import write_frame

        place = out or run.path / "export" / to
        task = partial(write_frame, chosen, place, to, again)
        made = sum(each_frame(task, numbers, "export", processes or min(2, cores())).values())
        there = len(numbers) * len(chosen.piece_names) - made
        say(f"{made} files written, {there} were there already, in {place}")
        return
    file = out or default_file(run.path, what, SUFFIXES[to])
    files = [file]
    if to == "usd":
        from spume.export.usd import write_usd

        written = write_usd(chosen, file, layout, again, processes or 1)
    elif to == "vtkhdf":
        from spume.export.vtkhdf import vtkhdf_files, write_vtkhdf

        files = vtkhdf_files(chosen, file)
        written = write_vtkhdf(chosen, file, again)
    elif to == "gltf":
        from spume.export.gltf import write_gltf

        written = write_gltf(chosen, file, again)
    elif to == "blend":
        from spume.export.blend import write_blend

        written = write_blend(chosen, file, again)
    else:
        from spume.export.alembic import write_alembic

        written = write_alembic(chosen, file, again)
    listed = ", ".join(str(each) for each in files)
    say(f"{len(numbers)} frames in {listed}" if written else f"{listed}: these {len(numbers)} frames are there already")
