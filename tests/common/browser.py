"""A real browser for tests: Chromium without a window, spoken to over its own pipe.

The DevTools protocol needs no package that way: JSON messages, each ended by a zero byte, on the
browser's file descriptors 3 (to it) and 4 (from it).
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)  # fmt: skip
# Puts the pipes where the browser looks for them, then becomes the browser.
LAUNCHER = "import os, sys; os.dup2({0}, 3); os.dup2({1}, 4); os.execv(sys.argv[1], sys.argv[1:])"
SECONDS = 60


@contextlib.contextmanager
def opened(profile: Path) -> Iterator["Browser"]:
    """A browser; where there is none the test is skipped, or fails if PGT_REQUIRE_BROWSER says so."""
    program = next((path for name in NAMES if (path := shutil.which(name))), None)
    if program is None:
        message = f"no browser: none of {', '.join(NAMES)} is installed"
        if os.environ.get("PGT_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(message)
    window = Browser(program, profile)
    yield window
    window.close()


class Browser:
    """One page of a browser; `problems` gathers everything it complains about or tries to fetch."""

    def __init__(self, program: str, profile: Path):
        (from_us, to_them), (from_them, to_us) = os.pipe(), os.pipe()
        # Above 10, so that neither is overwritten while the two are put in place.
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (from_us, to_us)]
        command = [sys.executable, "-ISc", LAUNCHER.format(*theirs), program, *FLAGS]
        self.process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for end in (from_us, to_us, *theirs):
            os.close(end)
        self.to, self.back, self.unread = to_them, from_them, b""
        self.count, self.session, self.problems, self.requests = 0, None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for part in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{part}.enable")

    def call(self, method: str, **parameters) -> dict:
        """Ask for something and wait for the answer; events on the way are kept."""
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        limit = time.monotonic() + SECONDS
        while (answer := self._message(limit)).get("id") != self.count:
            self._event(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def evaluate(self, script: str):
        """The value of a JavaScript expression on the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description"))
        return answer["result"].get("value")

    def open(
        self, page: Path | str, *, width: int = 1200, height: int = 900, dark: bool = False
    ) -> None:
        """A file, or an address."""
        address = page if isinstance(page, str) else page.as_uri()
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        self.call("Page.navigate", url=address)
        self.wait_for(
            f"location.href === {json.dumps(address)} && document.readyState === 'complete' "
            f"&& innerWidth <= {width}"
        )
        self.settle()

    def wait_for(self, condition: str) -> None:
        limit = time.monotonic() + SECONDS
        while not self.evaluate(condition):
            assert time.monotonic() < limit, f"waited in vain for {condition}"
            time.sleep(0.02)

    def settle(self) -> None:
        """Until two frames have been painted."""
        self.evaluate(
            "new Promise(d => requestAnimationFrame(() => requestAnimationFrame(() => d(1))))"
        )

    def point(self, kind: str, x: float, y: float, clicks: int = 1) -> None:
        """A mouse event at a place of the window: mousePressed, mouseMoved or mouseReleased."""
        button = {"button": "left", "buttons": 0 if kind == "mouseReleased" else 1}
        place = {"x": x, "y": y, "clickCount": clicks}
        self.call("Input.dispatchMouseEvent", type=kind, **place, **button)

    def press(self, key: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )

    def screenshot(self, whole: bool = True) -> bytes:
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        return base64.b64decode(picture["data"])

    def close(self) -> None:
        os.close(self.to)  # without its pipe the browser ends by itself
        os.close(self.back)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _message(self, limit: float) -> dict:
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.back], [], [], max(limit - time.monotonic(), 0))
            part = os.read(self.back, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError(
                    "the browser does not answer" if not ready else "the browser has ended"
                )
            self.unread += part
        message, _, self.unread = self.unread.partition(b"\0")
        return json.loads(message)

    def _event(self, message: dict) -> None:
        method, details = message.get("method", ""), message.get("params", {})
        if method in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.problems.append(json.dumps(details)[:2000])
        elif method == "Runtime.consoleAPICalled":
            self.problems.append(json.dumps(details["args"])[:2000])
        elif method == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
