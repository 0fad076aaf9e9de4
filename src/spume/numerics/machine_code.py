"""Self-contained machine code: a kernel gives the same bits in every process, whatever else is loaded.

Numba links the functions a kernel calls into the kernel's module, optimises the whole once more, and leaves the copies
of these functions visible to the linker as weak symbols. Of all weak symbols with one name, the linker of a process
uses the first it finds. The functions that a kernel called would then depend on what had been compiled or loaded
before:

- The process that compiled a kernel would use the first version of a called function, optimised once; a process that
  loaded the kernel from the cache would use the kernel's own copy, optimised twice, which may round differently.
- Names contain a counter of the functions compiled in a process. Two functions of one factory, compiled in two
  processes, could get the same name; a third process that loaded kernels calling them would use one of the two for
  both.

Here the copies become internal to the kernel's module before machine code is generated, and the number in a kernel's
names is a hash of its sources.

Two things save time of the compiler, beside those of `compiler_shortcuts`:

- Machine code is made when Python needs it. Numba makes it for each function in turn, also for those that only kernels
  call, of which every caller links a copy: functions of its own, the bodies of parallel loops, two functions around
  each body, and kernels that other kernels call. For the same reason these have no entry for Python.
- The two functions around a body are optimised once, in the kernel that they are linked into.
"""

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

from spume.numerics.compiler_shortcuts import shortcuts
from spume.numerics.kernel_cache import LINKED, compiling, is_for_kernel
from spume.numerics.kernel_sources import KERNEL_ID
from spume.numerics.numba_internals import (
    Compiler,
    CompileResult,
    CPUDispatcher,
    JITCodeLibrary,
    Linkage,
    llvm,
)

AROUND_LOOPS = ("parallelgufuncwrapper", "<numba.np.ufunc.wrappers._GufuncWrapper")
"""Beginnings of the names of libraries with the functions that call the body of a parallel loop."""
MERGED = {getattr(Linkage, name) for name in ("linkonce_any", "linkonce_odr", "weak_any", "weak_odr")}
"""Linkage types for which the linker keeps only one symbol of each name."""


class LinkedLibrary(JITCodeLibrary):
    """The code of a function that kernels link; machine code is made if Python asks for an address in it."""

    has_machine_code = False

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def _optimize_final_module(self) -> None:
        if not self.name.startswith(AROUND_LOOPS):
            super()._optimize_final_module()

    def make_machine_code(self) -> None:
        """What Numba does at the end of `finalize`."""
        self.has_machine_code = True
        super()._finalize_final_module()

    def get_pointer_to_function(self, name: str) -> int:
        """The address of a function, 0 if there is none."""
        self._ensure_finalized()
        if not self.has_machine_code:
            found = {function.name for function in self._final_module.functions if not function.is_declaration}
            if name not in found:
                return 0
            self.make_machine_code()
        return int(super().get_pointer_to_function(name))

    @property
    def codegen(self) -> Any:
        """Where Numba sets the environment of the function: nowhere, as long as there is no machine code."""
        return super().codegen if self.has_machine_code else self

    def set_env(self, name: str, environment: Any) -> None:
        """Stands for that of `codegen`."""


class KernelLibrary(LinkedLibrary):
    """The code of one kernel, with private copies of all functions it calls."""

    _final_module: Any
    _shared_module: Any

    def _finalize_final_module(self) -> None:
        if self._shared_module is not None:  # loaded from the cache
            self.make_machine_code()
            return
        # Other kernels link this module, so its symbols may occur several times there. Numba would derive that version
        # later from the final module, in which the copies are no longer visible.
        self._shared_module = self._final_module.clone()
        for function in self._shared_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr
        super()._finalize_final_module()

    def make_machine_code(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage in MERGED:
                function.linkage = Linkage.internal
        super().make_machine_code()

    def serialize_using_object_code(self) -> tuple[str, str, Any]:
        """What is saved: without machine code, what other kernels link."""
        if self.has_machine_code:
            return super().serialize_using_object_code()
        return self.name, LINKED, self._shared_module.as_bitcode()

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[str, str, Any]) -> Any:
        name, kind, data = state
        if kind != LINKED:
            return super()._unserialize(codegen, state)
        library = cls(codegen, name)
        library._final_module = library._shared_module = llvm.parse_bitcode(data)
        LinkedLibrary._finalize_final_module(library)
        return library


@contextlib.contextmanager
def libraries_of(codegen: Any, kind: type[JITCodeLibrary]) -> Iterator[None]:
    """Let `codegen` make libraries of another class; the caller holds the lock of the compiler."""
    usual = codegen._library_class
    codegen._library_class = kind
    try:
        yield
    finally:
        codegen._library_class = usual


def rebuilt(context: Any, saved: Any) -> Any:
    """The kernel that was saved."""
    with libraries_of(context.codegen(), KernelLibrary):
        return CompileResult._rebuild(context, *saved)


class KernelDispatcher(CPUDispatcher):
    """A compiled function, whose kernels have machine code only if Python has called them."""

    def add_overload(self, result: Any) -> None:
        """Register a kernel, for calls from Python only if it has machine code."""
        if result.library.has_machine_code:
            super().add_overload(result)
        else:
            self.overloads[tuple(result.signature.args)] = result

    def compile(self, signature: Any) -> Any:
        """Numba asks for a kernel, to be called from Python or from another kernel."""
        if not is_for_kernel():
            known = self.overloads.get(tuple(signature))
            if known is not None and not known.library.has_machine_code:
                del self.overloads[tuple(signature)]
        return super().compile(signature)


def _only_for(wanted: KernelLibrary | None, make: Callable[..., None]) -> Callable[..., None]:
    """Numba's function `make`, which adds an entry for Python to a library, restricted to one library: the bodies of
    the parallel loops of a kernel need none."""

    def make_wrapper(library: JITCodeLibrary, *args: Any, **options: Any) -> None:
        if library is wanted:
            make(library, *args, **options)

    return make_wrapper


class KernelCompiler(Compiler):
    """Numba's compiler, producing a `KernelLibrary` whose names depend only on the kernel."""

    def _compile_bytecode(self) -> Any:
        identity = self.state.func_id
        made_of = getattr(identity.func, KERNEL_ID)
        identity.unique_id = int(hashlib.sha256(made_of.encode()).hexdigest()[:16], 16)
        codegen = self.state.targetctx.codegen()
        self.state.library = KernelLibrary(codegen, identity.func_qualname)
        self.state.library.enable_object_caching()
        self.state.targetctx.create_cpython_wrapper = _only_for(
            None if is_for_kernel() else self.state.library, self.state.targetctx.create_cpython_wrapper
        )
        with compiling(), shortcuts(), libraries_of(codegen, LinkedLibrary):
            return super()._compile_bytecode()
