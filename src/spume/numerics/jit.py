"""Compilation of kernels by Numba, with a disk cache that detects every change.

Numba's own cache checks the time stamp of a kernel's file and misses changes in the functions that the kernel calls.
Here a cached kernel is valid only as long as nothing has changed in the *contents* of its own file, in those of the
files of all compiled functions it calls, directly or indirectly, or in the values of the constants they use, which may
be defined in other files. A kernel may close over numbers, strings and other compiled functions; each set of
closed-over values has its own entry in the cache.
"""

import contextlib
import functools
import hashlib
import os
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, Literal

# How long a waiting thread spins before it sleeps. A step has a dozen short parallel loops. If threads spin for long,
# each loop waits for a time slice whenever another process runs (measured: 172 ms per step instead of 20 on a loaded
# machine); if they sleep at once, they are slow to wake (1.8 ms per step of 1,000 points instead of 0.6 on a free one).
os.environ.setdefault("GOMP_SPINCOUNT", "3000")

import numba
import numpy as np
from numba.core import caching, event
from numba.core.cpu_options import ParallelOptions

from spume.errors import CompilationStopped
from spume.numerics.clock import start_clock, stop_clock
from spume.numerics.kernel_files import KernelFiles
from spume.numerics.machine_code import KERNEL_ID, KernelCompiler

# Reassociation lets sums vectorise, contraction makes fused multiply-adds. Infinities and NaNs keep their meaning:
# the health checks of a run depend on them. The same machine code runs on every thread, so results do not depend on
# the number of threads.
FAST = {"reassoc", "contract", "nsz", "arcp"}

WITHOUT_WRAPPER: Any = {"no_cfunc_wrapper": True}
"""Numba makes a second entry for C, which is only needed to pass a function as a value, and takes time to compile."""

NOT_PARALLEL = ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion")
"""Of parallel kernels only the loops over `prange` are parallel. Numba would also turn assignments to whole arrays and
the like into parallel loops, even inside such loops, which takes time to compile."""

CONSTANT = "constant "
"""Prefix of a source that is a constant rather than a file."""

_listeners: list["CompilationListener"] = []


def cache_directory() -> Path:
    """Folder of the compiled kernels, in $SPUME_CACHE_DIR or the user's cache folder."""
    if chosen := os.environ.get("SPUME_CACHE_DIR"):
        return Path(chosen) / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spume" / "kernels"


@functools.cache
def _digest(source: str) -> str:
    """Hash of a source: of a constant's name and value, or of a file's contents.

    Cached, so that a file edited later does not pass for the code that this process has loaded.
    """
    contents = source.encode() if source.startswith(CONSTANT) else Path(source).read_bytes()
    return hashlib.sha256(contents).hexdigest()


def _sources(function: Any) -> frozenset[str]:
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


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(_is_constant(item) for item in value)
    return isinstance(value, bool | int | float | complex | str | np.generic | np.ndarray)


def _value(constant: Any) -> str:
    if isinstance(constant, np.ndarray):
        return f"{constant.dtype} {constant.shape} {constant.tobytes().hex()}"
    if isinstance(constant, tuple):
        return f"({', '.join(_value(item) for item in constant)})"
    return repr(constant)


def _closure_description(function: Any) -> str:
    """Description of the values that a function closes over, the same in every process."""
    return repr([_described(cell.cell_contents) for cell in function.__closure__ or ()])


def _described(value: Any) -> Any:
    if hasattr(value, "spume_sources"):  # a compiled function: its pickle would differ between processes
        inner = value.py_func
        return (inner.__module__, inner.__qualname__, _closure_description(inner))
    if isinstance(value, tuple):
        return tuple(_described(item) for item in value)
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a kernel cannot close over {value!r}: only over numbers, strings and compiled functions")


def _stamp(sources: frozenset[str]) -> str:
    """Hash of the `sources` and of the options of the compiler that are the same for all kernels."""
    options = repr((sorted(FAST), NOT_PARALLEL))
    return hashlib.sha256((options + "".join(sorted(_digest(f) for f in sources))).encode()).hexdigest()


def _kernel_id(function: Any, sources: frozenset[str]) -> str:
    """Identifier of everything that determines the kernel of `function`."""
    try:
        stamp = _stamp(sources)
    except OSError:  # typed at a prompt
        stamp = uuid.uuid4().hex
    code = function.__code__
    return repr((stamp, code.co_qualname, code.co_firstlineno, code.co_code, _closure_description(function)))


class _ContentLocator(caching.UserWideCacheLocator):
    """Places the cache in spume's own folder and stamps it with the contents of the sources."""

    sources: frozenset[str] = frozenset()

    def __init__(self, py_func: Any, py_file: str) -> None:
        self._py_file = py_file
        self._lineno = py_func.__code__.co_firstlineno
        # the folder does not depend on the path of the source: checkouts and environments share identical kernels
        self._cache_path = str(cache_directory())

    def get_source_stamp(self) -> str:
        return _stamp(self.sources)

    def ensure_cache_path(self) -> None:
        """Do nothing: `KernelFiles` creates the folder when it writes, so a read-only folder can still be read."""


