"""A frame with a column of every kind, and a table that is learned from it."""

from typing import Any

import numpy as np
import pandas as pd

from gradraker.attributes.forms import read_attributes
from gradraker.attributes.table import AttributeTable
from gradraker.graph.names import to_name_array

N = 120
NODES = to_name_array([f"n{i}" for i in range(N)], argument="nodes")


def make_frame(n: int = N) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": [1.0, 2.0, np.nan, 4.0] * (n // 4),
            "kind": ["x", "y", None, "x"] * (n // 4),
            "is_new": [True, False, True, False] * (n // 4),
            "since": pd.date_range("2020-01-01", periods=n, freq="37h"),
            "text": [f"word {i} some text {i * 7 % 13}" for i in range(n)],
            "sex": ["u", "v"] * (n // 2),
            "digits": [str(i) for i in range(n)],
            "colour": pd.Categorical(["red", "green", "blue", "red"] * (n // 4)),
            "day": [f"2021-0{1 + i % 9}-1{i % 10}" for i in range(n)],
        },
        index=[f"n{i}" for i in range(n)],
    )


def encode(table: AttributeTable, new: Any) -> np.ndarray[Any, Any]:
    return np.asarray(table.encode(read_attributes(new, NODES)))
