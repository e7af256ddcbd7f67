"""Commands run in a folder with the stations' files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import invoke


@pytest.fixture
def run_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, stations: Path) -> Callable[..., Any]:
    """Run a command in an empty folder that has the stations' files."""
    monkeypatch.chdir(tmp_path)
    for name in ("edges.csv", "known.csv"):
        Path(name).write_bytes((stations / name).read_bytes())
    return invoke


@pytest.fixture
def predict(run_here: Callable[..., Any]) -> Callable[..., Any]:
    """Run predict on the stations, unless other files are named."""

    def invoke(
        *arguments: Any, edges: Any = "edges.csv", values: Any = "known.csv", **options: Any
    ) -> Any:
        return run_here("predict", "--edges", edges, "--values", values, *arguments, **options)

    return invoke
