"""Labels of classes: forms in which they come, and which values are labels."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

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
