"""`spume live` in a headless browser: buttons and sliders steer the run, which is then repeated without a viewer."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, find_chromium
from waiting import PATIENCE, wait_until

from spume.cli import main
from spume.frames.reader import open_run
from spume.runs.loop import replay_run
from spume.runs.manifest import Manifest

pytest.importorskip("viser", reason="needs the extra 'view'")
needs_browser = pytest.mark.skipif(find_chromium() is None, reason="needs Chromium (Debian: apt install chromium)")

SCENE = """
title = "A ball falls"
method = "mpm"
duration = 0.2
frame_rate = 50.0

[grid]
cell = 0.02

[[body]]
material = "gelatin"
shape = { sphere = { center = [0, 0.08, 0], radius = 0.05 } }

[[obstacle]]
name = "swing"
shape = { box = { center = [0.2, 0.05, 0], size = [0.1, 0.1, 0.1] } }
motion = { oscillate = { direction = [1, 0, 0], amplitude = 0.02, frequency = 5.0 } }

[[obstacle]]
shape = { half_space = { point = [0, 0, 0], normal = [0, 1, 0] } }
"""


class LiveRun:
    """`spume live` in a process of its own."""

    def __init__(self, folder: Path, port: int, *options: str) -> None:
        (folder.parent / "scene.toml").write_text(SCENE)
        command = [sys.executable, "-m", "spume", "live", str(folder.parent / "scene.toml"), "--out", str(folder)]
        command += ["--port", str(port), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def address(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert "http://" in line, self.process.communicate()
        return line.split()[0]

    def stop(self) -> tuple[int, str]:
        """Stop it as Ctrl-C does; its exit code and its last words."""
        self.process.send_signal(signal.SIGINT)
        words, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, words

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[LiveRun]:
    run = LiveRun(tmp_path / "live", 8193, "--paused")
    yield run
    run.kill()


def press(browser: Browser, text: str) -> None:
    button = f"[...document.querySelectorAll('button')].find(e => e.innerText === '{text}')"
    _click(browser, button)


def unfold(browser: Browser, folder: str) -> None:
    _click(browser, f"[...document.querySelectorAll('*')].filter(e => e.innerText === {folder!r}).pop()")


def _click(browser: Browser, element: str) -> None:
    browser.wait(f"{element} !== undefined")
    browser.run(f"{element}.scrollIntoView({{block: 'center'}})")
    browser.click(element)


def shown(browser: Browser, text: str) -> None:
    browser.wait(f"document.body && document.body.innerText.includes({text!r})")


def move_slider(browser: Browser, label: str, presses: int) -> None:
    """Move a slider by the arrow keys."""
    browser.run(
        "window.slider = label => { let e = [...document.querySelectorAll('label')].find("
        "e => e.innerText.startsWith(label)); while (e && !e.querySelector('[role=slider]')) e = e.parentElement; "
        "return e && e.querySelector('[role=slider]') }"
    )
    found = f"slider({label!r})"
    browser.wait(f"{found} && {found}.offsetParent !== null")
    for _ in range(abs(presses)):
        browser.run(f"window.position = {found}.ariaValueNow")
        browser.wait(f"{found}.focus(), document.activeElement === {found}")
        browser.press("ArrowRight" if presses > 0 else "ArrowLeft", 39 if presses > 0 else 37)
        browser.wait(f"{found}.ariaValueNow !== window.position")


def wait_for_change(folder: Path, path: str) -> None:
    """Wait until the last change of a run has a value at `path`."""

    def changed() -> bool:
        changes = Manifest.read(folder / "manifest.json").changes
        return bool(changes) and path in changes[-1]["values"]

    wait_until(changed, f"{path} has been changed", pause=0.1)


@pytest.mark.slow_suite
@needs_browser
def test_a_live_run_is_steered_and_repeated_bit_for_bit(browser: Browser, live: LiveRun, tmp_path: Path) -> None:
    folder = tmp_path / "live"
    browser.complaints.clear()
    browser.open(live.address())
    shown(browser, "A ball falls")
    shown(browser, "paused, t = 0 s")
    press(browser, "One frame")
    shown(browser, "paused, t = 0.02 s")
    press(browser, "One step")
    shown(browser, "between frames")
    move_slider(browser, "y [m/s²]", 5)
    wait_for_change(folder, "gravity")
    unfold(browser, "gelatin")
    move_slider(browser, "youngs modulus", 5)
    wait_for_change(folder, "material.gelatin.youngs_modulus")
    press(browser, "One frame")
    shown(browser, "paused, t = 0.04 s")
    unfold(browser, "swing")
    move_slider(browser, "speed of its motion", 5)
    wait_for_change(folder, "obstacle.0.motion")
    press(browser, "Resume")
    shown(browser, "finished, t = 0.2 s")
    assert browser.picture().std() > 5
    assert browser.complaints == []
    code, words = live.stop()
    assert (code, words) == (0, f"11 frames, 0.2 s, in {folder}\n")

    changes = open_run(folder).changes  # a slider that rests on its way makes several
    times = [change["time"] for change in changes]
    assert 0.02 < times[0] < 0.04 <= times[-1]
    assert times == sorted(set(times))
    assert {path for change in changes for path in change["values"]} == {
        "gravity", "material.gelatin.youngs_modulus", "obstacle.0.motion"
    }  # fmt: skip
    assert changes[0]["values"]["gravity"][1] > -9.81
    replay_run(folder, tmp_path / "again")
    for file in sorted((folder / "frames").iterdir()):
        assert file.read_bytes() == (tmp_path / "again" / "frames" / file.name).read_bytes()


@pytest.mark.slow_suite
@needs_browser
def test_a_restart_begins_again_and_ctrl_c_leaves_a_run_to_resume(
    browser: Browser, live: LiveRun, tmp_path: Path
) -> None:
    folder = tmp_path / "live"
    browser.open(live.address())
    shown(browser, "paused, t = 0 s")
    press(browser, "One frame")
    shown(browser, "paused, t = 0.02 s")
    move_slider(browser, "x [m/s²]", 1)
    wait_for_change(folder, "gravity")
    press(browser, "Restart")
    shown(browser, "paused, t = 0 s")
    shown(browser, "frame 0 of 0")
    press(browser, "One frame")
    shown(browser, "paused, t = 0.02 s")
    code, words = live.stop()
    assert code == 130
    assert words == f"stopped at 0.02 s; to continue: spume resume {folder}\n"
    manifest = Manifest.read(folder / "manifest.json")
    assert manifest.changes == []
    assert manifest.scene["gravity"][0] > 0
    assert main(["resume", str(folder)]) == 0
    assert len(open_run(folder)) == 11


def test_a_host_that_is_not_this_machines_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scene.toml").write_text(SCENE)
    arguments = ["live", str(tmp_path / "scene.toml"), "--out", str(tmp_path / "out"), "--host", "192.0.2.7"]
    assert main(arguments) == 1
    assert "cannot listen on 192.0.2.7" in capsys.readouterr().err
    assert not os.path.exists(tmp_path / "out")
