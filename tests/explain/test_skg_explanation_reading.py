"""Names, tables, advice, distances and errors of explanations."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from gradraker import SKGNodeRegressor, SKGRegressor, load_temperature
from gradraker.explain import efficient_distance, noise_range
from gradraker.kernels.shift_invariant import KERNELS
from gradraker.linear import lms as weights_module
from small_skg import M, N, fitted, graph, hand_made, regressor, values

# -- what a reader sees ------------------------------------------------------------------------


def test_names_come_from_the_index() -> None:
    X, y = graph(), values()
    frame = pd.DataFrame(X, index=[f"node {i}" for i in range(N)])
    model = regressor().fit(frame.iloc[:3], y[:3])
    model.partial_fit(X[3:5], y[3:5])  # no names: numbers
    model.partial_fit(frame.iloc[5:7], y[5:7])
    model.learn_one([0], 1.0)
    explanation = model.explain(frame.iloc[7:9])
    assert list(explanation.known_names) == [
        *("node 0", "node 1", "node 2", 3, 4, "node 5", "node 6", 7)
    ]
    assert list(explanation.node_names) == ["node 7", "node 8"]


def test_a_part_of_a_frame_without_names_keeps_its_numbers() -> None:
    frame, y = pd.DataFrame(graph()), values()
    model = regressor().fit(frame.iloc[:4], y[:4])
    model.partial_fit(frame.iloc[6:8], y[6:8])
    explanation = model.explain(frame.iloc[9:])
    assert list(explanation.known_names) == [0, 1, 2, 3, 6, 7]
    assert list(explanation.node_names) == [9, 10, 11]


def test_nodes_without_names_have_numbers() -> None:
    explanation = fitted().explain(graph()[:2])
    assert list(explanation.node_names) == [0, 1]
    assert list(explanation.known_names) == list(range(N))


def test_given_names_replace_those_of_the_index() -> None:
    frame = pd.DataFrame(graph(), index=[f"node {i}" for i in range(N)])
    model = regressor().fit(frame, values())
    explanation = model.explain(frame[:2], node_names=["a", "b"], known_names=range(10, 10 + N))
    table = explanation.top(2)
    assert table["node"].tolist() == ["a", "a", "b", "b"]
    assert set(table["known_node"]) <= set(range(10, 10 + N))


@pytest.mark.parametrize("argument", ["node_names", "known_names"])
def test_names_must_be_as_many_as_nodes(argument: str) -> None:
    n = {"node_names": 2, "known_names": N}[argument]
    with pytest.raises(ValueError, match=rf"{argument} must have a name for each of {n} .* got 1"):
        fitted().explain(graph()[:2], **{argument: ["only one"]})


# -- advice ------------------------------------------------------------------------------------


def test_advice_by_hand() -> None:
    fine = hand_made([[0.5, 0.45], [0.6, 0.45]], [1.0, 1.0])
    assert fine.advice is None
    assert "raise" not in repr(fine)
    low = hand_made([[0.5, 0.3], [0.6, 0.4]], [1.0, 1.0])
    assert "1 of 2 predictions sum to less than 0.9 (median of all: 0.90)" in low.advice  # type: ignore[operator]
    assert "raise n_epochs or learning_rate" in low.advice  # type: ignore[operator]
    assert low.advice in repr(low)  # type: ignore[operator]
    high = hand_made([[0.5, 0.7], [0.6, 0.4]], [1.0, 1.0])
    assert "1 of 2 predictions sum to more than 1.1 (median of all: 1.10)" in high.advice  # type: ignore[operator]
    assert "lower learning_rate" in high.advice  # type: ignore[operator]


def test_advice_when_training_was_too_short() -> None:
    """Section VI.B.2: with small η and E the weights sum to much less than 1."""
    X, y = graph(n=40), values(shape=40)
    short = regressor(sigma2=5.0, learning_rate=0.001, n_epochs=1).fit(X, y).explain(X)
    assert np.all(short.sum_of_weights < 0.1)
    assert "40 of 40 predictions sum to less than 0.9" in short.advice  # type: ignore[operator]
    # What it says helps.
    longer = regressor(sigma2=5.0, learning_rate=0.1, n_epochs=30).fit(X, y).explain(X)
    assert longer.advice is None


def test_advice_for_a_node_that_resembles_none() -> None:
    X, y = graph(n=40), values(shape=40)
    model = regressor(sigma2=5.0, n_epochs=30, n_frequencies=400).fit(X, y)
    assert model.explain(X).advice is None
    assert "resemble none that was seen" in model.explain(100.0 + np.eye(M)).advice  # type: ignore[operator]


def test_repr_has_counts_and_sums_of_weights() -> None:
    text = repr(hand_made([[0.5, 0.45], [0.6, 0.45]], [1.0, 1.0]))
    assert text == (
        "Explanation of 2 predictions by 2 known nodes, 2 steps; weights sum to 0.95 … 1.05"
    )


# -- efficient distance ------------------------------------------------------------------------


def test_efficient_distance_is_that_of_the_steps() -> None:
    explanation = fitted(n_frequencies=50).explain(graph(seed=9))
    for row in range(N):
        found = explanation.efficient_distance(row)
        expected = efficient_distance(
            [explanation.similarities[row, i] for i in explanation.order],
            explanation.by_time[row],
            sigma2=1.5,
            learning_rate=0.2,
        )
        assert found == expected
        assert 0.0 <= found < np.inf


def test_efficient_distance_is_near_that_of_the_significant_nodes() -> None:
    """With many frequencies B tells the distance: both kernels' answers are real distances."""
    X, y = graph(), values()
    for kernel in KERNELS:
        model = regressor(kernel=kernel, n_frequencies=4000, sigma2=3.0).fit(X, y)
        explanation = model.explain(graph(seed=9))
        for row, F in enumerate(explanation.by_time):
            significant = explanation.order[noise_range(F)[1] < F]
            farthest = explanation.squared_distances[row, significant].max()
            assert explanation.efficient_distance(row) == pytest.approx(farthest, abs=0.5)


