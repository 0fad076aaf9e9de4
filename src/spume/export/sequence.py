"""Sequences: a file for each population of each frame, only those that are missing."""

from pathlib import Path
from typing import Literal

from spume.export.contents import Contents
from spume.export.ply import write_obj, write_ply
from spume.runs.folder import RunFolder

Kind = Literal["ply", "obj"]
WRITERS = {"ply": write_ply, "obj": write_obj}


def sequence_file(folder: Path, piece: str, number: int, kind: Kind) -> Path:
    """The file of a piece of a frame."""
    return folder / f"{piece}_{number:05d}.{kind}"


def write_frame(contents: Contents, folder: Path, kind: Kind, again: bool, number: int) -> int:
    """Write a frame unless its files are newer than the frame; returns how many files were written."""
    files = [sequence_file(folder, name, number, kind) for name in contents.piece_names]
    written = RunFolder(contents.run.path).frame(number).stat().st_mtime
    if not again and all(file.exists() and file.stat().st_mtime >= written for file in files):
        return 0
    for piece, file in zip(contents.pieces(number, tensors=kind == "ply"), files):
        WRITERS[kind](contents, piece, file, number)
    return len(files)
