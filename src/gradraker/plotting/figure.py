"""Shared colours, displays, axes and legends; figures as files and in pages."""

import io
import os
import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gradraker._files import write_bytes
from gradraker._validation import check_choice

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
else:
    Axes = Any  # for annotations only: matplotlib is not imported before a figure is drawn

# Okabe and Ito's colours are distinguishable with any common colour blindness.
BLUE = "#0072B2"
VERMILION = "#D55E00"
ORANGE = "#E69F00"
BLACK = "#000000"
# Behind the data: grids, ranges, ends of epochs.
GREY = "#9A9A9A"
LIGHT_GREY = "#E3E3E3"
DARK_GREY = "#5A5A5A"
# The ranges of σ², in light tints that keep black text readable; names are written on them, so the
# colours need not be distinguished.
RANGE_TINTS = {
    "Chaos": "#F6D3BF",
    "Extending": "#BFE5D8",
    "Disturbing": "#FAE8BF",
    "Averaging": "#E3E3E3",
}

# In vector files, more points than this are rasterized, so that the files open quickly.
MANY_POINTS = 5000


class Display:
    """A picture that is drawn on given axes, or on a new figure.

    Attributes
    ----------
    ax_, figure_ : matplotlib.axes.Axes and matplotlib.figure.Figure
        The axes drawn on and their figure, after ``plot``.
    """

    ax_: "Axes"
    figure_: "Figure"
    size = (5.5, 3.6)  # of a new figure, in inches

    def plot(self, *, ax: "Axes | None" = None) -> Self:
        """Draw on ``ax``, or on a new figure that pyplot does not manage.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw.

        Returns
        -------
        The display, with ``ax_`` and ``figure_`` set.
        """
        axes = self._make_axes() if ax is None else ax
        self._draw(axes)
        self.ax_ = axes
        # axes.figure may be a subfigure; its .figure is the whole figure.
        self.figure_ = axes.figure.figure
        return self

    def _make_axes(self) -> "Axes":
        return make_axes(*self.size)

    def _draw(self, axes: "Axes") -> None:
        raise NotImplementedError


class DrawnDisplay(Display):
    """A picture that a function draws on any axes, each time ``plot`` is called.

    Parameters
    ----------
    draw_on : callable
        Draws on the given axes.
    width, height : float
        Size of a new figure, in inches.

    Examples
    --------
    >>> from gradraker.plotting import DrawnDisplay
    >>> display = DrawnDisplay(lambda axes: axes.plot([1, 2])).plot()
    >>> len(display.ax_.lines)
    1
    """

    def __init__(
        self, draw_on: "Callable[[Axes], object]", width: float = 5.5, height: float = 3.6
    ) -> None:
        self._draw_on, self.size = draw_on, (width, height)

    def _draw(self, axes: "Axes") -> None:
        self._draw_on(axes)


def make_grid(n_rows: int, n_columns: int, width: float, height: float) -> "list[Axes]":
    """Make axes in rows and columns on a figure of the given size in inches, row by row."""
    figure = make_axes(width, height).figure.figure
    figure.clear()
    figure.set_layout_engine("constrained")
    return list(figure.subplots(n_rows, n_columns, squeeze=False).ravel())


