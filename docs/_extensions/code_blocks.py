"""Doctests end with a blank line, which pages need not show."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def trim_blocks(app: Sphinx, tree: nodes.document) -> None:
    """Drop blank lines at the end of code."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block.children = [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at every page when it has been read."""
    app.connect("doctree-read", trim_blocks)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
