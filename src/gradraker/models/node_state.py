"""The common part of the files of models of graphs: graph, known values and attributes."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gradraker.attributes.files import dump_attributes, restore_attributes
from gradraker.graph.edges import restore_csr
from gradraker.graph.labels import to_object_array
from gradraker.graph.names import Names, find_repeated, identify_references, to_name_array
from gradraker.graph.node_graph import NodeGraph
from gradraker.graph.values import ValueKind
from gradraker.models.persistence.names_as_json import check_savable, decode_name
from gradraker.models.persistence.saving import Arrays, State, check_int
from gradraker.models.sample_weights import check_sample_weight

if TYPE_CHECKING:
    from gradraker.models.node_model import NodeModel

# Options of a graph that a model keeps for edges that are added later.
KEPT_OPTIONS = ("weight", "self_loops", "duplicates", "directed")


def dump_node_state(model: "NodeModel") -> tuple[State, Arrays]:
    """Return graph, values, weights and attributes of a fitted model of graphs."""
    graph, values = model._graph, model._values
    state: State = {"is_directed": graph.is_directed, "nodes": None, "labels": None}
    arrays = {
        "indptr": graph.adjacency.indptr.astype(np.int64),
        "indices": graph.adjacency.indices.astype(np.int64),
        "data": graph.adjacency.data,
        "arrived": model._arrived,
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
    state |= {"seed_": model.seed_, "graph_options": model._graph_options}
    if model._attributes is not None:
        state["attributes"], own = dump_attributes(model._attributes)
        arrays |= own
    if model._sample_weight is not None:
        arrays["sample_weight"] = model._sample_weight
    return state, arrays


def restore_node_state(model: "NodeModel", state: State, arrays: Arrays) -> None:
    """Restore the result of :func:`dump_node_state`, checked, to a model with its parameters."""
    graph, values, arrived = _restore_graph(model.value_kind, state, arrays)
    options = state["graph_options"]
    if not set(options) <= set(KEPT_OPTIONS):
        raise ValueError(f"graph_options is {options!r}")
    graph = replace(graph, is_directed=options.get("directed") is not False)
    model._start(graph, values, options)
    model.seed_ = check_int("seed_", state["seed_"], most=2**64 - 1)
    model._arrived = arrived
    if state.get("attributes") is not None:
        model._check_takes_attributes()
        model._attributes = restore_attributes(state["attributes"], arrays, len(graph))
    if "sample_weight" in arrays:
        weights = arrays["sample_weight"].astype(np.float64, casting="safe")
        if weights.shape != (len(graph),) or np.isnan(weights).any():
            raise ValueError("sample_weight does not fit the nodes")
        model._sample_weight = check_sample_weight(weights, graph)


def _restore_graph(
    kind: ValueKind, state: State, arrays: Arrays
) -> tuple[NodeGraph, NDArray[Any], NDArray[np.int64]]:
    """Return graph, values and order of arrival of a file, checked."""
    if state["nodes"] is None:
        nodes: Names = arrays["nodes"].astype(np.int64, casting="safe")
    else:
        listed = [decode_name(item) for item in state["nodes"]]
        identify_references(listed)  # raises if one is not a name, such as NaN
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
