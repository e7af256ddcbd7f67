"""Sizes that Parquet files declare are compared with the files before polars reads them."""

import io
import random
import struct
from typing import Any

import polars as pl
import pytest

from gradraker import read_edges
from gradraker.exceptions import GraphFileError
from gradraker.io.parquet_sizes import check_parquet_sizes

FRAME = pl.DataFrame(
    {
        "source": [f"n{i % 7}" for i in range(1000)],
        "target": list(range(1000)),
        "weight": [0.5 * i for i in range(1000)],
    }
)
NESTED = FRAME.with_columns(
    many=pl.Series([[1, 2, 3]] * 1000), pair=pl.struct(a="weight"), flag=pl.lit(True)
)


def to_parquet(frame: Any, **options: Any) -> Any:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("codec", ["uncompressed", "snappy", "zstd", "gzip", "lz4", "brotli"])
@pytest.mark.parametrize("frame", [FRAME, NESTED, FRAME.head(0), FRAME.head(1)])
def test_sizes_of_sound_files_pass(frame: Any, codec: Any) -> None:
    sizes = check_parquet_sizes(to_parquet(frame, compression=codec))
    assert sizes.n_rows == frame.height
    assert sizes.n_bytes >= 8 * frame.height * 2


@pytest.mark.parametrize("options", [{}, {"row_group_size": 100}, {"data_page_size": 256}])
def test_files_of_several_groups_and_pages_pass(options: Any) -> None:
    assert check_parquet_sizes(to_parquet(FRAME, **options)).n_rows == 1000


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"data_page_version": "2.0"},
        {"use_dictionary": False},
        {"version": "1.0", "data_page_size": 200},
        {"row_group_size": 77, "write_page_index": True},
        {"column_encoding": {"target": "DELTA_BINARY_PACKED"}, "use_dictionary": ["source"]},
    ],
)
def test_files_of_arrow_pass(tmp_path: Any, options: Any) -> None:
    arrow = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table(FRAME.to_dict(as_series=False))
    arrow.write_table(table, tmp_path / "e.parquet", **options)
    assert check_parquet_sizes((tmp_path / "e.parquet").read_bytes()).n_rows == 1000
    assert len(read_edges(tmp_path / "e.parquet")) == 1000


def test_footer_longer_than_the_file(tmp_path: Any) -> None:
    data = to_parquet(FRAME)
    path = tmp_path / "e.parquet"
    path.write_bytes(data[:-8] + struct.pack("<L", 2**31) + b"PAR1")
    with pytest.raises(GraphFileError, match="the footer is longer than the file"):
        read_edges(path)


@pytest.mark.parametrize("length", [0, 4, 11, 12, 100])
def test_files_that_are_cut_are_refused(length: Any) -> None:
    data = to_parquet(FRAME)
    with pytest.raises(ValueError, match=r"missing|longer|early|is not"):
        check_parquet_sizes(data[:length])
    with pytest.raises(ValueError, match=r"missing|longer|early|is not|file|unknown|count"):
        check_parquet_sizes(data[:length] + data[-8:])


def test_damaged_footers_give_sizes_or_value_errors() -> None:
    data = to_parquet(FRAME.head(20))
    rng = random.Random(0)
    refused = 0
    for _ in range(3000):
        changed = bytearray(data)
        changed[rng.randrange(4, len(data))] = rng.randrange(256)
        try:
            check_parquet_sizes(bytes(changed))
        except ValueError:
            refused += 1
    assert refused > 500
