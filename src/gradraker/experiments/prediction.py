"""The user's job: a graph and some known values in, predictions for the other nodes out."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradraker.analysis import Explanation, SimilarityTransfer, similarity_transfer
from gradraker.experiments.contributors import Contributors, explained, top_contributors
from gradraker.experiments.held_out import HeldOutNodes, hold_out, trained
from gradraker.graph import AdjacencyVectors, adjacency_vectors, known_values
from gradraker.learners import SKGRegressor

# Nearest known nodes that the similarity transfer is measured with, where there are as many.
_N_NEIGHBORS = 5


@dataclass(frozen=True, eq=False, repr=False)
class NodePredictions:
    """Predictions for the nodes of a graph, and what they stand on.

    Attributes
    ----------
    vectors : AdjacencyVectors
        Adjacency vectors of all nodes, with their names.
    values : ndarray of shape (n,)
        Known values, NaN where unknown.
    predictions : ndarray of shape (n,)
        Predictions for all nodes; for known nodes, what the trained model says of them.
    offset : float
        Mean of the known values, subtracted before training and added afterwards.
    model : SKGRegressor
        Trained on all known nodes.
    held_out : HeldOutNodes or None
        Estimate of the error from a fifth of the known nodes; None with fewer than 10.
    """

    vectors: AdjacencyVectors
    values: NDArray[np.float64]
    predictions: NDArray[np.float64]
    offset: float
    model: SKGRegressor
    held_out: HeldOutNodes | None

    @property
    def is_known(self) -> NDArray[np.bool_]:
        """Which nodes have a known value."""
        return ~np.isnan(self.values)

    @cached_property
    def transfer(self) -> SimilarityTransfer | None:
        """Whether similar vectors bring similar values here; None for too few known nodes."""
        known = self.is_known
        n_known = int(known.sum())
        if n_known < 3 or np.ptp(self.values[known]) == 0.0:
            return None
        return similarity_transfer(
            self.vectors.rows[known],
            self.values[known],
            n_neighbors=min(_N_NEIGHBORS, n_known - 2),
            random_state=0,
        )

    def explain(self, rows: Sequence[int] | NDArray[Any] | None = None) -> Explanation:
        """Explain predictions of some rows (all by default); values are relative to ``offset``."""
        chosen = np.arange(self.values.size) if rows is None else np.asarray(rows)
        return explained(self.model, self.vectors, chosen)

    def contributors(
        self, k: int, *, rows: Sequence[int] | NDArray[Any] | None = None
    ) -> Contributors:
        """The k known nodes that count most in the predictions of some rows (all by default)."""
        chosen = np.arange(self.values.size) if rows is None else np.asarray(rows)
        return top_contributors(self.model, self.vectors, chosen, k)

    def frame(self, *, n_contributors: int = 0) -> Any:
        """Node, known or not, value and prediction as a pandas data frame.

        With ``n_contributors`` = k there are also columns contributor_1, weight_1, …: the k
        known nodes that count most in each prediction.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "a data frame needs pandas: pip install pandas; vectors.nodes and "
                "predictions hold the same as arrays"
            ) from None
        columns: dict[str, Any] = {
            "node": pd.Series(self.vectors.nodes.tolist(), dtype=None),
            "known": self.is_known,
            "value": self.values,
            "prediction": self.predictions,
        }
        if n_contributors > 0:
            found = self.contributors(n_contributors)
            for i in range(found.weights.shape[1]):
                columns[f"contributor_{i + 1}"] = [names[i] for names in found.names]
                columns[f"weight_{i + 1}"] = found.weights[:, i]
        return pd.DataFrame(columns)

    def __repr__(self) -> str:
        n_known = int(self.is_known.sum())
        text = f"NodePredictions of {self.values.size - n_known} nodes from {n_known} known ones"
        if self.held_out is None:
            return text
        return (
            f"{text}; held-out RMSE {self.held_out.rmse:.4g} "
            f"({self.held_out.rmse_of_mean:.4g} by the mean)"
        )


def predict_unknown(
    graph: Any,
    values: Any,
    *,
    references: Iterable[Hashable] | None = None,
    direction: Literal["out", "in", "both"] = "out",
    weight: Hashable = None,
    self_loops: Literal["keep", "add", "drop"] = "keep",
    hops: int = 1,
    duplicates: Literal["sum", "last", "error"] = "sum",
    unknown_nodes: Literal["error", "ignore", "isolated"] = "error",
    model: SKGRegressor | None = None,
    random_state: int = 0,
) -> NodePredictions:
    """Train on the known nodes of a graph and predict all of them; see :func:`predict_nodes`."""
    options: dict[str, Any] = {
        "direction": direction,
        "weight": weight,
        "self_loops": self_loops,
        "hops": hops,
        "duplicates": duplicates,
    }
    vectors = adjacency_vectors(graph, references=references, **options)
    if unknown_nodes == "isolated":
        unknown_nodes = "error"
        vectors = _with_isolated(vectors, graph, values, options)
    aligned = known_values(values, vectors.nodes, unknown_nodes=unknown_nodes)
    known = np.flatnonzero(~np.isnan(aligned))
    base = SKGRegressor(random_state=random_state) if model is None else model
    _check_enough(vectors, known, base)
    offset = float(aligned[known].mean())
    fitted = trained(base, vectors, known, aligned[known] - offset)
    predictions = fitted.predict(vectors.rows, references=vectors.references.tolist()) + offset
    held_out = hold_out(base, vectors, aligned, known, random_state)
    return NodePredictions(vectors, aligned, predictions, offset, fitted, held_out)


