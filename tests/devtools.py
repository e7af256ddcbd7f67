"""One browser for many pages, driven by its debugging protocol."""

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from browser import FLAGS, browser

# Seconds until a page must have loaded, on a busy machine.
PATIENCE = 60.0
# Messages of any size. No long goodbye: the browser may have sent more than was read, and waits.
OPTIONS: dict[str, Any] = {"max_size": None, "close_timeout": 0.2}


@dataclass
class Visit:
    """What happened while a page loaded."""

    url: str
    console: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


class Tab:
    """A tab of a browser."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.number = 0
        self.visit = Visit("")
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, note events that come meanwhile, and return the answer."""
        self.number += 1
        number = self.number
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = self.receive()
            if message.get("id") == number:
                assert "error" not in message, message
                return dict(message["result"])

    def receive(self) -> dict[str, Any]:
        """Wait for a message, and note it if it is a complaint or a request."""
        message: dict[str, Any] = json.loads(self.socket.recv(timeout=PATIENCE))
        method, found = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.note("error", found["exceptionDetails"])
        elif method == "Runtime.consoleAPICalled":
            self.note(found["type"], found["args"])
        elif method == "Log.entryAdded":
            self.note(found["entry"]["level"], found["entry"])
        elif method == "Network.requestWillBeSent":
            self.visit.requests.append(found["request"]["url"])
        return message

    def note(self, kind: str, message: Any) -> None:
        """Note what the console says."""
        self.visit.console.append(str(message))
        if kind in ("error", "warning", "assert"):
            self.visit.complaints.append(str(message))

    def open(self, url: str) -> Visit:
        """Load a page and return what happened."""
        self.visit = Visit(url)
        answer = self.call("Page.navigate", url=url)
        assert "errorText" not in answer, f"{url}: {answer}"
        while self.receive().get("method") != "Page.loadEventFired":
            pass
        return self.visit

    def run(self, script: str) -> Any:
        """Value of an expression in the page."""
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get(
            "value"
        )

    def wait_for(self, script: str) -> Any:
        """Wait until an expression is true in the page, and return it."""
        end = time.monotonic() + PATIENCE
        while not (found := self.run(script)):
            assert time.monotonic() < end, f"{script} did not become true"
            time.sleep(0.1)
        return found

    def load(self, text: str, folder: Path, *, size: str = "1200,900") -> tuple[str, list[str]]:
        """Return the DOM of a page after loading, and what its console said."""
        file = folder / "page.html"
        file.write_text(text, encoding="utf-8")
        width, height = map(int, size.split(","))
        self.resize(width, height)
        visit = self.open(file.as_uri())
        return self.run("document.documentElement.outerHTML"), visit.console

    def resize(self, width: int, height: int) -> None:
        """Give the page the size of a screen."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )


@contextmanager
def open_tab(folder: Path) -> Iterator[Tab]:
    """Start a browser whose profile is in a folder, and end it afterwards."""
    profile = folder / "profile"
    words = [browser(), *FLAGS, f"--user-data-dir={profile}", "--remote-debugging-port=0"]
    with (folder / "browser.log").open("wb") as log:
        process = subprocess.Popen([*words, "about:blank"], stdout=log, stderr=log)
    try:
        port, path = wait_for_port(profile / "DevToolsActivePort", process)
        with connect(f"ws://127.0.0.1:{port}{path}", **OPTIONS) as root:
            root.send(json.dumps({"id": 1, "method": "Target.getTargets"}))
            targets = json.loads(root.recv(timeout=PATIENCE))["result"]["targetInfos"]
            page = next(target["targetId"] for target in targets if target["type"] == "page")
            with connect(f"ws://127.0.0.1:{port}/devtools/page/{page}", **OPTIONS) as socket:
                yield Tab(socket)
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def wait_for_port(file: Path, process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Port and path that a starting browser writes down."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        assert process.poll() is None, "the browser ended"
        lines = file.read_text().splitlines() if file.exists() else []
        if len(lines) == 2:
            return int(lines[0]), lines[1]
        time.sleep(0.05)
    raise AssertionError("the browser did not start")
