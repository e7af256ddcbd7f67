"""Cora-Con on small files: its content, and refused files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradraker.datasets import fetch_cora_con
from gradraker.exceptions import DatasetFileError
from small_datasets import CONTENT, CORA_FILES, put


def test_fetch_cora_con_of_small_files_by_hand(small: Callable[..., Any], tmp_path: Path) -> None:
    put(tmp_path / "cora", **CORA_FILES)
    data = fetch_cora_con(data_home=str(tmp_path))
    # 5 cites no paper and is left out; 7 cites 31 (and 5); 31 cites 7.
    assert data.node_names == ("31", "7")
    assert data.adjacency.toarray().tolist() == [[0, 1], [1, 0]]
    assert data.values.tolist() == [7.0, 1.0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cora.content", CONTENT + b"8\t1\tTheory\n", "has 4 papers instead of 3"),
        ("cora.content", CONTENT.replace(b"Case_Based", b"Theory"), "1 classes instead of 2"),
        ("cora.content", CONTENT.replace(b"Case_Based", b"Cases"), "line 2: .* got 'Cases'"),
        ("cora.content", b"\x00\xff\n", "line 1: the last column must be"),
        ("cora.content", b"", "0 papers instead of 3 and 0 classes"),
        ("cora.cites", b"", "0 citations instead of 3 and 3 papers that cite nobody instead of 1"),
        ("cora.cites", b"31\t7\n5\t7\n31\t7\n", "2 citations instead of 3"),
        ("cora.cites", b"31\t7\n5\t9\n", "line 2: must be two papers of cora.content; got"),
        ("cora.cites", b"31\t7\t5\n", "line 1: must be two papers"),
    ],
)
def test_wrong_cora_files_are_refused_by_name(
    small: Callable[..., Any], tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    put(tmp_path / "cora", **(CORA_FILES | {name: content}))
    with pytest.raises(DatasetFileError, match=message) as caught:
        fetch_cora_con(data_home=tmp_path)
    assert str(tmp_path / "cora" / name) in str(caught.value)
