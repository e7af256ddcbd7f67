"""Every form of one graph gives the same rows."""

from types import SimpleNamespace
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import gradraker
from gradraker import adjacency_vectors
from gradraker.datasets import GraphDataset

# One graph with five directed, weighted edges, one of them a loop, one negative.
SOURCE, TARGET, WEIGHT = [0, 0, 2, 3, 1], [1, 2, 1, 3, 0], [2.0, 0.5, 1.0, 4.0, -1.0]
MATRIX = np.zeros((4, 4))
MATRIX[SOURCE, TARGET] = WEIGHT
TUPLES = list(zip(SOURCE, TARGET, WEIGHT, strict=True))
TABLE = {"source": SOURCE, "target": TARGET, "weight": WEIGHT}


def directed_networkx(kind: Any = nx.DiGraph) -> Any:
    graph = kind()
    graph.add_nodes_from(range(4))
    graph.add_weighted_edges_from(TUPLES)
    return graph


def directed_igraph() -> Any:
    graph = igraph.Graph(n=4, edges=list(zip(SOURCE, TARGET, strict=True)), directed=True)
    graph.es["weight"] = WEIGHT
    return graph


class Tensor:
    """The methods of PyTorch's tensors that are used."""

    def __init__(self, values: list[Any]) -> None:
        self._values = np.array(values)

    def detach(self) -> "Tensor":
        return self

    def cpu(self) -> "Tensor":
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._values.astype(dtype) if dtype else self._values


def geometric(**fields: Any) -> Any:
    return SimpleNamespace(edge_index=Tensor([SOURCE, TARGET]), num_nodes=4, **fields)


WEIGHTED = {
    "csr_array": sp.csr_array(MATRIX),
    "csr_matrix": sp.csr_matrix(MATRIX),
    "coo_array": sp.coo_array(MATRIX),
    "dense": MATRIX,
    "nested lists": MATRIX.tolist(),
    "array of edges": np.array(TUPLES),
    "list of tuples": TUPLES,
    "tuples of NumPy scalars": [(np.int32(s), np.int64(t), np.float32(w)) for s, t, w in TUPLES],
    "pandas": pd.DataFrame(TABLE),
    "pandas, other order": pd.DataFrame(TABLE)[["weight", "target", "source"]],
    "pandas, other names": pd.DataFrame(TABLE).set_axis(["from", "to", "strength"], axis=1),
    "pandas, nullable": pd.DataFrame(TABLE).convert_dtypes(),
    "polars": pl.DataFrame(TABLE),
    "polars, small types": pl.DataFrame(TABLE).cast({"source": pl.UInt8, "weight": pl.Float32}),
    "arrow table": pa.table(TABLE),
    "arrow batch": pa.RecordBatch.from_pydict(TABLE),
    "mapping": {0: {1: 2.0, 2: 0.5}, 1: {0: -1.0}, 2: {1: 1.0}, 3: {3: 4.0}},
    "networkx": directed_networkx(),
    "networkx multigraph": directed_networkx(nx.MultiDiGraph),
    "igraph": directed_igraph(),
    "geometric, edge_weight": geometric(edge_weight=Tensor(WEIGHT)),
    "geometric, edge_attr": geometric(edge_attr=Tensor([[w] for w in WEIGHT])),
    "data set": GraphDataset(MATRIX, np.zeros(4), [0, 1, 2, 3], name="four"),  # type: ignore[arg-type]
    "EdgeList": gradraker.graph.EdgeList(
        np.array(SOURCE), np.array(TARGET), np.array(WEIGHT), np.arange(4)
    ),
}


@pytest.mark.parametrize("graph", WEIGHTED.values(), ids=WEIGHTED)
def test_all_forms_give_the_same_rows(graph: Any) -> None:
    vectors = adjacency_vectors(graph)
    assert vectors.nodes.dtype == np.int64
    assert vectors.nodes.tolist() == vectors.references.tolist() == [0, 1, 2, 3]
    assert np.array_equal(vectors.rows.toarray(), MATRIX)
    assert vectors.rows.dtype == np.float64
    unweighted = adjacency_vectors(graph, weight=False, direction="in")
    assert np.array_equal(unweighted.rows.toarray(), (MATRIX.T != 0).astype(float))


