"""Details of code and tables that Markdown cannot say."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def trim_blocks(app: Sphinx, tree: nodes.document) -> None:
    """Doctests end with a blank line, which pages need not show."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource = text
        block.children = [nodes.Text(text)]


def keep_errors_with_numbers(app: Sphinx, tree: nodes.document) -> None:
    """A number and its error, 0.3 ± 0.1, stay on one line of a table."""
    for cell in tree.findall(nodes.entry):
        for text in cell.findall(nodes.Text):
            text.parent.replace(text, nodes.Text(text.replace(" ± ", "\u00a0±\u00a0")))


def setup(app: Sphinx) -> dict[str, Any]:
    """Look at every page when it has been read."""
    app.connect("doctree-read", trim_blocks)
    app.connect("doctree-read", keep_errors_with_numbers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
