"""The hedge rule: weights, and what the bank can lose against its best member."""

import math
from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradraker import GradrakerRegressor, load_temperature
from gradraker.datasets import make_block_graph
from gradraker.linear.hedge import (
    Hedge,
    check_regularization,
    check_weight_step,
    combine_predictions,
    compute_regret_bound,
)
from oracles import bank as oracle


def run(predictions: Any, y: Any, weight_step: Any = "auto") -> tuple[Any, ...]:
    """A hedge updated with predictions (P, T) of values y (T,), and the weights that it used."""
    predictions, y = np.asarray(predictions, dtype=float), np.asarray(y, dtype=float)
    hedge = Hedge(len(predictions), weight_step, 0.0)
    norms = np.zeros(predictions.shape)
    history = hedge.update(predictions[:, :, None], norms, y[:, None], keep_weights=True)
    return hedge, history


def regret(hedge: Hedge) -> float:
    return float(hedge.totals[0] - hedge.losses.min())


# -- weights -----------------------------------------------------------------------------------


def test_member_weights_by_hand() -> None:
    # Member 0 is right and member 1 off by 1: L = (0, 1), (0, 2), …; B² = 1.
    hedge, history = run([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], [1.0, 1.0, 1.0])
    ratios = history[:, 1] / history[:, 0]
    np.testing.assert_allclose(ratios, [1.0, math.exp(-0.5), math.exp(-1.0)], rtol=1e-14)
    assert hedge.weight_step == 0.5
    assert hedge.losses.tolist() == [0.0, 3.0]
    np.testing.assert_allclose(history.sum(axis=1), 1.0, rtol=1e-15)


def test_given_step_is_used_unchanged() -> None:
    hedge, history = run([[1.0, 1.0], [0.0, 0.0]], [1.0, 1.0], weight_step=0.7)
    np.testing.assert_allclose(history[1], oracle.weights([0.0, 1.0], 0.7), rtol=1e-14)
    assert hedge.weight_step == 0.7
    assert math.isinf(hedge.compute_regret_bound())  # 0.7 > 1/(2B²)


@given(st.lists(st.floats(1e-100, 1e100), min_size=1, max_size=30))
def test_safe_step_is_within_factor_two(errors: Any) -> None:
    hedge, bounds = Hedge(2, "auto", 0.0), [0.0]
    for error in errors:
        root = math.sqrt(error)
        predictions = np.array([0.0, root])[:, None, None]
        hedge.update(predictions, np.zeros((2, 1)), np.zeros((1, 1)), keep_weights=False)
        # Not root**2, which Python may round otherwise in the last digit.
        bounds.append(oracle.raised(bounds[-1], root * root))
    largest = float(hedge.totals[1])
    assert 0.25 / largest <= hedge.weight_step <= 0.5 / largest
    assert hedge.weight_step == 0.5 / bounds[-1]
    assert all(high == low or high >= 2.0 * low for low, high in pairwise(bounds))


@given(
    errors=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30),
    step=st.sampled_from(["auto", 1e-3, 10.0]),
)
def test_equal_members_keep_equal_weights(errors: Any, step: Any) -> None:
    _, history = run([errors, errors, np.zeros(len(errors))], np.ones(len(errors)), step)
    np.testing.assert_array_equal(history[:, 0], history[:, 1])
    model = GradrakerRegressor(
        kernels=[1.0, 1.0, 4.0], n_frequencies=8, keep_weights=True, random_state=0
    )
    model.fit(np.eye(len(errors)), errors)
    np.testing.assert_array_equal(model.weights_history_[:, 0], model.weights_history_[:, 1])


def test_weights_sum_to_one_for_enormous_losses() -> None:
    hedge, _ = run([[1e150, -1e150], [0.0, 0.0], [1.0, -1.0]], [0.0, 0.0], weight_step=1.0)
    np.testing.assert_array_equal(hedge.compute_member_weights()[:1], [0.0])
    np.testing.assert_allclose(hedge.compute_member_weights()[1:], oracle.weights([0.0, 2.0], 1.0))


# -- the bound ---------------------------------------------------------------------------------

NUMBERS = st.one_of(st.floats(-1.0, 1.0), st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, -1.0]))


def test_weights_are_finite_for_tiny_errors() -> None:
    hedge, history = run([[0.0, 0.0], [1e-170, 0.0]], [1.2e-158, 0.0])
    assert np.isfinite(history).all()
    assert math.isfinite(hedge.weight_step)
    assert np.isfinite(hedge.totals).all()


