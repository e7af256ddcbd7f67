"""Edges of lists of edges and of mappings from nodes to neighbours."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np

from gradraker._validation import to_numbers
from gradraker.graph.edges import EdgeList, GraphOptions
from gradraker.graph.names import find_distinct, to_name_array


def from_tuples(graph: Iterable[Any], options: GraphOptions) -> EdgeList:
    """Return the edges of a list of (source, target) or (source, target, weight)."""
    rows = [tuple(row) if isinstance(row, list | np.ndarray) else row for row in graph]
    sizes = [len(row) if isinstance(row, tuple) else -1 for row in rows]
    wanted = sizes[0] if sizes and sizes[0] in (2, 3) else 2
    wrong = next((i for i, size in enumerate(sizes) if size != wanted), None)
    if wrong is not None:
        raise ValueError(
            "graph must be a list of edges, all (source, target) or all (source, target, weight); "
            f"entry {wrong} is {rows[wrong]!r}"
        )
    return from_columns([list(column) for column in zip(*rows, strict=True)] or [[], []], options)


def from_columns(columns: list[Any], options: GraphOptions) -> EdgeList:
    """Return edges from the columns of their sources, targets and perhaps weights."""
    options.refuse_weight_name("a list of edges without column names")
    if options.names is not None:
        raise ValueError("names is given, but a list of edges names its nodes itself: leave it out")
    source = to_name_array(columns[0], argument="source")
    target = to_name_array(columns[1], argument="target")
    nodes, (sources, targets) = find_distinct([source, target])
    weights = None
    if len(columns) == 3 and options.weight is None:
        weights = to_numbers(columns[2], name="the third column, the weight,")
    return EdgeList(sources, targets, weights, nodes)


def from_mapping(graph: Mapping[Hashable, Any], options: GraphOptions) -> EdgeList:
    """Return the edges of a mapping from nodes to neighbours, or to {neighbour: weight}."""
    options.refuse_weight_name("a mapping")
    sources: list[Hashable] = []
    targets: list[Hashable] = []
    weights: list[Any] = []
    weighted = False
    for node, neighbours in graph.items():
        if isinstance(neighbours, str | bytes) or not isinstance(neighbours, Iterable):
            raise TypeError(
                f"neighbours of {node!r} must be a list of nodes or a mapping from nodes to "
                f"weights, got {neighbours!r}"
            )
        found = list(neighbours)
        sources += [node] * len(found)
        targets += found
        if isinstance(neighbours, Mapping):
            weighted = True
            weights += neighbours.values()
        else:
            weights += [1.0] * len(found)
    # The order of the keys, then nodes that are neighbours only.
    listed = list(dict.fromkeys([*graph, *targets]))
    nodes, (places, source, target) = find_distinct(
        [to_name_array(part, argument="graph") for part in (listed, sources, targets)]
    )
    back = np.argsort(places)
    given = to_numbers(weights, name="the weights") if weighted and options.weight is None else None
    return EdgeList(back[source], back[target], given, nodes[places])
