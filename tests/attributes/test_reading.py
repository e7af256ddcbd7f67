"""Files of attributes: text, Parquet and triplets."""

from pathlib import Path

import polars as pl
import pytest

from gradraker import predict_nodes
from gradraker.attributes.reading import read_attributes_file
from gradraker.exceptions import GraphFileError


def test_text_parquet_and_triplets_are_read(tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [7, 8], "words": [1.5, None], "topic": ["art", "law"]})
    frame.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.tsv").write_text("id\twords\ttopic\n7\t1.5\tart\n8\tNA\tlaw\n")
    for name in ("a.parquet", "a.tsv"):
        assert read_attributes_file(tmp_path / name).rows() == [
            ("7", 1.5, "art"),
            ("8", None, "law"),
        ]
    (tmp_path / "t.csv").write_text("node,attribute,value\n7,red,1\n7,old,2\n8,old,1\n")
    found = predict_nodes(
        [("7", "8"), ("8", "9")], {"7": 1.0}, attributes=read_attributes_file(tmp_path / "t.csv")
    )
    assert found.model.attributes_ is not None
    assert found.model.attributes_.names == ("red", "old")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(GraphFileError, match="not a readable Parquet file"):
        read_attributes_file(tmp_path / "b.parquet")
