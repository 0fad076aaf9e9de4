"""Python files of the user: laws of scenes, functions that measure runs."""

import hashlib
import importlib.util
import sys
from importlib.abc import SourceLoader
from pathlib import Path
from types import ModuleType

from spume.consent import agree
from spume.errors import SceneError


def run_python_file(file: Path, trust: bool) -> ModuleType:
    """Run a Python file and return it as a module. Raises SceneError that names the line at which its code fails.

    `trust`: the user has named the file; otherwise its contents must be known, see `consent`.
    """
    if not file.is_file():
        raise SceneError(f"there is no file '{file}'")
    try:
        source = file.read_bytes()
    except OSError as error:
        raise SceneError(f"'{file}' cannot be read: {error.strerror}") from None
    agree(file, source, trust)
    # The name is the same in every process: compiled kernels refer to their module by it.
    name = f"spume_user_{file.stem}_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or not isinstance(spec.loader, SourceLoader):
        raise SceneError(f"'{file}' is not a Python file: its name should end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        # exactly what was agreed to, and not a compiled file that lies beside it
        exec(spec.loader.source_to_code(source, str(file)), module.__dict__)
    except (Exception, SystemExit) as error:  # the user's code may raise anything; the message names it and its place
        del sys.modules[name]
        raise SceneError(f"'{file}' fails{failing_line(error, file)}: {type(error).__name__}: {error}") from error
    return module


def failing_line(error: BaseException, file: Path) -> str:
    """The line of `file` at which an error arose, as words; empty if it is unknown."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f" at line {error.lineno}"
    trace, line = error.__traceback__, None
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == file.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" at line {line}" if line else ""
