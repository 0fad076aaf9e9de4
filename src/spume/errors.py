"""Errors meant for the user. Each message is one sentence: what was found, where, and what would be right."""

from typing import Any


class Portable(BaseException):
    """An exception that other processes receive as it is, whatever its constructor takes. Pickle would call the
    constructor with the message."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _received, (type(self), self.args, self.__dict__)


def _received(kind: type[Portable], args: tuple[Any, ...], attributes: dict[str, Any]) -> Portable:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class SpumeError(Portable, Exception):
    """Base of all errors meant for the user; the command line prints the message without a traceback."""

    exit_code = 1


class SceneError(SpumeError):
    """A scene, an override or a command-line argument is wrong."""

    exit_code = 2


class RunFailed(SpumeError):
    """A simulation went wrong while running; the message gives the time, point, likely cause and what to change."""

    exit_code = 3


class CacheError(SpumeError):
    """A run's folder cannot be used: missing, damaged, finished already, or written by another version."""

    exit_code = 4


class CompilationStopped(KeyboardInterrupt):
    """Compilation was aborted because the run was asked to stop; the kernel did not run."""


class MissingExtra(SpumeError):
    """An optional package is not installed; the message gives the pip command."""

    exit_code = 5

    def __init__(self, extra: str, package: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}', which is missing: pip install 'spume[{extra}]'")
