"""Formats are recognised by content, and all give the same graph."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
import scipy.io
import scipy.sparse as sp

from gradraker import adjacency_vectors, read_edges
from gradraker.exceptions import GraphFileError

TABLE = pl.DataFrame({"source": [3, 3, 7], "target": [7, 5, 5], "weight": [2.0, 0.5, -1.0]})
PLAIN = [(3, 7, 2.0), (3, 5, 0.5), (7, 5, -1.0)]


def test_all_formats_give_the_same_graph(tmp_path: Path, way: str) -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(PLAIN)
    nx.write_graphml(graph, tmp_path / "g.graphml")
    TABLE.write_parquet(tmp_path / "g.parquet")
    TABLE.write_csv(tmp_path / "g.csv")
    TABLE.write_csv(tmp_path / "g.tsv", separator="\t")
    matrix = sp.coo_array(
        (TABLE["weight"], (TABLE["source"] - 1, TABLE["target"] - 1)), shape=(8, 8)
    )
    scipy.io.mmwrite(tmp_path / "g.mtx", matrix)
    expected = adjacency_vectors(PLAIN, nodes=[3, 5, 7], references=[3, 5, 7]).rows.toarray()
    for path in list(tmp_path.iterdir()):
        packed = path.with_name(path.name + ".gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        for name in (path, str(path), packed):
            edges = read_edges(name)
            found = adjacency_vectors(edges, nodes=[3, 5, 7], references=[3, 5, 7])
            assert np.array_equal(found.rows.toarray(), expected), name


def test_suffix_of_another_format_is_refused(write_file: Callable[..., Any]) -> None:
    with pytest.raises(GraphFileError, match=r"its name promises parquet, but .* text"):
        read_edges(write_file("a,b\n", "edges.parquet"))
    with pytest.raises(GraphFileError, match="its name promises matrix-market"):
        read_edges(write_file(gzip.compress(b"a,b\n"), "edges.mtx.gz"))
