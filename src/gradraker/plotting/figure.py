"""What the figures share: colours, new axes, legends, checks of columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours can be told apart with any common colour blindness.
BLUE = "#0072B2"
VERMILION = "#D55E00"
ORANGE = "#E69F00"
BLACK = "#000000"
# Behind the data: grids, ranges, ends of epochs.
GREY = "#9A9A9A"
LIGHT_GREY = "#E3E3E3"
DARK_GREY = "#5A5A5A"
# The ranges of σ². Light tints, on which black text is read easily; the names are written in, so
# that the colours need not be told apart.
RANGE_TINTS = {
    "Chaos": "#F6D3BF",
    "Extending": "#BFE5D8",
    "Disturbing": "#FAE8BF",
    "Averaging": "#E3E3E3",
}

# In vector files, more points than this are an image: such files open in no time.
MANY_POINTS = 5000


def new_axes(width: float = 5.5, height: float = 3.6) -> "Axes":
    """Axes of the given size in inches on a figure that no global state knows of."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ImportError(
            "drawing a figure needs matplotlib: pip install 'gradraker[plot]'"
        ) from error
    # A Figure of its own rather than pyplot: no window, no backend, nothing to close.
    return Figure(figsize=(width, height), dpi=200, layout="constrained").subplots()


def legend_above(axes: "Axes", *, title: str | None, last: Sequence[str] = ()) -> None:
    """Put the legend over the axes, where it hides no data, with what is shown as its title.

    The labels ``last`` come after all others.
    """
    handles, labels = axes.get_legend_handles_labels()
    order = sorted(
        range(len(labels)), key=lambda i: [*last].index(labels[i]) if labels[i] in last else -1
    )
    legend = axes.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns_that_fit(axes, 0.85),
        frameon=False,
        fontsize="small",
        handletextpad=0.4,
        columnspacing=1.2,
        borderaxespad=0.2,
        title=title,
        title_fontsize="medium",
        alignment="left",
    )
    for handle in legend.legend_handles:
        # Small enough for thousands of points is too small for a legend.
        if handle is not None and hasattr(handle, "set_markersize"):
            handle.set_markersize(5.0)


def columns_that_fit(axes: "Axes", inches: float) -> int:
    """Columns of a legend that are so wide; axes may be a small part of a figure."""
    return max(1, int(axes.bbox.width / axes.figure.figure.dpi / inches))


def checked_column(
    argument: str,
    column: ArrayLike,
    n: int | None = None,
    *,
    may_be_nan: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """A copy of numbers of shape (n,), finite but where they may be NaN."""
    checked = np.array(column, dtype=np.float64)
    wanted = "(n,) with n > 0" if n is None else f"({n},)"
    if checked.ndim != 1 or checked.size == 0 or (n is not None and checked.size != n):
        raise ValueError(f"{argument} must have shape {wanted}, got shape {checked.shape}")
    drawn = checked if may_be_nan is None else checked[~may_be_nan]
    if not np.isfinite(drawn).all():
        raise ValueError(f"{argument} holds NaN or infinity, but what is drawn must be finite")
    return checked
