"""Kernels run the same bits in every process, whoever compiled them, and many processes share one cache."""

import contextlib
import gc
import os
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numba
import numpy as np
import pytest
from numba.core.cpu_options import ParallelOptions

from spume.errors import CompilationStopped
from spume.numerics.clock import working_time
from spume.numerics.jit import NOT_PARALLEL, compilation_listener, compiled, inlined
from spume.numerics.kernel_files import KernelFiles
from spume.numerics.kernel_sources import KERNEL_ID

pytestmark = [pytest.mark.numba_versions, pytest.mark.slow_suite]

KERNELS = """\
import math

import numba
import numpy as np

from spume.numerics.jit import compiled


@compiled
def determinant(a):
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6])


@compiled
def mixed(f, c):
    a = (f[0] + c * f[3], f[1] + c * f[4], f[2] - c * f[5], f[3] + c * f[6], f[4], f[5] + c * f[1], f[6], f[7], f[8])
    j = determinant(a)
    return a[0] * j - c * (a[1] + j * a[2]) + a[3] * a[4] - a[5] * c / (1.0 + j * j)


@compiled(parallel=True)
def fill(x, out):
    for i in numba.prange(len(x)):
        f = (x[i, 0], x[i, 1], x[i, 2], x[i, 3], x[i, 4], x[i, 5], x[i, 6], x[i, 7], x[i, 8])
        s = 0.0
        for k in range(9):
            s += x[i, k] * x[i, 8 - k]
        out[i] = mixed(f, s) + mixed(f, 0.5 * s) * s - math.sqrt(1.0 + s * s)


def parallel():
    x = np.random.default_rng(1).standard_normal((1000, 9))
    out = np.zeros(len(x))
    fill(x, out)
    return out.tobytes().hex()


def make_scale(factor):
    @compiled
    def scale(x, n):
        s = x
        for i in range(n):  # never entered, but too long to be inlined
            s += math.sin(x * i) * math.cos(x + i) - math.exp(-x * i) + math.atan2(x, 1.0 + i)
            for j in range(i):
                s += math.sin(s * j) * math.cos(x + j) - math.exp(-x * j) + math.atan2(x, 1.0 + j)
                s -= math.sin(s + j) * math.cos(x - j) - math.exp(-s * j) + math.atan2(s, 2.0 + j)
        return factor * s

    return scale


two, three = make_scale(2.0), make_scale(3.0)


@compiled
def doubled(x, n):
    return two(x, n) + two(x, n - 1) + two(x, n - 2)


@compiled
def tripled(x, n):
    return three(x, n) + three(x, n - 1) + three(x, n - 2)
"""


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Calls expressions of the module above, each list in a process of its own, all with one cache."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "kernels.py").write_text(KERNELS)
    path = os.pathsep.join([str(folder), *sys.path])
    # One order of all sets of words in all processes: the names of functions depend on it.
    environment = os.environ | {"SPUME_CACHE_DIR": str(folder), "PYTHONPATH": path, "PYTHONHASHSEED": "0"}

    def run(*calls: str) -> list[str]:
        code = "from kernels import *\n" + "".join(f"print({call})\n" for call in calls)
        command = [sys.executable, "-c", code]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.split()

    return run


@pytest.fixture(scope="module")
def results(processes):
    """Of the process that compiled each kernel, and of one that loaded all of them."""
    first = processes("parallel()", "doubled(1.0, 0)")
    second = processes("tripled(1.0, 0)")
    return first + second, processes("parallel()", "doubled(1.0, 0)", "tripled(1.0, 0)")


def test_a_parallel_kernel_has_the_same_bits_where_it_was_compiled_and_where_it_was_loaded(results):
    compiling, loading = results
    assert compiling[0] == loading[0]


def test_functions_of_one_factory_compiled_in_two_processes_are_told_apart_in_a_third(results):
    compiling, loading = results
    assert compiling[1:] == loading[1:] == ["6.0", "9.0"]


def test_kernels_are_the_same_in_whatever_order_they_are_loaded(results, processes):
    assert processes("tripled(1.0, 0)", "doubled(1.0, 0)", "parallel()")[::-1] == results[1]


