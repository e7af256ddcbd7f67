"""Figures as files and as parts of pages; equal figures make equal bytes."""

import io
import os
import re
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradraker._files import write_atomically

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Kinds of files: matplotlib's canvas for them, and what is left out, dates and names of programs.
_KINDS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "svg": ("backend_svg", "FigureCanvasSVG", {"Date": None, "Creator": None}),
    "png": ("backend_agg", "FigureCanvasAgg", {"Software": None}),
    "pdf": (
        "backend_pdf",
        "FigureCanvasPdf",
        {"CreationDate": None, "Creator": None, "Producer": None},
    ),
}
FORMATS = tuple(_KINDS)


def figure_bytes(figure: "Figure", kind: str) -> bytes:
    """A figure as an SVG, PNG or PDF file, without a date and without random names.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to draw.
    kind : {"svg", "png", "pdf"}
        Kind of file.

    Returns
    -------
    bytes
    """
    from matplotlib import rc_context

    if kind not in _KINDS:
        raise ValueError(f"kind must be one of {', '.join(FORMATS)}, got {kind!r}")
    module, canvas, metadata = _KINDS[kind]
    buffer, shown, dpi = io.BytesIO(), figure.canvas, figure.dpi
    try:
        # Not figure.savefig, which draws everything twice.
        drawn = getattr(import_module(f"matplotlib.backends.{module}"), canvas)(figure)
        with rc_context({"svg.hashsalt": "gradraker", "svg.fonttype": "path"}):
            getattr(drawn, f"print_{kind}")(buffer, metadata=metadata)
    finally:
        figure.set_canvas(shown)
        figure.set_dpi(dpi)  # vector files have 72 dots an inch
    return buffer.getvalue()


def write_figure(figure: "Figure", path: str | os.PathLike[str]) -> Path:
    """Write a figure as SVG, PNG or PDF, by the ending of the name; equal ones make equal files."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in _KINDS:
        raise ValueError(
            "path: a figure is written to a file that ends in "
            f"{', '.join(f'.{one}' for one in FORMATS)}, got {os.fspath(path)!r}"
        )
    content = figure_bytes(figure, kind)
    return write_atomically(path, lambda temporary: _write(temporary, content))


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def freeze_layout(figure: "Figure") -> None:
    """Lay a figure out once and for all: each further file of it is written in half the time."""
    figure.draw_without_rendering()
    if any(axes.get_aspect() != "auto" for axes in figure.axes):
        figure.draw_without_rendering()  # such axes have found their size only now
    figure.set_layout_engine("none")


def inline_svg(text: str, *, prefix: str, description: str) -> str:
    """The element of an SVG file, to be put into a page; see :func:`svg_text`."""
    text = text[text.index("<svg") :].strip()
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{prefix}-", text)
    label = f'role="img" aria-label="{escape(description, quote=True)}"'
    # Without a size of its own the figure is as wide as the page lets it be.
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" height="[^"]*"|<svg height="[^"]*" width="[^"]*"',
        lambda match: f"<svg {label} {match.group(1) or ''}",
        text,
        count=1,
    )
