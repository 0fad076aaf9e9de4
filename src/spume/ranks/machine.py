"""What decides on the machine code of kernels. Ranks with different code would have results with different bits."""

import hashlib
from pathlib import Path

import spume.version


def machine_code() -> dict[str, str]:
    """What must be the same on all ranks, by the name it has in messages."""
    import numba

    from spume.numerics.numba_internals import llvm

    sources = hashlib.sha256()
    folder = Path(spume.version.__file__).parent
    for file in sorted(folder.rglob("*.py")):
        sources.update(file.relative_to(folder).as_posix().encode() + b"\0" + file.read_bytes())
    return {
        "version of spume": spume.version.__version__,
        "source code of spume": sources.hexdigest()[:12],
        "version of Numba": numba.__version__,
        "processor": llvm.get_host_cpu_name(),
        "set of processor features": llvm.get_host_cpu_features().flatten(),
    }
