"""Figures as files and as parts of pages; equal figures make equal bytes."""

import io
import os
import re
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradraker._files import write_bytes
from gradraker._validation import check_choice

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# matplotlib's canvases have no types.
def _print_svg(figure: "Figure", file: io.BytesIO) -> None:
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    canvas: Any = FigureCanvasSVG(figure)
    canvas.print_svg(file, metadata={"Date": None, "Creator": None})


def _print_png(figure: "Figure", file: io.BytesIO) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    canvas.print_png(file, metadata={"Software": None})


def _print_pdf(figure: "Figure", file: io.BytesIO) -> None:
    from matplotlib.backends.backend_pdf import FigureCanvasPdf

    canvas: Any = FigureCanvasPdf(figure)
    canvas.print_pdf(file, metadata={"CreationDate": None, "Creator": None, "Producer": None})


# Kinds of files; none has a date or the name of a program. Not figure.savefig, which draws twice.
_PRINT = {"svg": _print_svg, "png": _print_png, "pdf": _print_pdf}
FORMATS = tuple(_PRINT)


def render_figure(figure: "Figure", kind: str) -> bytes:
    """Draw a figure as an SVG, PNG or PDF file, without a date and without random names.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    kind : {"svg", "png", "pdf"}
        Kind of file.

    Returns
    -------
    bytes

    Examples
    --------
    >>> from gradraker.plotting import DrawnDisplay, render_figure
    >>> figure = DrawnDisplay(lambda axes: axes.plot([1, 2])).plot().figure_
    >>> render_figure(figure, "png")[1:4]
    b'PNG'
    """
    from matplotlib import rc_context

    check_choice("kind", kind, FORMATS)
    file, shown, dpi = io.BytesIO(), figure.canvas, figure.dpi
    try:
        with rc_context({"svg.hashsalt": "gradraker", "svg.fonttype": "path"}):
            _PRINT[kind](figure, file)
    finally:
        figure.set_canvas(shown)
        figure.set_dpi(dpi)  # vector files have 72 dots per inch
    return file.getvalue()


def write_figure(figure: "Figure", path: str | os.PathLike[str]) -> Path:
    """Write a figure as SVG, PNG or PDF, by the ending of the name; equal ones make equal files.

    Examples
    --------
    >>> from gradraker.plotting import DrawnDisplay, write_figure
    >>> figure = DrawnDisplay(lambda axes: axes.plot([1, 2])).plot().figure_
    >>> _ = write_figure(figure, "why.svg")  # doctest: +SKIP
    """
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise ValueError(
            "path: a figure is written to a file that ends in "
            f"{', '.join(f'.{one}' for one in FORMATS)}, got {os.fspath(path)!r}"
        )
    return write_bytes(path, render_figure(figure, kind))


def freeze_layout(figure: "Figure") -> None:
    """Lay a figure out once and for all: each further file of it is written in half the time.

    Examples
    --------
    >>> from gradraker.plotting import DrawnDisplay, freeze_layout
    >>> figure = DrawnDisplay(lambda axes: axes.plot([1, 2])).plot().figure_
    >>> freeze_layout(figure)
    """
    figure.draw_without_rendering()
    if any(axes.get_aspect() != "auto" for axes in figure.axes):
        figure.draw_without_rendering()  # such axes have found their size only now
    figure.set_layout_engine("none")


def render_inline_svg(figure: "Figure", *, prefix: str, description: str) -> str:
    """Draw a figure as an SVG element to be put into a page.

    It has no date and no random names, so equal figures have equal texts.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    prefix : str
        Put before the ids of the element's parts, which must differ between the figures of
        one page.
    description : str
        Description of the picture, for readers who cannot see it.

    Returns
    -------
    str

    Examples
    --------
    >>> from gradraker.plotting import DrawnDisplay, render_inline_svg
    >>> figure = DrawnDisplay(lambda axes: axes.plot([1, 2])).plot().figure_
    >>> "<svg" in render_inline_svg(figure, prefix="b", description="Reasons")
    True
    """
    text = render_figure(figure, "svg").decode()
    return to_inline_svg(text, prefix=prefix, description=description)


def to_inline_svg(text: str, *, prefix: str, description: str) -> str:
    """Turn an SVG file into an element to be put into a page; see :func:`render_inline_svg`.

    Examples
    --------
    >>> from gradraker.plotting import DrawnDisplay, render_figure, to_inline_svg
    >>> figure = DrawnDisplay(lambda axes: axes.plot([1, 2])).plot().figure_
    >>> svg = render_figure(figure, "svg")
    >>> to_inline_svg(svg.decode(), prefix="b", description="Reasons").startswith("<svg")
    True
    """
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
