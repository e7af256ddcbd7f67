"""Small tables for notebooks, escaped and in the style of the page."""

import html
from collections.abc import Iterable, Sequence

from gradraker._validation import show_hidden

_BOX = (
    "font:14px/1.5 system-ui,sans-serif;color:#1c2430;background:#fff;border:1px solid #d9dee4;"
    "border-radius:6px;padding:8px 12px;display:inline-block;max-width:100%;overflow-x:auto"
)
_TITLE = "font-weight:600;margin:0 0 4px"
_CELL = "padding:2px 14px 2px 0;border-bottom:1px solid #d9dee4;background:#fff;color:#1c2430"
_LONGEST_TEXT = 200


def render_box(title: str, *parts: str) -> str:
    """Return a box with a title around parts that are HTML already."""
    return f'<div style="{_BOX}"><p style="{_TITLE}">{escape(title)}</p>{"".join(parts)}</div>'


def render_facts(facts: Iterable[tuple[str, object]]) -> str:
    """Return facts as a table of two columns: name and value."""
    return render_rows([[name, fact] for name, fact in facts])


def render_rows(rows: Iterable[Sequence[object]], headings: Sequence[str] = ()) -> str:
    """Return rows as a table; numbers have four digits and are aligned to the right.

    Examples
    --------
    >>> from gradraker._html import render_rows
    >>> "&lt;b&gt;" in render_rows([["<b>", 1.23456]]), "1.235" in render_rows([["<b>", 1.23456]])
    (True, True)
    """
    lines = [
        "".join(
            f'<th scope="col" style="{_CELL};text-align:left">{escape(h)}</th>' for h in headings
        )
    ]
    lines += ["".join(map(_render_cell, row)) for row in rows]
    body = "".join(f"<tr>{line}</tr>" for line in lines if line)
    return f'<table style="border-collapse:collapse;margin:0;font:inherit">{body}</table>'


def _render_cell(cell: object) -> str:
    is_number = isinstance(cell, float | int) and not isinstance(cell, bool)
    align = "right" if is_number else "left"
    text = format_cell(cell) if is_number else escape(cell)
    return f'<td style="{_CELL};text-align:{align}"><bdi>{text}</bdi></td>'


def format_cell(cell: object) -> str:
    """Return a number with four significant digits, or a text."""
    if isinstance(cell, bool) or not isinstance(cell, float | int):
        return str(cell)
    text = f"{cell:,}".replace(",", "\u202f") if isinstance(cell, int) else f"{cell:.4g}"
    return text.replace("-", "−")


def escape(text: object) -> str:
    """Return a text with markup escaped, shortened if it is long."""
    shown = "" if text == "" else show_hidden(text)
    cut = shown if len(shown) <= _LONGEST_TEXT else f"{shown[:_LONGEST_TEXT]}…"
    return html.escape(cut)
