"""Email-Eu-core on small files: its content, and refused files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradraker.datasets import fetch_email_eu_core
from gradraker.exceptions import DatasetFileError
from small_datasets import EMAIL_FILES, put


def test_fetch_email_eu_core_of_small_files_by_hand(
    small: Callable[..., Any], tmp_path: Path
) -> None:
    put(tmp_path / "email_eu_core", **EMAIL_FILES)
    data = fetch_email_eu_core(data_home=tmp_path)
    assert data.adjacency.toarray().tolist() == [[0, 1, 0], [1, 1, 0], [1, 0, 0]]
    assert data.values.tolist() == [2.0, 2.0, 1.0]
    assert data.node_names == ("0", "1", "2")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("email-Eu-core.txt", b"0 1\n", "has 1 edges instead of 4"),
        ("email-Eu-core.txt", b"", "has 0 edges instead of 4"),
        ("email-Eu-core.txt", b"0 1 5\n", "must have 2"),
        ("email-Eu-core.txt", b"0 1\n1 x\n", "cannot be read"),
        ("email-Eu-core.txt", b"0 1\n1\n", "cannot be read"),
        ("email-Eu-core.txt", b"\xff\xfe\x00", "cannot be read"),
        ("email-Eu-core.txt", b"0 99999999999999999999\n", "cannot be read"),
        ("email-Eu-core.txt", b"0 1\n1 0\n1 1\n3 0\n", "members from 0 to 2; got 0 to 3"),
        ("email-Eu-core.txt", b"0 1\n1 0\n1 1\n-1 0\n", "members from 0 to 2; got -1 to 1"),
        ("email-Eu-core-department-labels.txt", b"0 1\n1 1\n", "2 members instead of 3"),
        ("email-Eu-core-department-labels.txt", b"0 1\n1 1\n2 1\n", "1 departments instead of 2"),
        ("email-Eu-core-department-labels.txt", b"0 1\n1 1\n1 2\n", "0 to 2 one department each"),
    ],
)
def test_wrong_email_files_are_refused_by_name(
    small: Callable[..., Any], tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    put(tmp_path / "email_eu_core", **(EMAIL_FILES | {name: content}))
    with pytest.raises(DatasetFileError, match=message) as caught:
        fetch_email_eu_core(data_home=tmp_path)
    assert str(tmp_path / "email_eu_core" / name) in str(caught.value)
