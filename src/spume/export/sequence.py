"""Sequences: a file for each frame, only those that are missing."""

from pathlib import Path
from typing import Literal

from spume.export.contents import Contents
from spume.export.ply import write_obj, write_ply
from spume.run.folder import RunFolder

WRITERS = {"ply": write_ply, "obj": write_obj}


def write_frame(contents: Contents, folder: Path, kind: Literal["ply", "obj"], again: bool, number: int) -> int:
    """Write a frame unless its file is newer than the frame; returns how many files were written."""
    file = folder / f"{contents.what}_{number:05d}.{kind}"
    frame = RunFolder(contents.run.path).frame(number)
    if not again and file.exists() and file.stat().st_mtime >= frame.stat().st_mtime:
        return 0
    WRITERS[kind](contents, folder, number)
    return 1
