"""Values and labels that users give, lined up with nodes."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradraker.graph.adapters.columns import choose_value_columns
from gradraker.graph.adapters.tables import get_column, get_column_names, is_table
from gradraker.graph.names import (
    Names,
    check_same_type,
    find_distinct,
    find_positions,
    format_names,
    to_name_array,
)
from gradraker.graph.node_graph import KnownGraph, with_nodes


def has_names(values: Any) -> bool:
    """Whether values come with the names of their nodes."""
    is_series = hasattr(values, "index") and hasattr(values, "to_frame") and hasattr(values, "iloc")
    return isinstance(values, Mapping) or is_table(values) or is_series


def names_of(values: Any) -> Names | None:
    """The nodes that values name, or None if they come without names."""
    if not has_names(values):
        return None
    if isinstance(values, Mapping):
        return to_name_array(list(values), argument="values")
    if is_table(values):
        names = get_column_names(values)
        first, _ = choose_value_columns(names, n_columns=len(names))
        return to_name_array(
            _listed(get_column(values, first)), argument=f"column {names[first]!r}"
        )
    return to_name_array(values.index.tolist(), argument="values")


def lined_up(
    model: Any, graph: KnownGraph, added: KnownGraph, values: Any, unknown_nodes: str
) -> tuple[KnownGraph, NDArray[Any]]:
    """The graph, with isolated nodes if asked for, and values in the order of its nodes.

    Values without names are in the order of the nodes of ``added``.
    """
    if unknown_nodes not in ("error", "ignore", "isolated"):
        raise ValueError(
            f"unknown_nodes must be 'error', 'ignore' or 'isolated', got {unknown_nodes!r}"
        )
    names = names_of(values)
    if names is None:
        news: NDArray[Any] = model._nothing(len(graph.nodes))
        news[find_positions(added.nodes, graph.nodes)] = model._in_order(values, added.nodes)
        return graph, news
    listed, _ = find_distinct([names])
    unknown = listed[find_positions(listed, graph.nodes) < 0]
    everyone = graph
    if len(unknown):
        check_same_type(unknown, graph.nodes, argument="values")
        if unknown_nodes == "error":
            raise ValueError(
                f"values holds nodes that are not in the graph: {format_names(unknown)}; pass "
                "unknown_nodes='ignore' to leave them out, or 'isolated' to take them for "
                "nodes without edges"
            )
        everyone = with_nodes(graph, unknown)
    news = model._in_order(values, everyone.nodes)
    if unknown_nodes == "isolated":
        return everyone, news
    return graph, news[: len(graph.nodes)]


def known_labels(values: Any, nodes: Names) -> list[Hashable]:
    """The label of each node, None where it is not known; NaN counts as unknown."""
    names = names_of(values)
    listed = _labels(values)
    if names is None:
        if len(listed) != len(nodes):
            raise ValueError(
                f"values has {len(listed)} labels, but there are {len(nodes)} nodes: give one "
                "label per node, None where it is unknown, or a mapping from nodes to labels"
            )
        return [_plain(label) for label in listed]
    at = find_positions(names, nodes)
    if np.any(at < 0):
        check_same_type(names[at < 0], nodes, argument="values")
        raise ValueError(f"values holds nodes that are not there: {format_names(names[at < 0])}")
    labels: list[Hashable] = [None] * len(nodes)
    for i, label in zip(at.tolist(), map(_plain, listed), strict=True):
        if labels[i] is not None and label is not None and labels[i] != label:
            raise ValueError(
                f"node {nodes[i]!r} has two labels, {labels[i]!r} and {label!r}: give one"
            )
        labels[i] = label if label is not None else labels[i]
    return labels


def _labels(values: Any) -> list[Any]:
    if isinstance(values, Mapping):
        return list(values.values())
    if is_table(values):
        names = get_column_names(values)
        _, second = choose_value_columns(names, n_columns=len(names))
        return list(_listed(get_column(values, second)))
    return list(_listed(values))


def _listed(values: Any) -> Any:
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(values, method):
            return getattr(values, method)()
    return list(values)


def _plain(label: Any) -> Hashable:
    """A label as its Python type, None if it is missing."""
    if isinstance(label, np.generic):
        label = label.item()
    if label is None or label != label or type(label).__name__ in ("NAType", "NaTType"):
        return None
    try:
        hash(label)
    except TypeError:
        raise TypeError(
            f"values holds the label {label!r} of type {type(label).__name__}, but labels must be "
            "hashable"
        ) from None
    return label  # type: ignore[no-any-return]


def sorted_labels(labels: list[Hashable]) -> list[Hashable]:
    """Distinct labels, sorted where they can be, else in the order in which they came."""
    seen = list(dict.fromkeys(labels))
    try:
        return sorted(seen)  # type: ignore[type-var]
    except TypeError:
        return seen


def codes_of(labels: list[Hashable], classes: list[Hashable]) -> NDArray[np.int64]:
    """Number of each label among classes."""
    number = {label: i for i, label in enumerate(classes)}
    return np.array([number[label] for label in labels], dtype=np.int64)
