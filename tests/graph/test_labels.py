"""Labels of classes: forms in which they come, which values are labels, and labels in files."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gradraker import read_values
from gradraker.exceptions import GraphFileError
from gradraker.graph.labels import align_labels, find_task

NODES = np.array(["a", "b", "c"], dtype=object)
NUMBERS = [
    np.array([1, 2, 3]),
    pd.Series([1, 2, 3]),
    pd.Series([1, None, 3], dtype="Int64"),
    pd.Series([True, False, True]),
    pl.Series([1, None, 3]),
    pa.array([1, None, 3]),
    pa.chunked_array([[1, None, 3]]),
]
LABELS = [
    np.array(["x", None, "y"], dtype=object),
    pd.Series(["x", None, "y"]),
    pd.Series(["x", None, "y"], dtype="string"),
    pd.Series(["x", None, "y"], dtype="category"),
    pd.Series(["x", None, "y"], dtype="category").to_numpy(),
    pl.Series(["x", None, "y"]),
    pl.Series(["x", None, "y"], dtype=pl.Categorical),
    pa.array(["x", None, "y"]),
    pa.chunked_array([["x", None, "y"]]),
    ("x", None, "y"),
]


@pytest.mark.parametrize("values", NUMBERS, ids=lambda values: type(values).__name__)
def test_numbers_of_all_libraries_are_values(values: Any) -> None:
    assert find_task(values) == "values"


@pytest.mark.parametrize("values", LABELS, ids=lambda values: type(values).__name__)
def test_texts_of_all_libraries_are_labels(values: Any) -> None:
    assert find_task(values) == "classes"
    named = values.set_axis(NODES) if isinstance(values, pd.Series) else values
    assert align_labels(named, NODES).tolist() == ["x", None, "y"]


def test_categories_of_numbers_are_labels() -> None:
    column = pd.Series([1, 2], dtype="category")
    assert find_task(column) == find_task(column.array) == "classes"


def test_read_values_task_settles_numbers_that_are_labels(write_file: Any) -> None:
    path = write_file("node,group\na,1\nb,2\nc,1\n")
    assert read_values(path) == {"a": 1.0, "b": 2.0, "c": 1.0}
    assert read_values(path, task="classes") == {"a": "1", "b": "2", "c": "1"}
    with pytest.raises(GraphFileError, match="line 3, column 2"):
        read_values(write_file("node,y\na,1\nb,two\n"), task="values")


def test_read_values_refuses_a_node_with_two_classes(write_file: Any) -> None:
    with pytest.raises(GraphFileError, match="line 4: node 'a' has the value 'blue' here, but"):
        read_values(write_file("node,label\na,red\nb,red\na,blue\n"))
