"""Predictions of a bank as weighted sums of the values that it has seen."""

import numpy as np
import pytest
from numpy.typing import NDArray

from bank_examples import KERNEL_LIST, Y3, D, X, Y, bank
from gradraker import SKGRegressor


@pytest.mark.parametrize("regularization", [0.0, 0.4])
@pytest.mark.parametrize("y", [Y, Y3], ids=["one", "three"])
def test_predictions_are_weighted_sums_of_known_values(
    y: NDArray[np.float64], regularization: float
) -> None:
    model = bank(regularization=regularization).fit(X, y)
    model.learning_rate = 0.1
    model.partial_fit(X[:7].astype(np.float32), y[:7])
    explanation = model.explain(X)
    learned = np.concatenate([y, y[:7]])
    np.testing.assert_array_equal(explanation.values, learned)
    np.testing.assert_allclose(explanation.weights @ learned, model.predict(X), atol=1e-10)
    np.testing.assert_array_equal(explanation.kernel_weights, model.kernel_weights_)
    np.testing.assert_array_equal(explanation.member_predictions, model.predict_members(X))


def test_a_bank_of_one_is_explained_as_skg_is() -> None:
    one = bank(kernels=[1.5]).fit(X, Y).explain(X[:5])
    single = SKGRegressor(sigma2=1.5, n_frequencies=D, learning_rate=0.2, random_state=3)
    np.testing.assert_allclose(one.weights, single.fit(X, Y).explain(X[:5]).weights, atol=1e-14)
    assert "100% of the weight on σ² = 1.5" in repr(one)
    assert len(one.top(3, row=0)) == 3


def test_explaining_needs_the_known_rows() -> None:
    model = bank(keep_known=False).fit(X, Y)
    with pytest.raises(ValueError, match="keep_known is False"):
        model.explain(X)
    assert len(model.ranges_) == len(KERNEL_LIST)
