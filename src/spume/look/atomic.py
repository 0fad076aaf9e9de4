"""Files other people's writers make: whole under their final name, or not there at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from spume.errors import CacheError
from spume.runs.storage import PARTIAL, sync_folder


@contextmanager
def whole_file(file: Path) -> Iterator[Path]:
    """A path that becomes `file` when the block ends well. It keeps the ending, which many writers go by."""
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
    """Let `write` fill a file beside `file`, and move it in place when it is whole."""
    with whole_file(file) as partial:
        write(partial)
