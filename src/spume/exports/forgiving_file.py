"""A file for HDF5, which crashes when a write fails while it closes a file."""

import io
from pathlib import Path
from typing import Any


class ForgivingFile(io.RawIOBase):
    """A file for reading and writing whose writes never fail from the library's point of view. `error` is the first
    failure; later writes are kept in memory, so that the library can read them back, and are discarded in the end."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "w+b", buffering=0)  # noqa: SIM115 - closed by `close`
        self._place = 0
        self._unwritten: list[tuple[int, bytes]] = []
        self.error: OSError | None = None

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        contents = bytes(data)
        written = 0
        while self.error is None and written < len(contents):
            try:
                self._file.seek(self._place + written)
                written += self._file.write(contents[written:]) or 0
            except OSError as error:
                self.error = error
        if written < len(contents):
            self._unwritten.append((self._place + written, contents[written:]))
        self._place += len(contents)
        return len(contents)

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        self._file.seek(self._place)
        count = self._file.readinto(view) or 0
        for start, contents in self._unwritten:
            first, last = max(start, self._place), min(start + len(contents), self._place + len(view))
            if first < last:
                view[first - self._place : last - self._place] = contents[first - start : last - start]
                count = max(count, last - self._place)
        self._place += count
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size()}[whence]
        self._place = base + offset
        return self._place

    def _size(self) -> int:
        ends = [start + len(contents) for start, contents in self._unwritten]
        return max([self._file.seek(0, io.SEEK_END), *ends])

    def tell(self) -> int:
        return self._place

    def truncate(self, size: int | None = None) -> int:
        wanted = self._place if size is None else size
        try:
            self._file.truncate(wanted)
        except OSError as error:
            self.error = self.error or error
        return wanted

    def close(self) -> None:
        self._file.close()
        super().close()
