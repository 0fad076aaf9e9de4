"""Whole files: a file is complete under its name, or absent."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spume.errors import CacheError
from spume.terminal import readable_size

PARTIAL = ".partial"
"""Before the suffix of a file that is still being written, after the id of the process that writes it."""
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class DiskFull(CacheError):
    """A file does not fit on the disk."""


@contextmanager
def whole_file(file: Path, size: int | None = None, *, make_folder: bool = True) -> Iterator[Path]:
    """A path to write to, which is flushed to disk and renamed to `file` when the block ends without an error.

    At every moment `file` is absent, the old file or the new one. The path keeps the suffix, on which many writers
    rely; it is free at first, since symbolic links in the way are replaced, not followed. `size` [bytes], if known, is
    for the error message if the disk is full.
    """
    partial = file.with_name(f"{file.stem}.{os.getpid()}{PARTIAL}{file.suffix}")
    try:
        if make_folder:
            file.parent.mkdir(parents=True, exist_ok=True)
        partial.unlink(missing_ok=True)
        yield partial
        with open(partial, "r+b") as written:
            os.fsync(written.fileno())
        os.replace(partial, file)
        sync_folder(file.parent)
    except OSError as error:
        raise write_failure(file, size, error) from error
    finally:
        with suppress(OSError):
            partial.unlink()


def write_failure(file: Path, size: int | None, error: OSError) -> CacheError:
    """The error of a file that cannot be written; `size` as in `whole_file`."""
    if size is None or error.errno not in NO_SPACE:
        return CacheError(f"'{file}' cannot be written: {error.strerror or error}")
    needed, free = readable_size(size), readable_size(shutil.disk_usage(file.parent).free)
    return DiskFull(f"no space left in '{file.parent}': {file.name} needs {needed} and {free} is free")


def sync_folder(folder: Path) -> None:
    """Flush renames inside `folder` to disk; systems that cannot open folders do not need this."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
