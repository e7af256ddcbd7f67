"""Docstrings name pages as ``docs/theory/paper.md``: text in a terminal, links on the site."""

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

PAGE = re.compile(r"``docs/([a-z0-9/-]+)\.md``")


def link_pages(
    app: Sphinx, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Turn names of pages into links, if the page exists."""

    def link(found: re.Match[str]) -> str:
        exists = (Path(app.srcdir) / f"{found[1]}.md").exists()
        return f":doc:`/{found[1]}`" if exists else found[0]

    lines[:] = [PAGE.sub(link, line) for line in lines]


def setup(app: Sphinx) -> dict[str, Any]:
    """Process every docstring before it is parsed."""
    app.connect("autodoc-process-docstring", link_pages)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
