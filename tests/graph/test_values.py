"""Known values of every form, in the order of nodes."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gradraker import adjacency_vectors
from gradraker.graph import known_values

VALUES = {
    "mapping": {"c": 3.0, "a": 1},
    "mapping with unknown": {"a": 1, "b": None, "c": 3.0},
    "series": pd.Series([3.0, 1.0], index=["c", "a"]),
    "nullable series": pd.Series([3, None, 1], index=["c", "b", "a"], dtype="Int64"),
    "pandas": pd.DataFrame({"value": [3.0, 1.0], "node": ["c", "a"]}),
    "pandas, other names": pd.DataFrame({"page": ["c", "a", "b"], "visits": [3.0, 1.0, None]}),
    "polars": pl.DataFrame({"node": ["c", "a", "b"], "value": [3, 1, None]}),
    "arrow": pa.table({"node": ["c", "a", "b"], "value": [3, 1, None]}),
    "array": np.array([1.0, np.nan, 3.0]),
    "list": [1, None, 3],
    "polars series": pl.Series([1, None, 3]),
    "twice the same": pd.Series([3.0, 1.0, 3.0], index=["c", "a", "c"]),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_known_values_of_every_form(values: Any) -> None:
    found = known_values(values, ["a", "b", "c"])
    assert np.array_equal(found, [1.0, np.nan, 3.0], equal_nan=True)


def test_known_values_of_numbered_nodes() -> None:
    nodes = adjacency_vectors(np.eye(4)).nodes
    assert np.array_equal(known_values({3: 1.0}, nodes), [np.nan] * 3 + [1.0], equal_nan=True)
    given_values = np.ones(4)
    known_values(given_values, nodes)[0] = 5.0
    assert given_values[0] == 1.0  # the result is a copy


def test_values_of_unknown_nodes() -> None:
    with pytest.raises(
        ValueError, match="nodes that are not in the graph: 'x'; pass unknown_nodes"
    ):
        known_values({"a": 1.0, "x": 2.0}, ["a"])
    assert known_values({"a": 1.0, "x": 2.0}, ["a"], unknown_nodes="ignore").tolist() == [1.0]
    for way in ("error", "ignore"):
        with pytest.raises(ValueError, match=r"'1' of type str.* is 1 of type int"):
            known_values({"1": 1.0}, [1, 2], unknown_nodes=way)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (pd.Series([3.0, 1.0], index=["a", "a"]), "node 'a' has two values, 3.0 and 1.0"),
        (pd.Series([3.0, np.nan], index=["a", "a"]), "node 'a' has two values"),
        ({"a": np.inf}, "value of node 'a' is inf"),
        ([1.0, -np.inf], "value of node 'b' is -inf"),
        ([1.0], r"values has shape \(1,\), but there are 2 nodes"),
        ({"a": "high"}, "values must hold numbers"),
        (pd.DataFrame({"a": [1]}), r"1 column\(s\)"),
    ],
)
def test_wrong_values_are_refused(values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        known_values(values, ["a", "b"])
