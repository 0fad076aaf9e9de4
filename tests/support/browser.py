"""Chromium without a window, over its DevTools protocol: enough to open a page, run a script, take a picture."""

import base64
import io
import itertools
import json
import shutil
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from waiting import PATIENCE, wait_until

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-port=0", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=900,600", "--no-first-run",
    "--hide-scrollbars", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-extensions",
)  # fmt: skip


def find_chromium() -> str | None:
    """Where Chromium is, or None."""
    return next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )


CLICKING = """
window.clickArrived = false;
window.placeAtRest = async find => {
    const middle = () => {
        const r = find()?.getBoundingClientRect();
        return r && r.width > 0 ? [r.x + r.width / 2, r.y + r.height / 2] : null;
    };
    const before = middle();
    for (let n = 0; n < 2; n++) await new Promise(requestAnimationFrame);
    const [element, place] = [find(), middle()];
    if (!before || !place || before.join() !== place.join()) return null;
    if (!element.contains(document.elementFromPoint(...place))) return null;
    element.addEventListener("click", () => window.clickArrived = true, {once: true});
    return place;
};
"""
"""Where the middle of an element is, or null while it moves, is covered or not there; notes whether it is clicked."""


class Browser:
    """One page of a headless Chromium."""

    def __init__(self, profile: Path) -> None:
        from websockets.sync.client import connect

        program = find_chromium()
        assert program is not None
        command = [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = self._port(profile / "DevToolsActivePort")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
            target = next(each for each in json.load(answer) if each["type"] == "page")
        self.socket = connect(target["webSocketDebuggerUrl"], max_size=None, ping_interval=None)  # it may be slow
        self._count = itertools.count(1)
        self.complaints: list[str] = []
        """Errors and warnings of the console, and what failed to load."""
        self.requests: list[str] = []
        """Addresses the page asked for."""
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _port(self, file: Path) -> int:
        wait_until(lambda: file.exists() and file.read_text().strip(), "Chromium has started", pause=0.05)
        return int(file.read_text().splitlines()[0])

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser something and wait for the answer."""
        number = next(self._count)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv(timeout=PATIENCE))
            self._note(message)
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]

    def _note(self, message: dict[str, Any]) -> None:
        kind, about = message.get("method"), message.get("params", {})
        if kind == "Runtime.exceptionThrown":
            details = about["exceptionDetails"]
            self.complaints.append(str(details.get("exception", details).get("description", details)))
        elif kind == "Runtime.consoleAPICalled" and about["type"] in ("error", "assert"):
            self.complaints.append(" ".join(str(each.get("value", each.get("description"))) for each in about["args"]))
        elif kind == "Log.entryAdded" and about["entry"]["level"] == "error":
            self.complaints.append(about["entry"]["text"])
        elif kind == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def open(self, address: str) -> None:
        """Go to a page."""
        self.call("Page.navigate", url=address)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression; promises are awaited."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        """Wait until an expression is true."""
        try:
            wait_until(lambda: self.run(script), script, pause=0.1)
        except TimeoutError as error:
            error.add_note(f"complaints of the browser: {self.complaints}")
            raise

    def press(self, key: str, code: int) -> None:
        """Press and release a key; `code` is its virtual key code."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def click(self, script: str) -> None:
        """Click the middle of the element an expression names, as a mouse would.

        Pages move while they are drawn. The mouse waits until the element rests and nothing covers it, and clicks again
        if the element moved away all the same.
        """
        self.call("Runtime.evaluate", expression=CLICKING)

        def is_clicked() -> bool:
            place = self.run(f"placeAtRest(() => {script})")
            if place is None:
                return False
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
            return bool(self.run("clickArrived"))

        wait_until(is_clicked, f"a click on {script} arrives", pause=0.1)

    def picture(self) -> np.ndarray:
        """A screenshot, shape (height, width, 3)."""
        from PIL import Image

        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def close(self) -> None:
        """End the browser."""
        self.socket.close()
        self.process.terminate()
        self.process.wait(timeout=PATIENCE)
