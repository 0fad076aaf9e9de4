"""Kernels that only other kernels call have no machine code until Python calls them."""

import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from spume.numerics.jit import CACHE, compiled

pytestmark = [
    pytest.mark.numba_versions,
    pytest.mark.slow_suite,
    pytest.mark.skipif(CACHE != "spume", reason="Numba's own cache"),
]


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SPUME_CACHE_DIR", str(tmp_path))


def pair():
    """A kernel, and one with a parallel loop that calls it."""

    @compiled
    def shifted(x):
        return np.float64(max(x, 1.0)) + 2.0

    @compiled(parallel=True)
    def shift(x):
        for p in numba.prange(x.size):
            x[p] = shifted(x[p])

    return shifted, shift


def shifts(shift) -> list[float]:
    x = np.array([0.0, 3.0])
    shift(x)
    return x.tolist()


def has_machine_code(kernel) -> list[bool]:
    return [result.library.has_machine_code for result in kernel.overloads.values()]


def test_a_kernel_gets_machine_code_when_python_calls_it():
    shifted, shift = pair()
    assert shifts(shift) == [3.0, 5.0]
    assert has_machine_code(shift) == [True]
    assert has_machine_code(shifted) == [False]
    assert shifted(4.0) == 6.0
    assert has_machine_code(shifted) == [True]
    assert shifts(shift) == [3.0, 5.0]


def test_a_kernel_with_machine_code_serves_other_kernels():
    shifted, shift = pair()
    assert shifted(4.0) == 6.0
    assert shifts(shift) == [3.0, 5.0]
    assert sum(shifted.stats.cache_misses.values()) == 1


def test_a_saved_kernel_without_machine_code_is_linked_by_other_kernels(tmp_path):
    script = tmp_path / "kernels_of_two.py"
    script.write_text(SCRIPT)
    found = []
    for who in ("first", "second", "python", "second"):
        command = [sys.executable, "-B", str(script), who]
        found.append(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    # what the kernel returned, and how often `half` was compiled and loaded
    assert found == [["2.5", "1", "0"], ["3.5", "0", "1"], ["1.5", "1", "0"], ["3.5", "0", "0"]]
    assert len(list(Path(tmp_path).glob("kernels/*.half-*.kernel"))) == 2


SCRIPT = """
import sys
from spume.numerics.jit import compiled

@compiled
def half(x):
    return 0.5 * x

@compiled
def first(x):
    return half(x) + 1.0

@compiled
def second(x):
    return half(x) + 2.0

def python(x):
    return half(x)

print({"first": first, "second": second, "python": python}[sys.argv[1]](3.0))
print(sum(half.stats.cache_misses.values()), sum(half.stats.cache_hits.values()))
"""


def test_functions_of_numba_that_a_kernel_used_work_in_other_functions():
    shifted, shift = pair()
    assert shifts(shift) == [3.0, 5.0]  # has compiled `max` for linking only

    @numba.njit
    def larger(x, y):
        return max(x, y)

    @numba.njit(parallel=True)
    def lengthen(x):
        for p in numba.prange(x.size):
            x[p] = larger(x[p], 4.0) + shifted(x[p])

    x = np.array([0.0, 5.0])
    lengthen(x)
    assert x.tolist() == [7.0, 12.0]
    assert larger(1.0, 2.0) == 2.0


def test_a_function_of_the_user_that_a_kernel_calls_can_be_called_from_python():
    @numba.njit
    def third(x):
        return x / 3.0

    def caller(x):
        return third(x) + 1.0

    third.spume_sources = frozenset({__file__})
    kernel = compiled(caller)
    assert kernel(6.0) == 3.0
    assert third(9.0) == 3.0


def test_operators_on_other_types_are_told_apart_after_numbers():
    @compiled
    def add(x, y):
        return x + y

    assert add(1, 2) == 3
    assert add(1.5, 2) == 3.5
    assert add(True, True) == 2
    assert add(np.ones(2), 1.0).tolist() == [2.0, 2.0]
    assert add((1, 2), (3,)) == (1, 2, 3)
    assert isinstance(add(1, 2), int)
    assert isinstance(add(1.0, 2), float)
