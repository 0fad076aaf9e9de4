"""Consent to execute Python files: those the user has named, and others only once the user has said so.

A run or a sweep names the files of its laws and functions. Whoever resumes a stranger's would execute the stranger's
code. So a file is known by the hash of its contents. The hash is kept in the user's configuration folder when the user
names the file (in a scene that is run, on the command line, in Python) or trusts it explicitly.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from spume.errors import SceneError

HASH = re.compile(r"[0-9a-f]{64}")
_accepted: set[str] = set()
"""Hashes of the files that this process may execute."""


class NotTrusted(SceneError):
    """A file that the user has not named would be executed."""

    def __init__(self, file: Path) -> None:
        super().__init__(
            f"'{file}' would be executed, and with its present contents you have not run it before: read it, and if "
            "you trust it, give --trust (in Python: trust=True)"
        )


def config_directory() -> Path:
    """Folder of the user's settings: $SPUME_CONFIG_DIR, or in the user's configuration folder."""
    if chosen := os.environ.get("SPUME_CONFIG_DIR"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "spume"


def agree(file: Path, contents: bytes, trust: bool) -> None:
    """Raise NotTrusted unless a file with these contents may be executed. `trust`: the user has just named it, which is
    remembered."""
    digest = hashlib.sha256(contents).hexdigest()
    if digest not in _accepted and digest not in _remembered():
        if not trust:
            raise NotTrusted(file)
        _remember(digest, file)
    _accepted.add(digest)


def accepted() -> tuple[str, ...]:
    """Hashes of the files that this process has executed, for processes that work for it."""
    return tuple(sorted(_accepted))


def accept(digests: Iterable[str]) -> None:
    """Let this process execute the files with these hashes, on behalf of another one."""
    _accepted.update(digests)


def _file() -> Path:
    return config_directory() / "trusted-files"


def _remembered() -> set[str]:
    try:
        lines = _file().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return set()
    return {word for line in lines if HASH.fullmatch(word := line.partition(" ")[0])}


def _remember(digest: str, file: Path) -> None:
    """Keep a hash, with the name of the file for the reader; where that fails, the user is asked again."""
    with contextlib.suppress(OSError):
        _file().parent.mkdir(parents=True, exist_ok=True)
        with open(_file(), "a", encoding="utf-8") as kept:
            kept.write(f"{digest} {json.dumps(str(file.resolve()))}\n")
