"""Mutate the core maths with mutmut: ``make mutants``; pyproject.toml lists the files.

mutmut 3.8 reads a private attribute of tests that pytest 9.2 no longer has, so it is added.
"""

import sys

import pytest
from mutmut.__main__ import cli

if not hasattr(pytest.Item, "_nodeid"):
    pytest.Item._nodeid = property(lambda item: item.nodeid)  # type: ignore[attr-defined]

if __name__ == "__main__":
    sys.argv[0] = "mutmut"
    cli()
