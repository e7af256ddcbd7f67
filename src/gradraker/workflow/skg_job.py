"""Predict the nodes of a graph by the paper's SKG."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.graph import AdjacencyVectors, adjacency_vectors, known_values
from gradraker.models.skg.skg_regressor import SKGRegressor
from gradraker.workflow.held_out import hold_out, trained
from gradraker.workflow.node_predictions import NodePredictions


def predict_by_skg(
    graph: Any,
    values: Any,
    *,
    base: SKGRegressor,
    references: Any,
    unknown_nodes: Any,
    random_state: int,
    options: dict[str, Any],
) -> NodePredictions:
    """Train a copy of ``base`` on the known nodes of a graph and predict all nodes."""
    vectors = adjacency_vectors(graph, references=references, **options)
    if unknown_nodes == "isolated":
        unknown_nodes = "error"
        vectors = _with_isolated(vectors, graph, values, options)
    aligned = known_values(values, vectors.nodes, unknown_nodes=unknown_nodes)
    known = np.flatnonzero(~np.isnan(aligned))
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


def update_by_skg(
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
