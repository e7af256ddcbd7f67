"""Scales of attributes: units, monotone scales and missing numbers make no difference."""

import numpy as np
import pytest

from attribute_rows import N, make_numbers, make_rows, make_words
from gradraker.models.walks.attributes.scaling import fit_scale


@pytest.mark.parametrize("unit", [1e200, 1e-200])
def test_rows_do_not_depend_on_the_unit(unit: float) -> None:
    X = make_numbers()
    one, other = make_rows(X, N), make_rows(unit * X, N)
    np.testing.assert_allclose(
        one.get_linear_rows("attributes"), other.get_linear_rows("attributes"), atol=1e-10
    )


def test_gaussian_rows_do_not_depend_on_monotone_scales() -> None:
    X = make_numbers()
    one, other = make_rows(X, N), make_rows(np.exp(X), N)
    np.testing.assert_allclose(
        one.get_gaussian_rows("attributes"), other.get_gaussian_rows("attributes"), atol=1e-10
    )


def test_projected_words_keep_inner_products_where_directions_suffice() -> None:
    X = make_words()
    whole, few = make_rows(X, N), make_rows(X, N, most_columns=35)
    assert few.directions is not None
    first, second = (r.get_linear_rows("neighbour_attributes") for r in (whole, few))
    np.testing.assert_allclose(second @ second.T, first @ first.T, atol=1e-4)


def test_missing_numbers_are_at_the_mean() -> None:
    X = make_numbers()[:N]
    X[4] = np.nan
    found = make_rows(X, N).get_linear_rows("attributes")
    np.testing.assert_allclose(found[4], 0.0, atol=1e-12)
    assert np.isfinite(fit_scale(X).apply(X)).all()
