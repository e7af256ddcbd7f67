"""Fixtures of the tests of readers."""

from contextlib import nullcontext

import pytest

from oracles.text_tables import read_line_by_line


@pytest.fixture(params=["polars", "oracle"])
def way(request):
    """Run a test with our reader and with the oracle: the rules are the same."""
    with read_line_by_line() if request.param == "oracle" else nullcontext():
        yield request.param


@pytest.fixture
def write_file(tmp_path):
    """Write a file and return its path."""

    def write(content, name="edges.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
