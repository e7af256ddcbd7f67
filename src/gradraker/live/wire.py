"""What the client sends and gets, in the forms that models take and return."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def list_edges(graph: Any) -> list[dict[str, Any]]:
    """Return the edges of any graph as changes."""
    from gradraker.graph.node_graph import make_node_graph  # it loads SciPy

    found = make_node_graph(graph, {})
    entries = found.adjacency.tocoo()
    names = [str(name) for name in found.nodes.tolist()]
    rows, columns = entries.coords
    return [
        {"op": "put_edge", "source": names[i], "target": names[j], "weight": weight}
        for i, j, weight in zip(rows.tolist(), columns.tolist(), entries.data.tolist(), strict=True)
    ]


def to_plain(value: Any) -> Any:
    """Return a value or attributes as Python's own types."""
    if isinstance(value, Mapping):
        return {str(name): to_plain(one) for name, one in value.items()}
    return value.item() if isinstance(value, np.generic) else value


def to_links(links: Any) -> Any:
    """Return neighbours, or neighbours and edge weights, for JSON."""
    if isinstance(links, Mapping):
        return {str(node): float(weight) for node, weight in links.items()}
    return [str(node) for node in links]


def to_array(predictions: list[Any]) -> NDArray[Any]:
    """Return predictions as the models do: numbers, or labels as objects."""
    if all(isinstance(one, int | float) for one in predictions):
        return np.array(predictions)
    return np.fromiter(predictions, dtype=object, count=len(predictions))


def read_interval(one: Mapping[str, Any]) -> tuple[float, float]:
    """Return the ends of an interval; JSON has no infinity, so an end that is missing is one."""
    lower, upper = one["lower"], one["upper"]
    return (-np.inf if lower is None else lower), (np.inf if upper is None else upper)
