"""The pages of the viewer, opened in a headless browser."""

import json
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import synthetic_run
from browser import Browser, find_chromium
from waiting import wait_until

pytest.importorskip("matplotlib", reason="needs the extra 'look'")
needs_browser = pytest.mark.skipif(find_chromium() is None, reason="needs Chromium (Debian: apt install chromium)")


OPTION = "[...document.querySelectorAll('[role=option]')].find(e => e.textContent.trim() === 'speed')"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory):
    pytest.importorskip("websockets", reason="speaking to Chromium needs the package websockets (extra 'view')")
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def page(solid_run: Path, plane_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from spume.look.viewer.page import write_page

    file = tmp_path_factory.mktemp("page") / "runs.html"
    write_page([solid_run, plane_run], file)
    return file


def test_the_page_names_no_other_place(page: Path) -> None:
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)", page.read_text())
    rest = re.sub(r"<script type=\"application/json\".*?</script>", "", page.read_text(), flags=re.S)
    assert not re.findall(r"https?:", rest)


def test_a_page_opens_on_the_skin_seen_by_the_scene_s_camera(tmp_path: Path) -> None:
    """A 3D run with a camera, one without, and a 2D run, which has neither skin nor camera."""
    from spume.look.viewer.page import write_page

    camera = {"position": [0.5, 0.6, 1.5], "target": [0.1, 0.2, 0.0], "fov": 25.0}
    runs = [
        synthetic_run.write_run(tmp_path / "own", frames=1, camera=camera),
        synthetic_run.write_run(tmp_path / "automatic", frames=1),
        synthetic_run.write_run(tmp_path / "plane", frames=1, dimension=2),
    ]
    size = write_page(runs, tmp_path / "page.html")
    assert size == (tmp_path / "page.html").stat().st_size
    text = re.search(r'id="data">(.*?)</script>', (tmp_path / "page.html").read_text(), re.S)
    assert text
    own, automatic, plane = json.loads(text[1])["runs"]
    assert own["view"] == {"eye": camera["position"], "target": camera["target"], "angle": 25.0}
    assert automatic["view"]["angle"] == 30.0
    assert [list(run["shows"]) for run in (own, automatic, plane)] == [["surface", "points"]] * 2 + [["points"]]
    assert plane["view"] is None


@pytest.mark.slow_suite
@needs_browser
def test_the_page_looks_from_where_the_camera_is(browser: Browser, tmp_path: Path) -> None:
    from spume.look.viewer.page import write_page

    camera = {"position": [0.5, 0.6, 1.5], "target": [0.1, 0.2, 0.0], "fov": 25.0}
    run = synthetic_run.write_run(tmp_path / "own", frames=1, camera=camera)
    write_page([run], tmp_path / "page.html", shows=("points",))
    browser.open((tmp_path / "page.html").as_uri())
    browser.wait("document.body && document.body.dataset.ready === 'yes'")
    eye = browser.run("JSON.stringify(state.target.map((each, k) => each + state.distance * basis().back[k]))")
    np.testing.assert_allclose(json.loads(eye), camera["position"], atol=1e-9)
    assert browser.run("state.angle") == pytest.approx(np.radians(25.0))


def test_packed_places_come_back_within_half_a_step() -> None:
    """16 bits within a box: at most half of extent/65535 off, and normals half of 1/127."""
    import base64
    import zlib

    from spume.look.viewer.page import STEPS, pack

    random = np.random.default_rng(0)
    x = random.normal(size=(50, 3))
    packed = pack(x, np.array([[0, 1, 2]]), np.tile([0.0, 1.0, 0.0], (50, 1)), {"J": np.arange(50, dtype=np.uint8)})
    raw = zlib.decompress(base64.b64decode(packed["bytes"]))
    part = {name: raw[start:end] for name, (start, end) in packed["parts"].items()}
    places = np.frombuffer(part["places"], np.uint16).reshape(-1, 4)[:, :3]
    back = np.array(packed["lower"]) + np.array(packed["extent"]) * places / STEPS
    assert np.all(np.abs(back - x) <= 0.5001 * np.array(packed["extent"]) / STEPS)
    np.testing.assert_array_equal(np.frombuffer(part["value J"], np.uint8), np.arange(50))
    np.testing.assert_array_equal(np.frombuffer(part["triangles"], np.uint32), [0, 1, 2])