def make_axes(width: float = 5.5, height: float = 3.6) -> "Axes":
    """Make axes of the given size in inches on a figure that pyplot does not manage."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ImportError(
            "drawing a figure needs matplotlib: pip install 'gradraker[plot]'"
        ) from error
    # A Figure rather than pyplot: no window, no backend, nothing to close.
    return Figure(figsize=(width, height), dpi=200, layout="constrained").subplots()


def draw_points(axes: "Axes", x: ArrayLike, y: ArrayLike, marker: str, **options: Any) -> None:
    """Draw points without edges and without lines between them."""
    axes.plot(x, y, marker, markeredgewidth=0.0, **options)


def put_legend_above(axes: "Axes", *parts: Any, **options: Any) -> "Legend":
    """Put the legend above the axes, where it hides no data."""
    place: dict[str, Any] = {
        "loc": "lower left",
        "bbox_to_anchor": (0.0, 1.0),
        "borderaxespad": 0.2,
    }
    return axes.legend(*parts, frameon=False, **place, **options)


def add_titled_legend(axes: "Axes", *, title: str | None, last: Sequence[str] = ()) -> None:
    """Put a legend with a title above the axes; the labels in ``last`` come last."""
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(
        range(len(labels)), key=lambda i: [*last].index(labels[i]) if labels[i] in last else -1
    )
    parts = [handles[i] for i in order], [labels[i] for i in order]
    head = {"title": title, "title_fontsize": "medium", "alignment": "left"}
    spacing = {"handletextpad": 0.4, "columnspacing": 1.2}
    n_columns = count_columns(axes, 0.85)
    legend = put_legend_above(axes, *parts, ncols=n_columns, fontsize="small", **head, **spacing)
    for handle in legend.legend_handles:
        # Markers of thousands of points are too small for a legend.
        if handle is not None and hasattr(handle, "set_markersize"):
            handle.set_markersize(5.0)


def draw_spines(axes: "Axes") -> None:
    """Draw only the left and the lower spine, in grey."""
    axes.spines[["top", "right"]].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(GREY)


def count_columns(axes: "Axes", inches: float) -> int:
    """Count the legend columns of a width that fit above axes, which may be a small subplot."""
    return max(1, int(axes.bbox.width / axes.figure.figure.dpi / inches))


def check_column(
    argument: str,
    column: ArrayLike,
    n: int | None = None,
    *,
    may_be_nan: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Return a copy of numbers of shape (n,), finite except where they may be NaN."""
    checked = np.array(column, dtype=np.float64)
    wanted = "(n,) with n > 0" if n is None else f"({n},)"
    if checked.ndim != 1 or checked.size == 0 or (n is not None and checked.size != n):
        raise ValueError(f"{argument} must have shape {wanted}, got shape {checked.shape}")
    drawn = checked if may_be_nan is None else checked[~may_be_nan]
    if not np.isfinite(drawn).all():
        raise ValueError(f"{argument} holds NaN or infinity, but only finite numbers can be drawn")
    return checked


# Kinds of files, and metadata of dates and programs, which is removed.
_METADATA: dict[str, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
FORMATS = tuple(_METADATA)


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
    from matplotlib.backend_bases import get_registered_canvas_class

    check_choice("kind", kind, FORMATS)
    file, old_canvas, dpi = io.BytesIO(), figure.canvas, figure.dpi
    try:
        with rc_context({"svg.hashsalt": "gradraker", "svg.fonttype": "path"}):
            # figure.savefig would draw twice. Canvases have no types.
            canvas: Any = get_registered_canvas_class(kind)(figure)
            getattr(canvas, f"print_{kind}")(file, metadata=_METADATA[kind])
    finally:
        figure.set_canvas(old_canvas)
        figure.set_dpi(dpi)  # printing a vector file sets 72 dots per inch
    return file.getvalue()


def write_figure(figure: "Figure", path: str | os.PathLike[str]) -> Path:
    """Write a figure as SVG, PNG or PDF, by the suffix; equal figures make equal files.

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
            f"{', '.join(f'.{suffix}' for suffix in FORMATS)}, got {os.fspath(path)!r}"
        )
    return write_bytes(path, render_figure(figure, kind))


def freeze_layout(figure: "Figure") -> None:
    """Fix the layout of a figure, so that each further file takes half the time to write.

    Examples
    --------
    >>> from gradraker.plotting import DrawnDisplay, freeze_layout
    >>> figure = DrawnDisplay(lambda axes: axes.plot([1, 2])).plot().figure_
    >>> freeze_layout(figure)
    """
    figure.draw_without_rendering()
    if any(axes.get_aspect() != "auto" for axes in figure.axes):
        figure.draw_without_rendering()  # axes with a fixed aspect need two passes
    figure.set_layout_engine("none")


def render_inline_svg(figure: "Figure", *, prefix: str, description: str) -> str:
    """Draw a figure as an SVG element for a page.

    It has no date and no random names, so equal figures have equal texts.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    prefix : str
        Prefix of all ids in the element; it must differ between the figures of a page.
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
    """Turn an SVG file into an element for a page; see :func:`render_inline_svg`.

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
    # Without width and height the figure is as wide as the page allows.
    return re.sub(
        r'<svg ([^>]*?)width="[^"]*" height="[^"]*"|<svg height="[^"]*" width="[^"]*"',
        lambda match: f"<svg {label} {match.group(1) or ''}",
        text,
        count=1,
    )
