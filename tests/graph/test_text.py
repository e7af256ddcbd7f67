"""Texts that stand for names."""

from typing import Any
from unittest import mock

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from gradraker.graph.text import find_distinct_texts


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), max_size=30))
def test_distinct_texts_are_sorted(texts: Any) -> None:
    names, (first, second) = find_distinct_texts([pl.Series(texts, dtype=pl.String)] * 2)
    assert names.tolist() == sorted(set(texts))
    assert names[first].tolist() == texts == names[second].tolist()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), min_size=2))
def test_distinct_texts_with_equal_hashes(texts: Any) -> None:
    column = pl.Series(texts, dtype=pl.String)
    with mock.patch.object(pl.Series, "hash", return_value=pl.Series([0] * len(texts))):
        names, (codes,) = find_distinct_texts([column])
    assert names.tolist() == sorted(set(texts))
    assert names[codes].tolist() == texts
