"""Printing: results on standard output, messages on the error stream, with untrusted text made visible."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, TextIO, cast

from spume.errors import SpumeError

# C0 without tab and newline, DEL, C1 (which some terminals interpret as well), marks that reverse the direction of
# writing, and lone surrogates (bytes of a file name that are not UTF-8), which cannot be printed.
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """`text` with control characters escaped as in JSON: the escape character becomes \\u001b."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def printable(text: str) -> str:
    """`text` with lone surrogates, which no file in UTF-8 can hold, replaced by question marks."""
    return text.encode("utf-8", "replace").decode()


def say(text: str) -> None:
    """Print a line of a result on standard output, with control characters escaped. Raises SpumeError if it cannot be
    written, as on a full disk."""
    try:
        print(visible(text))
    except BrokenPipeError:
        drop(sys.stdout)  # the reader, such as `head`, has seen enough
    except OSError as error:
        raise _unwritable(error) from None


def tell(text: str, stream: TextIO | None = None) -> None:
    """Print a message, by default on the error stream, with control characters escaped.

    A message never fails: if the terminal is gone, the work goes on without it.
    """
    chosen = sys.stderr if stream is None else stream
    if chosen is not None:
        print(visible(text), file=lasting(chosen), flush=True)


class _Lasting:
    """A text stream that drops what it cannot write: `lost` are the errors after which it does so."""

    def __init__(self, stream: TextIO, lost: tuple[type[Exception], ...]) -> None:
        self._stream, self._lost = stream, lost

    def write(self, text: str) -> int:
        with self._losing():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with self._losing():
            self._stream.flush()

    @contextlib.contextmanager
    def _losing(self) -> Iterator[None]:
        try:
            yield
        except self._lost:
            drop(self._stream)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def lasting(stream: TextIO) -> TextIO:
    """`stream` for messages: once it cannot be written (closed, a full device, a terminal that is gone), they are
    dropped."""
    return cast(TextIO, _Lasting(stream, (OSError, ValueError)))  # ValueError: the stream was closed


def drop(stream: TextIO) -> None:
    """Let all that is written to `stream` from now on vanish, with the contents of its buffer, which Python would try
    to write again at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


@contextlib.contextmanager
def standard_streams() -> Iterator[None]:
    """The streams of a command: messages and a reader that leaves early do not disturb it, whoever writes.

    Streams that were closed at the start are opened on nothing. Otherwise the next file that is opened, such as a
    frame, would take their numbers and receive what is printed. Writing to a closed standard output stays an error.
    """
    _open_missing()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # letters that a terminal without UTF-8 cannot show
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast(TextIO, _Lasting(sys.stdout, (BrokenPipeError,))), lasting(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _open_missing() -> None:
    for number, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)  # takes the least number that is free, this one
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False)
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False)


def finish_output() -> None:
    """Flush standard output."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop(sys.stdout)
    except OSError as error:
        raise _unwritable(error) from None


def output_error() -> SpumeError | None:
    """The error of standard output if not even an empty line can be written, else None."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError as error:
        return _unwritable(error)
    return None


def _unwritable(error: OSError) -> SpumeError:
    """The error of a standard output that can no longer be written."""
    drop(sys.stdout)
    return SpumeError(f"the output cannot be written: {error.strerror}")


def readable_size(size: float) -> str:
    """A number of bytes in readable form."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
