"""Equations as MathML, made when the site is built: without scripts or downloaded fonts."""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

# TeX puts a space before and after functions, except next to brackets.
FUNCTION = r"<m[io]>(?:arg|cos|exp|ln|log|max|min|sin)</m[io]>"
LOWERED = rf"<m(?:sub|under)>{FUNCTION}.*?</m(?:sub|under)>"
SPACE = '<mspace width="0.167em"></mspace>'
BEFORE = re.compile(rf"(</(?:mi|mn|mfrac|msup|msub|msubsup)>|\)</mo>)(?={FUNCTION}|{LOWERED})")
AFTER = re.compile(rf"((?:{LOWERED}|(?<!<msub>)(?<!<munder>){FUNCTION}))(?=<m(?!o|row><mo))")


def space_functions(text: str) -> str:
    """Put a thin space before and after names of functions."""
    return AFTER.sub(rf"\1{SPACE}", BEFORE.sub(rf"\1{SPACE}", text))


def render(writer: HTML5Translator, node: nodes.math | nodes.math_block, *, block: bool) -> None:
    """Write an equation; one that cannot be parsed stops the build."""
    text = node.astext()
    try:
        found = convert(text, display="block" if block else "inline")
    except Exception as error:
        raise ValueError(
            f"{writer.builder.current_docname}: {text!r} is not an equation"
        ) from error
    if "\\" in found:
        raise ValueError(f"{writer.builder.current_docname}: unknown command in {text!r}")
    writer.body.append(space_functions(found))
    raise nodes.SkipNode


def visit_inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write an equation within a sentence."""
    render(writer, node, block=False)


def visit_displayed(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a displayed equation, with its number if it has one."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(writer, node)
        writer.body.append(f'<span class="eqno">({number})')
        writer.add_permalink_ref(node, "Link to this equation")
        writer.body.append("</span>")
    try:
        render(writer, node, block=True)
    finally:
        writer.body.append("</div>\n")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer and select it."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_displayed, None))
    app.config.html_math_renderer = "mathml"
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
