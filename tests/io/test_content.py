"""Bytes of files and of standard input, packed or not, and progress."""

import gzip
import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

from examples import list_edges
from gradraker import read_edges
from gradraker.exceptions import GraphFileError

PLAIN = [(3, 7, 2.0), (3, 5, 0.5), (7, 5, -1.0)]


def test_read_edges_from_standard_input(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    for content in (b"3,7,2\n3,5,.5\n7,5,-1\n", gzip.compress(b"3 7 2\n3 5 .5\n7 5 -1")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert list_edges(read_edges("-")) == PLAIN
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"3,x,2\n3,7\n")))
    with pytest.raises(GraphFileError, match=r"standard input, line 2: the line has 2 column\(s\)"):
        read_edges("-")


def test_gzip_of_several_parts(write_file: Callable[..., Any]) -> None:
    path = write_file(gzip.compress(b"3,7\n") + gzip.compress(b"7,5\n") + b"\0\0", "edges.csv.gz")
    assert list_edges(read_edges(path)) == [(3, 7, None), (7, 5, None)]


def test_progress_reaches_the_total(write_file: Callable[..., Any], way: str) -> None:
    calls = []
    read_edges(
        write_file(gzip.compress(b"1,2\n" * 1000), "e.csv.gz"),
        progress=lambda *call: calls.append(call),
    )
    assert {stage for stage, _, _ in calls} == {"reading", "unpacking", "parsing"}
    assert all(0 < done <= total for _, done, total in calls)
    for stage in ("reading", "unpacking"):
        done, total = [call[1:] for call in calls if call[0] == stage][-1]
        assert done == total
