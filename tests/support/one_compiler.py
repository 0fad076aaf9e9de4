"""Two processes with tests that need the same kernel at the same time compile it once.

The second waits for the first and then finds the kernel in the cache. Waiting never goes round in a circle: a process
that holds the lock of a kernel only waits for kernels that this one calls.
"""

import contextlib
import fcntl
import functools
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spume.numerics.jit import CACHE

LOCKS = Path(tempfile.gettempdir()) / "spume-test-locks"


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the lock called `name`, which the system releases if the process is killed."""
    LOCKS.mkdir(exist_ok=True, mode=0o777)
    with open(LOCKS / hashlib.sha256(name.encode()).hexdigest()[:20], "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install() -> None:
    """Let the dispatchers of this process take a lock before they look for a kernel in spume's cache."""
    if CACHE != "spume":  # this Numba may lack what is needed
        return
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.registry import CPUDispatcher

    from spume.numerics.kernel_cache import KernelCache

    compile_alone = CPUDispatcher.compile

    @functools.wraps(compile_alone)
    def compile_once(self: Any, signature: Any) -> Any:
        cache = self._cache
        if not isinstance(cache, KernelCache):
            return compile_alone(self, signature)
        file = cache.files._path(cache._key(signature, self.targetctx.codegen()))
        with global_compiler_lock, locked(str(file)):  # threads of one process wait for the compiler, not for the file
            return compile_alone(self, signature)

    CPUDispatcher.compile = compile_once
