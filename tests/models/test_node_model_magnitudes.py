"""Numbers near the ends of float64 are refused, so that no prediction is NaN."""

from typing import Any

import numpy as np
import pytest

from gradraker import NodeClassifier, NodeRegressor, SKGNodeRegressor

EDGES = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
MODELS = [NodeRegressor, lambda: SKGNodeRegressor(sigma2=1.0)]


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("value", [-1e308, 1e308, 1e200])
def test_large_values_are_refused(make: Any, value: Any) -> None:
    with pytest.raises(ValueError, match=r"values holds .* for node 'b', but values must lie"):
        make().fit(EDGES, {"a": 1.0, "b": value})
    model = make().fit(EDGES, {"a": 1.0, "b": 2.0})
    before = model.predict()
    with pytest.raises(ValueError, match="for node 'c'"):
        model.partial_fit(values={"c": value})
    np.testing.assert_array_equal(model.predict(), before)


@pytest.mark.parametrize("make", [*MODELS, NodeClassifier])
def test_large_weights_are_refused(make: Any) -> None:
    edges = [(*edge, 1.0) for edge in EDGES[:-1]] + [(*EDGES[-1], 1e308)]
    with pytest.raises(ValueError, match=r"edge weight 1e\+308"):
        make().fit(edges, {"a": 1.0, "b": 2.0})


@pytest.mark.parametrize("make", MODELS)
@pytest.mark.parametrize("value", [1e100, -1e100, 1e-100])
def test_other_values_give_finite_predictions(make: Any, value: Any) -> None:
    model = make().fit(EDGES, {"a": value, "b": 2.0 * value / 3.0})
    assert np.isfinite(model.predict()).all()
