"""Compiled kernels on disk: one file per kernel and signature, safe for concurrent processes.

Numba keeps one index per function, with numbered files of machine code. Two processes that add a signature at the same
time may give both the same number, and one signature then runs the code of the other. Here a file's name is a hash of
everything its machine code depends on, so no index is needed: two processes that compile the same kernel write the same
file, each under a temporary name first.
"""

import contextlib
import hashlib
import os
import pickle
import time
import uuid
from pathlib import Path
from typing import Any

import numba

from spume.numerics.numba_internals import dumps

SUFFIX = ".kernel"
UNUSED = 60 * 86400.0
"""Age [s] after which files that no process has used are deleted."""
TOUCHED = 86400.0
"""Shortest interval [s] at which reading a file renews its time stamp."""


class KernelFiles:
    """Files of one kernel's signatures; replaces Numba's `IndexDataCacheFile`."""

    def __init__(self, folder: Path, base: str, stamp: str) -> None:
        self.folder, self.base, self._stamp = folder, base, stamp

    def load(self, key: Any) -> Any:
        """Return the data saved under `key`, or None if the file is missing or damaged."""
        path = self._path(key)
        try:
            contents = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(contents[32:]).digest() != contents[:32]:
            return None
        saved_key, data = pickle.loads(contents[32:])
        if saved_key != key:  # two types with the same name
            return None
        _touch(path)
        return data

    def save(self, key: Any, data: Any) -> None:
        """Save `data` under `key`, atomically."""
        contents = dumps((key, data))
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(key)
        partial = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}")
        try:
            partial.write_bytes(hashlib.sha256(contents).digest() + contents)
            os.replace(partial, path)
        except BaseException:
            with contextlib.suppress(OSError):
                partial.unlink()
            raise
        _delete_unused(self.folder)

    def flush(self) -> None:
        """Delete the files of all signatures of the kernel."""
        for path in self.folder.glob(f"{self.base}.*{SUFFIX}"):
            path.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        signature, *rest = key
        made_of = repr((numba.__version__, self._stamp, str(signature), rest))
        return self.folder / f"{self.base}.{hashlib.sha256(made_of.encode()).hexdigest()[:20]}{SUFFIX}"


def _touch(path: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > TOUCHED:
            os.utime(path)


_tidied: set[Path] = set()


def _delete_unused(folder: Path) -> None:
    """Delete, once per process, old kernels and partial files left by killed processes."""
    if folder in _tidied:
        return
    _tidied.add(folder)
    oldest = time.time() - UNUSED
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
