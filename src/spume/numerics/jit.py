"""Compilation of kernels by Numba, with a disk cache that detects every change.

Numba's own cache checks the time stamp of a kernel's file and misses changes in the functions that the kernel calls.
Here a cached kernel is valid only as long as nothing has changed in the *contents* of its own file, in those of the
files of all compiled functions it calls, directly or indirectly, or in the values of the constants they use, which may
be defined in other files. A kernel may close over numbers, strings and other compiled functions; each set of
closed-over values has its own entry in the cache.

This needs private parts of Numba (`numba_internals`). If a version of Numba does not have them or a trial with a newer
version fails, kernels are compiled with documented options only and kept in Numba's own cache; `CACHE` tells which.
"""

import contextlib
import hashlib
import os
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

from spume.errors import CompilationStopped
from spume.numerics import numba_internals
from spume.numerics.clock import CLOCK
from spume.numerics.kernel_cache import KernelCache, file_name
from spume.numerics.kernel_files import KernelFiles
from spume.numerics.kernel_sources import KERNEL_ID, closes_over_compiled, kernel_id, sources_of, stamp

# Reassociation lets sums vectorise, contraction makes fused multiply-adds. Infinities and NaNs keep their meaning:
# the health checks of a run depend on them. The same machine code runs on every thread, so results do not depend on
# the number of threads.
FAST = {"reassoc", "contract", "nsz", "arcp"}

WITHOUT_WRAPPER: Any = {"no_cfunc_wrapper": True}
"""Numba makes a second entry for C, which is only needed to pass a function as a value, and takes time to compile."""

NOT_PARALLEL = ("comprehension", "reduction", "inplace_binop", "setitem", "numpy", "stencil", "fusion")
"""Of parallel kernels only the loops over `prange` are parallel. Numba would also turn assignments to whole arrays and
the like into parallel loops, even inside such loops, which takes time to compile."""

WAY_OF_COMPILING = 2
"""Raised when `machine_code` changes the code of kernels, so that earlier ones are not used."""

OPTIONS_OF_ALL = repr((sorted(FAST), NOT_PARALLEL, WAY_OF_COMPILING))
"""Options of the compiler that are the same for all kernels."""

_listeners: list["CompilationListener"] = []


def cache_directory() -> Path:
    """Folder of the compiled kernels, in $SPUME_CACHE_DIR or the user's cache folder."""
    if chosen := os.environ.get("SPUME_CACHE_DIR"):
        return Path(chosen) / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spume" / "kernels"


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
    options = {"parallel": parallel, "fastmath": FAST if fastmath is None else fastmath, "inline": inline}
    return _in_own_cache(function, options, forceinline) if CACHE == "spume" else _in_numbas_cache(function, options)


def _in_own_cache(function: Any, options: dict[str, Any], forceinline: bool = False) -> Any:
    """A compiled function whose machine code depends only on its sources, in spume's cache."""
    from spume.numerics.machine_code import KernelCompiler, KernelDispatcher  # needs private parts of Numba

    # Numba empties a dictionary of options with the first signature that it compiles; it copies an object.
    only_loops = numba_internals.ParallelOptions(dict.fromkeys(NOT_PARALLEL, False))
    sources = sources_of(function)
    contents = stamp(sources, OPTIONS_OF_ALL)
    setattr(function, KERNEL_ID, kernel_id(function, contents))
    dispatcher: Any = numba.njit(
        function,
        **options | {"parallel": only_loops if options["parallel"] else False},
        forceinline=forceinline,
        error_model="numpy",
        pipeline_class=KernelCompiler,
        **WITHOUT_WRAPPER,
    )
    dispatcher.__class__ = KernelDispatcher
    dispatcher.spume_sources, dispatcher.spume_options = sources, options
    if contents is not None:
        files = KernelFiles(cache_directory(), file_name(function), contents)
        dispatcher._cache = KernelCache(function, files, _say_once, lambda: _wait_for(function))
    return dispatcher


def _wait_for(function: Any) -> None:
    """Another process compiles a kernel of a function."""
    _tell_compiling(function)
    _stop_if_asked()