class _KernelCacheImpl(caching.CompileResultCacheImpl):
    def __init__(self, py_func: Any) -> None:
        self._lineno = py_func.__code__.co_firstlineno
        locator = _ContentLocator(py_func, py_func.__code__.co_filename)
        locator.sources = _sources(py_func)
        self._locator = locator
        # the full module name: machine code refers to its module, which may be imported under different names
        name = f"{py_func.__module__}.{py_func.__qualname__}".replace("<locals>", "in")
        if py_func.__closure__:  # kernels of one factory may depend on different sources
            name += "-" + hashlib.sha256(_closure_description(py_func).encode()).hexdigest()[:12]
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _KernelCache(caching.FunctionCache):
    _impl_class = _KernelCacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file: Any = KernelFiles(Path(self._cache_path), self._impl.filename_base, stamp)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        code = hashlib.sha256(self._py_func.__code__.co_code).hexdigest()
        return sig, codegen.magic_tuple(), code, _closure_description(self._py_func)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        loaded = super().load_overload(sig, target_context)
        if loaded is None:
            for listener in _listeners:
                listener.compiling(f"{self._py_func.__module__}.{self._py_func.__name__}")
        return loaded

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
        except OSError as error:
            _say_once(
                f"compiled kernels cannot be saved in '{cache_directory()}' ({error.strerror}), so every run compiles "
                "them again; set SPUME_CACHE_DIR to another folder"
            )


_said: set[str] = set()


def _say_once(text: str) -> None:
    if text in _said:
        return
    _said.add(text)
    if _listeners:
        _listeners[-1].note(text)
    else:
        warnings.warn(text, stacklevel=2)


@dataclass(frozen=True)
class CompilationListener:
    """Callbacks of `compilation_listener`."""

    compiling: Callable[[str], None]
    """Called with the name of each kernel that is not in the cache, before it is compiled."""
    note: Callable[[str], None]
    """Called with a sentence for the user."""
    stop: Callable[[], bool]
    """Called during compilation; if it returns true, `CompilationStopped` is raised."""


@contextlib.contextmanager
def compilation_listener(
    compiling: Callable[[str], None],
    note: Callable[[str], None] = warnings.warn,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """Call the given functions while kernels are compiled inside the `with` block; see `CompilationListener`."""
    listener = CompilationListener(compiling, note, stop)
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


class _Clock(event.Listener):
    def on_start(self, event: Any) -> None:
        stop_clock()

    def on_end(self, event: Any) -> None:
        start_clock()


class _Stopping(event.Listener):
    """Check for a stop before each compiler pass: a large kernel takes seconds, a pass a fraction of a second."""

    def on_start(self, event: Any) -> None:
        if any(listener.stop() for listener in _listeners):
            raise CompilationStopped

    def on_end(self, event: Any) -> None: ...


event.register("numba:compile", _Clock())
event.register("numba:run_pass", _Stopping())


def compiled(
    function: Any = None,
    *,
    parallel: bool = False,
    fastmath: Any = None,
    inline: Literal["never", "always"] = "never",
    forceinline: bool = False,
) -> Any:
    """Compile `function` with Numba and keep the machine code on disk.

    It may close over numbers, booleans, strings, tuples of these, and other compiled functions.
    """
    if function is None:
        return lambda f: compiled(f, parallel=parallel, fastmath=fastmath, inline=inline, forceinline=forceinline)
    flags = FAST if fastmath is None else fastmath
    # Numba empties a dictionary of options with the first signature that it compiles; it copies an object.
    only_loops: Any = ParallelOptions(dict.fromkeys(NOT_PARALLEL, False)) if parallel else False
    sources = _sources(function)
    setattr(function, KERNEL_ID, _kernel_id(function, sources))
    dispatcher: Any = numba.njit(
        function,
        parallel=only_loops,
        fastmath=flags,
        inline=inline,
        forceinline=forceinline,
        error_model="numpy",
        pipeline_class=KernelCompiler,
        **WITHOUT_WRAPPER,
    )
    dispatcher.spume_sources = sources
    with contextlib.suppress(OSError):  # a function typed at a prompt has no file: not cached
        dispatcher._cache = _KernelCache(function)
    return dispatcher


def inlined(kernel: Any) -> Any:
    """Variant of the compiled function `kernel` that is always inlined into its callers.

    LLVM may otherwise call a function of this size, passing its tuples through memory. The variant has its own name, so
    that the two do not share a cache file.
    """
    function = kernel.py_func
    code = function.__code__.replace(co_qualname=f"{function.__code__.co_qualname}.inlined")
    again = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    again.__module__ = function.__module__
    options = {name: kernel.targetoptions[name] for name in ("fastmath", "inline")}
    return compiled(again, parallel=kernel.targetoptions["parallel"] is not False, forceinline=True, **options)
