"""The examples of docs/how-to/live.md, run against the service that the page starts."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker.cli import main
from gradraker.live.server import serve
from live_service import TOKEN, LiveService

pytestmark = [pytest.mark.process, pytest.mark.slow]
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "live.md").read_text("utf-8")


def find_blocks(language: Any) -> Any:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: Any) -> Any:
    journal = tmp_path_factory.mktemp("demo") / "live.db"
    with LiveService("--demo", journal=journal) as service:
        yield service


def test_python_examples_of_the_page_run(demo: Any) -> None:
    (block,) = find_blocks("python")
    block = block.replace("http://localhost:8000", demo.url).replace("TOKEN", TOKEN)
    names: dict[str, Any] = {}
    exec(block, names)
    assert names["predictions"].shape == (1,)
    assert np.isfinite(names["intervals"]).all()
    names["live"].close()


def test_curl_examples_of_the_page_run(demo: Any) -> None:
    (block,) = [one for one in find_blocks("sh") if "curl" in one]
    block = block.replace("localhost:8000", f"localhost:{demo.port}").replace("curl ", "curl -sf ")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block],
        capture_output=True,
        text=True,
        env=os.environ | {"GRADRAKER_TOKEN": TOKEN},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"last_seq"' in done.stdout
    assert "gradraker_state_seq" in done.stdout
    assert "https" not in done.stdout


def test_options_of_the_page_exist() -> None:
    known = {option for one in main.commands["serve"].params for option in one.opts}
    for command in re.findall(r"^gradraker serve (.*?)(?: +#.*)?$", PAGE, re.MULTILINE):
        for option in re.findall(r"--[a-z-]+", command):
            assert option in known, option
    for option in set(re.findall(r"`(--[a-z-]+)", PAGE)):
        assert option in known | {"--labels"}, option
    assert serve.__doc__


def test_requests_of_the_page_exist(demo: Any) -> None:
    described = demo.connect()._request("GET", "/openapi.json")["paths"]
    table = PAGE.split("| request |")[1].split("\n\n")[0]
    assert set(re.findall(r"(/[a-z-]+)", table)) == set(described)