def _tell_compiling(function: Any) -> None:
    for listener in _listeners:
        listener.compiling(f"{function.__module__}.{function.__name__}")


def _stop_if_asked() -> None:
    if any(listener.stop() for listener in _listeners):
        raise CompilationStopped


def _in_numbas_cache(function: Any, options: dict[str, Any]) -> Any:
    """A compiled function made with documented options of Numba only.

    A hash of its sources becomes part of its name, so that neither Numba's cache nor the linker confuses it with
    another function of the same name. Numba's cache never finds kernels again that close over compiled functions, so
    they are not kept there.
    """
    sources = sources_of(function)
    made_of = kernel_id(function, stamp(sources, OPTIONS_OF_ALL))
    function.__qualname__ = f"{function.__code__.co_qualname}_{hashlib.sha256(made_of.encode()).hexdigest()[:16]}"
    options_of_numba = options | {"error_model": "numpy"}
    dispatcher: Any = numba.njit(function, **options_of_numba)
    if not closes_over_compiled(function):
        with contextlib.suppress(RuntimeError):  # no folder can be written, or the function was typed at a prompt
            dispatcher = numba.njit(function, cache=True, **options_of_numba)
    dispatcher.spume_sources, dispatcher.spume_options = sources, options
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
    return compiled(again, forceinline=True, **kernel.spume_options)


def _listeners_to_numba() -> Iterator[tuple[str, Any]]:
    """Kinds of events, and what stops the clock and calls the listeners when they happen."""

    class Compiling(numba_internals.Listener):
        def on_start(self, event: Any) -> None:
            CLOCK.stop()
            kernel = event.data["dispatcher"]
            if hasattr(kernel, "spume_sources"):  # not one of Numba's own functions
                _tell_compiling(kernel.py_func)

        def on_end(self, event: Any) -> None:
            CLOCK.start()
            kernel = event.data["dispatcher"]
            failed = tuple(event.data["args"]) not in kernel.overloads
            if failed and isinstance(kernel._cache, KernelCache):
                kernel._cache.give_up()

    class Stopping(numba_internals.Listener):
        """Check for a stop before each compiler pass: a large kernel takes seconds, a pass a fraction of a second."""

        def on_start(self, event: Any) -> None:
            _stop_if_asked()

        def on_end(self, event: Any) -> None: ...

    yield "numba:compile", Compiling()
    yield "numba:run_pass", Stopping()


def _try_kernels() -> None:
    """Compile a kernel that calls another, and load it; raises an exception if the hooks do not work."""

    def made() -> Any:
        def square(x: float) -> float:
            return x * x

        inner = _in_own_cache(square, {"parallel": False, "fastmath": FAST, "inline": "never"})

        def outer(x: float) -> float:
            return inner(x) + 1.0

        return _in_own_cache(outer, inner.spume_options)

    first, again = made(), made()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaWarning)  # of a failure, which is told in one sentence
        results = first(3.0), again(3.0)
    if results != (10.0, 10.0):
        raise ValueError("a wrong result")
    if not again.stats.cache_hits and not _said:  # a folder that cannot be written has been told
        raise LookupError("a saved kernel is not found")


def _hooked() -> str | None:
    """Listen to Numba and, if it is newer than those tested, try a kernel; what does not fit, or None."""
    if missing := numba_internals.misfit():
        return missing
    registered = []
    try:
        for kind, listener in _listeners_to_numba():
            numba_internals.register(kind, listener)
            registered.append((kind, listener))
        if not numba_internals.is_tested():
            _try_kernels()
    except Exception as error:  # whatever a future version of Numba raises
        for kind, listener in registered:
            numba_internals.unregister(kind, listener)
        return f"a trial failed with {type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return None


_misfit = _hooked()
CACHE: Literal["spume", "numba"] = "numba" if _misfit else "spume"
"""Whose cache keeps the kernels of this process."""
if _misfit:
    warnings.warn(
        f"spume uses Numba's own cache, because its own does not fit Numba {numba.__version__} ({_misfit}): kernels "
        "are compiled more often, and results may differ in the last bits between processes; "
        f"Numba {numba_internals.NEWEST_TESTED} fits",
        stacklevel=2,
    )
