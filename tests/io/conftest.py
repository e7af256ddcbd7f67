"""Fixtures of the tests of readers."""

from collections.abc import Iterator
from contextlib import nullcontext

import pytest

from oracles.text_tables import read_line_by_line


@pytest.fixture(params=["polars", "oracle"])
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test with our reader and with the oracle: the rules are the same."""
    with read_line_by_line() if request.param == "oracle" else nullcontext():
        yield request.param
