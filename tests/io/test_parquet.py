"""Parquet files."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from gradraker import read_edges, read_values
from gradraker.exceptions import GraphFileError

TABLE = pl.DataFrame({"source": [3, 3, 7], "target": [7, 5, 5], "weight": [2.0, 0.5, -1.0]})


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"source": ["a", None], "target": ["b", "c"]}, r"row 2, column 1 \(source\): the name"),
        ({"source": [1.5], "target": [2]}, r"column 1 \(source\): nodes must be integers or texts"),
        (
            {"source": [1], "target": [2], "weight": ["x"]},
            r"column 3 \(weight\): numbers are needed",
        ),
        (
            {"source": [1], "target": [2], "weight": [math.nan]},
            r"row 1, column 3 \(weight\): nan is",
        ),
        (
            {"source": [1, 1], "target": [2, 2], "weight": [1.0, None]},
            r"row 2, column 3 \(weight\)",
        ),
        ({"source": [1]}, r"1 column\(s\)"),
    ],
)
def test_wrong_column_is_named_with_its_row(
    frame: dict[str, Any], message: str, tmp_path: Path
) -> None:
    pl.DataFrame(frame).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(GraphFileError, match=message):
        read_edges(tmp_path / "e.parquet")


def test_ids_are_integers_or_text(tmp_path: Path) -> None:
    huge = pl.DataFrame(
        {"source": [2**64 - 1], "target": [1]}, schema_overrides={"source": pl.UInt64}
    )
    huge.write_parquet(tmp_path / "e.parquet")
    assert read_edges(tmp_path / "e.parquet").nodes.tolist() == ["1", str(2**64 - 1)]
    TABLE.write_parquet(tmp_path / "e.parquet")
    assert read_edges(tmp_path / "e.parquet", ids="text").nodes.tolist() == ["3", "5", "7"]


def test_two_values_of_a_node_are_refused_with_both_rows(tmp_path: Path) -> None:
    pl.DataFrame({"node": ["a", "a"], "value": [1, 2]}).write_parquet(tmp_path / "v.parquet")
    with pytest.raises(
        GraphFileError, match="row 2: node 'a' has the value 2 here, but 1 in row 1"
    ):
        read_values(tmp_path / "v.parquet")
