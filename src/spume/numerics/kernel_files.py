"""Compiled kernels on disk: one file per kernel and signature, safe for concurrent processes.

Numba keeps one index per function, with numbered files of machine code. Two processes that add a signature at the same
time may give both the same number, and one signature then runs the code of the other. Here a file's name is a hash of
everything its machine code depends on, so no index is needed: two processes that compile the same kernel write the same
file, each under a temporary name first. Of several processes that need a kernel at the same time, one compiles it and
the others wait, if the file system has locks; a lock ends with its process.
"""

import contextlib
import hashlib
import os
import pickle
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from spume.numerics.numba_internals import dumps

try:
    import fcntl
except ImportError:  # Windows: every process compiles what it does not find
    fcntl = None  # type: ignore[assignment]

SUFFIX = ".kernel"
LOCK = ".lock"
PAUSE = 0.02
"""Interval at which a process looks whether another one has compiled a kernel [s]."""
UNUSED = 60 * 86400.0
"""Age [s] after which files that no process has used are deleted."""
TOUCHED = 86400.0
"""Shortest interval [s] at which reading a file renews its time stamp."""


class KernelFiles:
    """Files of one kernel's signatures; replaces Numba's `IndexDataCacheFile`."""

    def __init__(self, folder: Path, base: str, stamp: str) -> None:
        self.folder, self.base, self._stamp = folder, base, stamp
        self._locks: dict[Path, int] = {}
        """Open lock files of kernels that this process compiles."""

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

    def claim(self, key: Any, waiting: Callable[[], None]) -> Any:
        """Lock `key` for this process, which is to compile it, until `release`. If another process compiles it, wait,
        calling `waiting` again and again, and return what it has saved; else None."""
        path = self._path(key).with_suffix(LOCK)
        if fcntl is None or path in self._locks:
            return None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_CREAT | os.O_RDWR)
        except OSError:  # `save` will tell
            return None
        try:
            while not _locked(file):
                waiting()
                time.sleep(PAUSE)
        except BaseException as error:
            os.close(file)
            if isinstance(error, OSError):  # a file system without locks
                return None
            raise
        self._locks[path] = file
        data = self.load(key)
        if data is not None:
            self.release(key)
        return data

    def release(self, key: Any) -> None:
        """Let other processes have what was claimed."""
        path = self._path(key).with_suffix(LOCK)
        if (file := self._locks.pop(path, None)) is not None:
            with contextlib.suppress(OSError):
                path.unlink()  # who waits for this file finds the kernel
            os.close(file)

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


def _locked(file: int) -> bool:
    """Whether this process has the lock of an open file now."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
