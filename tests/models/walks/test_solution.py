"""The exact solver against dense equations: predictions, weights and left-out errors."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from examples import random_graph
from gradraker import NodeRegressor, gnmse
from oracles import nodes as oracle

BLOCKS = (
    "alternating",
    "community",
    "degree",
    "far",
    "hop1",
    "hop3",
    "same_sources",
    "same_targets",
)


@pytest.mark.parametrize("direction", ["both", "out"])
def test_exact_predictions_equal_the_dense_equations(direction: Any) -> None:
    A, values, known = random_graph()
    model = NodeRegressor(blocks=BLOCKS, width=0.8, alpha=0.1, direction=direction)
    model.fit(A, values, kind="matrix")
    K = oracle.kernel(A, BLOCKS, 0.8, direction)
    unknown = np.setdiff1d(np.arange(31), known)
    expected = oracle.ridge(K[np.ix_(known, known)], K[np.ix_(unknown, known)], values[known], 0.1)
    np.testing.assert_allclose(model.predict(), expected, atol=1e-10)
    assert model.unknown_nodes_.tolist() == unknown.tolist()
    assert model.known_nodes_.tolist() == known.tolist()
    assert (model.solver_, model.blocks_, model.alpha_) == ("exact", BLOCKS, 0.1)
    assert {term.width for term in model.kernel_} == {0.8}


def test_left_out_error_equals_refits() -> None:
    A, values, known = random_graph()
    model = NodeRegressor(blocks=BLOCKS, width=0.8, alpha=0.1).fit(A, values, kind="matrix")
    K = oracle.kernel(A, BLOCKS, 0.8)
    y = values[known]
    _, own = oracle.left_out_predictions(K[np.ix_(known, known)], K[:, known], y, 0.1)
    mean = np.array([np.delete(y, i).mean() for i in range(len(y))])
    error = model.left_out_error_
    assert error.rmse == pytest.approx(np.sqrt(np.mean((y - own) ** 2)), rel=1e-9)
    assert error.rmse_of_mean == pytest.approx(np.sqrt(np.mean((y - mean) ** 2)), rel=1e-9)
    low, span = y.min(), np.ptp(y)
    assert error.gnmse == pytest.approx(gnmse((y - low) / span, (own - low) / span), rel=1e-9)
    assert error.n_nodes == 13


# Operators solve to a relative residual of tol, and weights to a tenth of it.
@pytest.mark.parametrize("solver", ["exact", "operators"])
def test_predictions_are_weighted_sums_of_known_values(solver: Any) -> None:
    A, values, known = random_graph(1)
    model = NodeRegressor(
        transform="none", blocks=BLOCKS, width=0.5, alpha=0.02, solver=solver, tol=1e-12
    ).fit(A, values, kind="matrix")
    explanation = model.explain()
    np.testing.assert_allclose(
        explanation.weights @ explanation.values, model.predict(), atol=1e-10, rtol=0
    )
    np.testing.assert_allclose(explanation.sum_of_weights, 1.0, atol=1e-10)
    np.testing.assert_array_equal(explanation.values, values[known])
    assert explanation.known_names == known.tolist()
    # The weights do not depend on the values: what they say holds for other values too.
    other = np.where(np.isnan(values), np.nan, np.arange(31.0) ** 2)
    again = clone(model).fit(A, other, kind="matrix")
    np.testing.assert_allclose(explanation.weights @ other[known], again.predict(), atol=1e-7)
