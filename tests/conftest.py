"""What all tests share: runs to read, a method without a grid, the order of the tests, a folder for settings."""

import gc
import os
import sys
from collections import Counter
from pathlib import Path

import ballistic
import mixture_run
import numba
import one_compiler
import pytest
import synthetic_run

# Containers often set this: each process that a test starts would then compile every module it imports again, which
# takes longer than the rest of its start.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ballistic.register()
one_compiler.install()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--cpu-times", action="store_true", help="list the processor time of tests and of the compiler")
    parser.addoption("--cpu-times-file", type=Path, help="also append them to this file, one line of JSON each")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.cpu_times:
        from cpu_times import CpuTimes

        is_worker = hasattr(config, "workerinput")
        config.pluginmanager.register(CpuTimes(None if is_worker else config.option.cpu_times_file), "cpu-times")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Each test begins with one thread: for a few hundred points, a second one takes five times as much processor time
    when the cores are busy. That results do not depend on the number of threads has tests of its own."""
    numba.set_num_threads(1)


@pytest.fixture(autouse=True, scope="session")
def _settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The user's own are left alone, also by processes that tests start."""
    os.environ["SPUME_CONFIG_DIR"] = str(tmp_path_factory.mktemp("settings"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first, then those with many tests: a long file must not begin when the other worker
    has nothing left to do."""
    count = Counter(item.path for item in items)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, -count[item.path]))


def pytest_sessionfinish() -> None:
    """Collect garbage before a worker reports that it has finished. pytest does so afterwards, which takes seconds with
    all compiled kernels in memory, and a worker that does not end within five seconds is interrupted: the
    KeyboardInterrupt then shows up as a traceback of some weak reference's callback, below the last dot."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def solid_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of two balls in space."""
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "two-balls")


@pytest.fixture(scope="session")
def plane_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of two discs in the plane."""
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "two-discs", dimension=2)


@pytest.fixture(scope="session")
def several_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of two populations of points and a mesh."""
    return synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "several", populations="several")


@pytest.fixture(scope="session")
def wet_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three frames of wet sand and water in space."""
    return mixture_run.write_run(tmp_path_factory.mktemp("runs") / "wet")