@pytest.mark.slow_suite
@needs_browser
def test_the_standalone_page_plays_scrubs_and_colours(browser: Browser, page: Path) -> None:
    browser.complaints.clear()
    browser.requests.clear()
    browser.open(page.as_uri())
    browser.wait("document.body && document.body.dataset.ready === 'yes'")
    first = browser.picture()
    assert first.std() > 5, "the picture is blank"

    browser.run("element('frame').value = 2, element('frame').dispatchEvent(new Event('input'))")
    browser.wait("state.shown === 2")
    assert "frame 2, t = 0.200 s" in browser.run("element('time').textContent")
    moved = browser.picture()
    assert (moved[:, :600] != first[:, :600]).any(), "the slider did not change the picture"

    browser.run("element('color').value = 'speed', element('color').dispatchEvent(new Event('change'))")
    browser.wait("element('limits').textContent.includes(' to ')")
    colored = browser.picture()
    assert (colored[:, :600] != moved[:, :600]).any(), "the colour did not change the picture"

    assert browser.run("populations[0].indexed") > 0, "it does not open on the surface"
    browser.run("element('show').value = 'points', element('show').dispatchEvent(new Event('change'))")
    browser.wait("populations.length > 0 && !populations[0].indexed")
    assert (browser.picture()[:, :600] != colored[:, :600]).any(), "the points are not shown"

    browser.run("element('play').click()")
    browser.wait("state.frame !== 2")
    browser.run("element('play').click()")

    browser.run("element('run').value = 1, element('run').dispatchEvent(new Event('change'))")
    browser.wait("state.run === 1 && populations.length > 0 && populations[0].indexed === 0")
    assert browser.picture().std() > 5, "the second run is blank"
    assert browser.complaints == []
    assert [address for address in browser.requests if not address.startswith(("file:", "data:", "blob:"))] == []


@pytest.mark.slow_suite
@needs_browser
def test_the_served_page_scrubs_and_follows(browser: Browser, tmp_path: Path) -> None:
    pytest.importorskip("viser", reason="needs the extra 'view'")
    import synthetic_run

    from spume.look.viewer.server import Viewer
    from spume.runs.manifest import Manifest

    folder = synthetic_run.write_run(tmp_path / "going-on", frames=4, complete=False)
    manifest = Manifest.read(folder / "manifest.json")
    from dataclasses import replace

    replace(manifest, frames=manifest.frames[:3]).write(folder / "manifest.json")
    viewer = Viewer([folder], port=8173)
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            viewer.step()
            time.sleep(0.01)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        assert "127.0.0.1" in viewer.address
        browser.complaints.clear()
        browser.open(viewer.address)
        browser.wait("document.body && document.body.innerText.includes('Two balls')")
        first = _middle_once_drawn(browser, None)
        viewer.follow.value = False
        browser.run("document.querySelector('[role=slider]').focus()")
        for _ in range(2):
            browser.press("ArrowRight", 39)
        browser.wait("document.body.innerText.includes('t = 0.200 s')")
        assert viewer.frame.value == 2
        moved = _middle_once_drawn(browser, first)
        browser.click("[...document.querySelectorAll('input')].find(e => e.value === 'material')")
        browser.wait(f"{OPTION} !== undefined")
        browser.click(OPTION)
        browser.wait("[...document.querySelectorAll('img')].some(e => e.offsetParent !== null)")  # the colour bar
        assert viewer.color.value == "speed"
        colored = _middle_once_drawn(browser, moved)
        assert viewer.show.value == "surface"
        viewer.show.value = "points"
        _middle_once_drawn(browser, colored)
        browser.click("[...document.querySelectorAll('button')].find(e => e.innerText === 'Play')")
        browser.wait("!document.body.innerText.includes('t = 0.200 s')")
        browser.click("[...document.querySelectorAll('button')].find(e => e.innerText === 'Pause')")
        wait_until(lambda: not viewer.playing, "the viewer pauses", pause=0.05)
        viewer.follow.value = True
        manifest.write(folder / "manifest.json")
        browser.wait("document.body.innerText.includes('t = 0.300 s')")
        assert browser.complaints == []
    finally:
        stop.set()
        thread.join()
        viewer.close()


def _middle_once_drawn(browser: Browser, before: np.ndarray | None) -> np.ndarray:
    """The middle of the page, where no control and no notice is, once it is neither blank nor as it was before."""
    seen: list[np.ndarray] = []

    def drawn() -> bool:
        seen[:] = [browser.picture()[150:450, 330:560]]
        return seen[0].std() > 3 and (before is None or bool((seen[0] != before).any()))

    wait_until(drawn, "the picture is neither blank nor as it was", pause=0.3)
    return seen[0]