def test_generator_of_edges_is_read_once() -> None:
    found = adjacency_vectors(edge for edge in TUPLES)
    assert np.array_equal(found.rows.toarray(), MATRIX)


UNWEIGHTED = {
    "array of edges": np.array([SOURCE, TARGET]).T,
    "list of tuples": list(zip(SOURCE, TARGET, strict=True)),
    "pandas": pd.DataFrame(TABLE)[["source", "target"]],
    "polars": pl.DataFrame(TABLE).drop("weight"),
    "mapping": {0: [1, 2], 1: (0,), 2: {1}, 3: np.array([3])},
    "networkx": nx.DiGraph(zip(SOURCE, TARGET, strict=True)),
    "geometric": geometric(edge_weight=None, edge_attr=None),
    "bool matrix": MATRIX != 0,
}


@pytest.mark.parametrize("graph", UNWEIGHTED.values(), ids=UNWEIGHTED)
def test_without_weights_every_edge_counts_1(graph: Any) -> None:
    vectors = adjacency_vectors(graph, nodes=range(4), references=range(4))
    assert np.array_equal(vectors.rows.toarray(), (MATRIX != 0).astype(float))


NAMES = ["z", ("b", 1), 2**70, 0.5]


@pytest.mark.parametrize(
    "graph",
    [
        [(NAMES[s], NAMES[t], w) for s, t, w in TUPLES],
        {NAMES[i]: {NAMES[j]: MATRIX[i, j] for j in np.flatnonzero(MATRIX[i])} for i in range(4)},
        nx.relabel_nodes(directed_networkx(), dict(enumerate(NAMES))),
        pd.DataFrame([(NAMES[s], NAMES[t], w) for s, t, w in TUPLES]),
    ],
    ids=["tuples", "mapping", "networkx", "pandas"],
)
def test_names_may_be_anything_hashable(graph: Any) -> None:
    vectors = adjacency_vectors(graph, nodes=NAMES, references=NAMES)
    assert np.array_equal(vectors.rows.toarray(), MATRIX)
    assert vectors.nodes.tolist() == NAMES


@pytest.mark.parametrize("graph", [MATRIX, sp.csr_array(MATRIX), directed_igraph(), geometric()])
def test_names_for_numbered_nodes(graph: Any) -> None:
    vectors = adjacency_vectors(graph, names=list("wxyz"), nodes=["z", "w"], weight=False)
    assert vectors.rows.toarray().tolist() == [[0, 0, 0, 1], [0, 1, 1, 0]]
    with pytest.raises(ValueError, match="names has 3 names, but the graph has 4 nodes"):
        adjacency_vectors(graph, names=list("xyz"))


def test_names_are_sorted_or_in_the_order_of_the_graph() -> None:
    assert adjacency_vectors([("b", "a")]).nodes.tolist() == ["a", "b"]
    assert adjacency_vectors([(9, -3), (2**62, 9)]).nodes.tolist() == [-3, 9, 2**62]
    assert adjacency_vectors([("b", 3), ("a", 3)]).nodes.tolist() == ["b", "a", 3]
    mapping = adjacency_vectors({"b": ["c"], "a": ["b"]})
    assert mapping.nodes.tolist() == ["b", "a", "c"]
    assert mapping.rows.toarray().tolist() == [[0, 0, 1], [1, 0, 0], [0, 0, 0]]
    graph = nx.DiGraph([("b", "a")])
    graph.add_node("0")
    assert adjacency_vectors(graph).nodes.tolist() == ["b", "a", "0"]