def test_efficient_distance_refuses_a_row_that_does_not_exist() -> None:
    with pytest.raises(ValueError, match="row must be"):
        fitted().explain(graph()[:2]).efficient_distance(2)


@pytest.mark.parametrize("kernel", KERNELS)
def test_efficient_distance_where_nothing_is_significant(kernel: str) -> None:
    # One step, and a node whose similarity to it is below 0: the weight is noise.
    model = regressor(n_frequencies=1, sigma2=0.5, kernel=kernel)
    model.learn_one(["a"], 1.0)
    weights = np.linspace(0, 5, 50)[:, np.newaxis]
    explanation = model.explain(weights, references=["a"])
    row = int(explanation.weights[:, 0].argmin())
    assert explanation.weights[row, 0] < 0
    assert np.isnan(explanation.efficient_distance(row))


# -- errors ------------------------------------------------------------------------------------


def test_explaining_needs_a_fitted_model() -> None:
    with pytest.raises(NotFittedError):
        regressor().explain(graph())


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones((2, M + 1)), "7 features"),
        (np.full((1, M), np.nan), "NaN"),
        (np.full((1, M), 1e308), "X has values too large for sigma2"),
        (np.ones((0, M)), "0 sample"),
        (np.ones(M), "2D array"),
    ],
)
def test_bad_rows_are_named(X: NDArray[np.float64], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fitted().explain(X)


def test_explain_after_learn_one_needs_names_of_columns() -> None:
    model = regressor()
    model.learn_one(["a"], 1.0)
    with pytest.raises(ValueError, match="references must be given"):
        model.explain([[1.0]])
    with pytest.raises(ValueError, match="references must name each column"):
        model.explain([[1.0]], references=["a", "b"])


def test_explaining_refuses_a_learning_rate_outside_0_and_1() -> None:
    with pytest.raises(ValueError, match="learning_rate must be a number in"):
        fitted().set_params(learning_rate=2.0).explain(graph())


def test_compute_row_by_time_equals_a_row_of_by_time() -> None:
    explanation = fitted().explain(graph(9, n=4))
    one = explanation.compute_row_by_time(2)
    assert "by_time" not in vars(explanation)
    np.testing.assert_allclose(one, explanation.by_time[2], rtol=0, atol=1e-14)
    assert np.array_equal(explanation.compute_row_by_time(2), explanation.by_time[2])
    with pytest.raises(ValueError, match="row must be the number of one of 4 explained nodes"):
        explanation.compute_row_by_time(4)


def test_split_prediction_follows_the_equation() -> None:
    model = fitted(n_epochs=3)
    explained = graph(seed=5, n=4)
    explanation = model.explain(explained)
    split = explanation.split_prediction()
    y = values()
    for row, F in enumerate(explanation.by_time):
        upper = max(0.0, -F.min())
        significant = sum(y[i] * f for i, f in zip(explanation.order, F, strict=True) if f > upper)
        rest = sum(y[i] * f for i, f in zip(explanation.order, F, strict=True) if f <= upper)
        assert split.significant[row] == pytest.approx(significant, abs=1e-12)
        assert split.insignificant[row] == pytest.approx(rest, abs=1e-12)
        assert split.n_significant[row] == np.sum(upper < F)
        assert split.noise[row] == noise_range(F)[1]
    assert 0 < split.n_significant.min() < explanation.order.size


def test_split_prediction_with_targets_and_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    model = regressor().fit(graph(), values(shape=(N, 2)))
    explained = graph(seed=5, n=4)
    whole = model.explain(explained).split_prediction()
    monkeypatch.setattr(weights_module, "_BATCH_BYTES", 1)
    explanation = model.explain(explained)
    split = explanation.split_prediction()
    np.testing.assert_allclose(split.significant, whole.significant, atol=1e-14)
    np.testing.assert_allclose(
        split.significant + split.insignificant, model.predict(explained), atol=1e-12
    )


def test_split_prediction_of_a_node_model_sums_with_its_offset() -> None:
    data = load_temperature()
    known = dict(zip(data.node_names[:50], data.values[:50], strict=True))
    explanation = SKGNodeRegressor(sigma2=5.0).fit(data, known).explain()
    split = explanation.split_prediction()
    total = explanation.offset + split.significant + split.insignificant
    np.testing.assert_allclose(total, explanation.prediction, atol=1e-10)


def test_efficient_distance_of_the_laplacian_kernel_is_an_l1_distance() -> None:
    # One known row at l1 distance 3 and squared distance 5, many frequencies: B ≈ 2η e^(−3/b).
    model = SKGRegressor(
        kernel="laplacian", sigma2=4.0, n_frequencies=100_000, n_epochs=1, random_state=0
    )
    explanation = model.fit([[2.0, 0.0]], [1.0]).explain([[0.0, 1.0]])
    assert explanation.efficient_distance() == pytest.approx(3.0, abs=0.05)
    assert explanation.squared_distances[0, 0] == 5.0
