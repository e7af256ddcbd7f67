"""Forms of attributes, and errors for those that cannot be read."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array

from gradraker.attributes import learn_attributes
from gradraker.attributes.alignment import align_attributes, append_described_nodes
from gradraker.attributes.entries import to_raw_column
from gradraker.attributes.forms import read_attributes
from gradraker.attributes.vectorizing import fit_column
from gradraker.graph.names import to_name_array
from gradraker.graph.node_graph import NodeGraph

NODES = to_name_array(["a", "b", "c"], argument="nodes")
NUMBERS = np.array([[1.0, 10.0], [2.0, np.nan], [3.0, 30.0]])
FRAME = pd.DataFrame(NUMBERS, columns=["age", "size"], index=["a", "b", "c"])
LISTED = [
    *[("a", "age", 1.0), ("a", "size", 10.0), ("b", "age", 2.0)],
    *[("c", "age", 3.0), ("c", "size", 30.0)],
]


@pytest.mark.parametrize(
    "given",
    [
        NUMBERS,
        NUMBERS.tolist(),
        FRAME,
        FRAME.iloc[::-1],
        FRAME.reset_index(names="node"),
        FRAME.reset_index(names="Node")[["size", "Node", "age"]][["Node", "age", "size"]],
        pl.from_pandas(FRAME.reset_index(names="node")),
        {"c": [3.0, 30.0], "a": [1.0, 10.0], "b": (2.0, None)},
        csr_array(np.nan_to_num(NUMBERS, nan=20.0)),
        FRAME.set_axis([0, 1], axis=1),
        FRAME.astype("Float64"),
        FRAME.astype(object).where(FRAME.notna(), None),
        FRAME.reset_index(names="station")[["age", "size", "station"]],
        pl.from_pandas(FRAME.reset_index(names="node")).lazy(),
        LISTED,
        pd.DataFrame(LISTED, columns=["station", "what", "reading"]),
    ],
    ids=[
        *("array", "lists", "index", "reversed", "column", "heading", "polars", "mapping"),
        *("full matrix", "integer headings", "nullable", "objects", "names by content", "lazy"),
        *("list of triplets", "triplets by content"),
    ],
)
def test_numbers_in_every_form_give_one_matrix(given: Any) -> None:
    table = learn_attributes(given, NODES)
    expected = np.nan_to_num(NUMBERS, nan=20.0) if isinstance(given, csr_array) else NUMBERS
    np.testing.assert_array_equal(table.matrix, expected)
    assert table.given.all()


def test_a_series_is_aligned_by_its_index() -> None:
    table = learn_attributes(FRAME["age"].iloc[::-1], NODES)
    assert table.names == ("age",)
    np.testing.assert_array_equal(table.matrix, NUMBERS[:, :1])
    with pytest.raises(ValueError, match="call the column with the names of nodes 'node'"):
        learn_attributes(pd.Series([1.0, 2.0, 3.0]), NODES)


def test_texts_of_nodes_are_a_column() -> None:
    table = learn_attributes({"a": "red old", "b": "new", "c": "red old"}, NODES)
    assert table.describe()["kinds"] == {"category": 1}
    np.testing.assert_array_equal(table.matrix[0], table.matrix[2])


def test_dates_and_durations_among_objects_are_recognised() -> None:
    days = pd.date_range("2020-01-01", periods=3)
    frame = FRAME.assign(day=[days[0], None, days[2]], span=days - days[0])
    table = learn_attributes(frame.astype({"day": object}), NODES)
    assert table.describe()["kinds"] == {"number": 3, "date": 1}
    np.testing.assert_array_equal(table.matrix[:, -1], [0.0, 86400.0, 172800.0])


def test_a_column_beside_those_of_fit_names_the_nodes() -> None:
    table = learn_attributes(FRAME, NODES)
    graph = NodeGraph(NODES, csr_array((3, 3)))
    new = pd.DataFrame({"age": [4.0], "size": [40.0], "station": ["z"]})
    _, more = append_described_nodes(graph, None, {}, table, new)
    assert more is not None
    np.testing.assert_array_equal(more.matrix[3], [4.0, 40.0])


WORDS = csr_array([[1.0, 2.0], [0.0, 1.0], [0.0, 0.0]])
TRIPLETS = pd.DataFrame(
    {"node": ["a", "a", "b"], "attribute": ["red", "old", "old"], "value": [1, 2, 1]}
)


@pytest.mark.parametrize(
    "given",
    [WORDS, {"a": {"red": 1, "old": 2}, "b": ["old"], "c": []}, TRIPLETS],
    ids=["matrix", "bags", "triplets"],
)
def test_words_in_every_form_give_one_sparse_matrix(given: Any) -> None:
    table = learn_attributes(given, NODES)
    assert table.is_sparse
    np.testing.assert_array_equal(table.matrix.toarray(), WORDS.toarray())


def test_named_numbers_that_most_nodes_have_are_columns() -> None:
    records = {
        "a": {"age": 1.0, "size": 10.0},
        "b": {"age": 2.0},
        "c": {"size": 30.0, "age": 3.0},
    }
    table = learn_attributes(records, NODES)
    assert table.names == ("age", "size")
    np.testing.assert_array_equal(table.matrix, NUMBERS)
    graph = NodeGraph(NODES, csr_array((3, 3)))
    _, more = align_attributes({"b": {"size": 20.0}}, graph, graph, "error", table)
    np.testing.assert_array_equal(more.matrix[1], [np.nan, 20.0])
    with pytest.raises(ValueError, match="has 'weight', which fit did not see"):
        align_attributes({"b": {"weight": 2.0}}, graph, graph, "error", table)


def test_words_stay_words_for_few_nodes() -> None:
    table = learn_attributes({"a": {"red": 1, "old": 2}, "b": ["old"], "c": []}, NODES)
    graph = NodeGraph(NODES, csr_array((3, 3)))
    full = {node: {"red": 1, "new": 5} for node in "abc"}
    _, more = align_attributes(full, graph, graph, "error", table)
    np.testing.assert_array_equal(more.matrix.toarray(), [[1.0, 0.0]] * 3)


def test_words_are_named_in_the_order_of_their_first_use() -> None:
    words: Any = {"a": {"red": 1, "old": 2}, "b": ["red"]}
    assert read_attributes(words, np.array(["a", "b"])).names == ("red", "old")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((2, 2)), "attributes has 2 rows, but there are 3 nodes"),
        (np.array([[1.0], [np.inf], [0.0]]), "infinite number in row 1, column 0"),
        (FRAME.assign(age=[1.0, -np.inf, 2.0]), "infinite number in column 'age'"),
        (csr_array([[np.inf], [0.0], [0.0]]), "infinite number in row 0, column 0"),
        (csr_array([[np.nan], [0.0], [0.0]]), "sparse and holds NaN"),
        (np.full((3, 2), np.nan), "all entries are missing"),
        (csr_array((3, 4)), "no entry that is not 0"),
        (np.zeros((3, 10_001)), "10001 dense columns, but at most 10000"),
        (csr_array((np.ones(1), ([0], [9])), shape=(3, 2_000_001)), "at most 2000000 are taken"),
        ("words", "attributes must be a data frame, an array or sparse matrix"),
        (np.ones((3, 2, 2)), "an array of shape"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "vectors of 1 and 2 numbers"),
        ({"a": [1.0], "b": {"old": 1}}, "some nodes to vectors and some to bags"),
        ({"a": {"old": [1]}, "b": ["red"]}, "where the count of a word must be a number"),
        ({"a": {}}, "bags of words that are all empty"),
        ({}, "attributes of one node at least"),
        (pd.DataFrame({"node": ["a", "a"], "x": [1.0, 2.0]}), "two rows for node 'a'"),
        (pd.DataFrame({"node": ["a", "b"]}), "without a column beside"),
        (pd.DataFrame({"age": [1.0, 2.0, 3.0]}), "call the column with the names of nodes 'node'"),
        (FRAME.iloc[:0], "a table without rows"),
    ],
)
def test_bad_attributes_are_refused_with_a_reason(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learn_attributes(given, NODES)


def test_a_wide_sparse_matrix_is_taken() -> None:
    wide = csr_array((np.ones(3), ([0, 1, 2], [5, 99_999, 5])), shape=(3, 100_000))
    assert learn_attributes(wide, NODES).matrix.shape == (3, 100_000)


def test_records_of_several_types_are_numbers_where_all_are() -> None:
    records = {"a": {"n": 1, "m": 1}, "b": {"n": 2.5, "m": "x"}, "c": {"n": True, "m": None}}
    given = read_attributes(records, np.array(["a", "b", "c"]))
    assert given.columns is not None
    assert given.columns["n"].to_list() == [1, 2.5, True]
    assert given.columns["m"].to_list() == [1, "x", None]
    assert fit_column("n", to_raw_column(given.columns["n"])).kind == "number"
    assert fit_column("m", to_raw_column(given.columns["m"])).kind == "category"
    with pytest.raises(ValueError, match=r"\[1, 2\] of 'n': give numbers"):
        read_attributes({"a": {"n": [1, 2]}, "b": {"n": "x"}}, np.array(["a", "b"]))
