"""The median heuristic by hand, and rows that it refuses."""

import re

import numpy as np
import pytest

from gradraker.kernels import median_sigma2


def find_median(X: list[list[float]], kernel: str = "gaussian") -> float:
    return median_sigma2(np.array(X), kernel=kernel, rng=np.random.default_rng(0))


def test_median_by_hand() -> None:
    X = [[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]]
    assert find_median(X) == 5.0  # of 2, 5 and 9
    assert find_median(X, "laplacian") == 9.0  # of 2, 3 and 3, squared
    assert find_median(X, "cauchy") == 5.0


def test_equal_rows_are_ignored_if_most_are_equal() -> None:
    # 6 pairs are equal, and 4 are at distances 0.25: smaller than 1, which is no limit.
    X = [[0.0], [0.0], [0.0], [0.0], [0.5]]
    assert find_median(X) == 0.25
    # 3 pairs of 6 are equal: the median is between 0 and 4, and counts them.
    assert find_median([[0.0], [0.0], [0.0], [2.0]]) == 2.0


def test_rows_without_a_distance_are_refused() -> None:
    message = (
        "X has n_samples = 3 rows without a pair that differs, so sigma2='median' has no distance "
        "to choose by: at least two distinct rows are needed"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        find_median([[1.0, 2.0]] * 3)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_variances_beyond_float64_are_refused(size: float) -> None:
    message = "so that sigma2 leaves the range of float64: scale X$"
    with pytest.raises(ValueError, match=message):
        find_median([[0.0], [size]], "laplacian")
