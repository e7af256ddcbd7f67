"""The rules that choose σ², through the estimator."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV

from gradraker import SKGRegressor, gnmse, load, load_temperature, sigma2_ranges
from gradraker.datasets import make_block_graph, split_nodes
from gradraker.features import FrequencyTable, compute_projections, engine, to_row_arrays
from gradraker.kernels import median_rule as rules
from gradraker.kernels.median_rule import median_sigma2
from gradraker.linear.lms import Fold, make_folds, predict_held_out, weigh_candidates
from gradraker.models import sigma2

ALL_RULES = ("theory", "refined", "median", "cv")


@pytest.fixture(scope="module")
def temperature() -> tuple[Any, ...]:
    data = load_temperature()
    sampled, tested = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
    y = data.scale_values()
    rows = data.adjacency[:, sampled]
    return rows[sampled], y[sampled], rows[tested], y[tested]


def test_theory_is_algorithm_1(temperature: tuple[Any, ...]) -> None:
    X, y, *_ = temperature
    model = SKGRegressor(sigma2="theory", n_frequencies=200, random_state=0).fit(X, y)
    dense = X.toarray()
    largest = max(float(np.sum((a - b) ** 2)) for a in dense for b in dense)
    assert model.sigma2_ == pytest.approx(largest / math.log(400), rel=1e-14)
    assert model.sigma2_rule_ == "theory"
    assert model.ranges_.find_range(model.sigma2_) == "extending"
    assert model.ranges_.largest_distance == largest


def test_refined_is_algorithms_1_and_2(temperature: tuple[Any, ...]) -> None:
    X, y, *_ = temperature
    model = SKGRegressor(sigma2="refined", learning_rate=0.2, random_state=5).fit(X, y)
    ranges = sigma2_ranges(X, noise="refined", learning_rate=0.2, random_state=5)
    assert model.ranges_ == ranges
    assert model.sigma2_ == ranges.extending_disturbing


def test_median_of_squared_distances(temperature: tuple[Any, ...]) -> None:
    X, y, *_ = temperature
    dense = X.toarray()
    n = len(dense)
    pairs = [np.sum((dense[i] - dense[j]) ** 2) for i in range(n) for j in range(i)]
    assert SKGRegressor(sigma2="median").fit(X, y).sigma2_ == np.median(pairs)
    l1 = [np.sum(np.abs(dense[i] - dense[j])) for i in range(n) for j in range(i)]
    laplacian = SKGRegressor(sigma2="median", kernel="laplacian").fit(X, y)
    assert laplacian.sigma2_ == np.median(l1) ** 2


def test_median_of_sampled_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = csr_array((rng.random((300, 40)) < 0.2) * rng.normal(size=(300, 40)))
    exact = median_sigma2(X, rng=rng)
    monkeypatch.setattr(rules, "_MEDIAN_PAIRS", 20_000)
    sampled = median_sigma2(X, rng=rng)
    # 20 000 of 44 850 pairs: the rank of the median errs by 0.35 %, four times that is allowed.
    assert sampled == pytest.approx(exact, rel=0.02)
    assert sampled != exact


def test_median_where_most_rows_are_equal() -> None:
    X = np.zeros((10, 3))
    X[0] = [2.0, 0.0, 0.0]
    assert median_sigma2(X, rng=np.random.default_rng(0)) == 4.0


def test_cv_lies_between_the_boundaries_and_beats_theory_where_theory_is_poor() -> None:
    data = make_block_graph(400, random_state=0)
    y = data.scale_values()
    ratios = []
    for seed in range(3):
        sampled, tested = split_nodes(data.n_nodes, 0.4, np.random.default_rng(seed))
        X, X_tested = data.adjacency[sampled][:, sampled], data.adjacency[tested][:, sampled]
        errors = {}
        for rule in ("theory", "cv"):
            model = SKGRegressor(sigma2=rule, random_state=seed).fit(X, y[sampled])
            errors[rule] = gnmse(y[tested], model.predict(X_tested))
        ranges = model.ranges_
        assert ranges.chaos_extending <= model.sigma2_ <= ranges.disturbing_averaging
        ratios.append(errors["cv"] / errors["theory"])
    assert np.mean(ratios) < 0.95


def test_cv_errors_equal_plain_fits(temperature: tuple[Any, ...]) -> None:
    """Held-out predictions with a shared projection are those of a model fitted on the fold."""
    X, y, *_ = temperature
    rng = np.random.default_rng(1)
    folds = make_folds(X.shape[0], n_folds=3, n_epochs=2, rng=rng)
    assert np.array_equal(np.sort(np.concatenate([f.held_out for f in folds])), np.arange(36))
    table = FrequencyTable(7, 50, "gaussian", n_numbered=X.shape[1])
    rows = to_row_arrays(X)
    P = compute_projections(rows, table.prepare(rows.indices))
    Y = np.column_stack([y, -2 * y])
    found = predict_held_out(P, Y, sigma2=[0.5, 4.0], folds=folds, learning_rate=0.1)
    for s, variance in enumerate([0.5, 4.0]):
        for fold in folds:
            model = SKGRegressor(sigma2=variance, n_frequencies=50, random_state=7)
            for epoch in np.split(fold.order, 2):
                assert not set(epoch) & set(fold.held_out)
                model.partial_fit(X[epoch], Y[epoch])
            np.testing.assert_allclose(
                found[s, fold.held_out], model.predict(X[fold.held_out]), rtol=0, atol=1e-13
            )


def test_predictions_of_rows_that_are_not_held_out_are_nan() -> None:
    P, Y = np.zeros((3, 2)), np.ones((3, 1))
    fold = Fold(np.array([0, 1]), np.array([2]))
    found = predict_held_out(P, Y, sigma2=[1.0], folds=[fold], learning_rate=0.25)
    assert np.isnan(found[0, :2]).all()
    # z = (0, 1)-type features of equal rows: f = 1 − (1 − 2η)² after two steps.
    assert found[0, 2, 0] == pytest.approx(0.75, rel=1e-15)


def test_cv_does_not_depend_on_the_number_of_threads(
    temperature: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, *_ = temperature
    monkeypatch.setattr(engine, "count_threads", lambda: 2)
    two = SKGRegressor(sigma2="cv", random_state=0).fit(X, y).sigma2_
    monkeypatch.setattr(engine, "count_threads", lambda: 1)
    assert SKGRegressor(sigma2="cv", random_state=0).fit(X, y).sigma2_ == two


def test_weigh_candidates_by_hand() -> None:
    # Two nodes; candidate 0 is best; 1 makes the same errors; 2 is worse by a constant; 3 is worse
    # on one node only: Δ = 2, s = √2 · 1.
    errors = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [3.0, 1.0]])
    weights = weigh_candidates(errors)
    np.testing.assert_allclose(weights, [1.0, 1.0, 0.0, math.exp(-1.0)], rtol=1e-15)


def test_rules_draw_some_rows_of_large_samples(
    temperature: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, *_ = temperature
    monkeypatch.setattr(sigma2, "_MOST_ROWS", 10)
    seen = []
    monkeypatch.setattr(
        sigma2,
        "predict_held_out",
        lambda P, *args, **kwargs: seen.append(len(P)) or predict_held_out(P, *args, **kwargs),  # type: ignore[func-returns-value, redundant-expr]
    )
    model = SKGRegressor(sigma2="cv", random_state=0).fit(X, y)
    assert set(seen) == {10}
    assert model.ranges_.largest_distance == sigma2_ranges(X).largest_distance


@pytest.mark.parametrize("rule", ALL_RULES)
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "cauchy"])
def test_every_rule_with_every_kernel(temperature: tuple[Any, ...], rule: str, kernel: str) -> None:
    X, y, X_tested, y_tested = temperature
    model = SKGRegressor(sigma2=rule, kernel=kernel, random_state=0).fit(X, y)
    mean_error = gnmse(y_tested, np.full(y_tested.shape, y.mean()))
    assert gnmse(y_tested, model.predict(X_tested)) < mean_error
    assert model.sigma2_rule_ == rule
    again = SKGRegressor(sigma2=rule, kernel=kernel, random_state=0).fit(X.toarray(), y)
    assert again.sigma2_ == pytest.approx(model.sigma2_, rel=1e-12)


@pytest.mark.parametrize("rule", ALL_RULES)
def test_first_chunk_resolves_the_rule_and_keeps_it(
    temperature: tuple[Any, ...], rule: str
) -> None:
    X, y, *_ = temperature
    model = SKGRegressor(sigma2=rule, random_state=0).partial_fit(X[:20], y[:20])
    chosen = model.sigma2_
    assert chosen == SKGRegressor(sigma2=rule, random_state=0).fit(X[:20], y[:20]).sigma2_
    model.partial_fit(X[20:], y[20:])
    assert model.sigma2_ == chosen
    assert model.n_seen_ == 36


@pytest.mark.parametrize("rule", ALL_RULES)
def test_two_rows_are_enough_and_one_is_not(rule: str) -> None:
    X, y = np.array([[0.0, 1.0], [1.0, 1.0]]), [1.0, 2.0]
    model = SKGRegressor(sigma2=rule, random_state=0).partial_fit(X, y)
    assert 0.0 < model.sigma2_ < np.inf
    with pytest.raises(ValueError, match=f"sigma2='{rule}' needs at least two distinct rows"):
        SKGRegressor(sigma2=rule).partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="at least two distinct rows are needed"):
        SKGRegressor(sigma2=rule).fit(X[[0, 0, 0]], [1.0, 2.0, 3.0])


def test_a_number_is_kept(temperature: tuple[Any, ...]) -> None:
    X, y, *_ = temperature
    model = SKGRegressor(sigma2=3).fit(X, y)
    assert model.sigma2_ == 3.0
    assert model.sigma2_rule_ == "given"


@pytest.mark.parametrize("rule", [*ALL_RULES, 2.5])
def test_rules_survive_a_file(
    temperature: tuple[Any, ...], rule: float | str, tmp_path: Path
) -> None:
    X, y, X_tested, _ = temperature
    model = SKGRegressor(sigma2=rule, random_state=0).fit(X, y)
    again = load(model.save(tmp_path / "m.skg"))
    assert again.sigma2_ == model.sigma2_
    assert again.sigma2_rule_ == model.sigma2_rule_
    assert again.ranges_ == model.ranges_
    assert np.array_equal(again.predict(X_tested), model.predict(X_tested))


def test_search_of_scikit_learn_works_on_rules(temperature: tuple[Any, ...]) -> None:
    X, y, *_ = temperature
    search = GridSearchCV(
        SKGRegressor(random_state=0),
        {"sigma2": ["theory", "cv", 1.0], "n_frequencies": [50], "learning_rate": [0.1, 0.3]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["sigma2"] in ("theory", "cv", 1.0)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_rules_accept_constant_values(temperature: tuple[Any, ...]) -> None:
    X, *_ = temperature
    model = SKGRegressor(sigma2="cv", random_state=0).fit(X, np.zeros(X.shape[0]))
    assert np.array_equal(model.predict(X), np.zeros(X.shape[0]))


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
def test_cv_does_not_depend_on_the_unit_of_values(
    temperature: tuple[Any, ...], scale: float
) -> None:
    X, y, *_ = temperature
    expected = SKGRegressor(random_state=0).fit(X, y).sigma2_
    assert SKGRegressor(random_state=0).fit(X, scale * y).sigma2_ == pytest.approx(
        expected, rel=1e-9
    )


def test_cv_weighs_all_targets_alike(temperature: tuple[Any, ...]) -> None:
    X, y, *_ = temperature
    Y = np.column_stack([y, y[::-1]])
    expected = SKGRegressor(random_state=0).fit(X, Y).sigma2_
    found = SKGRegressor(random_state=0).fit(X, Y * [1000.0, 1.0]).sigma2_
    assert found == pytest.approx(expected, rel=1e-9)


def test_ranges_of_a_number_exist_without_kept_rows(temperature: tuple[Any, ...]) -> None:
    X, y, *_ = temperature
    for keep in (True, False):
        model = SKGRegressor(sigma2=2.0, keep_known=keep).fit(X, y)
        assert model.ranges_ == sigma2_ranges(X)


@pytest.mark.parametrize("keep", [True, False])
def test_rows_without_a_distance_have_no_ranges(keep: bool) -> None:
    for X in (np.ones((1, 2)), np.ones((3, 2))):
        model = SKGRegressor(sigma2=2.0, keep_known=keep).fit(X, np.arange(len(X)))
        assert not hasattr(model, "ranges_")


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_median_beyond_float64_is_refused(scale: float) -> None:
    X = scale * np.eye(3)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="X has"):
        SKGRegressor(sigma2="median").fit(X, [1.0, 2.0, 3.0])


def test_a_complex_variance_is_refused() -> None:
    with pytest.raises(ValueError, match="sigma2 must be a positive number"):
        SKGRegressor(sigma2=np.complex128(1.0)).fit(np.eye(3), [1.0, 2.0, 3.0])  # type: ignore[arg-type]
