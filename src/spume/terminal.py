"""Printing of untrusted text from files: titles, names, paths, and messages that quote them."""

import os
import re
import sys
from typing import TextIO

from spume.errors import SpumeError

# C0 without tab and newline, DEL, C1 (which some terminals interpret as well), marks that reverse the direction of
# writing, and lone surrogates (bytes of a file name that are not UTF-8), which cannot be printed.
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """`text` with control characters escaped as in JSON: the escape character becomes \\u001b."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str, file: TextIO | None = None, flush: bool = False) -> None:
    """Print a line with control characters escaped; on standard output by default."""
    stream = sys.stdout if file is None else file
    try:
        print(visible(text), file=stream, flush=flush)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(stream, error) from None


def finish_output() -> None:
    """Flush standard output."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(sys.stdout, error) from None


def output_error() -> SpumeError | None:
    """The error of standard output if not even an empty line can be written, else None."""
    try:
        sys.stdout.write("\n")
        sys.stdout.flush()
    except OSError as error:
        return _unwritable(sys.stdout, error)
    return None


def _unwritable(stream: TextIO, error: OSError) -> SpumeError:
    """The error of a stream that can no longer be written. Its buffer is dropped, because Python would try to flush it
    again at exit and print its own error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return SpumeError(f"the output cannot be written: {error.strerror}")


def readable_size(size: float) -> str:
    """A number of bytes in readable form."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
