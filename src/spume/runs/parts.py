"""Frames and checkpoints in parts: a file, the *index*, and a folder of further files beside it.

The index is an ordinary file of arrays with what is not divided, such as the poses of obstacles. Its metadata name the
folder and the checksum of each part. The arrays of all parts, one after the other, make up those of the whole. The
index is written last, so a whole is complete or absent like a single file; single files are read by the same functions.
"""

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spume.errors import CacheError
from spume.runs.storage import (
    array_shapes,
    folder_inside,
    read_arrays,
    read_checked,
    read_metadata,
    verify_arrays,
    write_arrays,
)
from spume.whole_files import PARTIAL, sync_folder

Arrays = dict[str, NDArray[Any]]
KEY = "parts"
"""Of the metadata of an index: the name of the folder and the checksums of the parts."""
FOLDER_NAME = re.compile(r"(frame_\d{5,}|checkpoint\.\d{1,5})\.parts")
PART_NAME = re.compile(rf"part_\d{{5,}}(\.\d+{re.escape(PARTIAL)})?\.safetensors")
"""Also of one that is being written."""
MOST_PARTS = 1_000_000
"""More than any machine has cores."""


def part_file(folder: Path, number: int) -> Path:
    """The file of a part."""
    return folder / f"part_{number:05d}.safetensors"


def part_files(path: Path) -> list[Path]:
    """The files of the parts that belong to the file at `path`; none if it has everything itself."""
    folder, checksums = _listed(read_metadata(path, also_checksum=True), path)
    return [part_file(path.parent / folder, number) for number in range(len(checksums))]


def _listed(about: Mapping[str, Any], path: Path) -> tuple[str, list[str]]:
    """The folder and the checksums that an index names."""
    if KEY not in about:
        return "", []
    found = about[KEY]
    folder, checksums = (found.get("folder"), found.get("checksums")) if isinstance(found, dict) else (None, None)
    if not isinstance(folder, str) or not FOLDER_NAME.fullmatch(folder):
        raise CacheError(f"'{path}' is malformed: it names no folder of parts")
    if not isinstance(checksums, list) or not all(isinstance(each, str) for each in checksums):
        raise CacheError(f"'{path}' is malformed: it has no checksums of its parts")
    if not 0 < len(checksums) <= MOST_PARTS:
        raise CacheError(f"'{path}' is malformed: it has {len(checksums)} parts")
    return folder, checksums


