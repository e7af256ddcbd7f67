"""Models that refused calls must not change."""

import pytest

from gradraker import SKGRegressor
from refused_rows import NAMES, X, Y, regressor


@pytest.fixture(params=["new", "fitted", "named", "online"])
def model(request: pytest.FixtureRequest) -> SKGRegressor:
    """A model after each history of training, which a refused call must not change."""
    made = regressor()
    if request.param == "fitted":
        made.fit(X, Y)
    elif request.param == "named":
        made.fit(X, Y, references=NAMES)
    elif request.param == "online":
        made.learn_one(["a", "e"], 0.5)
    return made
