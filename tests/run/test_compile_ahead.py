"""Two processes compile the kernels of a new run."""

import subprocess

import pytest

from spume.foam import recovery, removal
from spume.foam import step as foam_step
from spume.foam.resampling import avoid_a_void
from spume.runs import compile_ahead
from spume.runs.compile_ahead import CompileAhead
from spume.scene.common import Scene

FOAM = {
    "title": "foam", "method": "continuum-foam", "duration": 0.01, "dimension": 2, "grid": {"cell": 0.01},
    "body": [{"material": "shaving cream", "shape": {"circle": {"center": [0.0, 0.0], "radius": 0.06}}}],
}  # fmt: skip


class Process:
    """Stands for the second process."""

    started = 0

    def __init__(self, *command, **options):
        Process.started += 1
        self.stdin = open("/dev/null", "w")  # noqa: SIM115 - closed by whoever writes to it
        self.killed = False

    def kill(self):
        self.killed = True

    def wait(self):
        assert self.killed


@pytest.fixture
def processes(monkeypatch):
    Process.started = 0
    monkeypatch.setattr(subprocess, "Popen", Process)
    monkeypatch.setattr(compile_ahead, "cores", lambda: 2)
    return Process


def test_one_process_is_started_at_the_first_missing_kernel_and_ends_with_the_run(processes):
    with CompileAhead(Scene(**FOAM)) as ahead:
        assert processes.started == 0
        ahead.start()
        ahead.start()
        assert processes.started == 1
    assert ahead._process.killed


def test_a_single_core_compiles_alone(processes, monkeypatch):
    monkeypatch.setattr(compile_ahead, "cores", lambda: 1)
    with CompileAhead(Scene(**FOAM)) as ahead:
        ahead.start()
    assert processes.started == 0


@pytest.mark.parametrize("dimension", [2, 3])
def test_the_rehearsal_of_a_foam_fills_a_void_and_merges_a_pair(monkeypatch, dimension):
    """Otherwise the run compiles the kernels for it alone, later."""
    reports = []
    monkeypatch.setattr(foam_step, "avoid_a_void", lambda *given: reports.append(avoid_a_void(*given)))
    shape = {"circle": {"center": [0.0, 0.0], "radius": 0.06}}
    if dimension == 3:
        shape = {"sphere": {"center": [0.0, 0.0, 0.0], "radius": 0.06}}
    body = {"material": "shaving cream", "shape": shape}
    compile_ahead.compile_ahead(Scene(**{**FOAM, "dimension": dimension, "body": [body]}).resolved())
    assert reports[0].inserted > 0
    assert reports[0].merged == 1


def test_the_rehearsal_of_a_foam_recovers_and_searches_for_slivers(monkeypatch):
    """They are not due in the first step, whose kernels the run itself compiles."""
    called = []
    for room, name in ((recovery, "recover_points"), (removal, "search_weak_points")):
        stage = getattr(room, name)
        monkeypatch.setattr(room, name, lambda *given, name=name, stage=stage: (called.append(name), stage(*given))[1])
    compile_ahead.compile_ahead(Scene(**FOAM).resolved())
    assert called == ["search_weak_points", "recover_points"]
