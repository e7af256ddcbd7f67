"""The container of a graph with values, and the split of its nodes."""

import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from gradraker import load_temperature
from gradraker.datasets import GraphDataset, split_nodes


def tiny(**changes: Any) -> GraphDataset:
    # Rows as (weights, columns, row ends): unsorted, one edge twice, one of weight 0.
    rows = ([1.0, 4.0, 2.0, 0.0], [2, 1, 2, 0], [0, 3, 4, 4])
    fields = {
        "adjacency": sp.csr_array(rows, shape=(3, 3)),
        "values": [1.0, 3.0, 2.0],
        "node_names": ["a", "b", "c"],
        "name": "Tiny",
    }
    return GraphDataset(**(fields | changes))


def test_dataset_makes_adjacency_canonical() -> None:
    data = tiny()
    # The edge 0 -> 2 was given twice (1 + 2), the edge 1 -> 0 with weight 0.
    assert data.adjacency.toarray().tolist() == [[0, 4, 3], [0, 0, 0], [0, 0, 0]]
    assert data.adjacency.indices.tolist() == [1, 2]
    assert data.n_edges == 2
    assert data.node_names == ("a", "b", "c")
    assert tiny(node_names=()).node_names == ("0", "1", "2")
    assert data.positions is None


def test_dataset_scales_values_to_the_unit_interval() -> None:
    assert tiny().scale_values().tolist() == [0.0, 1.0, 0.5]
    assert tiny(values=[7.0, 7.0, 7.0]).scale_values().tolist() == [0.0, 0.0, 0.0]
    # January: from -14.0 (Jungfraujoch) to 2.7 (Locarno).
    january = load_temperature("jan")
    node = january.node_names.index("Lugano")
    assert january.scale_values()[node] == pytest.approx((2.5 + 14.0) / (2.7 + 14.0))


def test_dataset_cannot_be_changed_and_does_not_share_the_callers_arrays() -> None:
    values = np.array([1.0, 3.0, 2.0])
    adjacency = sp.csr_array(np.eye(3))
    data = tiny(values=values, adjacency=adjacency, positions=np.eye(3), position_names="xyz")
    values[0] = 9.0
    adjacency.data[0] = 9.0
    assert data.values[0] == 1.0
    assert data.adjacency[0, 0] == 1.0
    arrays = [data.values, data.positions]
    arrays += [data.adjacency.data, data.adjacency.indices, data.adjacency.indptr]
    for array in arrays:
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(FrozenInstanceError):
        data.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"adjacency": np.ones((3, 2))}, r"adjacency must be square.*\(3, 2\)"),
        ({"adjacency": np.full((3, 3), np.nan)}, "adjacency holds NaN"),
        ({"adjacency": np.zeros((0, 0))}, r"adjacency has shape \(0, 0\)"),
        ({"values": [1.0, 2.0]}, r"values has shape \(2,\), but must have shape \(3,\)"),
        ({"values": [1.0, 2.0, np.inf]}, "values holds NaN or infinity"),
        ({"node_names": ["a", "b"]}, "node_names has 2 names, but the graph has 3 nodes"),
        ({"node_names": ["a", "b", "a"]}, "node_names holds 'a' more than once"),
        ({"positions": np.ones((3, 2)), "position_names": ["x"]}, r"positions has shape \(3, 2\)"),
        ({"positions": [[np.nan]] * 3, "position_names": ["x"]}, "positions holds NaN"),
        ({"position_names": ["x"]}, "position_names is .* but positions is None"),
    ],
)
def test_dataset_refuses_graphs_values_and_names_that_do_not_fit(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        tiny(**changes)


@pytest.mark.parametrize(("n", "n_known"), [(10, 4), (89, 36), (83, 33), (2, 1)])
def test_split_nodes_is_the_documented_draw(n: int, n_known: int) -> None:
    known, unknown = split_nodes(n, 0.4, np.random.default_rng(3))
    order = np.random.default_rng(3).permutation(n)
    assert known.tolist() == order[:n_known].tolist()
    assert unknown.tolist() == order[n_known:].tolist()
    assert sorted([*known, *unknown]) == list(range(n))


def test_split_nodes_draws_every_node_equally_often() -> None:
    rng = np.random.default_rng(0)
    counts = np.zeros(5)
    for _ in range(2000):
        counts[split_nodes(5, 0.4, rng)[0]] += 1
    # Each is drawn with probability 2/5: 800 times, with standard deviation 22.
    assert np.abs(counts - 800).max() < 5 * 22


@pytest.mark.parametrize(
    ("n", "fraction", "message"),
    [
        (10, 0.0, "fraction must be a number between 0 and 1.*got 0.0"),
        (10, 1.0, "fraction must be a number between 0 and 1.*got 1.0"),
        (10, math.nan, "fraction must be a number between 0 and 1.*got nan"),
        (10, 0.04, "fraction=0.04 of n=10 nodes leaves 0 known and 10 unknown"),
        (10, 0.96, "fraction=0.96 of n=10 nodes leaves 10 known and 0 unknown"),
        (1, 0.4, "n=1 nodes leaves 0 known"),
    ],
)
def test_split_nodes_refuses_fractions_that_leave_a_side_empty(
    n: int, fraction: float, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        split_nodes(n, fraction, np.random.default_rng(0))


def test_split_nodes_wants_a_generator() -> None:
    with pytest.raises(TypeError, match=r"rng must be a numpy.random.Generator.*got 0"):
        split_nodes(10, 0.4, 0)  # type: ignore[arg-type]