def test_small_arrays_need_kind() -> None:
    square = np.array([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match=r"2×2, which can be .* kind='matrix' or kind='edges'"):
        adjacency_vectors(square)
    assert adjacency_vectors(square, kind="matrix").rows.nnz == 3
    assert adjacency_vectors(square, kind="edges").nodes.tolist() == [0, 1, 2]
    assert adjacency_vectors([["a", "b"], ["b", "c"]]).rows.nnz == 2  # text is no matrix
    assert adjacency_vectors(sp.csr_array(square)).rows.nnz == 3
    assert adjacency_vectors(np.ones((7, 2)), kind="matrix").rows.shape == (7, 2)


def test_weight_names_a_column_or_attribute() -> None:
    table = pd.DataFrame(TABLE).assign(visits=[1, 2, 3, 4, 5])
    found = adjacency_vectors(table, weight="visits").rows
    assert found[2, 1] == 3.0
    assert adjacency_vectors(table, weight=3).rows[2, 1] == 3.0
    graph = nx.DiGraph()
    graph.add_edge("a", "b", visits=3)
    graph.add_edge("b", "a")
    assert adjacency_vectors(graph).rows.toarray().tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match="edge 'b', 'a' has no attribute 'visits'"):
        adjacency_vectors(graph, weight="visits")
    with pytest.raises(ValueError, match=r"weight='cost' is not a column: .* 'visits'"):
        adjacency_vectors(table, weight="cost")
    with pytest.raises(ValueError, match="weight='cost' is not an edge attribute"):
        adjacency_vectors(directed_igraph(), weight="cost")
    with pytest.raises(ValueError, match="weight='cost' is not an attribute"):
        adjacency_vectors(geometric(), weight="cost")


def test_weight_false_ignores_weights() -> None:
    ends = np.array([0, 1]), np.array([1, 0])
    edges = gradraker.graph.EdgeList(*ends, np.array([0.0, np.nan]), np.arange(2))
    assert adjacency_vectors(edges, weight=False).rows.toarray().tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match=r"weight='w' asks for a column.* read_edges"):
        adjacency_vectors(edges, weight="w")


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (7, "graph must be one of .* got int"),
        ("a,b", "graph must be one of .* got str"),
        (pl.LazyFrame(TABLE), "got LazyFrame"),
        (np.arange(5), "must be a matrix or an array of edges"),
        (np.array([[0.5, 1], [1, 2], [3, 4]]), "source holds 0.5 at position 0"),
        (np.array([[2.0**60, 1], [1, 2], [3, 4]]), "above 2⁵³"),
        (np.eye(4, dtype=complex), "real numbers, got dtype complex128"),
        (np.full((4, 4), "a"), "must have 2 or 3 columns"),
        ([("a", "b"), ("a",)], r"entry 1 is \('a',\)"),
        ([("a", "b"), ("a", "b", 1)], "entry 1 is"),
        ([1, 2], "entry 0 is 1"),
        ([("a", None)], "target is missing"),
        ([("a", float("nan"))], "target is missing"),
        ([(["a"], "b")], "names must be hashable"),
        ([("a", "b", "heavy")], "third column.* must hold numbers"),
        ([("a", "b", {"weight": 1})], "third column.* must hold numbers"),
        ([], "graph has no edges: pass nodes"),
        ({}, "graph has no edges: pass nodes"),
        ({"a": "bc"}, "neighbours of 'a' must be a list"),
        ({"a": 3}, "neighbours of 'a' must be a list"),
        (
            pd.DataFrame({"source": ["a", None], "target": ["b", "c"]}),
            "'source' has no entry in row 1",
        ),
        (pl.DataFrame({"source": [1, None], "target": [1, 2]}), "'source' has no entry in row 1"),
        (pa.table({"source": [1, 2], "target": [1, None]}), "'target' has no entry in row 1"),
        (pd.DataFrame({"source": ["a"]}), r"1 column\(s\), but edges need"),
        (pd.DataFrame({"a": [1], "b": [2], "weight": ["x"]}), "column 'weight' must hold numbers"),
        (pd.DataFrame({"a": [1], "b": [2], "c": ["1.5"]}), "the weight could be 'c' or no column"),
        (
            pd.DataFrame([[1, 2, 3]], columns=["source", "target", "source"]),
            "two columns of one name",
        ),
        (geometric(edge_attr=Tensor(np.ones((5, 2)))), r"edge_attr has shape \(5, 2\)"),  # type: ignore[arg-type]
    ],
)
def test_wrong_graphs_are_refused(graph: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        adjacency_vectors(graph)
