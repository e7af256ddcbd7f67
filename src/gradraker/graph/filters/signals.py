"""Value series passed through a graph filter: the input of GKLMS-RFF."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from gradraker._fields import describe_fields
from gradraker._validation import check_choice, check_count, check_flag, check_square, to_read_only
from gradraker.exceptions import format_names
from gradraker.graph.adapters import GraphOptions, to_edge_list
from gradraker.graph.adapters.matrices import from_sparse
from gradraker.graph.adjacency import AdjacencyVectors, adjacency_vectors
from gradraker.graph.filters.series import align_series, get_series_names
from gradraker.graph.filters.shifts import make_shift
from gradraker.graph.names import Names, check_same_type, find_positions

Floats = NDArray[np.float64]


@describe_fields
@dataclass(frozen=True, repr=False, eq=False)
class FilteredSignals:
    """The filtered series of each node at each time, one row for each.

    Made by :func:`filtered_signals`. Rows are ordered by time, and by node within a time, so
    that a learner that takes row after row goes forward in time.

    Examples
    --------
    >>> from gradraker.graph import filtered_signals
    >>> signals = filtered_signals([("a", "b")], [[1, 2], [3, 4], [5, 6]], taps=2)
    >>> signals
    FilteredSignals(2 times × 2 nodes, 2 taps)
    >>> X, y = signals.make_pairs()
    >>> X.shape, y.tolist()
    ((2, 2), [5.0, 6.0])
    """

    rows: Annotated[Floats, "Column l of (n_kept · n, taps) holds (Sˡ x(t − l·delay))ₙ."]
    times: Annotated[NDArray[np.int64], "Time of each row: a position in the series."]
    nodes: Annotated[Names, "The nodes (n,), in the order of the columns of the series."]
    references: Annotated[tuple[str, ...], 'Name of each column, such as "S^1 x(t-1)".']
    series: Annotated[Floats, "The series (n_times, n) as given."]

    @property
    def row_nodes(self) -> Names:
        """Node of each row."""
        return self.nodes[np.arange(len(self.rows)) % len(self.nodes)]

    def make_pairs(
        self, signal: ArrayLike | None = None, *, horizon: int | None = None
    ) -> tuple[Floats, Floats]:
        """Return rows and the values to learn from them.

        Parameters
        ----------
        signal : array or table of shape (n_times, n), optional
            Where values come from; default the series itself. A table must have a column for
            each node.
        horizon : int, optional
            A row of time t is paired with the value of its node at time t + horizon; default 1
            for the series itself, 0 for another signal.

        Returns
        -------
        X : array of shape (k, taps)
            The first k rows: those whose value is not after the end of the signal. Times and
            nodes are ``times[:k]`` and ``row_nodes[:k]``.
        y : array of shape (k,)
            Their values.
        """
        default = 1 if signal is None else 0
        horizon = check_count("horizon", default if horizon is None else horizon, at_least=0)
        if signal is None and horizon == 0:
            raise ValueError("horizon must be at least 1 for the series itself: 0 is known already")
        n_times, n = self.series.shape
        values = self.series
        if signal is not None:
            values = align_series(signal, self.nodes, n_times=n_times, argument="signal")
        first = int(self.times[0])
        n_kept = n_times - first - horizon
        if n_kept <= 0:
            raise ValueError(
                f"horizon={horizon} leaves no pair: rows begin at time {first}, and the last of "
                f"{n_times} times is {n_times - 1}"
            )
        return self.rows[: n_kept * n], values[first + horizon :].ravel()

    def __repr__(self) -> str:
        n_times = len(self.rows) // len(self.nodes)
        taps = len(self.references)
        return f"FilteredSignals({n_times} times × {len(self.nodes)} nodes, {taps} taps)"


def filtered_signals(
    graph: Any,
    series: ArrayLike,
    *,
    taps: int = 3,
    shift: Literal["adjacency", "laplacian", "normalised"] | Any = "adjacency",
    delay: int = 1,
    unit_norm: bool = True,
    padding: Literal["drop", "zeros"] = "drop",
) -> FilteredSignals:
    """Return the value series of each node passed through a graph filter.

    For node n at time t the row is [x(t)ₙ, (S x(t − 1))ₙ, …, (S^{L−1} x(t − L + 1))ₙ], where x(t)
    are the values of all nodes, S is the shift and L the number of taps: tap l holds values of
    l steps ago over l hops. It is the input of graph kernel LMS with random Fourier
    features (GKLMS-RFF), whose model is that of :class:`SKGRegressor`.

    Parameters
    ----------
    graph : matrix, edges, mapping, or graph of another library
        As in :func:`adjacency_vectors`, or its result: row n holds the edges out of n, so
        that (S x)ₙ gathers the values of the nodes that n points to. Pass
        ``adjacency_vectors(graph, direction="in")`` for the other direction.
    series : array or table of shape (n_times, n)
        One row per time, one column per node. Columns of an array are in the order of the nodes of
        the graph; those of a table (pandas, polars, Arrow) are found by name. Every node needs
        a value at every time.
    taps : int, default=3
        L, at least 1. With 1 tap the graph is not used.
    shift : {"adjacency", "laplacian", "normalised"} or matrix of shape (n, n)
        S: the adjacency matrix A; the Laplacian D − A, where D has the row sums of A; the
        normalised Laplacian D^{−1/2} (D − A) D^{−1/2}; or any matrix, whose rows and columns
        are in the order of the series. Rows of nodes without edges are 0. For the mean over
        neighbours, D⁻¹A, pass ``adjacency_vectors(graph, hop_weights="random_walk")`` as the
        graph, and ``unit_norm=False``.
    delay : int, default=1
        Tap l looks ``l * delay`` steps back. With 0 all taps see the present: the graph filter
        without memory [x, S x, S² x, …].
    unit_norm : bool, default=True
        Whether S is divided by its spectral norm (its largest singular value), so that no tap
        outgrows the first and dominates the distances between rows.
    padding : {"drop", "zeros"}, default="drop"
        What to do with the first (L − 1)·delay times, which look back beyond the start: drop
        them, or set values before the start to 0.

    Returns
    -------
    FilteredSignals
        With ``rows``, and ``make_pairs()`` for the values to learn.

    Examples
    --------
    A path a → b → c: the second tap of a is the value of b one step before.

    >>> from gradraker.graph import filtered_signals
    >>> path = [("a", "b"), ("b", "c")]
    >>> signals = filtered_signals(path, [[1, 2, 3], [4, 5, 6], [7, 8, 9]], taps=2)
    >>> signals
    FilteredSignals(2 times × 3 nodes, 2 taps)
    >>> signals.rows
    array([[4., 2.],
           [5., 3.],
           [6., 0.],
           [7., 5.],
           [8., 6.],
           [9., 0.]])

    Pairs of rows and the next value, for any regressor:

    >>> X, y = signals.make_pairs()
    >>> X.shape, y
    ((3, 2), array([7., 8., 9.]))
    """
    taps = check_count("taps", taps)
    delay = check_count("delay", delay, at_least=0)
    check_choice("padding", padding, ("drop", "zeros"))
    check_flag("unit_norm", unit_norm)
    nodes, adjacency = _make_square(graph, get_series_names(series))
    values = align_series(series, nodes, argument="series")
    n_times, n = values.shape
    memory = (taps - 1) * delay
    first = 0 if padding == "zeros" else memory
    if first >= n_times:
        raise ValueError(
            f"taps={taps} with delay={delay} look {memory} times back, but the series has "
            f"{n_times} times: take fewer taps, more times, or padding='zeros'"
        )
    S = make_shift(shift, adjacency, unit_norm=unit_norm)
    rows = _apply_taps(S, values, taps=taps, delay=delay, first=first)
    kept = np.arange(first, n_times)
    return FilteredSignals(
        to_read_only(rows.reshape(-1, taps)),
        to_read_only(np.repeat(kept, n)),
        nodes,
        tuple(
            f"S^{tap} x(t-{tap * delay})" if tap * delay else f"S^{tap} x(t)" for tap in range(taps)
        ),
        to_read_only(values),
    )


def _apply_taps(S: sp.csr_array, values: Floats, *, taps: int, delay: int, first: int) -> Floats:
    """Return (Sˡ x(t − l·delay))ₙ for each time t from ``first`` on, node n and tap l."""
    n_times, n = values.shape
    rows = np.zeros((n_times - first, n, taps))  # [kept times, n, L]
    shifted = np.ascontiguousarray(values.T)  # [n, n_times]; Sˡ of all times at once
    for tap in range(taps):
        back = tap * delay
        if back >= n_times:
            break  # all of it is before the start
        if tap:
            shifted = S @ shifted
        start = max(first, back)
        rows[start - first :, :, tap] = shifted[:, start - back : n_times - back].T
    if not np.isfinite(rows).all():
        raise ValueError(f"values overflow after {taps} taps: scale the series or the shift down")
    return rows


def _make_square(graph: Any, names: Names | None) -> tuple[Names, sp.csr_array]:
    """Return the nodes in the order of the series, and their adjacency matrix."""
    if not isinstance(graph, AdjacencyVectors):
        edges = to_edge_list(graph, GraphOptions())
    elif graph.nodes.tolist() != graph.references.tolist():
        raise ValueError(
            "graph has adjacency vectors with other references than nodes, but a shift needs "
            "the same: make them without choosing nodes or references"
        )
    else:
        edges = from_sparse(graph.rows, GraphOptions(names=graph.nodes))
    check_square(edges.nodes, edges.references)
    if names is not None:
        missing = edges.nodes[find_positions(edges.nodes, names) < 0]
        if len(missing):
            check_same_type(missing, names, argument="graph")
            listed = format_names(missing.tolist())
            raise ValueError(f"series has no column for nodes {listed} of the graph")
    vectors = adjacency_vectors(edges, nodes=names, references=names)
    return vectors.nodes, vectors.rows
