"""A real Dask scheduler with two workers on this machine, one of which is killed in the middle of a run."""

import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ballistic import SCENE, frame_bytes
from waiting import PATIENCE, wait_until

import spume
from spume import cluster
from spume.cli import main
from spume.sweeps.jobs import state_of

pytest.importorskip("distributed")


class Cluster:
    """A scheduler and its workers, processes of this machine."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.folder = folder
        self.scheduler = self.start_scheduler()
        self.workers = [self.start_worker() for _ in range(2)]

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        log = open(self.folder / "cluster.log", "ab")  # noqa: SIM115 - the processes keep it
        return subprocess.Popen([sys.executable, "-m", *command], stdout=log, stderr=log, cwd=self.folder)

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        return self.start(
            "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard"
        )  # fmt: skip

    def start_worker(self) -> subprocess.Popen[bytes]:
        return self.start(
            "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
            "--death-timeout", f"{PATIENCE:g}",
        )  # fmt: skip

    def wait_for_workers(self, count: int) -> None:
        from distributed import Client

        with Client(self.address, timeout=PATIENCE, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=PATIENCE)

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path)
    try:
        started.wait_for_workers(2)
        yield started
    finally:
        started.end()


def writer(folder: Path) -> int | None:
    """Number of the process that is writing a run, some frames of which are there."""
    status, frames = state_of(folder)
    return int((folder / "run.lock").read_text() or 0) or None if status == "interrupted" and frames > 2 else None


def sweep_in_thread(folder: Path, address: str) -> tuple[threading.Thread, dict[str, Any]]:
    """Three runs, each of which waits in its middle for the file 'go on' beside `folder`."""
    found: dict[str, Any] = {}
    waiting = SCENE | {"waits_for": str(folder.parent / "go on")}

    def run() -> None:
        try:
            found["sweep"] = spume.sweep(
                waiting, {"pause": [0.0, 1e-6, 2e-6]}, folder, measure="steps", cluster=address, progress="none"
            )
        except BaseException as error:
            found["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def wait_for_writer(folder: Path) -> int:
    found: list[int] = []
    wait_until(lambda: (number := writer(folder)) and found.append(number) is None, "a run got going", pause=0.02)
    return found[0]


def check(found: dict[str, Any], tmp_path: Path) -> None:
    assert "error" not in found, found
    made = found["sweep"]
    assert made.complete
    whole = spume.run(SCENE, tmp_path / "whole", progress="none")
    for number in range(3):
        assert frame_bytes(made[number].path) == frame_bytes(whole.path)
    assert set(made.table["steps"]) == {whole.diagnostics[-1]["steps"]}


@pytest.mark.slow
@pytest.mark.slow_suite
def test_a_killed_worker_is_survived_by_resuming_from_the_checkpoint(dask: Cluster, tmp_path: Path) -> None:
    thread, found = sweep_in_thread(tmp_path / "sweep", dask.address)
    number = wait_for_writer(tmp_path / "sweep" / "runs" / "0000")
    assert number in [worker.pid for worker in dask.workers]
    frames = state_of(tmp_path / "sweep" / "runs" / "0000")[1]
    first = (tmp_path / "sweep" / "runs" / "0000" / "frames" / "frame_00000.safetensors").stat().st_mtime_ns
    os.kill(number, signal.SIGKILL)
    (tmp_path / "go on").touch()
    thread.join(PATIENCE)
    assert not thread.is_alive()
    check(found, tmp_path)
    later = (tmp_path / "sweep" / "runs" / "0000" / "frames" / "frame_00000.safetensors").stat().st_mtime_ns
    assert frames > 2
    assert first == later, "it was resumed, not begun again"


@pytest.mark.slow
@pytest.mark.slow_suite
def test_a_restarted_scheduler_gets_the_unfinished_runs_again(dask: Cluster, tmp_path: Path) -> None:
    thread, found = sweep_in_thread(tmp_path / "sweep", dask.address)
    wait_for_writer(tmp_path / "sweep" / "runs" / "0000")
    dask.end()
    (tmp_path / "go on").touch()
    dask.scheduler = dask.start_scheduler()
    dask.workers = [dask.start_worker() for _ in range(2)]
    thread.join(PATIENCE)
    assert not thread.is_alive()
    check(found, tmp_path)


@pytest.mark.slow
@pytest.mark.slow_suite
def test_pictures_surfaces_and_exports_are_made_on_the_cluster(dask: Cluster, tmp_path: Path, capsys) -> None:
    pytest.importorskip("imageio_ffmpeg")
    from synthetic_run import write_run

    folder = write_run(tmp_path / "run", frames=2)
    assert main(["surface", str(folder), "--quality", "preview", "--cluster", dask.address]) == 0
    assert (folder / "surface" / "all" / "frame_00001.safetensors").exists()
    assert main(["render", str(folder), "--size", "160x120", "--quality", "preview", "--cluster", dask.address]) == 0
    here = tmp_path / "here"
    assert main(["render", str(folder), "--size", "160x120", "--quality", "preview", "--out", str(here)]) == 0
    from spume.look.pictures.png import read_png

    for name in ("frame_00000.png", "frame_00001.png"):
        assert (read_png(folder / "pictures" / name) == read_png(here / name)).all()
    assert main(["export", str(folder), "--to", "ply", "--cluster", dask.address]) == 0
    assert len(list((folder / "export" / "ply").iterdir())) == 2
    assert main(["export", str(folder), "--to", "vtkhdf", "--cluster", dask.address]) == 2
    assert "a single file of points" in capsys.readouterr().err


def test_an_address_without_a_scheduler_is_one_sentence(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(cluster, "FIRST_ANSWER", 0.5)
    with pytest.raises(spume.SceneError, match="no Dask scheduler answers there"):
        spume.sweep(SCENE, {"points": [3]}, tmp_path / "one", cluster="tcp://127.0.0.1:9", progress="none")
    with pytest.raises(spume.SceneError, match=r"--cluster nonsense:"):
        spume.sweep(SCENE, {"points": [3]}, tmp_path / "two", cluster="nonsense://x", progress="none")
