"""What the automatic choice of a kernel chooses."""

from typing import Any

import numpy as np
import pytest

from examples import random_graph
from gradraker import NodeRegressor, gnmse
from gradraker.datasets import make_block_graph, make_geometric_graph
from gradraker.linear.ridge import (
    compute_criterion_of_mean,
)
from gradraker.models.walks.exact import blocks
from gradraker.models.walks.exact.kernel_choice import DEFAULT_BLOCKS
from oracles import nodes as oracle


def test_candidates_are_listed_with_their_criterion() -> None:
    A, values, known = random_graph(3)
    values[known] += 3.0 * np.log1p(A.sum(axis=0) + A.sum(axis=1))[known]
    model = NodeRegressor().fit(A, values, kind="matrix")
    y = values[known]
    mean = compute_criterion_of_mean(y[:, np.newaxis])
    tried = model.choice_.tried
    assert len(tried) == 2  # the default blocks at their best width, and free shares
    for candidate in (tried[0], tried[-1]):
        K = sum(t.share * oracle.kernel(A, [t.block], t.width) for t in candidate.kernel)
        K = K[np.ix_(known, known)]
        scale = 1.0 - K.mean()
        best = min(oracle.criterion(K, y, scale * r)[1] for r in blocks.FINE_ALPHAS)
        assert candidate.nats == pytest.approx(best - mean, abs=1e-6)
    assert [t.nats for t in tried] == sorted(t.nats for t in tried)
    assert "nats better than the mean" in repr(model.choice_)
    assert model.alpha_ < np.inf


def _ratio(data: Any, y: Any, **options: Any) -> Any:
    """Error relative to that of the mean, over five splits."""
    ratios = []
    for split in range(5):
        rng = np.random.default_rng(split)
        values = np.where(rng.random(len(y)) < 0.4, y, np.nan)
        tested = np.isnan(values)
        error = gnmse(y[tested], NodeRegressor(**options).fit(data, values).predict())
        ratios.append(error / gnmse(y[tested], np.full(tested.sum(), np.nanmean(values))))
    return float(np.mean(ratios))


def test_noise_is_predicted_by_the_mean() -> None:
    data = make_geometric_graph(200, random_state=0)
    # 3 nats over the mean come by chance in one of 20 kernels or so; then the loss is small.
    assert _ratio(data, np.random.default_rng(0).random(200)) < 1.02


def test_values_opposite_to_neighbours_are_learned() -> None:
    # Two sides that are linked across: neighbours have opposite values.
    data = make_block_graph(200, n_blocks=2, p_in=0.0, p_out=0.05, random_state=0)
    assert _ratio(data, data.scale_values()) < 0.2


def test_degrees_are_learned() -> None:
    data = make_geometric_graph(200, random_state=1)
    degree = np.asarray(data.adjacency.sum(axis=1))
    assert _ratio(data, degree / degree.max()) < 0.05


def test_given_parameters_are_kept_and_the_rest_is_chosen() -> None:
    A, values, _ = random_graph(4)
    model = NodeRegressor(blocks=("hop2", "far")).fit(A, values, kind="matrix")
    assert set(model.blocks_) in ({"hop2", "far"}, set())
    model = NodeRegressor(width=3.0, alpha=0.2).fit(A, values, kind="matrix")
    assert {term.width for term in model.kernel_} == {3.0}
    assert model.alpha_ == 0.2
    model = NodeRegressor(blocks="degree", width=3.0).fit(A, values, kind="matrix")
    assert [term[:2] for term in model.kernel_] in ([("degree", 3.0)], [])


def test_choice_on_some_known_nodes_does_not_depend_on_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gradraker.models.walks.exact.kernel_choice.FEW", 20)
    monkeypatch.setattr("gradraker.models.walks.exact.kernel_choice.MANY", 30)
    data = make_geometric_graph(150, random_state=2)
    names = list(data.node_names)
    values = {names[i]: float(data.values[i]) for i in range(0, 150, 2)}
    model = NodeRegressor().fit(data, values)
    moved = np.random.default_rng(0).permutation(150)
    A = data.adjacency[moved][:, moved]
    again = NodeRegressor().fit(A, values, names=[names[i] for i in moved])
    assert model.choice_.n_used == again.choice_.n_used == 30
    assert model.kernel_ == again.kernel_
    np.testing.assert_allclose(again.predict(names), model.predict(names), atol=1e-8)


def test_two_known_values_are_enough_to_go_by_similarity() -> None:
    links = [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")]
    like_a, like_c = NodeRegressor().fit(links, {"a": 1.0, "c": 5.0}).predict(["b", "d"])
    assert like_a < 2.5
    assert like_c > 3.5


def _fit_ring(n: int) -> Any:
    """Noise on a wave around a ring in which each node is linked to the next two."""
    rng = np.random.default_rng(0)
    ring = [(i, (i + step) % n) for i in range(n) for step in (1, 2)]
    wave = np.sin(np.arange(n) * 4.0 * np.pi / n)
    y = wave + 0.5 * rng.normal(size=n)
    values = {i: float(y[i]) for i in range(n) if rng.random() < 0.2}
    unknown = [i for i in range(n) if i not in values]
    model = NodeRegressor(solver="exact", random_state=0).fit(ring, values)
    return model, float(np.mean((model.predict(unknown) - wave[unknown]) ** 2))


def test_commute_times_and_wide_walks_are_chosen_where_values_vary_slowly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_commute, least = _fit_ring(1000)
    assert by_commute.blocks_ == ("commute",)
    monkeypatch.setattr("gradraker.models.walks.exact.kernel_choice._COMMUTING", (2000, 5000))
    model, error = _fit_ring(1000)
    assert least < 0.7 * error
    assert "wide" in model.blocks_
    monkeypatch.setattr("gradraker.models.walks.exact.kernel_choice._WIDE", 2000)
    without, larger = _fit_ring(1000)
    assert "wide" not in without.blocks_
    assert error < 0.7 * larger


@pytest.mark.statistical
def test_few_values_that_vary_slowly_are_predicted_by_far_nodes() -> None:
    gained = []
    for seed in range(6):
        data = make_geometric_graph(400, random_state=seed)
        assert data.positions is not None
        rng = np.random.default_rng(seed)
        wave = np.sin(3.0 * data.positions[:, 0]) + data.positions[:, 1]
        y = wave + 0.5 * rng.normal(size=400)
        known, unknown = np.split(rng.permutation(400), [30])
        values = np.full(400, np.nan)
        values[known] = y[known]
        errors = []
        for names in ("auto", DEFAULT_BLOCKS):
            model = NodeRegressor(blocks=names, random_state=0).fit(data.adjacency, values)
            errors.append(np.mean((model.predict(unknown) - wave[unknown]) ** 2))
        gained.append(np.log(errors[0] / errors[1]))
    assert np.exp(np.mean(gained)) < 0.8
