"""Names of nodes as arrays."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gradraker.graph.names import find_distinct_integers


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30))
def test_distinct_integers_as_numpy(values: Any) -> None:
    array = np.array(values, dtype=np.int64)
    for given_values in (array, array % 100, array.astype(np.uint64)):
        names, codes = find_distinct_integers(given_values)
        assert np.array_equal(names, np.unique(given_values))
        assert np.array_equal(names[codes], given_values)
