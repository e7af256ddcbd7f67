"""Coefficients of attributes."""

import numpy as np
import pytest

from attribute_examples import (
    make_data,
)
from gradraker import NodeRegressor


@pytest.mark.parametrize("partly", [False, True], ids=["same nodes", "other nodes"])
def test_coefficients_of_several_targets_are_in_their_units(partly: bool) -> None:
    A, X, _, known = make_data()
    values = np.column_stack([known, 100.0 * known])
    if partly:
        values[np.flatnonzero(~np.isnan(known))[0], 1] = np.nan
    model = NodeRegressor(transform="none").fit(A, values, attributes=X)
    found = model.coefficients_.values
    assert abs(found[:, :, 0]).max() > 0.1
    np.testing.assert_allclose(found[:, :, 1], 100.0 * found[:, :, 0], rtol=0.1, atol=0.5)
    assert len(model.describe()["attributes"]["coefficients"]) > 2
