"""Docstrings name pages as ``docs/theory/paper.md``: text in a terminal, links on the site."""

import re
from typing import Any

from sphinx.application import Sphinx

PAGE = re.compile(r"``docs/([a-z0-9/-]+)\.md``")


def link_pages(
    app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Turn names of pages into links."""
    lines[:] = [PAGE.sub(r":doc:`/\1`", line) for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at every docstring before it is parsed."""
    app.connect("autodoc-process-docstring", link_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
