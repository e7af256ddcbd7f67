"""Several views of the same nodes: one block of columns for each hop, or each layer."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp

from gradraker._fields import describe_fields
from gradraker._validation import check_choice, to_read_only
from gradraker.graph.adapters import GraphOptions, to_edge_list
from gradraker.graph.adjacency import AdjacencyVectors
from gradraker.graph.edges import EdgeList, VectorOptions, choose_matrix
from gradraker.graph.hops import count_walks
from gradraker.graph.names import Names, find_distinct, find_positions, to_name_array


@describe_fields
@dataclass(frozen=True, repr=False, eq=False)
class GraphViews:
    """Several adjacency vectors of each node, side by side.

    Made by :func:`hop_views` and :func:`layer_views`.

    Examples
    --------
    >>> from gradraker.graph import hop_views
    >>> views = hop_views([("a", "b"), ("b", "c")], hops=2)
    >>> views.views
    {'1 hop': 3, '2 hops': 3}
    >>> views.get_view("2 hops").rows.toarray()[0].tolist()
    [0.0, 0.0, 1.0]
    """

    rows: Annotated[
        sp.csr_array, "Row i of (n, m₁ + m₂ + …) holds the vectors of node i, view after view."
    ]
    views: Annotated[dict[str, int], "Name of each view and its number of columns, in order."]
    nodes: Annotated[Names, "Name (n,) of each row."]
    references: Annotated[
        Names,
        "Name of each column, a tuple (view, reference), so that no two are equal and a column's "
        "name does not depend on the other views.",
    ]

    def get_view(self, name: str) -> AdjacencyVectors:
        """Return one view as adjacency vectors, its columns named as in the graph."""
        check_choice("name", name, self.views)
        before = list(self.views).index(name)
        start = sum(list(self.views.values())[:before])
        block = slice(start, start + self.views[name])
        references = [reference for _, reference in self.references[block]]
        return AdjacencyVectors(
            self.rows[:, block], self.nodes, to_name_array(references, argument="references")
        )

    def __repr__(self) -> str:
        listed = ", ".join(f"{name!r}: {width}" for name, width in self.views.items())
        return f"GraphViews({len(self.nodes)} nodes, {self.rows.nnz} entries, {{{listed}}})"


def hop_views(
    graph: Any,
    *,
    hops: int = 2,
    hop_weights: Literal["count", "binary", "random_walk"] = "count",
    nodes: Iterable[Hashable] | None = None,
    references: Iterable[Hashable] | None = None,
    direction: Literal["out", "in", "both"] = "out",
    weight: Hashable = None,
    self_loops: Literal["keep", "add", "drop"] = "keep",
    duplicates: Literal["sum", "last", "error"] = "sum",
    names: Any = None,
    kind: Literal["matrix", "edges"] | None = None,
    source: Hashable = None,
    target: Hashable = None,
    directed: bool | None = None,
) -> GraphViews:
    """Return the vectors of walks of 1, 2, …, ``hops`` edges of each node, one view per length.

    Parameters
    ----------
    graph : matrix, edges, mapping, or graph of another library
        As in :func:`adjacency_vectors`; square.
    hops : int
        Number of views: the largest number of edges of a walk.
    hop_weights : {"count", "binary", "random_walk"}
        How walks are counted: rows of Aᵏ, 1 where a walk exists, or rows of Pᵏ.
    nodes, references, direction, weight, self_loops, duplicates, names, kind, source, target,
    directed
        As in :func:`adjacency_vectors`. References are the same for each view.

    Returns
    -------
    GraphViews
        With views "1 hop", "2 hops", ...

    Examples
    --------
    >>> from gradraker.graph import hop_views
    >>> path = [("a", "b"), ("b", "c"), ("c", "d")]
    >>> views = hop_views(path, hops=2, references=["b", "c"])
    >>> views
    GraphViews(4 nodes, 3 entries, {'1 hop': 2, '2 hops': 2})
    >>> views.rows.toarray()
    array([[1., 0., 0., 1.],
           [0., 1., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    >>> views.references.tolist()
    [('1 hop', 'b'), ('1 hop', 'c'), ('2 hops', 'b'), ('2 hops', 'c')]
    """
    form = GraphOptions(weight, names, kind, source, target, directed)
    options = VectorOptions(
        nodes, references, direction, self_loops, hops, hop_weights, duplicates, form
    )
    return _stack_blocks(_make_hop_blocks(to_edge_list(graph, form), options))


def layer_views(
    layers: Mapping[str, Any],
    *,
    hops: int = 1,
    hop_weights: Literal["count", "binary", "random_walk"] = "count",
    nodes: Iterable[Hashable] | None = None,
    references: Iterable[Hashable] | None = None,
    direction: Literal["out", "in", "both"] = "out",
    weight: Hashable = None,
    self_loops: Literal["keep", "add", "drop"] = "keep",
    duplicates: Literal["sum", "last", "error"] = "sum",
    names: Any = None,
    kind: Literal["matrix", "edges"] | None = None,
    source: Hashable = None,
    target: Hashable = None,
    directed: bool | None = None,
) -> GraphViews:
    """Return the vectors of each node in each layer of a graph, one view per layer.

    A layer is a graph with edges of one kind: roads and railways, mails and calls. All layers
    have the same nodes, those of any layer; a node that is missing in a layer has no edges there.

    Parameters
    ----------
    layers : mapping from str to graph
        Name of each layer, and its graph as in :func:`adjacency_vectors`.
    hops : int
        With more than one hop a layer gives a view for each number of edges.
    hop_weights, nodes, references, direction, weight, self_loops, duplicates, names, kind,
    source, target, directed
        As in :func:`adjacency_vectors`, the same for every layer.

    Returns
    -------
    GraphViews
        With views called as the layers or, for several hops, "road, 1 hop", "road, 2 hops", ...

    Examples
    --------
    >>> from gradraker.graph import layer_views
    >>> road = [("Bern", "Thun"), ("Thun", "Bern")]
    >>> rail = [("Bern", "Thun"), ("Bern", "Olten")]
    >>> views = layer_views({"road": road, "rail": rail})
    >>> views.nodes.tolist()
    ['Bern', 'Olten', 'Thun']
    >>> views.rows.toarray()
    array([[0., 0., 1., 0., 1., 1.],
           [0., 0., 0., 0., 0., 0.],
           [1., 0., 0., 0., 0., 0.]])
    """
    _check_layers(layers)
    form = GraphOptions(weight, names, kind, source, target, directed)
    edges: dict[str, EdgeList] = {}
    for name, layer in layers.items():
        with _name_layer_in_errors(name):
            edges[name] = to_edge_list(layer, form)
    options = VectorOptions(
        nodes, references, direction, self_loops, hops, hop_weights, duplicates, form
    )
    blocks: dict[str, AdjacencyVectors] = {}
    for name, layer in _renumber_layers(edges).items():
        with _name_layer_in_errors(name):
            found = _make_hop_blocks(layer, options)
        for hop, vectors in found.items():
            blocks[name if hops == 1 else f"{name}, {hop}"] = vectors
    return _stack_blocks(blocks)


def _make_hop_blocks(edges: EdgeList, options: VectorOptions) -> dict[str, AdjacencyVectors]:
    """Return adjacency vectors for each number of hops, by the name of the view."""
    chosen = choose_matrix(edges, options)
    lengths = range(1, int(options.hops) + 1)
    found = count_walks(chosen.matrix, chosen.rows, chosen.columns, lengths, options.hop_weights)
    return {
        "1 hop" if length == 1 else f"{length} hops": AdjacencyVectors(
            rows, chosen.nodes, chosen.references
        )
        for length, rows in zip(lengths, found, strict=True)
    }


def _stack_blocks(blocks: dict[str, AdjacencyVectors]) -> GraphViews:
    """Return blocks of columns side by side."""
    columns = [
        (view, reference)
        for view, vectors in blocks.items()
        for reference in vectors.references.tolist()
    ]
    found = list(blocks.values())
    return GraphViews(
        sp.csr_array(sp.hstack([vectors.rows for vectors in found], format="csr")),
        {view: int(vectors.rows.shape[1]) for view, vectors in blocks.items()},
        found[0].nodes,
        to_read_only(np.fromiter(columns, dtype=object, count=len(columns))),
    )


def _renumber_layers(layers: dict[str, EdgeList]) -> dict[str, EdgeList]:
    """Renumber the nodes of each layer, so that every layer has the nodes of all layers.

    A node that no layer has is an error only if all layers are complete.
    """
    nodes, _ = find_distinct([edges.nodes for edges in layers.values()])
    complete = all(edges.complete for edges in layers.values())
    renumbered = {}
    for name, edges in layers.items():
        at = find_positions(edges.nodes, nodes)
        renumbered[name] = replace(
            edges,
            source=at[edges.source],
            target=edges.target if edges.references is not None else at[edges.target],
            nodes=nodes,
            complete=complete,
        )
    return renumbered


@contextmanager
def _name_layer_in_errors(layer: str) -> Iterator[None]:
    """Put the name of the layer before the message of an error."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"layer {layer!r}: {error}") from error


def _check_layers(layers: object) -> None:
    if not isinstance(layers, Mapping):
        raise TypeError(
            "layers must be a mapping from names of layers to graphs, got "
            f"{type(layers).__name__}: for a single graph take hop_views"
        )
    if not layers:
        raise ValueError("layers is empty, but there must be at least one")
    for name in layers:
        if not isinstance(name, str):
            raise TypeError(f"names of layers must be str, got {name!r} of {type(name).__name__}")
