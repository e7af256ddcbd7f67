from typing import Any

import pytest

from gradraker import SKGRegressor, load_temperature


@pytest.fixture(scope="module")
def temperature() -> tuple[Any, ...]:
    data = load_temperature()
    X, y = data.adjacency, data.scale_values()
    model = SKGRegressor(sigma2=2.0, random_state=0).fit(X[:36], y[:36])
    return model, X[36:]
