"""Sequences: a file for each population of each frame, only those that are missing."""

from pathlib import Path

from spume.exports.contents import Contents
from spume.exports.formats import find_format
from spume.runs.folder import RunFolder


def sequence_files(contents: Contents, folder: Path, to: str, number: int) -> list[Path]:
    """The files of a frame, one for each of its pieces."""
    return [folder / f"{name}_{number:05d}{find_format(to).suffixes[0]}" for name in contents.piece_names]


def write_frame(contents: Contents, folder: Path, to: str, again: bool, number: int) -> int:
    """Write a frame unless its files are newer than the frame; returns how many files were written."""
    files = sequence_files(contents, folder, to, number)
    written = RunFolder(contents.run.path).frame(number).stat().st_mtime
    if not again and all(file.exists() and file.stat().st_mtime >= written for file in files):
        return 0
    form = find_format(to)
    write = form.write()
    for piece, file in zip(contents.pieces(number, tensors="fields" in form.options), files):
        write(contents, piece, file, number)
    return len(files)
