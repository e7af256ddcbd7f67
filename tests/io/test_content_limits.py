"""Files that unpack to more than a limit are refused with their size."""

import gzip
import zlib
from typing import Any

import polars as pl
import pytest

from gradraker import read_edges
from gradraker.exceptions import GraphFileError
from gradraker.io.content import find_limit


@pytest.fixture
def small_limit(monkeypatch: Any) -> None:
    monkeypatch.setenv("GRADRAKER_MOST_UNPACKED_BYTES", "1000000")


def test_gzip_beyond_the_limit(tmp_path: Any, small_limit: Any) -> None:
    path = tmp_path / "e.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * 1_000_000))
    with pytest.raises(GraphFileError, match=r"unpacks to more than .* the limit is 1 MB: set"):
        read_edges(path)


def test_gzip_members_count_together(tmp_path: Any, small_limit: Any) -> None:
    path = tmp_path / "e.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" * 100_000) * 3)
    with pytest.raises(GraphFileError, match="unpacks to more than"):
        read_edges(path)


def test_gzip_bomb_is_not_unpacked_whole(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("GRADRAKER_MOST_UNPACKED_BYTES", str(50_000_000))
    path = tmp_path / "e.csv.gz"
    packer = zlib.compressobj(1, wbits=31)
    content = b"".join(packer.compress(bytes(1 << 24)) for _ in range(20)) + packer.flush()
    path.write_bytes(content)
    with pytest.raises(GraphFileError, match="unpacks to more than 5"):
        read_edges(path)


def test_many_members_and_padding(tmp_path: Any) -> None:
    path = tmp_path / "e.csv.gz"
    lines = [f"{i},{i + 1}\n".encode() for i in range(300)]
    path.write_bytes(b"\0".join(map(gzip.compress, lines)) + bytes(10))
    assert len(read_edges(path)) == 300


def test_parquet_beyond_the_limit_is_refused_with_its_size(tmp_path: Any, small_limit: Any) -> None:
    path = tmp_path / "e.parquet"
    pl.DataFrame({"source": [1] * 1_000_000, "target": [2] * 1_000_000}).write_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(GraphFileError, match=r"it unpacks to 16 MB, and the limit is 1 MB"):
        read_edges(path)


def test_limit_without_a_setting_is_that_of_the_machine(monkeypatch: Any) -> None:
    monkeypatch.delenv("GRADRAKER_MOST_UNPACKED_BYTES", raising=False)
    assert find_limit() > 10**8


def test_wrong_limit_is_named(monkeypatch: Any) -> None:
    monkeypatch.setenv("GRADRAKER_MOST_UNPACKED_BYTES", "4GB")
    with pytest.raises(ValueError, match="GRADRAKER_MOST_UNPACKED_BYTES must be a number of bytes"):
        find_limit()
