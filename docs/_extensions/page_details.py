"""Details of code and tables that Markdown cannot express."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def trim_blocks(app: Sphinx, tree: nodes.document) -> None:
    """Remove the blank line at the end of doctests, which pages need not show."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block.children = [nodes.Text(text)]


def keep_errors_with_numbers(app: Sphinx, tree: nodes.document) -> None:
    """Keep a number and its error, 0.3 ± 0.1, on one line of a table."""
    for cell in tree.findall(nodes.entry):
        for text in cell.findall(nodes.Text):
            text.parent.replace(text, nodes.Text(text.replace(" ± ", "\u00a0±\u00a0")))


def setup(app: Sphinx) -> dict[str, Any]:
    """Process every page after it is parsed."""
    app.connect("doctree-read", trim_blocks)
    app.connect("doctree-read", keep_errors_with_numbers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
