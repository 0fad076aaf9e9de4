"""What a kernel is made of: the contents of files, the values of constants, and the values it closes over.

All of these are hashed, the same in every process, so that a change of any of them makes a new kernel.
"""

import functools
import hashlib
import os
import uuid
from pathlib import Path
from typing import Any

import numpy as np

KERNEL_ID = "spume_kernel_id"
"""Attribute of a Python function that identifies the sources of its kernel."""

CONSTANT = "constant "
"""Prefix of a source that is a constant rather than a file."""


LONG = 4000
"""Characters of a description of closures that is replaced by its hash."""


@functools.cache
def _digest(source: str) -> str:
    """Hash of a source: of a constant's name and value, or of a file's contents.

    Cached, so that a file edited later does not pass for the code that this process has loaded.
    """
    contents = source.encode() if source.startswith(CONSTANT) else Path(source).read_bytes()
    return hashlib.sha256(contents).hexdigest()


def sources_of(function: Any) -> frozenset[str]:
    """Files of `function` and of every compiled function it can call, and the constants they use."""
    files = {function.__code__.co_filename}
    codes = [function.__code__]
    names: set[str] = set()
    while codes:
        code = codes.pop()
        names.update(code.co_names)
        codes.extend(c for c in code.co_consts if hasattr(c, "co_names"))
    for cell in function.__closure__ or ():
        files |= getattr(cell.cell_contents, "spume_sources", frozenset())
    for name in names:
        callee = function.__globals__.get(name)
        files |= getattr(callee, "spume_sources", frozenset())
        if _is_constant(callee):
            files.add(f"{CONSTANT}{name} = {_value(callee)}")
        if isinstance(callee, type(os)) and (callee.__name__ or "").startswith("spume."):
            files.add(str(callee.__file__))  # constants are compiled in
            for member in vars(callee).values():
                files |= getattr(member, "spume_sources", frozenset())
    return frozenset(files)


def _is_constant(value: object) -> bool:
    if isinstance(value, tuple):
        return all(_is_constant(item) for item in value)
    return isinstance(value, bool | int | float | complex | str | np.generic | np.ndarray)


def _value(constant: object) -> str:
    if isinstance(constant, np.ndarray):
        return f"{constant.dtype} {constant.shape} {constant.tobytes().hex()}"
    if isinstance(constant, tuple):
        return f"({', '.join(_value(item) for item in constant)})"
    return repr(constant)


def closure_description(function: Any) -> str:
    """Description of the values that a function closes over, the same in every process. A long one is replaced by its
    hash: in descriptions within descriptions, the number of backslashes doubles with each level."""
    text = repr([_described(cell.cell_contents) for cell in function.__closure__ or ()])
    return text if len(text) <= LONG else hashlib.sha256(text.encode()).hexdigest()


def _described(value: Any) -> Any:
    if hasattr(value, "spume_sources"):  # a compiled function: its pickle would differ between processes
        inner = value.py_func
        return (inner.__module__, inner.__qualname__, closure_description(inner))
    if isinstance(value, tuple):
        return tuple(_described(item) for item in value)
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a kernel cannot close over {value!r}: only over numbers, strings and compiled functions")


def closes_over_compiled(function: Any) -> bool:
    """Whether a compiled function is among the values that a function closes over."""
    return any(_has_compiled(cell.cell_contents) for cell in function.__closure__ or ())


def _has_compiled(value: object) -> bool:
    return any(map(_has_compiled, value)) if isinstance(value, tuple) else hasattr(value, "spume_sources")


def stamp(sources: frozenset[str], options: str) -> str | None:
    """Hash of the `sources` and of the compiler's `options`; None for a function typed at a prompt, without a file."""
    try:
        digests = sorted(_digest(source) for source in sources)
    except OSError:
        return None
    return hashlib.sha256((options + "".join(digests)).encode()).hexdigest()


def kernel_id(function: Any, stamp: str | None) -> str:
    """Identifier of everything that determines the kernel of `function`."""
    code = function.__code__
    made_of = stamp or uuid.uuid4().hex
    return repr((made_of, code.co_qualname, code.co_firstlineno, code.co_code, closure_description(function)))