@given(data=st.data(), n_members=st.integers(1, 6), n_steps=st.integers(1, 25))
@settings(max_examples=2 * settings().max_examples, deadline=None)
def test_regret_bound_holds_for_any_sequence(data: Any, n_members: Any, n_steps: Any) -> None:
    rows = st.lists(NUMBERS, min_size=n_steps, max_size=n_steps)
    predictions = data.draw(st.lists(rows, min_size=n_members, max_size=n_members))
    y = data.draw(rows)
    hedge, _ = run(predictions, y)
    largest = np.max((np.array(predictions) - np.array(y)) ** 2)
    assert hedge.totals[1] == largest
    # Sums of losses round, and so do predictions mixed with weights that nearly sum to 1.
    mixing = n_members * np.finfo(float).eps * np.max(np.abs(predictions))
    rounding = 1e-9 * hedge.losses.max() + n_steps * mixing**2
    assert regret(hedge) <= hedge.compute_regret_bound() + rounding
    assert hedge.compute_regret_bound() <= 4.0 * max(largest, 1e-300) * (1.0 + math.log(n_members))
    if largest > 1e-9:
        step = 1.0 / (2.0 * largest)
        known, _ = run(predictions, y, step)
        bound = compute_regret_bound(n_members, largest, step * (1.0 - 1e-12))
        assert regret(known) <= bound + rounding


def adversary(weight_step: float | str, n_steps: Any = 400) -> Hedge:
    """Members predict −1 and 1 with a little noise; the value is the one farther from the bank."""
    hedge = Hedge(2, weight_step, 0.0)
    rng = np.random.default_rng(0)
    for _ in range(n_steps):
        predictions = np.array([-1.0, 1.0]) + 0.01 * rng.standard_normal(2)
        value = -1.0 if hedge.compute_member_weights() @ predictions > 0.0 else 1.0
        hedge.update(
            predictions[:, None, None], np.zeros((2, 1)), np.array([[value]]), keep_weights=False
        )
    return hedge


def test_regret_bound_holds_for_adversary_with_safe_step_only() -> None:
    safe = adversary("auto")
    assert regret(safe) <= safe.compute_regret_bound()
    assert safe.compute_regret_bound() < 30.0
    # Following the leader, which a large step comes to, loses 2² where the best loses half of it.
    rash = adversary(1e6)
    assert math.isinf(rash.compute_regret_bound())
    assert regret(rash) > 10.0 * safe.compute_regret_bound()


def test_regret_bound_holds_for_adversary_of_the_model() -> None:
    data = make_block_graph(80, random_state=0)
    model = GradrakerRegressor(kernels=[0.05, 1.0, 20.0], n_frequencies=30, random_state=0)
    predicted = 0.0
    for n in range(data.n_nodes):
        row = data.adjacency[[n]]
        value = -1.0 if predicted > 0.0 else 1.0
        model.partial_fit(row, [value])
        if n + 1 < data.n_nodes:
            predicted = model.predict(data.adjacency[[n + 1]])[0]
    assert model.loss_ >= data.n_nodes - 1.0  # every prediction was at least 1 off
    assert model.loss_ - model.member_losses_.min() <= model.regret_bound_


