"""Values predicted by those of the nearest rows."""

import numpy as np
import pytest

from gradraker.explain import similarity_transfer


def test_relative_error_takes_all_ties() -> None:
    # Row 0 is as far from 1 as from 2, whose values 2 and 4 average to its own, 3.
    # Rows 1 and 2 are predicted 3, row 3 is predicted 2.
    X, y = [[0.0], [1.0], [-1.0], [5.0]], np.array([3.0, 2.0, 4.0, 7.0])
    by_mean = ((y - (y.sum() - y) / 3) ** 2).sum()
    found = similarity_transfer(X, y, n_neighbors=1)
    assert found.relative_error == pytest.approx((0 + 1 + 1 + 25) / by_mean, rel=1e-12)


def test_two_nodes_that_are_each_others_twins_are_predicted_exactly() -> None:
    X = [[1, 0], [1, 0], [0, 1], [0, 1]]
    found = similarity_transfer(X, [1.0, 1.0, 5.0, 5.0], n_neighbors=1)
    assert found.relative_error == 0.0
    # Of 6 pairs, two have distance and difference 0, four have both large.
    assert found.rank_correlation == pytest.approx(1.0)
    assert found.verdict.startswith("SKG should work well here: predicting a node from its 1 near")
