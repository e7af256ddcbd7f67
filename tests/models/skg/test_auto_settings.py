"""Settings that are "auto": chosen by errors of held-out known nodes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradraker import SKGNodeRegressor, SKGRegressor, gnmse, load, load_temperature
from gradraker.datasets import make_threshold_graph, split_nodes
from gradraker.features import FrequencyTable
from gradraker.linear.lms import make_folds
from gradraker.models.sigma2 import RuleInput
from gradraker.models.skg import auto_settings
from gradraker.models.skg.auto_settings import WantedSettings, choose_settings
from oracles import skg as skg_oracle

ALL: dict[str, Any] = {
    "sigma2": "auto",
    "n_frequencies": "auto",
    "learning_rate": "auto",
    "n_epochs": "auto",
}


@pytest.fixture(scope="module")
def threshold() -> Any:
    data = make_threshold_graph(200, random_state=1)
    known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
    X, y = data.adjacency[:, known], data.scale_values()
    return X[known], y[known], X[unknown], y[unknown]


def test_auto_is_much_better_than_the_defaults(threshold: Any) -> None:
    X, y, X_unknown, y_unknown = threshold
    auto = SKGRegressor(**ALL, random_state=0).fit(X, y)
    default = SKGRegressor(random_state=0).fit(X, y)
    errors = [gnmse(y_unknown, model.predict(X_unknown)) for model in (auto, default)]
    assert errors[0] < 0.7 * errors[1]
    assert auto.n_epochs_ > 3
    assert auto.n_frequencies_ in auto_settings.FREQUENCIES
    assert auto.learning_rate_ in auto_settings.RATES
    assert auto.sigma2_rule_ == "auto"
    assert auto.coef_.shape == (2 * auto.n_frequencies_,)


def test_chosen_numbers_give_the_same_model(threshold: Any) -> None:
    X, y, X_unknown, _ = threshold
    auto = SKGRegressor(**ALL, random_state=3).fit(X, y)
    plain = SKGRegressor(
        sigma2=auto.sigma2_,
        n_frequencies=auto.n_frequencies_,
        learning_rate=auto.learning_rate_,
        n_epochs=auto.n_epochs_,
        random_state=3,
    ).fit(X, y)
    np.testing.assert_array_equal(auto.predict(X_unknown), plain.predict(X_unknown))
    assert auto.ranges_ == plain.ranges_
    assert auto.n_seen_ == auto.n_epochs_ * X.shape[0]


def test_held_out_errors_are_those_of_the_equations(threshold: Any) -> None:
    X, y, *_ = threshold
    n, sigma2, rate = X.shape[0], 4.0, 0.1
    table = FrequencyTable(7, 20, "gaussian", n_numbered=X.shape[1])
    sample = RuleInput(X, y[:, np.newaxis], table, rate, 3)
    search = auto_settings._Search(sample, (2,))
    found = search.run(search.make_projector(table), sigma2, rate)
    model = SKGRegressor(sigma2=sigma2, n_frequencies=20, random_state=7).fit(X, y)
    Z = skg_oracle.features(X.toarray(), model.frequencies_)
    scaled = y / np.ptp(y)
    expected = np.zeros(n)
    for fold in make_folds(n, n_folds=4, n_epochs=2, rng=sample.make_rng()):
        theta = np.zeros(Z.shape[1])
        half = fold.order.size // 2
        for epoch in (fold.order[:half], fold.order[half:]):
            for i in epoch:
                theta += 2 * rate * (scaled[i] - theta @ Z[i]) * Z[i]
            # The mean of the errors after one and after two epochs.
            expected[fold.held_out] += (scaled - Z @ theta)[fold.held_out] ** 2 / 2
    np.testing.assert_allclose(found.errors, expected, rtol=1e-8)


@pytest.mark.parametrize(
    ("given", "values"),
    [
        ({"sigma2": 2.5}, {"sigma2_": 2.5, "sigma2_rule_": "given"}),
        ({"learning_rate": 0.3}, {"learning_rate_": 0.3}),
        ({"n_epochs": 4}, {"n_epochs_": 4}),
        ({"n_frequencies": 30}, {"n_frequencies_": 30}),
        ({"sigma2": "theory", "n_frequencies": 50}, {"sigma2_rule_": "theory"}),
        ({"sigma2": "cv"}, {"sigma2_rule_": "cv"}),
    ],
)
def test_numbers_and_rules_that_are_given_stay(threshold: Any, given: Any, values: Any) -> None:
    X, y, *_ = threshold
    model = SKGRegressor(**ALL | given, random_state=0).fit(X, y)
    for name, value in values.items():
        assert getattr(model, name) == value
    if given.get("sigma2") == "theory":
        assert model.sigma2_ == model.ranges_.extending_disturbing


def test_training_stops_when_held_out_errors_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    # Values are noise: the fewer epochs the better, and training stops early.
    stops = []
    advance = auto_settings._Search._advance

    def watch(search: Any, Z: Any, thetas: Any, rate: float, start: int, stop: int) -> None:
        stops.append(stop)
        advance(search, Z, thetas, rate, start, stop)

    monkeypatch.setattr(auto_settings._Search, "_advance", watch)
    rng = np.random.default_rng(0)
    X, y = (rng.random((60, 20)) < 0.3).astype(float), rng.normal(size=60)
    table = FrequencyTable(0, 50, "gaussian", n_numbered=20)
    sample = RuleInput(X, y[:, np.newaxis], table, 0.1, 3)
    wanted = WantedSettings(0.2, 0.4, "auto", 50)
    chosen = choose_settings(wanted, sample, lambda n: table)
    assert chosen.n_epochs <= max(stops) < max(auto_settings.EPOCHS)


def test_more_frequencies_only_where_errors_fall(
    threshold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, *_ = threshold
    monkeypatch.setattr(auto_settings, "FREQUENCIES", (5, 400))
    grown = SKGRegressor(sigma2=4.0, n_frequencies="auto", n_epochs=8, random_state=0).fit(X, y)
    assert grown.n_frequencies_ == 400  # five frequencies are far too few
    flat = SKGRegressor(sigma2=4.0, n_frequencies="auto", n_epochs=8, random_state=0)
    assert flat.fit(X, np.zeros(len(y))).n_frequencies_ == 5  # nothing to gain


def test_auto_survives_files_copies_and_further_training(threshold: Any, tmp_path: Path) -> None:
    X, y, X_unknown, y_unknown = threshold
    model = SKGRegressor(**ALL, random_state=0).fit(X, y)
    again = load(model.save(tmp_path / "model.skg"))
    assert again.get_params() == model.get_params()
    for name in ("n_frequencies_", "learning_rate_", "n_epochs_", "sigma2_"):
        assert getattr(again, name) == getattr(model, name)
    for one in (model, again):
        one.partial_fit(X_unknown[:5], y_unknown[:5])
    np.testing.assert_array_equal(again.predict(X_unknown), model.predict(X_unknown))
    explanation = again.explain(X_unknown[:3])
    assert explanation.learning_rate == model.learning_rate_
    total = explanation.weights @ explanation.values
    np.testing.assert_allclose(total, again.predict(X_unknown[:3]), atol=1e-10)


def test_auto_needs_fit() -> None:
    for name in ("n_frequencies", "learning_rate", "n_epochs"):
        settings: dict[str, Any] = {name: "auto"}
        model = SKGRegressor(sigma2=1.0, **settings)
        with pytest.raises(ValueError, match=f"{name}='auto' is chosen by fit on many rows"):
            model.partial_fit(np.eye(3), [1.0, 2.0, 3.0])
        with pytest.raises(ValueError, match=f"{name}='auto' is chosen by fit on many rows"):
            model.learn_one(["a"], 1.0)
        with pytest.raises(ValueError, match=name):
            SKGRegressor().set_params(**{name: "automatic"}).fit(np.eye(3), [1.0, 2.0, 3.0])


def test_auto_on_tiny_and_equal_rows() -> None:
    model = SKGRegressor(**ALL, random_state=0).fit(np.eye(2), [0.0, 1.0])
    assert np.isfinite(model.predict(np.eye(2))).all()
    with pytest.raises(ValueError, match="all equal"):
        SKGRegressor(**ALL).fit(np.ones((4, 2)), [0.0, 1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="n_samples = 1"):
        SKGRegressor(**ALL).fit([[1.0, 0.0]], [2.0])


def test_node_model_passes_auto_on() -> None:
    data = load_temperature()
    known = dict(zip(data.node_names[:50], data.values[:50], strict=True))
    model = SKGNodeRegressor(**ALL).fit(data, known)
    settings = model.describe()["settings"]
    assert settings["frequencies"] == model.skg_.n_frequencies_
    assert settings["epochs"] == model.skg_.n_epochs_
    assert settings["learning_rate"] == model.skg_.learning_rate_
