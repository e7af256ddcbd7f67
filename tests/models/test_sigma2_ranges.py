"""Algorithm 2: noise ranges measured on tested rows, or on known rows that are held out."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from gradraker import (
    GradrakerRegressor,
    SKGNodeRegressor,
    SKGRegressor,
    load_temperature,
    sigma2_ranges,
)
from gradraker.datasets import split_nodes
from gradraker.features import FrequencyTable
from gradraker.models import sigma2
from oracles import skg as skg_oracle
from oracles.weights import contribution_weights

SEED, D, ETA, N_EPOCHS = 3, 60, 0.2, 2


@pytest.fixture(scope="module")
def split() -> Any:
    data = load_temperature()
    known, unknown = split_nodes(data.n_nodes, 0.2, np.random.default_rng(0))
    X = data.adjacency.toarray()[:, known]
    return X[known], X[unknown[:7]], data.scale_values()[known]


def simulate_by_equations(X: Any, tested: Any) -> Any:
    """|min F|/2η of each tested row at the σ²_ed of the formula, by the recursion (fijdef)."""
    ed = sigma2_ranges(X, n_frequencies=D).extending_disturbing
    model = SKGRegressor(sigma2=ed, n_frequencies=D, random_state=SEED).fit(X, X[:, 0])
    Z, stars = (skg_oracle.features(rows, model.frequencies_) for rows in (X, tested))
    order = skg_oracle.orders(SEED, len(X), N_EPOCHS, shuffle=True)
    return [max(0.0, -contribution_weights(Z, order, z, ETA).min()) / (2 * ETA) for z in stars]


SETTINGS: dict[str, Any] = {
    "n_frequencies": D,
    "learning_rate": ETA,
    "n_epochs": N_EPOCHS,
    "random_state": SEED,
}


def test_tested_rows_serve_as_node_t_plus_1(split: Any) -> None:
    X, tested, _ = split
    expected = simulate_by_equations(X, tested)
    assert len(set(np.round(expected, 6))) >= 4
    found = sigma2_ranges(X, noise="refined", tested=tested, **SETTINGS)
    assert found.noise_ratio == pytest.approx(np.median(expected), rel=1e-9)
    assert found.noise == "refined"
    widest = sigma2_ranges(X, noise="minimum", tested=tested, **SETTINGS)
    assert widest.noise_ratio == pytest.approx(max(expected), rel=1e-9)
    assert widest.noise == "minimum"
    assert widest.extending_disturbing > found.extending_disturbing


def test_one_tested_row_is_the_algorithm_as_printed(split: Any) -> None:
    X, tested, _ = split
    (expected,) = simulate_by_equations(X, tested[:1])
    for noise in ("refined", "minimum"):
        found = sigma2_ranges(X, noise=noise, tested=tested[:1], **SETTINGS)
        assert found.noise_ratio == pytest.approx(expected, rel=1e-9)


def test_fit_takes_tested_rows(split: Any) -> None:
    X, tested, y = split
    ranges = sigma2_ranges(X, noise="refined", tested=tested, **SETTINGS)
    model = SKGRegressor(sigma2="refined", **SETTINGS).fit(X, y, tested=tested)
    assert model.sigma2_ == ranges.extending_disturbing
    assert model.ranges_ == ranges
    named = SKGRegressor(sigma2="refined", **SETTINGS)
    named.fit(X, y, references=range(X.shape[1]), tested=tested)
    assert named.sigma2_ == ranges.extending_disturbing
    bank = GradrakerRegressor(kernels=["refined", 2.0], **SETTINGS).fit(X, y, tested=tested)
    assert bank.sigma2_[0] == ranges.extending_disturbing
    without = SKGRegressor(sigma2="refined", **SETTINGS).fit(X, y)
    assert without.sigma2_ != model.sigma2_


def test_views_of_a_bank_use_their_columns_of_tested_rows(split: Any) -> None:
    X, tested, y = split
    bank = GradrakerRegressor(kernels=["refined"], views=[10, X.shape[1] - 10], **SETTINGS)
    bank.fit(X, y, tested=tested)
    zeros = np.zeros(tested.shape)
    zeros[:, :10] = tested[:, :10]
    first = X.copy()
    first[:, 10:] = 0.0
    expected = sigma2_ranges(first, noise="refined", tested=zeros, **SETTINGS)
    assert bank.sigma2_[0] == pytest.approx(expected.extending_disturbing, rel=1e-9)


def test_unknown_nodes_of_a_graph_are_the_tested_rows() -> None:
    data = load_temperature()
    known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(0))
    values = {data.node_names[i]: data.values[i] for i in known}
    model = SKGNodeRegressor(sigma2="refined", random_state=SEED).fit(data, values)
    rows = np.sort(known), np.sort(unknown)
    ranges = sigma2_ranges(
        data.adjacency[rows[0]],
        noise="refined",
        tested=data.adjacency[rows[1]],
        random_state=SEED,
    )
    # Columns have names there and numbers here, so the frequencies differ, not the distances.
    assert model.skg_.ranges_.noise_ratio == pytest.approx(ranges.noise_ratio, rel=0.5)
    X = data.adjacency[rows[0]]
    fitted = SKGRegressor(sigma2="refined", random_state=SEED).fit(
        X, np.zeros(X.shape[0]), references=data.node_names, tested=data.adjacency[rows[1]]
    )
    assert model.skg_.sigma2_ == fitted.sigma2_


def test_only_some_of_many_tested_rows_are_used(
    split: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, tested, _ = split
    monkeypatch.setattr(sigma2, "MOST_TESTED", 3)
    expected = simulate_by_equations(X, tested)
    table = FrequencyTable(SEED, D, "gaussian", n_numbered=X.shape[1])
    no_values = np.zeros((X.shape[0], 1))
    ratios = sigma2.measure_noise_ratios(
        sigma2.RuleInput(csr_array(X), no_values, table, ETA, N_EPOCHS, csr_array(tested)),
        sigma2_ranges(X, n_frequencies=D).extending_disturbing,
        np.random.default_rng(0),
    )
    assert ratios.shape == (3,)
    assert all(np.isclose(expected, ratio, rtol=1e-9).any() for ratio in ratios)


def test_held_out_rows_agree_with_tested_rows_on_average() -> None:
    """Medians of 12 splits: 0.07 both; each split has 36 known and 53 tested rows."""
    data = load_temperature()
    by_tested, by_known = [], []
    for seed in range(12):
        known, unknown = split_nodes(data.n_nodes, 0.4, np.random.default_rng(seed))
        X = data.adjacency[:, known]
        options: dict[str, Any] = {"noise": "refined", "random_state": seed}
        by_tested.append(sigma2_ranges(X[known], tested=X[unknown], **options).noise_ratio)
        by_known.append(sigma2_ranges(X[known], **options).noise_ratio)
    assert np.median(by_known) == pytest.approx(np.median(by_tested), rel=0.15)


@pytest.mark.parametrize("noise", ["formula", 0.1])
def test_tested_rows_need_algorithm_2(split: Any, noise: Any) -> None:
    X, tested, y = split
    with pytest.raises(ValueError, match="tested must be None for noise="):
        sigma2_ranges(X, noise=noise, tested=tested)
    for model in (SKGRegressor(sigma2="cv"), SKGRegressor(sigma2=2.0), GradrakerRegressor()):
        with pytest.raises(ValueError, match="tested must be None: only the rule 'refined'"):
            model.fit(X, y, tested=tested)


def test_tested_rows_have_the_columns_of_x(split: Any) -> None:
    X, tested, y = split
    with pytest.raises(ValueError, match=f"tested has 3 columns, but X has {X.shape[1]}"):
        sigma2_ranges(X, noise="refined", tested=tested[:, :3])
    model = SKGRegressor(sigma2="refined")
    with pytest.raises(ValueError, match="X has 3 features, but SKGRegressor is expecting"):
        model.fit(X, y, tested=tested[:, :3])
    with pytest.raises(ValueError, match=f"tested has 3 columns, but X has {X.shape[1]}"):
        model.fit(X, y, references=range(X.shape[1]), tested=tested[:, :3])
    with pytest.raises(ValueError, match="NaN"):
        sigma2_ranges(X, noise="refined", tested=np.full(tested.shape, np.nan))
