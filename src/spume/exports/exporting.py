"""Exports a run to one of the formats of `formats.py`."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from spume.cores import cores
from spume.errors import SceneError
from spume.exports.contents import Contents, FieldNames, contents, default_place
from spume.exports.formats import Layout, What, check_options, check_suffix, find_format
from spume.exports.sequence import sequence_files, write_frame
from spume.frames.reader import Run
from spume.look.surface.files import surface_frame
from spume.work import each_frame


class Exported(NamedTuple):
    """The files of an export."""

    files: list[Path]
    written: int
    """how many of them were not up to date"""


FEW = 50
"""Frames of points that one process writes, unless told otherwise."""


def export_run(
    run: Run,
    numbers: list[int],
    to: str,
    *,
    what: What | None = None,
    fields: FieldNames = None,
    layout: Layout | None = None,
    out: Path | None = None,
    processes: int | None = None,
    cluster: str | None = None,
    again: bool = False,
) -> Exported:
    """Export the frames `numbers` of a run to the format `to`."""
    form = find_format(to)
    skin = run.skin if run.skin == "reconstructed" else None
    given = {"what": what, "fields": fields, "layout": layout, "skin": skin}
    check_options(to, given | {"processes": processes, "cluster": cluster})
    chosen_what = what or form.what
    if form.kind == "tables":
        files: list[Path] = form.write()(run, numbers, out or default_place(run, to))
        return Exported(files, len(files))
    chosen = contents(run, numbers, chosen_what, fields)
    if form.kind == "folder":
        folder = out or default_place(run, to)
        return Exported([folder], form.write()(chosen, folder, processes=processes, again=again))
    if form.kind == "frames":
        return _sequence(chosen, to, out or default_place(run, to), processes, cluster, again)
    # a single file is written at the end: what takes the time is kept from call to call
    chosen = replace(chosen, keeps_skins=True)
    file = out or default_place(run, chosen_what, form.suffixes[0])
    check_suffix(to, file)
    own: dict[str, Any] = {}
    if "layout" in form.options:
        own = {"layout": layout or "auto", "processes": processes or 1}
    if cluster is not None and own.get("layout") in ("auto", "clips"):
        own |= {"layout": "clips", "cluster": cluster}
    elif cluster is not None:
        _skins_on_cluster(chosen, cluster)
    files = chosen.population_files(file) if form.split else [file]
    return Exported(files, len(files) if form.write()(chosen, file, again=again, **own) else 0)


def _sequence(
    chosen: Contents, to: str, folder: Path, processes: int | None, cluster: str | None, again: bool
) -> Exported:
    task = partial(write_frame, chosen, folder.resolve() if cluster else folder, to, again)
    # a second process takes seconds to start, a frame of points milliseconds
    fitting = 1 if chosen.what == "points" and len(chosen.numbers) <= FEW else min(2, cores())
    made = each_frame(task, chosen.numbers, "export", processes or fitting, cluster=cluster)
    files = [file for number in chosen.numbers for file in sequence_files(chosen, folder, to, number)]
    return Exported(files, sum(made.values()))


def _skins_on_cluster(chosen: Contents, cluster: str) -> None:
    """Make the surfaces, which take most of the time, on a cluster; the file is then assembled by this process."""
    if chosen.what == "points":
        raise SceneError(
            f"--cluster {cluster}: a single file of points is written by one process; --to ply, --to obj and "
            "--to usd --layout clips write one file per frame"
        )
    if chosen.skinned:
        task = partial(surface_frame, chosen.run, quality="fine", parts="all", populations=chosen.skinned)
        each_frame(task, chosen.numbers, "surface", cluster=cluster)
