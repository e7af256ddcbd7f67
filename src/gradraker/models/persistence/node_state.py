"""Graph and known values of a model of graphs, as state and arrays of its file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.graph.edges import restore_csr
from gradraker.graph.labels import to_object_array
from gradraker.graph.names import Names, find_repeated, to_name_array
from gradraker.graph.node_graph import NodeGraph
from gradraker.graph.values import ValueKind
from gradraker.models.persistence.names_as_json import check_savable, decode_name
from gradraker.models.persistence.saving import Arrays, State


def dump_node_state(
    graph: NodeGraph, values: NDArray[Any], arrived: NDArray[np.int64]
) -> tuple[State, Arrays]:
    """Return graph, values and order of arrival as :func:`restore_node_state` takes them."""
    state: State = {"is_directed": graph.is_directed, "nodes": None, "labels": None}
    arrays = {
        "indptr": graph.adjacency.indptr.astype(np.int64),
        "indices": graph.adjacency.indices.astype(np.int64),
        "data": graph.adjacency.data,
        "arrived": arrived,
    }
    if graph.nodes.dtype == np.int64:
        arrays["nodes"] = graph.nodes
    else:
        state["nodes"] = [check_savable("node", name) for name in graph.nodes.tolist()]
    if values.dtype == np.float64:
        arrays["values"] = values
    else:
        labels = values.tolist()
        state["labels"] = [None if x is None else check_savable("label", x) for x in labels]
    return state, arrays


def restore_node_state(
    kind: ValueKind, state: State, arrays: Arrays
) -> tuple[NodeGraph, NDArray[Any], NDArray[np.int64]]:
    """Return graph, values and order of arrival of a file, checked."""
    if state["nodes"] is None:
        nodes: Names = arrays["nodes"].astype(np.int64, casting="safe")
    else:
        listed = [decode_name(item) for item in state["nodes"]]
        nodes = to_name_array(listed, argument="nodes")
    if nodes.ndim != 1 or find_repeated(nodes) is not None:
        raise ValueError("the name of a node occurs twice")
    if state["labels"] is None:
        values: NDArray[Any] = arrays["values"].astype(np.float64, casting="safe")
        if np.isinf(values).any():
            raise ValueError("a value is infinite")
    else:
        labels = state["labels"]
        values = to_object_array([None if x is None else decode_name(x) for x in labels])
    if values.ndim > 2 or values.shape[:1] != nodes.shape or values.dtype != kind.dtype:
        raise ValueError("nodes and values do not fit")
    matrix = restore_csr(arrays, "", (len(nodes), len(nodes)), "edges")
    arrived, is_known = arrays["arrived"].astype(np.int64, casting="safe"), kind.is_known(values)
    is_inside = arrived.ndim == 1 and bool(np.all((arrived >= 0) & (arrived < is_known.size)))
    if not is_inside or np.unique(arrived).size != arrived.size or not is_known[arrived].all():
        raise ValueError("the order of arrival is not consistent")
    return NodeGraph(nodes, matrix, bool(state["is_directed"])), values, arrived
