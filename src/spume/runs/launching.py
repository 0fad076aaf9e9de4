"""Starting the ranks of a run, and finding out that this process is one of them."""

import contextlib
import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from importlib import import_module, metadata
from pathlib import Path
from types import FrameType, ModuleType

from spume.children import python_command
from spume.cores import cores, most_threads
from spume.errors import SceneError, SpumeError
from spume.extras import require
from spume.options import INTERRUPTED
from spume.ranks.communicator import Communicator
from spume.runs.crew import Crew, Leader, follow
from spume.runs.stopping import stop_signals
from spume.terminal import tell

SIZES = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS")
"""Variables in which launchers of MPI tell processes how many they are."""
HERE = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NTASKS_PER_NODE")
"""Variables in which they tell how many of them are on this machine."""
STEP = ("PMIX_RANK", "SLURM_STEP_NUM_TASKS")
"""Variables of a Slurm step with PMIx: the number of the process, and how many there are."""
WHEEL = "mpich"
"""A package that brings an MPI for one machine."""
LIBRARY = "MPI4PY_LIBMPI"
"""Variable in which mpi4py is told the file of the library."""
OWN_CODES = (*range(6), INTERRUPTED)
"""Exit codes of spume."""
THREADS = "NUMBA_NUM_THREADS"
PURPOSE = "running a scene on several ranks"


def launched() -> bool:
    """Whether this process was started by a launcher of MPI as one of several."""
    return any(_number(name) > 1 for name in SIZES) or (STEP[0] in os.environ and _number(STEP[1]) > 1)


def _number(name: str) -> int:
    """The number in an environment variable, 1 if there is none."""
    value = os.environ.get(name, "")
    return int(value) if value.isdigit() else 1


def communicator() -> Communicator | None:
    """Messages to the other processes of a launcher of MPI; None if there are none."""
    if not launched():
        return None
    from spume.ranks.mpi import MpiCommunicator

    module = require("mpi4py", PURPOSE)
    module.rc.thread_level = "funneled"
    module.rc.finalize = False  # after an abort the others no longer answer
    try:
        mpi = _library()
    except (ImportError, RuntimeError) as error:
        raise SceneError(
            f"mpi4py finds no MPI library ({str(error).splitlines()[0]}): on a cluster load its module of MPI, "
            "elsewhere 'pip install mpich'"
        ) from None
    world = mpi.COMM_WORLD
    return MpiCommunicator(world) if world.Get_size() > 1 else None


def _library() -> ModuleType:
    """The module of mpi4py with its library: the one it finds, or else that of the wheel."""
    try:
        return import_module("mpi4py.MPI")
    except RuntimeError:
        own = _of_wheel("libmpi.so.12")
        if own is None:
            raise
        os.environ[LIBRARY] = str(own)
        return import_module("mpi4py.MPI")


def _of_wheel(name: str) -> Path | None:
    """A file of the wheel, which may be installed in another folder than the scripts of this Python."""
    with contextlib.suppress(metadata.PackageNotFoundError):
        for file in metadata.files(WHEEL) or ():
            if file.name == name and (found := Path(str(file.locate())).resolve()).exists():
                return found
    return None


@contextlib.contextmanager
def crew(threads: int | None = None) -> Iterator[Crew | None]:
    """The processes of this run, with so many threads each (None: an equal share of the cores). On all but the writer
    the run happens here, and the crew is None."""
    messages = communicator()
    if messages is None:
        yield Crew()
        return
    _share_cores(threads)
    try:
        check_alike(messages)
    except SceneError:
        leave()
        if messages.rank == 0:
            raise
        yield None  # the writer tells
        return
    if messages.rank > 0:
        follow(messages)
        leave()
        yield None
        return
    leader = Leader(messages)
    try:
        yield leader
    except BaseException as error:
        if leader.lost:  # abort ends this process, too: no one else would print the message
            tell(f"error: {error}" if isinstance(error, SpumeError) else str(error) or f"error: {error!r}")
        raise
    finally:
        leader.dismiss()
        leave()


def leave() -> None:
    """End the messages of this process, at last: a launcher takes one that ends without for broken, and kills the
    others."""
    import mpi4py.MPI as mpi

    mpi.Finalize()


def _share_cores(threads: int | None) -> None:
    """Set the number of threads of this rank."""
    import numba

    from spume.runs.loop import use_threads

    if threads is not None or THREADS in os.environ:
        use_threads(threads)
        return
    pinned = cores() < (os.cpu_count() or 1)  # then these cores are the rank's own
    here = next((_number(name) for name in HERE if name in os.environ), 1)
    numba.set_num_threads(min(most_threads(), max(1, cores() // (1 if pinned else here))))


def check_alike(messages: Communicator) -> None:
    """Raise SceneError on all ranks if they would compute with different machine code."""
    from spume.ranks.machine import machine_code

    own = machine_code()
    first = messages.broadcast(own)
    from spume.ranks.team import Team

    with Team(messages).agreed():
        for name, value in first.items():
            if own[name] != value:
                raise SceneError(
                    f"rank {messages.rank} has another {name} than rank 0 ('{own[name]}', not '{value}'), so their "
                    "results would differ in the last digits: give the run nodes of one kind with one installation"
                )


def start_ranks(count: int, threads: int | None, arguments: Sequence[str]) -> int:
    """Run `spume` with `arguments` on so many ranks of this machine, and return the exit code. Each rank has
    `threads` threads; None: an equal share of the cores."""
    if count < 1:
        raise SceneError(f"--ranks {count}: a run has 1 rank or more")
    require("mpi4py", PURPOSE)
    command = [mpiexec(), "-n", str(count), *python_command("-m", "spume", *arguments)]
    share = threads if threads is not None else max(cores() // count, 1)
    # a session of its own: Ctrl-C reaches the ranks once, from here
    with subprocess.Popen(command, env={**os.environ, THREADS: str(share)}, start_new_session=True) as process:
        asked = 0

        def pass_on(number: int, frame: FrameType | None) -> None:
            nonlocal asked
            asked += 1
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGINT if asked == 1 else signal.SIGKILL)

        before = {number: signal.signal(number, pass_on) for number in stop_signals()}
        try:
            code = process.wait()
            if not asked and code not in OWN_CODES:
                tell(
                    "error: a rank was killed, and the others have ended; what is on disk stays good: continue with "
                    "'spume resume' and the folder of the run"
                )
            return code
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def mpiexec() -> str:
    """The launcher of MPI of this environment, or else of this machine."""
    scripts = sysconfig.get_path("scripts")
    own = Path(scripts) / "mpiexec"
    found = str(own) if own.exists() else _of_wheel("mpiexec") or shutil.which("mpiexec")
    if found is None:
        raise SceneError(
            f"there is no 'mpiexec' in '{scripts}' or in PATH: 'pip install mpich' brings one, and a cluster has a "
            "module of MPI"
        )
    return str(found)
