"""Processor time of each test, for `pytest --cpu-times`: user and system time, of child processes too.

Unlike the durations of pytest these hardly depend on what else the machine does. The time spent in the compiler is
listed apart, so that the first run with an empty cache (`SPUME_CACHE_DIR=$(mktemp -d)`) shows which tests need kernels
that no other test needs.
"""

import json
import resource
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from numba.core import event

PROPERTY = "cpu_times"


def processor_time() -> float:
    """User and system time of this process and of its children that have ended [s]."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class CompilerTimes(event.Listener):
    """Processor time of each kernel that this process compiles, without that of the kernels it calls."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inner: list[float] = []

    def on_start(self, event: Any) -> None:
        self._inner.append(0.0)
        self._inner.append(time.process_time())

    def on_end(self, event: Any) -> None:
        if not self._inner:  # another listener has refused to compile before this one heard of it
            return
        spent = time.process_time() - self._inner.pop()
        own = spent - self._inner.pop()
        if self._inner:
            self._inner[-2] += spent
        dispatcher = event.data["dispatcher"]
        name = getattr(getattr(dispatcher._cache, "files", None), "base", dispatcher.py_func.__qualname__)
        self.seconds[f"{name} {event.data['args']}"] += own


class CpuTimes:
    """Plugin that measures in each process with tests and reports in the process that prints."""

    def __init__(self, table: Path | None) -> None:
        self.table = table
        self.tests: dict[str, dict[str, Any]] = defaultdict(lambda: {"seconds": 0.0, "compiled": Counter()})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        compiler = CompilerTimes()
        item.stash[COMPILER] = compiler
        with event.install_listener("numba:compile", compiler):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Any:
        item.stash[BEGAN] = processor_time()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo) -> Any:
        report = yield
        now = processor_time()
        found = {"seconds": now - item.stash[BEGAN], "compiled": dict(item.stash[COMPILER].seconds)}
        item.stash[BEGAN] = now
        item.stash[COMPILER].seconds.clear()
        report.user_properties = [p for p in report.user_properties if p[0] != PROPERTY] + [(PROPERTY, found)]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, found in report.user_properties:
            if name == PROPERTY:
                self.tests[report.nodeid]["seconds"] += found["seconds"]
                self.tests[report.nodeid]["compiled"] += Counter(found["compiled"])
                if self.table and (report.when == "teardown" or found["seconds"] > 0.01):
                    with self.table.open("a") as file:
                        file.write(json.dumps({"test": report.nodeid, "when": report.when, **found}) + "\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter.write_line
        terminalreporter.write_sep("=", "processor time [s]: all, compiler")
        tests = {name: (found["seconds"], sum(found["compiled"].values())) for name, found in self.tests.items()}
        files: dict[str, tuple[float, float]] = {}
        for name, times in tests.items():
            known = files.get(name.split("::")[0], (0.0, 0.0))
            files[name.split("::")[0]] = (known[0] + times[0], known[1] + times[1])
        for title, rows in (("files", files), ("tests", tests)):
            write(title)
            for name, (seconds, in_compiler) in sorted(rows.items(), key=lambda row: -row[1][0])[:30]:
                write(f"{seconds:8.1f} {in_compiler:8.1f}  {name}")
        kernels = Counter(kernel for found in self.tests.values() for kernel in found["compiled"])
        again = sum(count - 1 for count in kernels.values())
        total, compiled = (sum(times[k] for times in files.values()) for k in (0, 1))
        write(f"{total:8.1f} {compiled:8.1f}  in all; {len(kernels)} kernels, {again} compiled again")


BEGAN = pytest.StashKey[float]()
COMPILER = pytest.StashKey[CompilerTimes]()
