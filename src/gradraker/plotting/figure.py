"""What the displays share: colours, new axes, the row that is explained."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from gradraker.analysis import Explanation, explain
from gradraker.learners import SKGRegressor
from gradraker.learners.observed import row_names

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


def explain_row(
    model: SKGRegressor, X: Any, row: int, references: Sequence[Hashable] | None
) -> Explanation:
    """Explain one row of X only: weights by time of all rows may not fit into memory."""
    number = checked_row(row, X.shape[0] if hasattr(X, "shape") else len(X))
    names = row_names(X)
    return explain(
        model,
        # Not all sparse formats can be indexed.
        X.tocsr()[[number]] if issparse(X) else _safe_indexing(X, [number]),
        references=references,
        node_names=[number if names is None else names[number]],
    )


def checked_row(row: Any, n: int) -> int:
    """Number of one of n tested nodes, counted from the start."""
    if isinstance(row, int | np.integer) and not isinstance(row, bool) and -n <= row < n:
        return int(row) % n
    raise ValueError(f"row must be the number of one of {n} tested nodes, got {row!r}")


def what_is_explained(explanation: Explanation, row: int) -> str:
    """Name of the tested node and the variance, for the head of a figure."""
    return rf"Node {explanation.node_names[row]}, $\sigma^2$ = {explanation.sigma2:.3g}"


def checked_column(argument: str, column: ArrayLike, n: int | None = None) -> NDArray[np.float64]:
    """A copy of finite numbers of shape (n,)."""
    checked = np.array(column, dtype=np.float64)
    wanted = "(n,) with n > 0" if n is None else f"({n},)"
    if checked.ndim != 1 or checked.size == 0 or (n is not None and checked.size != n):
        raise ValueError(f"{argument} must have shape {wanted}, got shape {checked.shape}")
    if not np.isfinite(checked).all():
        raise ValueError(f"{argument} holds NaN or infinity, but what is drawn must be finite")
    return checked