def _with_isolated(
    vectors: AdjacencyVectors, graph: Any, values: Any, options: dict[str, Any]
) -> AdjacencyVectors:
    """Vectors of the graph's nodes and of nodes that have a value but no edge."""
    if not isinstance(values, Mapping):
        raise TypeError(
            "unknown_nodes='isolated' needs values as a mapping from nodes to values, "
            f"got {type(values).__name__}"
        )
    known = set(vectors.nodes.tolist())
    isolated = [node for node in values if node not in known]
    if not isolated:
        return vectors
    nodes = [*vectors.nodes.tolist(), *isolated]
    return adjacency_vectors(graph, nodes=nodes, references=vectors.references.tolist(), **options)


def _check_enough(vectors: AdjacencyVectors, known: NDArray[np.int64], base: SKGRegressor) -> None:
    """Refuse known nodes that no rule can choose σ² from, in words of the graph."""
    if known.size == 0:
        raise ValueError("values: no node of the graph has a known value; at least one is needed")
    if not isinstance(base.sigma2, str):
        return
    rows = vectors.rows[known]
    if known.size == 1 or abs(rows - rows[np.zeros(known.size, dtype=np.int64)]).sum() == 0.0:
        what = "only 1 value is known" if known.size == 1 else "all known nodes have the same edges"
        raise ValueError(
            f"values: {what}, and to choose sigma2 takes two known nodes with different "
            "edges: give more values, or sigma2 as a number"
        )


def predict_nodes(
    graph: Any,
    values: Any,
    *,
    n_contributors: int = 0,
    **options: Any,
) -> Any:
    """Predict the values of all nodes of a graph from those that are known: the whole job.

    Parameters
    ----------
    graph : any graph that :func:`adjacency_vectors` takes
        Edges, a matrix, a mapping, a graph of another library, …
    values : mapping, Series, table, or array with NaN for unknown
        Known values; see :func:`known_values`.
    n_contributors : int, default=0
        How many of the known nodes that count most to list with each prediction.
    references : sequence of names, optional
        The nodes that vectors point to; default all nodes of the graph. Their values are not
        needed; what that brings over the known nodes alone is measured in ``docs/graphs.md``.
    direction, weight, self_loops, hops, duplicates
        As in :func:`adjacency_vectors`.
    unknown_nodes : {"error", "ignore", "isolated"}, default="error"
        What to do with values of nodes that the graph does not have: refuse them, leave them
        out, or take them for nodes without edges, which a list of edges cannot hold.
    model : SKGRegressor, optional
        Settings of the learner; it is not changed. Default ``SKGRegressor(random_state=0)``.
    random_state : int, default=0
        Seed.

    Returns
    -------
    pandas.DataFrame
        Columns node, known, value and prediction, and with ``n_contributors`` = k also
        contributor_1, weight_1, …, contributor_k, weight_k. One row a node, in the order of
        ``adjacency_vectors(graph).nodes``.

    Notes
    -----
    The mean of the known values is subtracted before training and added afterwards, so that a
    node which resembles none that is known gets about the mean. A prediction is
    mean + Σ weight × (value − mean).

    Examples
    --------
    >>> from gradraker import predict_nodes
    >>> links = {"a": "xy", "b": "xy", "c": "uv", "d": "uv", "e": "xy"}
    >>> links = {node: list(neighbours) for node, neighbours in links.items()}
    >>> known = {"a": 1.0, "b": 1.0, "c": 9.0, "d": 9.0}
    >>> frame = predict_nodes(links, known, n_contributors=1)
    >>> row = frame[frame.node == "e"].iloc[0]
    >>> bool(row.known), bool(row.prediction < 3.0), row.contributor_1 in ("a", "b")
    (False, True, True)
    """
    return predict_unknown(graph, values, **options).frame(n_contributors=n_contributors)


def update_nodes(
    model: SKGRegressor, graph: Any, values: Any, *, offset: float, **options: Any
) -> AdjacencyVectors:
    """Go on training a model on known nodes of a graph, once each; return all vectors.

    ``offset`` is that of :class:`NodePredictions`, ``options`` those of
    :func:`adjacency_vectors` with which the model was trained.
    """
    vectors = adjacency_vectors(graph, **options)
    aligned = known_values(values, vectors.nodes)
    known = np.flatnonzero(~np.isnan(aligned))
    if known.size > 0:
        model.partial_fit(
            vectors.rows[known],
            aligned[known] - offset,
            references=vectors.references.tolist(),
            node_names=vectors.nodes[known].tolist(),
        )
    return vectors
