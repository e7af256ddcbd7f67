"""Entries of columns as they were given."""

from datetime import timedelta

from gradraker.attributes.entries import to_entries


def test_entries_are_plain_numbers_and_texts() -> None:
    found = to_entries(["a", float("nan"), 2, timedelta(minutes=1)])
    assert found.dtype == object
    assert found.tolist() == ["a", None, 2, 60.0]
