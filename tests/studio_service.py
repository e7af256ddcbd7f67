"""Start a studio as a user would, and open it in a real browser."""

import re
import time
from pathlib import Path
from typing import Any

import requests

from service_process import ServiceProcess


class StudioService(ServiceProcess):
    """``gradraker studio`` or ``gradraker serve`` in a process of its own."""

    def __init__(self, *words: Any, command: str = "studio", **options: Any) -> None:
        more = ["--no-browser"] if command == "studio" else []
        super().__init__(
            *(command, *more, "--port", 0, *words),
            environment={"PYTHONUNBUFFERED": "1"},
            **options,
        )
        self.url, self.token = self._read_address()

    def _read_address(self) -> Any:
        for line in self._stdout:
            self.output += line
            if found := re.search(r"(http://\S+?)/studio#token=(\S+)", line):
                return found[1], found[2]
            if found := re.search(r"(http://\S+?)/ \(API", line):
                return found[1], None
        raise AssertionError(f"the studio did not start: {self.output}")

    def ask(self, path: str, **options: Any) -> Any:
        return requests.get(f"{self.url}/{path}", timeout=60, **options)

    def wait_until_ready(self, seconds: float = 120.0) -> Any:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            if self.ask("ready").status_code == 200:
                return self
            assert self.process.poll() is None, self._stdout.read()
            time.sleep(0.05)
        raise AssertionError("the studio is not ready")


class Watched:
    """A page of a browser, with all that its console said and all that it asked for."""

    def __init__(self, context: Any, origin: str) -> None:
        self.context = context
        self.page = context.new_page()
        self.origin = origin
        self.console: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", lambda message: self.console.append(message.text))
        self.page.on("pageerror", lambda error: self.console.append(str(error)))
        self.page.on("request", self._note_request)
        self.page.on("dialog", self._note_dialog)

    def _note_dialog(self, dialog: Any) -> None:
        self.console.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note_request(self, request: Any) -> None:
        if not request.url.startswith((self.origin, "blob:")):
            self.elsewhere.append(request.url)

    def open(self, address: str) -> Any:
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready]")
        return self.page

    def close(self) -> None:
        self.context.close()
        assert self.console == []
        assert self.elsewhere == []


def save(page: Any, button: str, folder: Path) -> Any:
    page.click("#share summary")
    with page.expect_download() as waiting:
        page.click(button)
    target: Path = folder / waiting.value.suggested_filename
    waiting.value.save_as(target)
    return target
