"""GradrakerRegressor: a bank of one is SKG, the equations, chunks, views and explanations."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from bank_examples import Y3, D, M, X, Y, assert_equal_models, bank
from gradraker import GradrakerRegressor, SKGRegressor, load_temperature
from gradraker.graph import hop_views
from gradraker.kernels.shift_invariant import KERNELS

# -- a bank of one -----------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("sigma2", [1.5, "theory", "refined", "median", "cv"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_bank_of_one_is_skg_bit_for_bit(
    kernel: str, sigma2: float | str, dtype: type[Any]
) -> None:
    for rows, y in ((X.astype(dtype), Y), (sparse.csr_array(X.astype(dtype)), Y3)):
        settings: dict[str, Any] = {"n_frequencies": D, "learning_rate": 0.2, "random_state": 3}
        one = GradrakerRegressor(kernels=[(kernel, sigma2)], **settings).fit(rows, y)
        single = SKGRegressor(kernel=kernel, sigma2=sigma2, **settings).fit(rows, y)
        np.testing.assert_array_equal(one.coef_[0], single.coef_)
        np.testing.assert_array_equal(one.predict(rows), single.predict(rows))
        np.testing.assert_array_equal(one.compute_frequencies(), single.frequencies_)
        assert one.sigma2_.tolist() == [single.sigma2_]
        assert one.members_[0].rule == single.sigma2_rule_
        assert one.kernel_weights_.tolist() == [1.0]
        assert one.ranges_ == [single.ranges_]
        assert one.n_seen_ == single.n_seen_


def test_every_member_is_the_skg_of_its_kernel() -> None:
    model = bank(kernels=["ranges", ("laplacian", "ranges")]).fit(X, Y)
    alone = [
        SKGRegressor(
            kernel=member.kernel,
            sigma2=member.sigma2,
            n_frequencies=D,
            learning_rate=0.2,
            random_state=3,
        ).fit(X, Y)
        for member in model.members_
    ]
    np.testing.assert_array_equal(model.coef_, [single.coef_ for single in alone])
    np.testing.assert_array_equal(model.predict_members(X), [s.predict(X) for s in alone])
    np.testing.assert_allclose(
        model.predict(X), model.kernel_weights_ @ model.predict_members(X), rtol=1e-12
    )


# -- the equations -----------------------------------------------------------------------------


@pytest.mark.parametrize("unit", [1024.0, 1.2, 0.3048, 1e-9, 1e9])
def test_weights_do_not_depend_on_the_unit_of_the_values(unit: float) -> None:
    model, scaled = bank().fit(X, Y), bank().fit(X, unit * Y)
    np.testing.assert_allclose(scaled.weights_history_, model.weights_history_, rtol=1e-11)
    assert scaled.regret_bound_ == pytest.approx(unit**2 * model.regret_bound_, rel=1e-11)


def test_kernels_by_ranges_make_five_members() -> None:
    model = bank(kernels="ranges").fit(X, Y)
    ranges = model.ranges_[0]
    ce, ed = ranges.chaos_extending, ranges.extending_disturbing
    da = ranges.disturbing_averaging
    expected = [ce, (ce * ed) ** 0.5, ed, (ed * da) ** 0.5, da]
    np.testing.assert_allclose(model.sigma2_, expected, rtol=1e-12)
    assert [member.rule for member in model.members_] == ["ranges"] * 5
    equally_far = bank(kernels="ranges").fit(np.eye(4), [1.0, 2.0, 3.0, 4.0])
    assert equally_far.sigma2_.size == 3  # σ²_ce and σ²_ed are the same


def test_unshuffled_epochs_equal_as_many_partial_fits() -> None:
    model = bank(shuffle=False, n_epochs=3).fit(X, Y)
    again = bank(kernels=[(m.kernel, m.sigma2) for m in model.members_])
    for _ in range(3):
        again.partial_fit(X, Y)
    assert_equal_models(model, again)


# -- chunks and threads ------------------------------------------------------------------------


# -- views -------------------------------------------------------------------------------------


def test_a_member_uses_the_columns_of_its_view_only() -> None:
    views = {"left": 5, "right": 7}
    model = bank(kernels=[1.5, "theory"], views=views).fit(X, Y)
    assert [member.view for member in model.members_] == ["left", "left", "right", "right"]
    left, right = X.copy(), X.copy()
    left[:, 5:], right[:, :5] = 0.0, 0.0
    for p, rows in enumerate([left, left, right, right]):
        single = SKGRegressor(
            sigma2=model.members_[p].sigma2, n_frequencies=D, learning_rate=0.2, random_state=3
        ).fit(rows, Y)
        np.testing.assert_array_equal(model.coef_[p], single.coef_)
        rule = SKGRegressor(sigma2="theory", n_frequencies=D).fit(rows, Y)
        assert model.ranges_[p] == rule.ranges_
    assert model.sigma2_[1] == model.ranges_[1].extending_disturbing
    assert model.sigma2_[3] == model.ranges_[3].extending_disturbing


def test_one_view_equals_no_views_and_widths_may_be_a_list() -> None:
    whole, one, listed = bank(), bank(views={"all of it": M}), bank(views=[M])
    for model in (whole, one, listed):
        model.fit(sparse.csr_array(X), Y)
    assert_equal_models(whole, one)
    assert_equal_models(whole, listed)
    np.testing.assert_array_equal(whole.predict(X), one.predict(X))


def test_hops_of_a_graph_are_views() -> None:
    data = load_temperature()
    hops = hop_views(data.adjacency, hops=2, hop_weights="random_walk")
    y = data.scale_values()
    model = bank(kernels="ranges", views=hops.views)
    model.fit(hops.rows[:60], y[:60], references=hops.references)
    assert len(model.members_) == 10
    assert model.members_[-1].label.startswith("2 hops, ")
    np.testing.assert_allclose(
        model.predict(hops.rows[60:], references=hops.references),
        model.predict(hops.rows[60:][:, ::-1], references=hops.references[::-1]),
        rtol=1e-10,
    )
    explanation = model.explain(hops.rows[60:], references=hops.references)
    np.testing.assert_allclose(explanation.weights @ y[:60], explanation.prediction, rtol=1e-10)
    model.partial_fit(hops.rows[60:], y[60:], references=hops.references)
    assert model.n_seen_ == 3 * 60 + 29


# -- references --------------------------------------------------------------------------------


# -- explanations ------------------------------------------------------------------------------


# -- scikit-learn ------------------------------------------------------------------------------


def test_parameters_can_be_cloned_and_searched() -> None:
    model = bank(views={"left": 5, "right": 7})
    assert clone(model).get_params() == model.get_params()
    grid = {"kernels": ["ranges", [1e-4], ("theory", 2.0)], "views": [None, [5, 7]]}
    search = GridSearchCV(bank(), grid, cv=3, error_score="raise").fit(X, X.sum(axis=1))
    assert search.best_params_["kernels"] != [1e-4]
