"""Machine code of a kernel that stands on its own: it runs the same bits in every process and in any company.

Numba links the functions a kernel calls into the kernel's module, optimises the whole once more, and leaves the copies
of these functions visible to the linker as weak symbols. Of all weak symbols with one name, the linker of a process
uses the one it met first. So what a kernel really called depended on what had been compiled or loaded before it:

- In the process that compiled a kernel, it was the first version of a called function, optimised once; in a process
  that loaded the kernel from the cache, it was the kernel's own copy, optimised twice, which may round differently.
- Names hold a number that counts the functions compiled in a process. Two functions of one factory, compiled in two
  processes, could have one name; a third process that loaded kernels calling them used one of the two for both.

Here the copies become internal to the kernel's module before machine code is made of it, and the number in the names
of a kernel is a hash of what the kernel is made of.
"""

import hashlib
from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

KERNEL_ID = "spume_kernel_id"
"""The attribute of a Python function that says what its kernel is made of."""

MERGED = {getattr(binding.Linkage, name) for name in ("linkonce_any", "linkonce_odr", "weak_any", "weak_odr")}
"""The linkages of symbols of which a linker keeps only one by each name."""


class KernelLibrary(JITCodeLibrary):
    """The code of one kernel, with private copies of all functions it calls."""

    def _finalize_final_module(self) -> None:
        # Other kernels link this module: there, all of it must be allowed to occur several times. Numba would derive
        # that version later from the final module, where the copies are no longer visible.
        self._shared_module = self._final_module.clone()
        for function in self._shared_module.functions:
            if not function.is_declaration and function.linkage == binding.Linkage.external:
                function.linkage = binding.Linkage.linkonce_odr
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage in MERGED:
                function.linkage = binding.Linkage.internal
        super()._finalize_final_module()


class KernelCompiler(Compiler):
    """Numba's compiler, its result in a `KernelLibrary`, under names that depend on the kernel alone."""

    def _compile_bytecode(self) -> Any:
        identity = self.state.func_id
        made_of = getattr(identity.func, KERNEL_ID)
        identity.unique_id = int(hashlib.sha256(made_of.encode()).hexdigest()[:16], 16)
        self.state.library = KernelLibrary(self.state.targetctx.codegen(), identity.func_qualname)
        self.state.library.enable_object_caching()
        return super()._compile_bytecode()