def write_part(folder: Path, number: int, arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write a part; return its checksum."""
    return write_arrays(part_file(folder, number), arrays, {"part": number})


def make_folder(folder: Path) -> Path:
    """An empty folder for parts, or one with files of others."""
    try:
        remove_folder(folder_inside(folder.parent, folder.name))
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)
    except OSError as error:
        raise CacheError(f"'{folder}' cannot be made: {error.strerror}") from error
    return folder


def write_index(
    path: Path, folder: Path, checksums: Sequence[str], arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]
) -> None:
    """Complete a whole whose parts are written, by what is not divided and its metadata."""
    try:
        sync_folder(folder)
    except OSError as error:
        raise CacheError(f"'{folder}' cannot be written: {error.strerror}") from error
    write_arrays(path, arrays, {**about, KEY: {"folder": folder.name, "checksums": list(checksums)}})


def remove_folder(folder: Path) -> None:
    """Delete a folder of parts with those in it; anything else in it stays, and so does the folder then."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for file in folder.iterdir():
        if PART_NAME.fullmatch(file.name):
            file.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # there is something else in it
        folder.rmdir()


def folders_in(place: Path) -> list[Path]:
    """The folders of parts in `place`."""
    return [file for file in place.iterdir() if FOLDER_NAME.fullmatch(file.name)] if place.is_dir() else []


def remove_unused_folders(place: Path) -> None:
    """Delete the folders of parts in `place` that no index beside them names: those of wholes that were replaced, or
    whose process was killed. The folders that an index may name that cannot be read stay."""
    for folder in folders_in(place):
        own = folder.with_suffix(".safetensors")
        may_name = [own] if folder.name.startswith("frame_") else sorted(place.glob("checkpoint*.safetensors"))
        if not any(index.exists() and _may_name(index, folder) for index in may_name):
            with contextlib.suppress(OSError):
                remove_folder(folder)


def _may_name(index: Path, folder: Path) -> bool:
    try:
        return _listed(read_metadata(index, also_checksum=True), index)[0] == folder.name
    except CacheError:
        return True


def metadata_of_whole(path: Path) -> dict[str, Any]:
    """The metadata of a frame or checkpoint."""
    about = read_metadata(path)
    about.pop(KEY, None)
    return about


def whole_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays of a whole, by name."""
    shapes = array_shapes(path)
    of_parts = [array_shapes(file) for file in part_files(path)]
    for each in of_parts:
        if each.keys() != of_parts[0].keys() or each.keys() & array_shapes(path).keys():
            raise CacheError(f"'{path}' is malformed: its parts have different arrays")
    for name in of_parts[0] if of_parts else ():
        rows = [each[name] for each in of_parts]
        if not all(rows) or len({row[1:] for row in rows}) > 1:
            raise CacheError(f"'{path}' is malformed: the array '{name}' has different shapes in its parts")
        shapes[name] = (sum(row[0] for row in rows), *rows[0][1:])
    return shapes


def read_whole(path: Path, names: Sequence[str]) -> Arrays:
    """The arrays called `names` of a whole."""
    parts = part_files(path)
    own = array_shapes(path).keys() if parts else names
    found = read_arrays(path, [name for name in names if name in own])
    divided = [name for name in names if name not in found]
    return found | joined([read_arrays(part, divided) for part in parts] if divided else [])


def joined(parts: Sequence[Mapping[str, NDArray[Any]]]) -> Arrays:
    """The arrays of several parts, one after the other."""
    if len(parts) == 1:
        return dict(parts[0])
    return {name: np.concatenate([part[name] for part in parts]) for name in (parts[0] if parts else ())}


def verify_whole(path: Path) -> None:
    """Read a whole once, block by block, and raise CacheError if it is damaged."""
    verify_arrays(path)
    verify_some_parts(path, 0, 1)


def verify_some_parts(path: Path, first: int, step: int) -> None:
    """Read every so-many-th part of a whole once, block by block, and raise CacheError if one is damaged."""
    for number, file in list(enumerate(part_files(path)))[first::step]:
        verify_arrays(file)
        _check_part(path, number, file)


def _check_part(path: Path, number: int, file: Path) -> None:
    """Raise CacheError if a file is not the part of that number of the whole at `path`."""
    _, checksums = _listed(read_metadata(path, also_checksum=True), path)
    about = read_metadata(file, also_checksum=True)
    if about["checksum"] != checksums[number] or about.get("part") != number:
        raise CacheError(f"'{file}' is damaged: it does not belong to '{path.name}'")


def read_some_parts(path: Path, first: int, step: int) -> list[Arrays]:
    """The arrays of every so-many-th part of a whole, checked."""
    found = []
    for number, file in list(enumerate(part_files(path)))[first::step]:
        found.append(read_checked(file)[1])
        _check_part(path, number, file)
    return found


def read_checked_whole(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Metadata and arrays of a whole, checked."""
    about, arrays = read_checked(path)
    if KEY not in about:
        return about, arrays
    verify_whole(path)
    del about[KEY]
    whole_shapes(path)
    return about, arrays | joined(read_some_parts(path, 0, 1))


def stamps(path: Path) -> list[tuple[int, int]] | None:
    """Sizes and modification times of the files of a whole; None if one does not exist."""
    try:
        return [(about.st_size, about.st_mtime_ns) for about in map(os.stat, (path, *part_files(path)))]
    except (OSError, CacheError):
        return None
