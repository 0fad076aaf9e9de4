"""Compilation of kernels by Numba, with a disk cache that notices every change.

Numba's own cache looks at the time stamp of the file a kernel stands in, and overlooks changes in what it calls.
Here a cached kernel is valid only while the *contents* of its own file and of the files of all compiled functions it
calls, directly or not, are the same, and the values of the constants they use, which may come from other files. A
kernel may close over numbers, words and other compiled functions; each set of closed-over values has its own entry in
the cache.
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

# How long a waiting thread spins before it sleeps. A step has a dozen short parallel loops. Threads that spin for long
# make each of them wait for a time slice as soon as anything else runs (measured: 172 ms a step instead of 20 on a
# loaded machine); threads that sleep at once are slow to wake (1.8 ms a step of 1,000 points instead of 0.6 on a free
# one).
os.environ.setdefault("GOMP_SPINCOUNT", "3000")

import numba
import numpy as np
from numba.core import caching, event

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

CONSTANT = "constant "
"""What a source begins with that is not a file but a constant."""

_listeners: list["CompilationListener"] = []


def cache_directory() -> Path:
    """Where compiled kernels live: $SPUME_CACHE_DIR, or the user's cache folder."""
    if chosen := os.environ.get("SPUME_CACHE_DIR"):
        return Path(chosen) / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spume" / "kernels"


@functools.cache
def _digest(source: str) -> str:
    """The contents of a file when its first kernel was made: a file edited while a process runs must not pass for the
    code that the process has in memory. Or a constant with its value."""
    contents = source.encode() if source.startswith(CONSTANT) else Path(source).read_bytes()
    return hashlib.sha256(contents).hexdigest()


def _sources(function: Any) -> frozenset[str]:
    """The files of `function` and of every compiled function it can call, and the constants they use."""
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
    """The values a function closes over, in words that are the same in every process."""
    return repr([_described(cell.cell_contents) for cell in function.__closure__ or ()])


def _described(value: Any) -> Any:
    if hasattr(value, "spume_sources"):  # another compiled function: named, because its pickle differs in each process
        inner = value.py_func
        return (inner.__module__, inner.__qualname__, _closure_description(inner))
    if isinstance(value, tuple):
        return tuple(_described(item) for item in value)
    if isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"a kernel cannot close over {value!r}: only over numbers, words and compiled functions")


def _stamp(sources: frozenset[str]) -> str:
    return hashlib.sha256("".join(sorted(_digest(f) for f in sources)).encode()).hexdigest()


def _kernel_id(function: Any, sources: frozenset[str]) -> str:
    """Everything the kernel of `function` is made of."""
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
        # one folder whatever the path of the source: several checkouts and environments share what they have in common
        self._cache_path = str(cache_directory())

    def get_source_stamp(self) -> str:
        return _stamp(self.sources)

    def ensure_cache_path(self) -> None:
        """Nothing: `KernelFiles` makes the folder when it writes, so that kernels can be read from a folder that cannot
        be written."""


class _KernelCacheImpl(caching.CompileResultCacheImpl):
    def __init__(self, py_func: Any) -> None:
        self._lineno = py_func.__code__.co_firstlineno
        locator = _ContentLocator(py_func, py_func.__code__.co_filename)
        locator.sources = _sources(py_func)
        self._locator = locator
        # the whole module name: machine code refers to its module, which may be imported under different names
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
                f"compiled kernels cannot be kept in '{cache_directory()}' ({error.strerror}), so every run compiles "
                "them again; SPUME_CACHE_DIR names another folder"
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
    """Who wants to know what is compiled."""

    compiling: Callable[[str], None]
    """Called with the name of each kernel about to be compiled (not found in the cache)."""
    note: Callable[[str], None]
    """Called with a sentence for the user."""
    stop: Callable[[], bool]
    """Whether to give compilation up, by `CompilationStopped`."""


@contextlib.contextmanager
def compilation_listener(
    compiling: Callable[[str], None],
    note: Callable[[str], None] = warnings.warn,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """While active, tells what is compiled, and asks whether to go on; see `CompilationListener`."""
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
    """Asks before each pass of the compiler: a large kernel takes seconds, its passes fractions of one."""

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
    sources = _sources(function)
    setattr(function, KERNEL_ID, _kernel_id(function, sources))
    dispatcher: Any = numba.njit(
        function,
        parallel=parallel,
        fastmath=flags,
        inline=inline,
        forceinline=forceinline,
        error_model="numpy",
        pipeline_class=KernelCompiler,
        **WITHOUT_WRAPPER,
    )
    dispatcher.spume_sources = sources
    with contextlib.suppress(OSError):  # a function typed at a prompt has no file: it is compiled anew in each process
        dispatcher._cache = _KernelCache(function)
    return dispatcher


def inlined(kernel: Any) -> Any:
    """The compiled function `kernel` once more, as one whose machine code is copied into its callers.

    LLVM decides by itself whether to copy a function of this size or to call it, and then passes its tuples through
    memory. The copy has a name of its own, so that the files of both variants differ.
    """
    function = kernel.py_func
    code = function.__code__.replace(co_qualname=f"{function.__code__.co_qualname}.inlined")
    again = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)
    again.__module__ = function.__module__
    options = {name: kernel.targetoptions[name] for name in ("parallel", "fastmath", "inline")}
    return compiled(again, forceinline=True, **options)
