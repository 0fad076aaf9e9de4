"""Printing of text that may come from files of strangers: titles, names, paths, messages that quote them."""

import os
import re
import sys
from typing import TextIO

from spume.errors import SpumeError

# C0 without tab and newline, DEL, C1 (which some terminals obey as well), marks that turn the direction of writing
# round, and halves of pairs (bytes of a file name that are not UTF-8), which cannot be printed at all.
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """`text` with every character that a terminal would obey as JSON writes it: the escape character as \\u001b."""
    return UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str, file: TextIO | None = None, flush: bool = False) -> None:
    """Print a line, all of it visible; on standard output unless told."""
    stream = sys.stdout if file is None else file
    try:
        print(visible(text), file=stream, flush=flush)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(stream, error) from None


def finish_output() -> None:
    """Write out what standard output still holds."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _unwritable(sys.stdout, error) from None


def _unwritable(stream: TextIO, error: OSError) -> SpumeError:
    """The error of a stream that does not take any more. What it holds is dropped: Python would try it again at the end
    and complain in its own way."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    return SpumeError(f"the output cannot be written: {error.strerror}")


def readable_size(size: float) -> str:
    """A number of bytes as a person reads it."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
