"""Names of nodes as arrays."""

from typing import Any
from unittest import mock

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from gradraker.graph.names import find_distinct_integers, find_distinct_texts


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30))
def test_distinct_integers_as_numpy(values: Any) -> None:
    array = np.array(values, dtype=np.int64)
    for given_values in (array, array % 100, array.astype(np.uint64)):
        names, codes = find_distinct_integers(given_values)
        assert np.array_equal(names, np.unique(given_values))
        assert np.array_equal(names[codes], given_values)


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
