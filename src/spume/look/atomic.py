"""Atomic output for file writers of other packages: a file is complete under its final name, or absent."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spume.errors import CacheError
from spume.runs.storage import PARTIAL, sync_folder


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """A path that is renamed to `file` when the block ends without an error. It keeps the suffix, on which many writers
    rely."""
    partial = file.with_name(f"{file.stem}{PARTIAL}-{os.getpid()}{file.suffix}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        with open(partial, "rb") as written:
            os.fsync(written.fileno())
        os.replace(partial, file)
        sync_folder(file.parent)
    except OSError as error:
        raise CacheError(f"'{file}' cannot be written: {error.strerror or error}") from error
    finally:
        if partial.exists():
            partial.unlink()


def write_whole(file: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `file`, and rename it when it is complete."""
    with whole_file(file) as partial:
        write(partial)
