"""Links that show a file name, as [graphs.md](graphs.md), show the title of the page instead."""

import re
from typing import Any

from sphinx.application import Sphinx

LINK = re.compile(r"\[(?:[a-z0-9-]+/)*[a-z0-9-]+\.md\]\(([^)#]+\.md(?:#[^)]*)?)\)")


def show_titles(app: Sphinx, page: str, source: list[str]) -> None:
    """Remove the text of such links, so that the parser inserts the title."""
    source[0] = LINK.sub(r"[](\1)", source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Process every page before it is parsed."""
    app.connect("source-read", show_titles)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
