"""GradrakerRegressor: a bank of one is SKG, the equations, chunks, views and explanations."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from gradraker import GradrakerRegressor, SKGRegressor, load_temperature
from gradraker._compiled.fourier_lms import run_member_pass
from gradraker.features import engine as threads
from gradraker.graph import hop_views
from gradraker.kernels.shift_invariant import KERNELS
from gradraker.models.bank import training as bank_training
from oracles import bank as oracle
from oracles import skg

N, M, D = 40, 12, 16
RNG = np.random.default_rng(0)
X = (RNG.random((N, M)) < 0.3) * RNG.random((N, M))
Y = RNG.normal(size=N)
Y3 = RNG.normal(size=(N, 3))
NAMES = [f"node {m}" for m in range(M)]
KERNEL_LIST = [0.1, 1.5, "theory", ("laplacian", 2.0), ("cauchy", "median")]


def bank(**parameters: Any) -> GradrakerRegressor:
    return GradrakerRegressor(
        **{
            "kernels": KERNEL_LIST,
            "n_frequencies": D,
            "learning_rate": 0.2,
            "random_state": 3,
            "keep_weights": True,
            **parameters,
        }
    )


def assert_equal_models(model: GradrakerRegressor, other: GradrakerRegressor) -> None:
    np.testing.assert_array_equal(model.coef_, other.coef_)
    np.testing.assert_array_equal(model.kernel_weights_, other.kernel_weights_)
    np.testing.assert_array_equal(model.member_losses_, other.member_losses_)
    np.testing.assert_array_equal(model.weights_history_, other.weights_history_)
    assert model.loss_ == other.loss_
    assert model.n_seen_ == other.n_seen_


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


@pytest.mark.parametrize("y", [Y, Y3, 1e6 * Y, 1e-6 * Y], ids=["one", "three", "large", "small"])
@pytest.mark.parametrize("weight_step", ["auto", 0.05])
@pytest.mark.parametrize("regularization", [0.0, 0.3])
def test_training_follows_the_equations(y: Any, weight_step: Any, regularization: float) -> None:
    if weight_step != "auto":
        weight_step /= np.mean(y**2)
    model = bank(weight_step=weight_step, regularization=regularization).fit(X, y)
    features = [skg.features(X, model.compute_frequencies(p)) for p in range(len(KERNEL_LIST))]
    theta, losses, loss, history = oracle.train(
        features,
        y,
        skg.orders(3, N, 3, shuffle=True),
        0.2,
        weight_step=weight_step,
        regularization=regularization,
    )
    np.testing.assert_allclose(model.coef_, theta, rtol=1e-9, atol=1e-11 * abs(theta).max())
    np.testing.assert_allclose(model.member_losses_, losses, rtol=1e-9)
    np.testing.assert_allclose(model.loss_, loss, rtol=1e-9)
    np.testing.assert_allclose(model.weights_history_, history, rtol=1e-8)


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


@given(cuts=st.sets(st.integers(1, N - 1), max_size=6), y=st.sampled_from([Y, Y3]))
@settings(max_examples=20, deadline=None)
def test_any_split_into_chunks_gives_the_same_model(cuts: Any, y: Any) -> None:
    kernels = [0.1, 1.5, ("laplacian", 2.0)]
    whole = bank(kernels=kernels, regularization=0.1).partial_fit(X, y)
    parts = bank(kernels=kernels, regularization=0.1)
    for start, stop in pairwise([0, *sorted(cuts), N]):
        parts.partial_fit(X[start:stop], y[start:stop])
    assert_equal_models(whole, parts)


@pytest.mark.parametrize("order", ["C", "sparse"])
def test_memory_limits_and_threads_do_not_change_the_model(
    monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    rows = sparse.csr_array(X) if order == "sparse" else X
    expected = bank().fit(rows, Y)
    predictions = expected.predict(rows)
    for name, value in {"_KEPT_FEATURES": 0, "_KEPT_PROJECTIONS": 0, "_CHUNK_BYTES": 1000}.items():
        monkeypatch.setattr(bank_training, name, value)
        assert_equal_models(expected, bank().fit(rows, Y))
        np.testing.assert_array_equal(expected.predict(rows), predictions)
    monkeypatch.setattr(bank_training, "_FEATURES_PER_THREAD", 0)
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(threads, "count_threads", lambda n=n_threads: n)
        assert_equal_models(expected, bank().fit(rows, Y))
        np.testing.assert_array_equal(expected.predict(rows), predictions)


def test_members_that_run_at_once_have_memory_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    spaces = {}

    def one_within_the_other(loop: Any, n_members: Any, _: Any) -> None:
        run.append(loop)
        loop(0, 1)
        loop(1, n_members - 1)

    def note(bank: Any, chunk: Any, theta: Any) -> Any:
        def work(m: Any, P: Any, Z: Any) -> None:
            spaces[m] = Z
            if m == 1:
                run[0](2, 3)

        bank_training._run_members(bank, chunk, work)
        return np.zeros((theta.shape[0], chunk.numbers.size, theta.shape[1]))

    model = bank(kernels=[0.1, 1.0, 10.0]).fit(X, Y)
    run: list[Any] = []
    monkeypatch.setattr(bank_training, "parallel_for", one_within_the_other)
    monkeypatch.setattr(bank_training, "_predict_member", note)
    model.predict(X)
    assert np.shares_memory(spaces[0], spaces[1])  # one after the other
    assert not np.shares_memory(spaces[1], spaces[2])


def test_features_that_are_kept_are_those_that_are_computed_again() -> None:
    P, y = RNG.normal(size=(7, D)), RNG.normal(size=(7, 1))
    rows = np.concatenate([RNG.permutation(7) for _ in range(3)])
    found = []
    for n_kept in (1, 7):
        theta, Z = np.zeros((1, 2 * D)), np.empty((n_kept, 2 * D))
        out, norms = np.empty((21, 1)), np.empty(21)
        run_member_pass(P, rows, 0.7, y, 0.4, 0.9, theta, Z, out, norms)
        found.append(np.concatenate([theta.ravel(), out.ravel(), norms]))
    np.testing.assert_array_equal(found[0], found[1])


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


def test_references_may_grow_without_views() -> None:
    kernels = [1.5, ("laplacian", 2.0)]
    few = np.flatnonzero(~X[:, :6].any(axis=1))  # nodes that know the last six names only
    others = np.setdiff1d(np.arange(N), few)
    order = [*few, *others]
    together = bank(kernels=kernels).partial_fit(X[order], Y[order], references=NAMES)
    growing = bank(kernels=kernels)
    growing.partial_fit(X[few][:, 6:], Y[few], references=NAMES[6:])
    growing.partial_fit(X[others], Y[others], references=NAMES)
    np.testing.assert_allclose(growing.coef_, together.coef_, rtol=1e-12, atol=1e-15)
    assert set(growing.references_) == set(NAMES)
    predicted = growing.predict(X[:, :3], references=["new", *NAMES[1:3]])
    assert np.isfinite(predicted).all()


def test_data_frames_bring_names() -> None:
    frame = pd.DataFrame(X, columns=NAMES, index=[f"row {n}" for n in range(N)])
    model = bank().fit(frame, Y)
    assert list(model.references_) == NAMES
    assert model.explain(frame).known_names[3] == "row 3"
    np.testing.assert_array_equal(
        model.predict(frame), bank().fit(X, Y, references=NAMES).predict(X, references=NAMES)
    )


# -- explanations ------------------------------------------------------------------------------


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


# -- scikit-learn ------------------------------------------------------------------------------


def test_parameters_can_be_cloned_and_searched() -> None:
    model = bank(views={"left": 5, "right": 7})
    assert clone(model).get_params() == model.get_params()
    grid = {"kernels": ["ranges", [1e-4], ("theory", 2.0)], "views": [None, [5, 7]]}
    search = GridSearchCV(bank(), grid, cv=3, error_score="raise").fit(X, X.sum(axis=1))
    assert search.best_params_["kernels"] != [1e-4]
