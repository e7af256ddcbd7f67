"""The part of a graph whose values are known."""

import numpy as np
import pytest

from gradraker import load_temperature
from gradraker.datasets import GraphDataset
from gradraker.sweep.known_subgraph import build_known_subgraph


def test_nodes_without_values_are_left_out() -> None:
    data = load_temperature()
    known = dict(zip(data.node_names[:50], data.values[:50].tolist(), strict=True))
    part = build_known_subgraph(data, known, name="part")
    assert part.node_names == data.node_names[:50]
    assert (part.adjacency != data.adjacency[:50][:, :50]).nnz == 0
    assert np.array_equal(part.values, data.values[:50])


def test_values_of_nodes_without_edges_are_refused_ignored_or_kept() -> None:
    edges, values = [("a", "b"), ("b", "a")], {"a": 1.0, "b": 2.0, "z": 3.0}
    with pytest.raises(ValueError, match="'z'"):
        build_known_subgraph(edges, values, name="part")
    assert build_known_subgraph(edges, values, name="part", unknown_nodes="ignore").n_nodes == 2
    isolated = build_known_subgraph(edges, values, name="part", unknown_nodes="isolated")
    assert isolated.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert isinstance(isolated, GraphDataset)
