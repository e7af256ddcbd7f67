"""Fixtures of the tests of readers."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from oracles.text_tables import read_line_by_line


@pytest.fixture(params=["polars", "oracle"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test with our reader and with the oracle: the rules are the same."""
    with read_line_by_line() if request.param == "oracle" else nullcontext():
        yield request.param


@pytest.fixture
def write_file(tmp_path: Path) -> Callable[..., Any]:
    """Write a file and return its path."""

    def write(content: Any, name: Any = "edges.csv") -> Any:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
