"""Parts of one repeat."""

import numpy as np
import pytest

from gradraker.features import as_rows
from gradraker.sweep.repeat import find_distinct_rows


@pytest.mark.parametrize(
    "X",
    [
        [[1.0, 0.0], [0.0, 1.0]],
        [[1.0, 0.0], [2.0, 0.0]],
        [[1.0, 0.0], [0.0, 0.0]],
        [[1.0, 0.0], [1.0, 1.0]],
        [[1.0, 1.0], [1.0, 0.0]],
    ],
)
def test_only_equal_rows_are_merged(X):
    rows = as_rows(np.array([X[0], X[1], X[0]]))
    first, place = find_distinct_rows(rows)
    assert place[0] == place[2] != place[1]
    assert sorted(first.tolist()) == [0, 1]
    first, place = find_distinct_rows(as_rows(np.array(X)))
    assert first.tolist() == place.tolist() == [0, 1]
