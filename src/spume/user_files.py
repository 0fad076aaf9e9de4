"""Python files of the user: laws of scenes, functions that measure runs."""

import hashlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from spume.errors import SceneError


def run_python_file(file: Path) -> ModuleType:
    """Run a Python file and return it as a module. Raises SceneError that names the line at which its code fails.

    This runs the code of the file: only for files the user has named.
    """
    if not file.is_file():
        raise SceneError(f"there is no file '{file}'")
    # The name is the same in every process: compiled kernels refer to their module by it.
    name = f"spume_user_{file.stem}_{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise SceneError(f"'{file}' is not a Python file: its name should end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # the user's code may raise anything; the message names it and its place
        del sys.modules[name]
        raise SceneError(f"'{file}' fails{_line(error, file)}: {type(error).__name__}: {error}") from error
    return module


def _line(error: BaseException, file: Path) -> str:
    """The line of `file` at which an error arose."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f" at line {error.lineno}"
    trace, line = error.__traceback__, None
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename).resolve() == file.resolve():
            line = trace.tb_lineno
        trace = trace.tb_next
    return f" at line {line}" if line else ""
