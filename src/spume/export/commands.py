"""The command that writes runs for other programs: export."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter

from spume.errors import SceneError
from spume.look.commands import Again, Cluster, Folder, Frames, Processes, Skin
from spume.terminal import say

SUFFIXES = {"usd": ".usdc", "vtkhdf": ".vtkhdf", "alembic": ".abc", "gltf": ".glb", "blend": ".blend"}
"""Suffixes of the formats that store all frames in one file."""


def register(app: App) -> None:
    """Add this command to the command line."""
    app.command(export)


def export(
    folder: Folder,
    /,
    *,
    to: Annotated[
        Literal["usd", "vtkhdf", "ply", "obj", "alembic", "gltf", "blend", "csv"], Parameter(help="The format.")
    ],
    what: Annotated[
        Literal["points", "surface"] | None,
        Parameter(help="Export the points or the surface (default: the surface for gltf and blend, else the points)."),
    ] = None,
    skin: Skin = "embedded",
    fields: Annotated[
        str | None, Parameter(help="Fields to write, separated by commas (default: all that the format supports).")
    ] = None,
    layout: Annotated[
        Literal["auto", "single", "payload", "clips"],
        Parameter(help="Layout of USD: one file, a file with a payload, or value clips with one file per frame."),
    ] = "auto",
    frames: Frames = None,
    out: Annotated[
        Path | None, Parameter(help="Output file, or folder for PLY, OBJ and CSV (default: in DIR/export).")
    ] = None,
    processes: Processes = None,
    cluster: Cluster = None,
    again: Again = False,
) -> None:
    """Export a run to USD, VTKHDF (ParaView), PLY, OBJ, Alembic, glTF or Blender, or its diagnostics and logs to
    CSV."""
    from spume.cores import cores
    from spume.export.contents import contents, default_file
    from spume.frames.reader import open_run
    from spume.frames.selection import select_frames
    from spume.look.surface.files import surface_frame
    from spume.look.work import each_frame

    run = open_run(folder, skin)
    numbers = select_frames(frames, len(run))
    if to == "csv":
        from spume.export.tables import write_tables

        tables = write_tables(run, numbers, out or run.path / "export" / "csv")
        say(f"{len(tables)} tables: {', '.join(str(each) for each in tables)}")
        return
    what = what or ("surface" if to in ("gltf", "blend") else "points")
    chosen = contents(run, numbers, what, fields)
    if to in ("ply", "obj"):
        from spume.export.sequence import write_frame

        place = out or default_file(run, to, "")
        task = partial(write_frame, chosen, place.resolve() if cluster else place, to, again)
        written_files = each_frame(task, numbers, "export", processes or min(2, cores()), cluster=cluster)
        made = sum(written_files.values())
        there = len(numbers) * len(chosen.piece_names) - made
        say(f"{made} files written, {there} already up to date, in {place}")
        return
    file = out or default_file(run, what, SUFFIXES[to])
    files = [file]
    if cluster and (to != "usd" or layout == "single"):
        if what == "points":
            raise SceneError(
                f"--cluster {cluster}: a single file of points is written by one process; --to ply, --to obj and "
                "--to usd --layout clips write one file per frame"
            )
        # the surfaces take most of the time; the file is then assembled here
        if chosen.skinned:
            skins = partial(surface_frame, run, quality="fine", parts="all", populations=chosen.skinned)
            each_frame(skins, numbers, "surface", cluster=cluster)
        cluster = None
    if to == "usd":
        from spume.export.usd import write_usd

        written = write_usd(chosen, file, "clips" if cluster else layout, again, processes or 1, cluster)
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
    say(f"{len(numbers)} frames in {listed}" if written else f"{listed} already holds these {len(numbers)} frames")
