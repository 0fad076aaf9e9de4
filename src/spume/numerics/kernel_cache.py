"""The disk cache of a compiled function, in place of the one that Numba would use."""

import contextlib
import hashlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from numba import types

from spume.numerics.clock import CLOCK
from spume.numerics.kernel_files import KernelFiles
from spume.numerics.kernel_sources import closure_description

LINKED = "linked"
"""Marks what is saved for other kernels only, without machine code."""


class _Depth(threading.local):
    """Number of kernels that this thread is compiling, each for the one before it."""

    kernels = 0


_depth = _Depth()


@contextlib.contextmanager
def compiling() -> Iterator[None]:
    """A kernel is compiled inside the `with` block."""
    _depth.kernels += 1
    try:
        yield
    finally:
        _depth.kernels -= 1


def is_for_kernel() -> bool:
    """Whether a kernel that is asked for now is needed by another kernel, not by Python."""
    return _depth.kernels > 0


def file_name(function: Any) -> str:
    """Beginning of the names of the files of a function's kernels."""
    # the full module name: machine code refers to its module, which may be imported under different names
    name = f"{function.__module__}.{function.__qualname__}".replace("<locals>", "in").replace("<", "").replace(">", "")
    if function.__closure__:  # kernels of one factory may depend on different sources
        name += "-" + hashlib.sha256(closure_description(function).encode()).hexdigest()[:12]
    python = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
    return f"{name}-{function.__code__.co_firstlineno}.{python}"


class KernelCache:
    """The kernels of one function, by signature; has the methods that Numba's dispatcher calls."""

    def __init__(
        self, function: Any, files: KernelFiles, note: Callable[[str], None], waiting: Callable[[], None]
    ) -> None:
        """note: called with a sentence for the user; waiting: called again and again while another process compiles a
        kernel that this one needs."""
        self._function, self.files, self._note, self._waiting = function, files, note, waiting
        self._claimed: list[tuple[Any, ...]] = []
        """Kernels that this process compiles now; one may need another of the same function."""

    @property
    def cache_path(self) -> str:
        """The folder of the files."""
        return str(self.files.folder)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The saved kernel for `signature`; None if this process is to compile it."""
        context.refresh()  # the machine code may refer to functions that are not registered yet
        codegen = context.codegen()
        key = self._key(signature, codegen)
        data = self.files.load(key)
        if data is None and is_for_kernel():  # one without machine code will do
            key = *key, LINKED
            data = self.files.load(key)
        if data is None:
            with CLOCK.stopped():
                data = self.files.claim(key, self._waiting)
        if data is None:
            self._claimed.append(key)
        if data is None:
            return None
        from spume.numerics.machine_code import rebuilt  # needs private parts of Numba

        return rebuilt(context, data)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Save a compiled kernel. A run goes on without; the user is told why."""
        try:
            self._save(signature, result)
        finally:
            self.give_up()

    def give_up(self) -> None:
        """The kernel that was to be compiled last is no longer: it is saved, or its compilation has failed."""
        if self._claimed:
            self.files.release(self._claimed.pop())

    def _save(self, signature: Any, result: Any) -> None:
        if result.library.has_dynamic_globals:
            name = f"{self._function.__module__}.{self._function.__qualname__}"
            self._note(f"the kernel {name} uses addresses of this process, so every run compiles it again")
            return
        try:
            key = self._key(signature, result.codegen)
            self.files.save((*key, LINKED) if is_for_kernel() else key, result._reduce())
        except OSError as error:
            self._note(
                f"compiled kernels cannot be saved in '{self.cache_path}' ({error.strerror}), so every run compiles "
                "them again; set SPUME_CACHE_DIR to another folder"
            )

    def flush(self) -> None:
        """Delete all files of the function."""
        self.files.flush()

    def _key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        code = hashlib.sha256(self._function.__code__.co_code).hexdigest()
        key = signature, codegen.magic_tuple(), code, closure_description(self._function)
        fields = _field_names(signature)
        return (*key, fields) if fields else key


def _field_names(kinds: Any) -> tuple[Any, ...]:
    """Fields of the named tuples among types, in order: two such types are equal if their classes have the same name,
    and the machine code knows a field by its position only."""
    found: list[Any] = []
    for kind in kinds:
        if isinstance(kind, types.BaseTuple):
            found += [*getattr(kind, "fields", ()), *_field_names(getattr(kind, "types", ()))]
    return tuple(found)
