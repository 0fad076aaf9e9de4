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
"""

import contextlib
import gc
import hashlib
from collections.abc import Iterator
from typing import Any

from spume.numerics.kernel_sources import KERNEL_ID
from spume.numerics.numba_internals import Compiler, JITCodeLibrary, Linkage

MERGED = {getattr(Linkage, name) for name in ("linkonce_any", "linkonce_odr", "weak_any", "weak_odr")}
"""Linkage types for which the linker keeps only one symbol of each name."""


class KernelLibrary(JITCodeLibrary):
    """The code of one kernel, with private copies of all functions it calls."""

    def _finalize_final_module(self) -> None:
        # Other kernels link this module, so its symbols may occur several times there. Numba would derive that version
        # later from the final module, in which the copies are no longer visible.
        self._shared_module = self._final_module.clone()
        for function in self._shared_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage in MERGED:
                function.linkage = Linkage.internal
        super()._finalize_final_module()


class KernelCompiler(Compiler):
    """Numba's compiler, producing a `KernelLibrary` whose names depend only on the kernel."""

    def _compile_bytecode(self) -> Any:
        identity = self.state.func_id
        made_of = getattr(identity.func, KERNEL_ID)
        identity.unique_id = int(hashlib.sha256(made_of.encode()).hexdigest()[:16], 16)
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), identity.func_qualname)
        self.state.library.enable_object_caching()
        with _without_garbage_collection():
            return super()._compile_bytecode()


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """The compiler makes millions of objects that live until its end. Looking for garbage among them, again and again,
    took a seventh of the time. Kernels that are compiled for this one are inside the same `with` block."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
