"""Series in tables: columns are nodes, found by name."""

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from gradraker.graph import filtered_signals

PATH = [("a", "b"), ("b", "c")]
SERIES = np.arange(12.0).reshape(4, 3)


def test_columns_of_tables_are_found_by_name() -> None:
    expected = filtered_signals(PATH, SERIES, taps=2).rows.reshape(3, 3, 2)
    turned = {"c": SERIES[:, 2], "a": SERIES[:, 0], "b": SERIES[:, 1]}
    for table in (pd.DataFrame(turned), pl.DataFrame(turned), pa.table(turned)):
        signals = filtered_signals(PATH, table, taps=2)
        assert signals.nodes.tolist() == ["c", "a", "b"]
        assert np.array_equal(signals.rows.reshape(3, 3, 2), expected[:, [2, 0, 1]])
    mixed = pd.DataFrame(turned).astype({"a": object, "b": "Int64"})
    assert np.array_equal(filtered_signals(PATH, mixed, taps=2).rows, signals.rows)


def test_a_table_may_name_nodes_without_edges_of_a_list_of_edges() -> None:
    table = pd.DataFrame(SERIES, columns=["a", "b", "c"]).assign(lonely=1.0)
    signals = filtered_signals(PATH, table, taps=2)
    assert signals.rows[3].tolist() == [1, 0]
    graph = nx.DiGraph(PATH)
    with pytest.raises(
        ValueError, match="nodes holds names that the graph does not have: 'lonely'"
    ):
        filtered_signals(graph, table)


def test_every_node_needs_a_series() -> None:
    with pytest.raises(ValueError, match="series has no column for nodes 'c' of the graph"):
        filtered_signals(PATH, pd.DataFrame(SERIES[:, :2], columns=["a", "b"]))
    with pytest.raises(ValueError, match=r"graph holds 1 of type int.*is '1' of type str"):
        filtered_signals([(1, 2)], pd.DataFrame({"1": [1.0], "2": [1.0]}))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_missing_value_is_named(bad: float) -> None:
    x = SERIES.copy()
    x[2, 1] = bad
    with pytest.raises(ValueError, match=f"series is {bad} for node 'b' at time 2, but every node"):
        filtered_signals(PATH, x)
    with pytest.raises(ValueError, match=f"signal is {bad} for node 'b' at time 2"):
        filtered_signals(PATH, SERIES).make_pairs(x)


def test_wrong_series_are_named() -> None:
    with pytest.raises(ValueError, match=r"shape \(3, 4\), .* 3 nodes: pass its transpose"):
        filtered_signals(PATH, SERIES.T)
    with pytest.raises(ValueError, match=r"series has shape \(3,\)"):
        filtered_signals(PATH, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="series has 0 times, but must have at least 1"):
        filtered_signals(PATH, np.empty((0, 3)), taps=1)
    with pytest.raises(TypeError, match="series must hold real numbers, got dtype <U1"):
        filtered_signals(PATH, [["a", "b", "c"]])
    with pytest.raises(TypeError, match="dense array or a table, got a sparse matrix"):
        filtered_signals(PATH, sp.csr_array(SERIES))
    with pytest.raises(ValueError, match="column 'b' of series must hold numbers: it holds text"):
        filtered_signals(PATH, pd.DataFrame({"a": [1.0], "b": ["x"], "c": [1.0]}), taps=1)
    with pytest.raises(ValueError, match="graph must be square, got 2 nodes × 4 references"):
        filtered_signals(np.ones((2, 4)), SERIES)
