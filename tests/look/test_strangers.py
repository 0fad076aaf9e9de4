"""A run folder from a stranger runs no scripts: not in the viewer, not in an exported page, not in an SVG."""

import socket
import threading
import time
import urllib.error
import urllib.request
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from browser import Browser, find_chromium

from spume.frames.reader import open_run
from spume.runs.manifest import Manifest

pytest.importorskip("matplotlib", reason="needs the extra 'look'")
needs_browser = pytest.mark.skipif(find_chromium() is None, reason="needs Chromium (Debian: apt install chromium)")

PAYLOADS = [
    "<iframe srcdoc='<script>parent.hit = 1</script>'></iframe>",
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 1</script>",
    "</title><img src=x onerror='window.hit = 1'>",
    "<!--<script>",
    "--><svg onload='window.hit = 1'>",
    "@DATA@ @SCRIPT@ @TITLE@ @HASH@",
    "{window.hit = 1} {(() => { window.hit = 1 })()}",
    "[click](javascript:window.hit=1) ![x](x)",
    "<a href='javascript:window.hit=1'>click</a>",
    "import x from 'data:text/javascript,window.hit=1'",
    "&lt;b&gt; **bold** `code` \\u003cb",
    "\\g<0> $\\frac{ $ % \" ' & </style>",
]


def write_payload_run(folder: Path, *payloads: str) -> Path:
    """A run whose title is the payloads, and whose frames report a number and a stage with the name of each."""
    import synthetic_run

    synthetic_run.write_run(folder, frames=2)
    manifest = Manifest.read(folder / "manifest.json")
    numbers = dict.fromkeys(payloads, 1.0)
    frames = [entry | numbers | {"seconds": numbers} for entry in manifest.frames]
    changed = replace(manifest, scene=manifest.scene | {"title": "".join(payloads)}, frames=frames)
    changed.write(folder / "manifest.json")
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    place = tmp_path_factory.mktemp("runs")
    return [write_payload_run(place / f"run {k}", payload) for k, payload in enumerate(PAYLOADS)]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory):
    pytest.importorskip("websockets", reason="speaking to Chromium needs the package websockets (extra 'view')")
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


def assert_nothing_ran(browser: Browser) -> None:
    assert browser.run("window.hit === undefined")
    assert browser.run("document.querySelectorAll('iframe, a[href^=javascript], img[src=x]').length") == 0


@pytest.mark.slow_suite
@needs_browser
def test_the_exported_page_shows_titles_as_they_are(browser: Browser, runs: list[Path], tmp_path: Path) -> None:
    from spume.look.viewer.page import write_page

    for k, payload in enumerate(PAYLOADS):
        file = tmp_path / f"{k}.html"
        write_page([runs[k]], file, shows=("points",))
        browser.complaints.clear()
        browser.open(file.as_uri())
        browser.wait("document.body && document.body.dataset.ready === 'yes'")
        assert browser.run("document.title") == " ".join(payload.split())
        assert browser.run("document.getElementById('title').textContent") == payload
        assert browser.run("data.runs[0].title") == payload
        assert_nothing_ran(browser)
        assert browser.complaints == []


@pytest.mark.slow_suite
@needs_browser
def test_the_exported_page_runs_no_script_but_its_own(browser: Browser, runs: list[Path], tmp_path: Path) -> None:
    """Even where a script got into the page, the browser would refuse it."""
    from spume.look.viewer.page import write_page

    write_page([runs[0]], tmp_path / "page.html", shows=("points",))
    text = (tmp_path / "page.html").read_text()
    (tmp_path / "page.html").write_text(text.replace("</body>", "<script>window.hit = 1</script></body>"))
    browser.open((tmp_path / "page.html").as_uri())
    browser.wait("document.body && document.body.dataset.ready === 'yes'")
    assert browser.run("window.hit === undefined")


@pytest.fixture(scope="module")
def viewer(runs: list[Path]):
    pytest.importorskip("viser", reason="needs the extra 'view'")
    from spume.look.viewer.server import Viewer

    opened = Viewer(runs, port=8183)
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            opened.step()
            time.sleep(0.01)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield opened
    stop.set()
    thread.join()
    opened.close()


@pytest.mark.slow_suite
@needs_browser
def test_the_viewer_shows_titles_as_they_are(browser: Browser, viewer) -> None:
    browser.open(viewer.address)
    for folder, payload in list(zip(viewer.runs, PAYLOADS, strict=True))[::2]:
        viewer.run_choice.value = folder
        viewer.plot_choice.value = payload
        browser.wait(f"[...document.querySelectorAll('strong')].some(e => e.textContent === {payload!r})")
        assert_nothing_ran(browser)


def status(address: str, **headers: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def test_the_viewer_answers_under_its_own_address_only(viewer) -> None:
    port = viewer.address.rsplit(":", 1)[1]
    assert status(viewer.address) == 200
    assert status(viewer.address, Host=f"localhost:{port}") == 200
    assert status(viewer.address, Host="localhost:9999") == 200  # through a tunnel
    assert status(viewer.address, Host=f"evil.example:{port}") == 403
    assert status(viewer.address, Host="[::1") == 403


@pytest.mark.parametrize(
    ("origin", "host", "allowed"),
    [
        (None, None, True),
        ("http://127.0.0.1:{port}", None, True),
        ("http://localhost:{port}", "localhost:{port}", True),
        ("http://evil.example", None, False),
        ("http://localhost:3000", "localhost:{port}", False),
        ("http://evil.example:{port}", "evil.example:{port}", False),
        ("null", None, False),
    ],
)
def test_the_viewers_socket_takes_pages_of_its_own_only(viewer, origin, host, allowed) -> None:
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    port = int(viewer.address.rsplit(":", 1)[1])
    told = (host or "127.0.0.1:{port}").format(port=port)
    page = None if origin is None else origin.format(port=port)
    with (
        socket.create_connection(("127.0.0.1", port)) as line,
        nullcontext() if allowed else pytest.raises(InvalidStatus, match="403"),
    ):
        connect(f"ws://{told}/", sock=line, origin=page, subprotocols=["viser-v1"], max_size=None).close()


def test_a_plot_as_svg_is_whole_and_holds_no_script(tmp_path: Path) -> None:
    from spume.look.plot import plot_run

    folder = write_payload_run(tmp_path / "run", *PAYLOADS)
    plot_run(open_run(folder), tmp_path / "plot.svg", [0, 1])
    tree = ElementTree.parse(tmp_path / "plot.svg")
    names = {element.tag.rsplit("}", 1)[-1] for element in tree.iter()}
    assert not names & {"script", "iframe", "foreignObject", "a", "img"}
    assert not [key for element in tree.iter() for key in element.attrib if key.startswith("on")]