ORDERS: dict[Any, Callable[..., Any]] = {
    "as they are": lambda data: np.arange(data.n_nodes),
    "by value": lambda data: np.argsort(data.values),
    "by value, falling": lambda data: np.argsort(-data.values),
    "by degree": lambda data: np.argsort(np.diff(data.adjacency.indptr)),
    "at random": lambda data: np.random.default_rng(1).permutation(data.n_nodes),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("weight_step", ["auto", 0.2])
def test_regret_bound_holds_for_orders_of_real_data(order: str, weight_step: float | str) -> None:
    data = load_temperature()
    rows = ORDERS[order](data)
    y = data.scale_values()[rows]
    model = GradrakerRegressor(weight_step=weight_step, shuffle=False, random_state=0)
    model.fit(data.adjacency[rows], y)
    assert math.isfinite(model.regret_bound_)
    assert model.loss_ - model.member_losses_.min() <= model.regret_bound_
    # The bound says something: a bad member loses far more.
    assert model.member_losses_.max() - model.member_losses_.min() > model.regret_bound_


@pytest.mark.parametrize("seed", range(3))
def test_regret_grows_slower_than_time(seed: int) -> None:
    data = make_block_graph(300, random_state=seed)
    rng = np.random.default_rng(seed)
    y = data.scale_values()
    model = GradrakerRegressor(kernels="ranges", n_frequencies=50, random_state=seed)
    regrets = []
    for _ in range(16):
        order = rng.permutation(data.n_nodes)
        model.partial_fit(data.adjacency[order], y[order] + 0.3 * rng.standard_normal(len(order)))
        regrets.append(model.loss_ - model.member_losses_.min())
        assert regrets[-1] <= model.regret_bound_
    assert regrets[0] > 0.0
    times = 300 * np.arange(1, 17)
    rates = np.array(regrets) / times
    assert max(rates[-1], 0.0) < rates[0] / 8.0
    # Twice the time, far less than twice the regret.
    assert regrets[15] < 1.2 * regrets[7]


# -- the formula -------------------------------------------------------------------------------


def test_regret_bound_by_hand() -> None:
    assert compute_regret_bound(1, 5.0) == compute_regret_bound(1, 5.0, 100.0) == 0.0
    assert compute_regret_bound(8, 0.0) == 0.0
    assert compute_regret_bound(8, 1.0) == pytest.approx(2.0 * (1.0 + math.log(8)))
    assert compute_regret_bound(8, 1.0, 0.5) == pytest.approx(2.0 * math.log(8))
    assert compute_regret_bound(8, 1.0, 0.51) == math.inf


def test_squared_loss_is_exp_concave_up_to_bound_only() -> None:
    # exp(−λ x²) bends down for x² < 1/(2λ): the midpoint lies above the chord there.
    def concave(step: Any, low: Any, high: Any) -> Any:
        ends = math.exp(-step * low**2), math.exp(-step * high**2)
        return math.exp(-step * ((low + high) / 2) ** 2) >= sum(ends) / 2

    assert all(concave(0.5, x, 1.0) for x in np.linspace(-1.0, 1.0, 21))
    assert not concave(0.5, 1.2, 1.8)


# -- copies, sums and checks -------------------------------------------------------------------


@pytest.mark.parametrize("step", ["auto", 0.3])
def test_copies_of_a_hedge_are_independent(step: float | str) -> None:
    hedge, _ = run([[1.0, 2.0], [0.0, 0.0]], [1.0, 1.0], step)
    losses, copy = hedge.losses.tolist(), deepcopy(hedge)
    assert copy.weight_step == hedge.weight_step
    assert copy.regularization == hedge.regularization
    for one in (copy, hedge):
        one.update(np.ones((2, 1, 1)), np.zeros((2, 1)), np.full((1, 1), 9.0), keep_weights=False)
        assert one.losses.tolist() == [loss + 64.0 for loss in losses]
        assert one.weight_step == copy.weight_step


def test_predictions_of_members_are_added_with_their_weights() -> None:
    predictions = np.array([[[2.0], [0.0]], [[4.0], [8.0]]])  # 2 members, 2 nodes, 1 target
    found = combine_predictions([0.25, 0.75], predictions)
    assert found.tolist() == [[3.5], [6.0]]
    assert combine_predictions([1], np.array([[[2]]])).dtype == np.float64
    with pytest.raises(ValueError, match="shorter"):
        combine_predictions([0.25, 0.5, 0.25], predictions)


@pytest.mark.parametrize("step", [0.0, -1.0, math.inf, math.nan, True, None, "AUTO", [1.0]])
def test_weight_step_must_be_positive_or_auto(step: Any) -> None:
    with pytest.raises(ValueError, match=r"^weight_step must be a positive number or 'auto', got"):
        check_weight_step(step)


def test_weight_step_is_returned_as_a_number() -> None:
    assert check_weight_step("auto") == "auto"
    assert check_weight_step(2) == 2.0
    assert check_weight_step(np.float32(0.5)) == 0.5


@pytest.mark.parametrize("value", [-1.0, math.nan, True, None, "0", [0.0]])
def test_regularization_must_be_a_number_from_0(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^regularization must be a number of at least 0, got"):
        check_regularization(value, 0.1)


def test_regularization_is_below_the_limit_of_stability() -> None:
    # η (1 + 2μ) < 1: for η = 1/4 below 1.5.
    assert check_regularization(0, 0.25) == 0.0
    assert check_regularization(np.float64(1.49), 0.25) == 1.49
    message = (
        r"^regularization must be below \(1 / learning_rate - 1\) / 2 = 1\.5, where the update is "
        r"stable, got 1\.5$"
    )
    with pytest.raises(ValueError, match=message):
        check_regularization(1.5, 0.25)


def test_regret_bound_is_infinite_for_steps_that_are_too_large_for_the_errors() -> None:
    # The proof holds for λ ≤ 1/(2 B²): 1/8 for B² = 4.
    assert compute_regret_bound(2, 4.0, weight_step=0.125) == pytest.approx(8.0 * math.log(2.0))
    assert compute_regret_bound(2, 4.0, weight_step=0.13) == math.inf
    assert compute_regret_bound(2, 0.25, weight_step=2.0) == pytest.approx(math.log(2.0) / 2.0)


def test_weights_of_steps_are_kept_only_on_demand() -> None:
    hedge = Hedge(2, "auto", 0.0)
    arrays = np.ones((2, 3, 1)), np.zeros((2, 3)), np.ones((3, 1))
    assert hedge.update(*arrays, keep_weights=False).shape == (0, 2)
    assert hedge.update(*arrays, keep_weights=True).shape == (3, 2)