def calls(kernel):
    @compiled
    def caller(x):
        return kernel(x) + 1.0

    return caller


def test_a_kernel_and_its_inlined_variant_give_the_same_and_are_kept_apart():
    @compiled
    def cube(x):
        return x * x * x

    plain, copied = calls(cube), calls(inlined(cube))
    assert plain(2.0) == copied(2.0) == 9.0
    assert getattr(plain.py_func, KERNEL_ID) != getattr(copied.py_func, KERNEL_ID)
    assert plain._cache.files.base != copied._cache.files.base


def save_many(folder, worker: int) -> None:
    for number in range(40):
        KernelFiles(folder, "kernel", "stamp").save((f"{worker} {number}",), (worker, number))


def test_two_processes_that_save_at_the_same_time_do_not_mix_up_their_kernels(tmp_path):
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        list(pool.map(save_many, [tmp_path] * 2, range(2)))
    files = KernelFiles(tmp_path, "kernel", "stamp")
    assert all(files.load((f"{w} {k}",)) == (w, k) for w in range(2) for k in range(40))


KERNEL_FOR_SEVERAL = """
from numba import prange
from spume.numerics.jit import compiled

@compiled
def root(x):
    return x ** 0.5

@compiled(parallel=True)
def roots(x):
    for p in prange(x.size):
        x[p] = root(x[p])

@compiled
def hopeless(x):
    return x.nothing

if __name__ == "__main__":
    import numba, numpy
    try:
        hopeless(1.0)
    except numba.TypingError:
        pass
    roots(numpy.ones(3))
    print(sum(root.stats.cache_misses.values()), sum(roots.stats.cache_misses.values()))
"""


def test_of_several_processes_one_compiles_a_kernel_and_the_others_wait(tmp_path):
    script = tmp_path / "kernels_of_several.py"
    script.write_text(KERNEL_FOR_SEVERAL)
    environment = os.environ | {"SPUME_CACHE_DIR": str(tmp_path)}
    started = [
        subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(3)
    ]
    found = [process.communicate(timeout=300)[0].split() for process in started]
    assert sorted(misses for misses, _ in found) == ["0", "0", "1"]
    assert sorted(misses for _, misses in found) == ["0", "0", "1"]
    assert not list((tmp_path / "kernels").glob("*.lock"))


def test_the_lock_of_a_killed_process_does_not_stop_others(tmp_path):
    line = "from spume.numerics.kernel_files import KernelFiles; from pathlib import Path; import time\n"
    line += f"KernelFiles(Path({str(tmp_path)!r}), 'kernel', 'stamp').claim(('f8',), lambda: None)\n"
    line += "print('mine', flush=True); time.sleep(600)"
    process = subprocess.Popen([sys.executable, "-c", line], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "mine\n"
    waits = []

    def waiting():
        waits.append(1)
        if len(waits) == 3:
            process.kill()
            process.wait()

    files = KernelFiles(tmp_path, "kernel", "stamp")
    assert files.claim(("f8",), waiting) is None
    assert len(waits) >= 3
    files.release(("f8",))
    process.stdout.close()


def test_a_kernel_of_changed_sources_or_a_damaged_one_is_not_loaded(tmp_path):
    files = KernelFiles(tmp_path, "kernel", "stamp")
    files.save(("f8",), b"machine code")
    assert files.load(("f8",)) == b"machine code"
    assert files.load(("f4",)) is None
    assert KernelFiles(tmp_path, "kernel", "other stamp").load(("f8",)) is None
    (file,) = tmp_path.iterdir()
    contents = bytearray(file.read_bytes())
    contents[-5] ^= 1
    file.write_bytes(contents)
    assert files.load(("f8",)) is None


def test_kernels_nobody_used_for_two_months_are_deleted(tmp_path):
    KernelFiles(tmp_path / "kernels", "old", "stamp").save(("f8",), 1)
    (old,) = (tmp_path / "kernels").iterdir()
    os.utime(old, (time.time() - 61 * 86400,) * 2)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:  # each process tidies up once
        pool.submit(save_many, old.parent, 1).result()
    assert {file.name.split(".")[0] for file in old.parent.iterdir()} == {"kernel"}


def test_a_cache_folder_that_cannot_be_written_is_told_once_and_kernels_still_run(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path / "file"))

    @compiled
    def double(x):
        return 2 * x

    notes: list[str] = []
    with compilation_listener(lambda name: None, notes.append):
        assert (double(2), double(2.0)) == (4, 4.0)
    assert len(notes) == 1
    assert str(tmp_path / "file" / "kernels") in notes[0]
    assert "SPUME_CACHE_DIR" in notes[0]


def test_the_working_clock_stands_still_while_a_kernel_is_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path))

    @compiled
    def double(x):
        return 2 * x

    now = 0.0

    def pass_time(*_):
        """A second passes in each pass of the compiler, and one after it."""
        nonlocal now
        now += 1.0
        return False

    monkeypatch.setattr("spume.numerics.clock.time.perf_counter", lambda: now)
    worked = working_time()
    with compilation_listener(lambda name: None, stop=pass_time):
        double(2)
    assert now > 10.0
    pass_time()
    assert working_time() - worked == 1.0


def test_compilation_is_given_up_on_request_and_done_when_asked_again(monkeypatch, tmp_path):
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path))

    @compiled
    def double(x):
        return 2 * x

    with compilation_listener(lambda name: None, stop=lambda: True), pytest.raises(CompilationStopped):
        double(2)
    worked = working_time()
    assert double(2) == 4
    assert working_time() > worked


@pytest.mark.parametrize("is_given_up", [False, True])
def test_garbage_is_collected_after_a_compilation_as_before_it(monkeypatch, tmp_path, is_given_up):
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path))

    @compiled
    def double(x):
        return 2 * x

    collected = []

    def look(*_):
        collected.append(gc.isenabled())
        return is_given_up

    with compilation_listener(lambda name: None, stop=look), contextlib.suppress(CompilationStopped):
        double(2)
    assert collected[-1] is False
    assert gc.isenabled()


def test_a_constant_changed_in_another_file_makes_the_kernel_anew(tmp_path):
    (tmp_path / "user.py").write_text(
        "from numbers_of_others import FACTOR\nfrom spume.numerics.jit import compiled\n\n\n"
        "@compiled\ndef scale(x):\n    return FACTOR * x\n\n\n"
        "@compiled\ndef shifted(x):\n    return scale(x) + 1\n\n\nprint(shifted(1))\n"
    )
    environment = os.environ | {"SPUME_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    found = []
    for factor in (2, 3):
        (tmp_path / "numbers_of_others.py").write_text(f"FACTOR = {factor}\n")
        command = [sys.executable, "-B", str(tmp_path / "user.py")]
        found.append(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
    assert found == ["3\n", "4\n"]


def test_fields_reordered_in_another_file_make_the_kernel_anew(tmp_path):
    (tmp_path / "user.py").write_text(
        "import numpy as np\nfrom tuples_of_others import Pair\nfrom spume.numerics.jit import compiled\n\n\n"
        "@compiled\ndef first(pair):\n    return pair.a[0]\n\n\nprint(first(Pair(a=np.ones(1), b=np.zeros(1))))\n"
    )
    environment = os.environ | {"SPUME_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    for fields in ("ab", "ba"):
        (tmp_path / "tuples_of_others.py").write_text(
            f"from collections import namedtuple\n\nPair = namedtuple('Pair', {fields!r}.replace('', ' '))\n"
        )
        command = [sys.executable, "-B", str(tmp_path / "user.py")]
        assert subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout == "1.0\n"


def test_every_signature_of_a_parallel_kernel_has_the_same_options():
    """Numba empties a dictionary of options with the first signature, and would then use its defaults."""

    @compiled(parallel=True)
    def fill(x):
        for i in numba.prange(x.size):
            x[i] = i

    fill(np.zeros(4))
    fill(np.zeros(4, np.float32))
    assert len(fill.signatures) == 2
    assert not any(getattr(ParallelOptions(fill.targetoptions["parallel"]), name) for name in NOT_PARALLEL)
